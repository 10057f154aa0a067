package pftrace

import (
	"fmt"
	"io"
	"slices"

	"overlay/internal/overlay"
	"overlay/internal/perfetto"
	"overlay/internal/trace"
)

// Ranks writes the picture of a job: one trace out of those of its ranks, one after the other, and of the tracks of the job.
type Ranks struct {
	stream   *perfetto.Stream
	realtime bool
	origin   int64
	pids     numbers // that are taken
	parts    int     // ranks so far
	Stats    Stats   // of all that was written
}

// Job is what is said once of the picture of a job.
type Job struct {
	UUID   [2]uint64
	Attrs  []overlay.Attr
	Unix   bool  // times of the job count from 1970
	Origin int64 // what was taken off all times
}

// Rank is a rank whose events are drawn.
type Rank struct {
	Number int
	Clock  func(t int64) int64      // from Unix time, as the trace has it, to the time of the picture; it never goes back but where a clock jumped
	Arrows map[trace.EventID]uint32 // arrows of the job that have an end on an event
}

// NewRanks begins the picture of a job.
func NewRanks(to io.Writer, j Job) (*Ranks, error) {
	t := &perfetto.Trace{UUID: j.UUID}
	for _, a := range j.Attrs {
		t.Attrs = append(t.Attrs, perfetto.Attr(a))
	}
	s, err := perfetto.NewStream(to, t)
	return &Ranks{stream: s, realtime: j.Unix, origin: j.Origin, pids: numbers{}, Stats: Stats{NotDrawn: map[byte]int{}}}, err
}

// Rank writes the events of a rank with what is drawn on them. Each rank is written once.
func (r *Ranks) Rank(tr *trace.Trace, drawing *overlay.Drawing, k Rank) error {
	r.parts++
	w := newWriter(onClock(tr, k.Clock), drawing)
	w.rank, w.part, w.pidsTaken = &k, r.parts, r.pids
	return r.part(w.build(), w)
}

// Tracks writes the rows of the job.
func (r *Ranks) Tracks(tracks []overlay.Track) error {
	w := newWriter(&trace.Trace{Syms: []string{""}}, nil)
	w.addOverlay(addedRows(tracks))
	return r.part(&w.out, w)
}

func (r *Ranks) part(t *perfetto.Trace, w *writer) error {
	t.Part, t.HasRealtime, t.Realtime = w.part, r.realtime, r.origin
	st, err := r.stream.Part(t)
	w.stats.Stats = st
	r.Stats.Add(&w.stats)
	return err
}

// Close ends the trace.
func (r *Ranks) Close() error {
	st, err := r.stream.Close()
	r.Stats.Stats = st // with what was written before the first part
	return err
}

// Add sums what became of several traces.
func (st *Stats) Add(o *Stats) {
	st.Stats.Add(&o.Stats)
	st.Events += o.Events
	st.Flows += o.Flows
	st.Unbound += o.Unbound
	st.Arrows += o.Arrows
	st.Unclosed += o.Unclosed
	st.Unopened += o.Unopened
	st.Negative += o.Negative
	if st.NotDrawn == nil {
		st.NotDrawn = map[byte]int{}
	}
	for ph, n := range o.NotDrawn {
		st.NotDrawn[ph] += n
	}
}

// onClock is the trace with all times on another clock.
func onClock(tr *trace.Trace, clock func(int64) int64) *trace.Trace {
	moved := *tr
	moved.Events, moved.Wide = make([]trace.Event, len(tr.Events)), slices.Clone(tr.Wide)
	for i := range tr.Events {
		e := tr.Events[i]
		start := clock(e.Start + tr.Base)
		if tr.Dur(&e) > 0 {
			moved.SetDur(&e, max(clock(tr.End(&e)+tr.Base)-start, 0))
		}
		e.Start = start
		moved.Events[i] = e
	}
	moved.Base, moved.HasBase = 0, true
	return &moved
}

// Numbers of the processes of a rank: rankPIDs for each, of which some are for devices and for what is no process.
const (
	rankPIDs   = 1000
	rankDevice = 10
	rankPseudo = 100
)

// rankOrder is the place of a process of a rank: behind those of the ranks before it. The profiler's own rows come behind all ranks, so that these stay together.
func (w *writer) rankOrder(order int, pseudo bool) int {
	const each, last = 500, 1 << 30
	order = min(w.rank.Number, last/each-1)*each + min(order, each-1)
	if pseudo {
		order += last
	}
	return order
}

// rankPIDs gives each process of a rank a number that none has in another one.
func (w *writer) rankPIDs(procs []trace.ProcID, pseudo []bool) map[trace.ProcID]int64 {
	pids := make(map[trace.ProcID]int64)
	base := rankPIDs * (1 + int64(w.rank.Number)%2_000_000)
	for _, id := range procs {
		n := base + 1
		switch pr := &w.tr.Procs[id]; {
		case pr.IsDevice:
			n = base + rankDevice + min(max(pr.Device, 0), rankPseudo-rankDevice-1)
		case pseudo[id]:
			n = base + rankPseudo
		}
		pids[id] = w.pidsTaken.take(n)
	}
	return pids
}

// rankName puts the rank before the name of a process.
func (w *writer) rankName(name string) string {
	if w.rank == nil {
		return name
	}
	return fmt.Sprintf("rank %d · %s", w.rank.Number, name)
}

// flowID numbers the arrows of all ranks. Those of the job are in the range of none of them.
func (w *writer) flowID(f uint32) uint64 {
	if w.rank == nil {
		return uint64(f)
	}
	return uint64(w.part)<<40 + uint64(f)
}

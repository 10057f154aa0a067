package testtrace

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"overlay/internal/trace"
)

// rocprof writes the layout of rocprofv3: calls, markers and collectives on rows of threads, operations on rows of
// streams, in that order of kinds; times of its own clock.
func (w *pfWriter) rocprof() {
	clocks := pb(nil).msg(1, pb(nil).num(1, 6).num(2, 5_000)).msg(1, pb(nil).num(1, 3).num(2, 5_000)).msg(1, pb(nil).num(1, 1).num(2, uint64(w.base)))
	w.packet(pb(nil).num(8, 5_000).num(10, 7).msg(6, clocks))
	// The one process that the SDK describes is the writer's.
	pid := int64(1)
	for i := range w.tr.Events {
		if e := &w.tr.Events[i]; e.Kind.Host() && e.Track != trace.NoTrack {
			pid = w.number(w.tr.Procs[w.tr.Tracks[e.Track].Proc].PID)
			break
		}
	}
	w.process("main", pid, "app")
	kinds := []struct {
		kind     trace.Kind
		category string
	}{{trace.Runtime, "hip_api"}, {trace.Annotation, "marker_api"}, {trace.CPUOp, "rccl_api"}, {trace.Memcpy, "memory_copy"}, {trace.Kernel, "kernel_dispatch"}}
	s := &sdkSequence{w: w, id: 7, strings: [4]*numbers{newNumbers(), newNumbers(), newNumbers(), newNumbers()}}
	for _, k := range kinds {
		for i := range w.tr.Events {
			e := &w.tr.Events[i]
			if e.Ph != 'X' || e.Kind != k.kind || e.Track == trace.NoTrack || e.Flags&trace.ClampedTS != 0 {
				continue
			}
			id := trace.EventID(i)
			args := []member{{"begin_ns", uint64(e.Start)}, {"end_ns", uint64(w.tr.End(e))}, {"delta_ns", uint64(w.tr.Dur(e))}}
			for _, a := range w.arguments(id) {
				switch a.key {
				case "correlation":
					args = append(args, member{"corr_id", a.value})
				case "stream", "device":
					// the name of the row says it
				default:
					args = append(args, a)
				}
			}
			uuid := w.rocprofRow(e)
			s.begin(uuid, e.Start, w.name(id), k.category, args)
			s.end(uuid, w.tr.End(e))
		}
	}
}

// rocprofRow is a row that is known by its name alone.
func (w *pfWriter) rocprofRow(e *trace.Event) uint64 {
	t := &w.tr.Tracks[e.Track]
	tid := w.number(t.TID)
	name := fmt.Sprintf("THREAD %d (%d)", len(w.threads), tid)
	key := fmt.Sprintf("thread %d", tid)
	if e.Kind.Device() {
		what := "COMPUTE"
		if e.Kind == trace.Memcpy {
			what = "COPY to"
		}
		name = fmt.Sprintf("%s AGENT [%d] STREAM [%d] (GPU)", what, w.device(t), cmp.Or(max(t.Stream, 0), tid))
		key = name
	}
	id, ok := w.threads[key]
	if !ok {
		id = w.newUUID()
		w.threads[key] = id
		w.rows = pb(w.rows).msg(1, pb(nil).msg(60, pb(nil).num(1, id).str(2, name)))
	}
	return id
}

// sdkSequence is a sequence of Perfetto's SDK: strings by number, sent when they are first used.
type sdkSequence struct {
	w       *pfWriter
	id      uint64
	strings [4]*numbers // categories, names, names of arguments, strings of arguments
	started bool
	delta   bool // time stamps are deltas of clock 64
	last    int64
	track   uint64 // default
}

// intern is the number of a string; what is new goes into the packet's interned data.
func (s *sdkSequence) intern(in *pb, table int, str string) uint64 {
	n := len(s.strings[table].list)
	id := s.strings[table].of(str)
	if id > uint64(n) {
		field := []int32{1, 2, 3, 29}[table]
		*in = in.msg(protowire.Number(field), pb(nil).num(1, id).str(2, str))
	}
	return id
}

func (s *sdkSequence) send(p pb, ts int64, ev, in pb) {
	stamp := uint64(ts)
	if s.delta {
		stamp, s.last = uint64(ts-s.last), ts
	}
	p = p.num(8, stamp)
	if !s.delta {
		p = p.num(58, 3) // monotonic
	}
	flags := uint64(2)
	if !s.started {
		flags, s.started = 3, true
	}
	p = p.num(10, s.id).num(13, flags)
	if len(in) > 0 {
		p = p.msg(12, in)
	}
	s.w.packet(p.msg(11, ev))
}

func (s *sdkSequence) begin(uuid uint64, ts int64, name, category string, args []member) {
	var in pb
	ev := pb(nil).num(9, 1)
	if uuid != s.track {
		ev = ev.num(11, uuid)
	}
	if category != "" {
		ev = ev.num(3, s.intern(&in, 0, category))
	}
	ev = ev.num(10, s.intern(&in, 1, name))
	for _, a := range args {
		key := func(m pb) pb { return m.num(1, s.intern(&in, 2, a.key)) }
		if str, ok := a.value.(string); ok && s.delta {
			ev = ev.msg(4, key(nil).num(17, s.intern(&in, 3, str)))
			continue
		}
		ev = ev.msg(4, annotation(key, a.value))
	}
	s.send(nil, ts, ev, in)
}

func (s *sdkSequence) end(uuid uint64, ts int64) {
	ev := pb(nil).num(9, 2)
	if uuid != s.track {
		ev = ev.num(11, uuid)
	}
	s.send(nil, ts, ev, nil)
}

// live writes each thread as it would have written itself while it ran: a sequence of its own, whose clock counts up,
// BEGINs and ENDs in the order in which they happen. Slices that do not nest go to further rows below the thread.
func (w *pfWriter) live() {
	type row struct {
		device   bool
		pid, tid int64
	}
	byRow := map[row][]trace.EventID{}
	var rows []row
	for i := range w.tr.Events {
		e := &w.tr.Events[i]
		if e.Ph != 'X' || e.Track == trace.NoTrack || e.Flags&trace.ClampedTS != 0 || e.Start < 0 {
			continue
		}
		t := &w.tr.Tracks[e.Track]
		r := row{w.tr.Procs[t.Proc].IsDevice, w.number(w.tr.Procs[t.Proc].PID), w.number(t.TID)}
		if byRow[r] == nil {
			rows = append(rows, r)
		}
		byRow[r] = append(byRow[r], trace.EventID(i))
	}
	seq := uint64(0)
	for _, r := range rows {
		ids := byRow[r]
		t := &w.tr.Tracks[w.tr.Events[ids[0]].Track]
		// The pid of a device may be that of a process, too.
		pid := r.pid
		if r.device {
			pid += 2_000_000
		}
		key := fmt.Sprint(pid)
		proc := w.process(key, pid, w.tr.Procs[t.Proc].Name)
		thread := w.thread(key+"/"+strconv.FormatInt(r.tid, 10), proc, pid, r.tid, t.Name)
		for lane, list := range w.nestedLanes(ids) {
			uuid := thread
			if lane > 0 {
				uuid = w.newUUID()
				w.rows = pb(w.rows).msg(1, pb(nil).msg(60, pb(nil).num(1, uuid).num(5, thread).str(2, t.Name)))
			}
			seq++
			w.liveLane(seq, uuid, list)
		}
	}
}

// nestedLanes shares out the slices of a row so that those of each lane nest.
func (w *pfWriter) nestedLanes(ids []trace.EventID) [][]trace.EventID {
	ids = slices.Clone(ids)
	slices.SortStableFunc(ids, func(a, b trace.EventID) int {
		x, y := &w.tr.Events[a], &w.tr.Events[b]
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(w.tr.Dur(y), w.tr.Dur(x)))
	})
	var lanes [][]trace.EventID
	var open [][]int64 // ends, outermost first
next:
	for _, id := range ids {
		e := &w.tr.Events[id]
		for l := range lanes {
			for n := len(open[l]); n > 0 && open[l][n-1] <= e.Start; n-- {
				open[l] = open[l][:n-1]
			}
			if n := len(open[l]); n == 0 || open[l][n-1] >= w.tr.End(e) {
				lanes[l], open[l] = append(lanes[l], id), append(open[l], w.tr.End(e))
				continue next
			}
		}
		lanes, open = append(lanes, []trace.EventID{id}), append(open, []int64{w.tr.End(e)})
	}
	return lanes
}

func (w *pfWriter) liveLane(seq, uuid uint64, ids []trace.EventID) {
	start := w.tr.Events[ids[0]].Start
	clocks := pb(nil).msg(1, pb(nil).num(1, 64).num(2, uint64(start)).num(3, 1)).msg(1, pb(nil).num(1, 6).num(2, uint64(start))).num(2, 6)
	defaults := pb(nil).num(58, 64).msg(11, pb(nil).num(11, uuid))
	w.packet(pb(nil).num(10, seq).num(13, 1).msg(59, defaults).msg(6, clocks))
	s := &sdkSequence{w: w, id: seq, delta: true, last: start, started: true, track: uuid,
		strings: [4]*numbers{newNumbers(), newNumbers(), newNumbers(), newNumbers()}}
	var ends []int64
	closeUntil := func(ts int64) {
		for n := len(ends); n > 0 && ends[n-1] <= ts; n-- {
			s.end(uuid, ends[n-1])
			ends = ends[:n-1]
		}
	}
	for _, id := range ids {
		e := &w.tr.Events[id]
		closeUntil(e.Start)
		s.begin(uuid, e.Start, w.name(id), w.tr.Category(id), w.arguments(id))
		ends = append(ends, w.tr.End(e))
	}
	closeUntil(1<<63 - 1)
}

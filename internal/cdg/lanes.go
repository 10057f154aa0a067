package cdg

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/trace"
)

// isAct reports whether an event is an activity: a complete event of a CPU thread or a GPU stream.
// Events clamped to ts 0 happened at an unknown time before the base and are left out.
func isAct(e *trace.Event) bool {
	return e.Ph == 'X' && e.Track != trace.NoTrack && e.Flags&trace.ClampedTS == 0 && (e.Kind.Host() || e.Kind.Device())
}

// layActs puts the activities into lanes: threads before streams, each by the ids of process and row, so that lane
// ids do not depend on the order of the file. Since it looks at all events, it also notes the records of synchronisation.
func (b *builder) layActs() {
	tr, d := b.tr, b.d
	count := make([]int32, len(tr.Tracks))
	device := make([]bool, len(tr.Tracks))
	n := 0
	var moved []trace.EventID
	for i := range tr.Events {
		e := &tr.Events[i]
		if !isAct(e) {
			if e.Kind == trace.SyncRecord && e.Ph == 'X' && e.Flags&trace.HasCorr != 0 {
				b.sync.records = append(b.sync.records, trace.EventID(i))
			}
			continue
		}
		n++
		if e.Flags&trace.Moved != 0 && e.Kind.Device() {
			moved = append(moved, trace.EventID(i))
			continue
		}
		count[e.Track]++
		device[e.Track] = e.Kind.Device()
	}
	rows, rowOf := laneRows(tr, moved)
	count = append(count, make([]int32, len(rows)-len(count))...)
	device = append(device, make([]bool, len(rows)-len(device))...)
	for _, id := range moved {
		r, ok := rowOf[id]
		if !ok {
			r = int32(tr.Events[id].Track)
		}
		count[r]++
		device[r] = true
	}
	var used []int
	for r, c := range count {
		if c > 0 {
			used = append(used, r)
		}
	}
	slices.SortStableFunc(used, func(x, y int) int {
		if device[x] != device[y] {
			if device[y] {
				return -1
			}
			return 1
		}
		px, py := tr.Tracks[rows[x].track].Proc, tr.Tracks[rows[y].track].Proc
		return cmp.Or(compareTokens(tr, procToken(tr, px), procToken(tr, py)), compareTokens(tr, rows[x].tid, rows[y].tid))
	})
	next := make([]int32, len(rows))
	laneOf := make([]LaneID, len(rows))
	at := int32(0)
	for i, r := range used {
		d.Lanes = append(d.Lanes, Lane{Track: rows[r].track, Proc: tr.Tracks[rows[r].track].Proc, Stream: device[r], Number: rows[r].stream,
			First: ActID(at), Limit: ActID(at + count[r])})
		laneOf[r], next[r] = LaneID(i), at
		at += count[r]
	}
	b.firstOp = ActID(n)
	if i := slices.IndexFunc(d.Lanes, func(l Lane) bool { return l.Stream }); i >= 0 {
		b.firstOp = d.Lanes[i].First
	}
	d.Acts = make([]Act, n)
	for i := range tr.Events {
		if e := &tr.Events[i]; isAct(e) {
			r := int32(e.Track)
			if e.Flags&trace.Moved != 0 {
				if other, ok := rowOf[trace.EventID(i)]; ok {
					r = other
				}
			}
			d.Acts[next[r]] = Act{e.Start, e.End(), trace.EventID(i), laneOf[r]}
			next[r]++
		}
	}
	for i := range d.Lanes {
		SortRuns(d.Acts[d.Lanes[i].First:d.Lanes[i].Limit], actOrder{tr}.less)
	}
	d.ActOf = make([]ActID, len(tr.Events))
	for i := range d.ActOf {
		d.ActOf[i] = NoAct
	}
	b.clockGrain = us
	for a := range d.Acts {
		act := &d.Acts[a]
		d.ActOf[act.Event] = ActID(a)
		if b.clockGrain == us && ((act.Start-d.Acts[0].Start)%us != 0 || (act.End-act.Start)%us != 0) {
			b.clockGrain = 1
		}
	}
}

func procToken(tr *trace.Trace, p trace.ProcID) trace.Token {
	if p == trace.NoProc {
		return trace.Token{}
	}
	return tr.Procs[p].PID
}

func compareTokens(tr *trace.Trace, x, y trace.Token) int {
	if x.IsNum && y.IsNum {
		return cmp.Compare(x.Num, y.Num)
	}
	if x.IsNum != y.IsNum {
		if x.IsNum {
			return -1
		}
		return 1
	}
	return strings.Compare(tr.Str(x.Raw), tr.Str(y.Raw))
}

// actOrder is the order of activities: (start, longer first, outer kind first, ids, name, position).
type actOrder struct{ tr *trace.Trace }

func (s actOrder) less(x, y *Act) bool {
	if x.Start != y.Start {
		return x.Start < y.Start
	}
	if x.End != y.End {
		return x.End > y.End
	}
	return s.tie(x, y) < 0
}

// nesting is the order of kinds from the outside in, for equal intervals.
var nesting = [trace.NumKinds]uint8{trace.Python: 0, trace.Annotation: 1, trace.CPUOp: 2, trace.Runtime: 3, trace.Driver: 4,
	trace.Kernel: 5, trace.Memcpy: 6, trace.Memset: 7, trace.GraphNode: 8}

// tie orders equal intervals: by kind, then by the ids that count slices in the order they were opened.
func (s actOrder) tie(x, y *Act) int {
	ex, ey := &s.tr.Events[x.Event], &s.tr.Events[y.Event]
	if c := cmp.Compare(nesting[ex.Kind], nesting[ey.Kind]); c != 0 {
		return c
	}
	if c := cmp.Compare(ex.Ext, ey.Ext); c != 0 {
		return c
	}
	if ex.Dur > 0 {
		if c := cmp.Compare(eventIndex(s.tr, x.Event), eventIndex(s.tr, y.Event)); c != 0 {
			return c
		}
	}
	if ex.Name != ey.Name {
		return strings.Compare(s.tr.Str(ex.Name), s.tr.Str(ey.Name))
	}
	return cmp.Or(cmp.Compare(ex.Corr, ey.Corr), cmp.Compare(x.Event, y.Event))
}

// eventIndex reads args."Ev Idx", the profiler's own running number; -1 when absent.
func eventIndex(tr *trace.Trace, id trace.EventID) int64 {
	if v, ok := tr.ArgInt(id, "Ev Idx"); ok {
		return v
	}
	return -1
}

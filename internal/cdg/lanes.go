package cdg

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/par"
	"overlay/internal/trace"
)

// layActs puts the activities into lanes: threads before streams, each by the ids of process and row, so that lane
// ids do not depend on the order of the file. Since it looks at all events, it also notes the records of synchronisation.
func (b *builder) layActs() {
	tr, d := b.tr, b.d
	parts := make([]census, ranges(len(tr.Events), len(tr.Tracks)))
	rowOfTrack := streamRows(tr)
	par.EachRange(len(tr.Events), len(parts), func(part, from, to int) { parts[part] = countActs(tr, rowOfTrack, from, to) })
	n := 0
	var moved []trace.EventID
	for i := range parts {
		n += parts[i].acts
		moved = append(moved, parts[i].moved...)
		b.sync.records = append(b.sync.records, parts[i].records...)
		b.marks = append(b.marks, parts[i].marks...)
	}
	rows, rowOf := laneRows(tr, moved)
	count, device := make([]int32, len(rows)), make([]bool, len(rows))
	for i := range parts {
		x := &parts[i]
		x.count = append(x.count, make([]int32, len(rows)-len(tr.Tracks))...)
		for r, c := range x.count {
			if count[r] += c; c > 0 {
				device[r] = x.device[r]
			}
		}
		for _, id := range x.moved {
			r := rowIn(tr, rowOf, id)
			x.count[r]++
			count[r]++
			device[r] = true
		}
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
	first := make([]int32, len(rows))
	laneOf := make([]LaneID, len(rows))
	at := int32(0)
	for i, r := range used {
		d.Lanes = append(d.Lanes, Lane{Track: rows[r].track, Proc: tr.Tracks[rows[r].track].Proc, Stream: device[r], Number: rows[r].stream,
			First: ActID(at), Limit: ActID(at + count[r])})
		laneOf[r], first[r] = LaneID(i), at
		at += count[r]
	}
	b.firstOp = ActID(n)
	if i := slices.IndexFunc(d.Lanes, func(l Lane) bool { return l.Stream }); i >= 0 {
		b.firstOp = d.Lanes[i].First
	}
	for i := range parts { // where the activities of a range begin in each lane: behind those of the ranges before
		for r, c := range parts[i].count {
			parts[i].count[r], first[r] = first[r], first[r]+c
		}
	}
	d.Acts, d.ActOf = trace.Room[Act](tr.Lend, n), trace.Room[ActID](tr.Lend, len(tr.Events))
	par.EachRange(len(tr.Events), len(parts), func(part, from, to int) {
		next := parts[part].count
		for i := from; i < to; i++ {
			d.ActOf[i] = NoAct
			if e := &tr.Events[i]; isAct(e) {
				r := rowOfTrack[e.Track]
				if e.Flags&trace.Moved != 0 {
					r = rowIn(tr, rowOf, trace.EventID(i))
				}
				d.Acts[next[r]] = Act{e.Start, tr.End(e), trace.EventID(i), laneOf[r]}
				next[r]++
			}
		}
	})
	par.Each(len(d.Lanes), func(i int) { SortRuns(d.Acts[d.Lanes[i].First:d.Lanes[i].Limit], actOrder{tr}.less) })
}

// census is what layActs wants to know of some events.
type census struct {
	acts    int
	count   []int32         // per row: activities; then, where the next one goes
	device  []bool          // per row: the last activity is an operation
	moved   []trace.EventID // operations that were drawn elsewhere than they ran; not in count
	records []trace.EventID // of synchronisation
	marks   []trace.EventID // that devices recorded on the rows of streams
}

func countActs(tr *trace.Trace, rowOfTrack []int32, from, to int) census {
	x := census{count: make([]int32, len(tr.Tracks)), device: make([]bool, len(tr.Tracks))}
	for i := from; i < to; i++ {
		e := &tr.Events[i]
		if !isAct(e) {
			switch {
			case e.Ph != 'X':
			case e.Kind == trace.SyncRecord && e.Flags&trace.HasCorr != 0:
				x.records = append(x.records, trace.EventID(i))
			case e.Kind == trace.DeviceMark && e.Track != trace.NoTrack:
				x.marks = append(x.marks, trace.EventID(i))
			}
			continue
		}
		x.acts++
		if e.Flags&trace.Moved != 0 && e.Kind.Device() {
			x.moved = append(x.moved, trace.EventID(i))
			continue
		}
		x.count[rowOfTrack[e.Track]]++
		x.device[rowOfTrack[e.Track]] = e.Kind.Device()
	}
	return x
}

// rowIn is the row in which an operation is that may have been drawn elsewhere.
func rowIn(tr *trace.Trace, rowOf map[trace.EventID]int32, id trace.EventID) int32 {
	if r, ok := rowOf[id]; ok {
		return r
	}
	return int32(tr.Events[id].Track)
}

// numberActs fills in which activity an event is, and finds out how exact the times are.
func (b *builder) numberActs() {
	d := b.d
	exact := make([]bool, ranges(len(d.Acts), 0)) // per range: times that are no whole µs
	par.EachRange(len(d.Acts), len(exact), func(part, from, to int) {
		for a := from; a < to; a++ {
			act := &d.Acts[a]
			d.ActOf[act.Event] = ActID(a)
			if !exact[part] && ((act.Start-d.Acts[0].Start)%us != 0 || (act.End-act.Start)%us != 0) {
				exact[part] = true
			}
		}
	})
	b.clockGrain = us
	if slices.Contains(exact, true) {
		b.clockGrain = 1
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
	if c := cmp.Compare(s.tr.ExternalID(x.Event), s.tr.ExternalID(y.Event)); c != 0 {
		return c
	}
	if s.tr.Dur(ex) > 0 {
		if c := cmp.Compare(eventIndex(s.tr, x.Event), eventIndex(s.tr, y.Event)); c != 0 {
			return c
		}
	}
	if ex.Name != ey.Name {
		return strings.Compare(s.tr.Str(ex.Name), s.tr.Str(ey.Name))
	}
	return cmp.Or(cmp.Compare(s.tr.Corr(ex), s.tr.Corr(ey)), cmp.Compare(x.Event, y.Event))
}

// eventIndex reads args."Ev Idx", the profiler's own running number; -1 when absent.
func eventIndex(tr *trace.Trace, id trace.EventID) int64 {
	if v, ok := tr.ArgInt(id, "Ev Idx"); ok {
		return v
	}
	return -1
}

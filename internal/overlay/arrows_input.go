package overlay

import (
	"sort"

	"overlay/internal/cdg"
	"overlay/internal/kineto"
)

// inputArrows are the arrows that the input itself draws, as pairs of events: a start and an end that share id, name
// and category, each bound to the innermost activity around it. They count in the size of a component.
func inputArrows(g *cdg.Graph, keep []bool) [][2]int32 {
	type key struct {
		id   int64
		name kineto.Sym
		cat  uint16
	}
	tr := g.Trace
	var ends []kineto.EventID
	starts := map[key]kineto.EventID{}
	for i := range tr.Events {
		e := &tr.Events[i]
		if e.Track == kineto.NoTrack || keep != nil && !keep[i] {
			continue
		}
		switch e.Ph {
		case 's':
			starts[key{e.Corr, e.Name, e.Cat}] = kineto.EventID(i)
		case 'f', 't':
			ends = append(ends, kineto.EventID(i))
		}
	}
	if len(starts) == 0 {
		return nil
	}
	lanes := lanesByToken(g)
	var out [][2]int32
	for _, end := range ends {
		e := &tr.Events[end]
		start, ok := starts[key{e.Corr, e.Name, e.Cat}]
		if !ok {
			continue
		}
		s := &tr.Events[start]
		from, to := around(g.Deps, lanes[s.Track], s.Start), around(g.Deps, lanes[e.Track], e.Start)
		if from != kineto.NoEvent && to != kineto.NoEvent && from != to {
			out = append(out, [2]int32{int32(from), int32(to)})
		}
	}
	return out
}

// lanesByToken gives for each track the lanes that share its pid and tid: flows may stand on a row of their own.
func lanesByToken(g *cdg.Graph) [][]cdg.LaneID {
	type row struct{ pid, tid int64 }
	tr := g.Trace
	number := func(t kineto.Token) int64 {
		if t.IsNum {
			return t.Num
		}
		return -1 - int64(t.Raw)<<32 // no number that a file writes
	}
	of := func(t kineto.TrackID) row {
		return row{number(tr.Procs[tr.Tracks[t].Proc].PID), number(tr.Tracks[t].TID)}
	}
	lanes := map[row][]cdg.LaneID{}
	for l := range g.Deps.Lanes {
		r := of(g.Deps.Lanes[l].Track)
		lanes[r] = append(lanes[r], cdg.LaneID(l))
	}
	out := make([][]cdg.LaneID, len(tr.Tracks))
	for t := range out {
		out[t] = lanes[of(kineto.TrackID(t))]
	}
	return out
}

// around is the innermost activity of the lanes that covers t, ends included.
func around(d *cdg.Deps, lanes []cdg.LaneID, t int64) kineto.EventID {
	for _, l := range lanes {
		first := d.Lanes[l].First
		acts := d.Acts[first:d.Lanes[l].Limit]
		a := first + cdg.ActID(sort.Search(len(acts), func(i int) bool { return acts[i].Start > t })) - 1
		if a < first {
			continue
		}
		for ; a != cdg.NoAct; a = d.Parent[a] {
			if d.Acts[a].End >= t {
				return d.Acts[a].Event
			}
		}
	}
	return kineto.NoEvent
}

package trace

import (
	"cmp"
	"slices"
)

// Pair joins the begins (B, b, S) among some events of one thread or row with their ends (E, e, F), and calls joined for each pair; -1
// stands for what is missing. ids are in order of time, then of the input; the order of two of one time may change.
//
// An end closes the innermost open begin of its name, or the innermost of all where it has no name or one that is not
// open. Begins and ends of one time stamp may stand in any order in the file: an end whose begin follows waits.
func Pair(events []Event, ids []int32, joined func(begin, end int32)) {
	var open []int32
	for i := 0; i < len(ids); i++ {
		id := ids[i]
		e := &events[id]
		switch e.Ph {
		case 'B', 'b', 'S':
			open = append(open, id)
			continue
		case 'E', 'e', 'F':
		default:
			continue
		}
		k := len(open) - 1
		if e.Name != 0 {
			for k >= 0 && events[open[k]].Name != e.Name {
				k--
			}
			if k < 0 {
				if j := laterBegin(events, ids, i); j > 0 {
					copy(ids[i:j], ids[i+1:j+1])
					ids[j] = id
					i--
					continue
				}
				k = len(open) - 1
			}
		}
		if k < 0 {
			joined(-1, id)
			continue
		}
		b := open[k]
		open = slices.Delete(open, k, k+1)
		joined(b, id)
	}
	for _, b := range open {
		joined(b, -1)
	}
}

// laterBegin returns the place of a begin with the name and the time of the end at i, behind it; 0 without.
func laterBegin(events []Event, ids []int32, i int) int {
	e := &events[ids[i]]
	for j := i + 1; j < len(ids); j++ {
		b := &events[ids[j]]
		if b.Start != e.Start {
			return 0
		}
		if b.Name == e.Name && (b.Ph == 'B' || b.Ph == 'b' || b.Ph == 'S') {
			return j
		}
	}
	return 0
}

// ByThread orders events by thread, then by time, and calls use for those of each thread. Events of one thread may lie on
// several tracks, by their categories: an end often has none. All of them have to be on a track.
func (t *Trace) ByThread(ids []int32, use func(ids []int32)) {
	if len(ids) == 0 {
		return
	}
	type thread struct {
		proc ProcID
		tid  Token
	}
	first := map[thread]int32{}
	of := make([]int32, len(t.Tracks)) // the first track of the same thread
	for i := range t.Tracks {
		k := &t.Tracks[i]
		key := thread{k.Proc, k.TID.Key()}
		if _, ok := first[key]; !ok {
			first[key] = int32(i)
		}
		of[i] = first[key]
	}
	slices.SortStableFunc(ids, func(a, b int32) int {
		x, y := &t.Events[a], &t.Events[b]
		return cmp.Or(cmp.Compare(of[x.Track], of[y.Track]), cmp.Compare(x.Start, y.Start))
	})
	for len(ids) > 0 {
		n := 1
		for n < len(ids) && of[t.Events[ids[n]].Track] == of[t.Events[ids[0]].Track] {
			n++
		}
		use(ids[:n])
		ids = ids[n:]
	}
}

package cdg

import (
	"sort"

	"overlay/internal/trace"
)

const (
	longWait     = 20 * us  // a wait of a thread of which somebody may know the end
	resumed      = 100 * us // at most so long after the work of another that ended its wait a thread goes on
	repeats      = 4        // times that a thread must have gone on after another to say that this one ends its waits
	repeatShare  = 0.75     // of the ends of the other's work, or of the thread's waits
	chanceRepeat = 0.25     // of them at most that chance would bring
)

var repeatsRule = rule{name: "ends that repeat", find: func(b *builder) { pairer{b}.learnEnders() }}

// learnEnders finds threads that end waits of others though the two do not take turns: both work at once, or one does too
// little to tell. Where a thread stops working, the other goes on soon after, time and again, more often than chance would
// have it. A server's thread that waits for results and hands them on is one.
func (b pairer) learnEnders() {
	d := b.d
	b.enders = make([][]LaneID, len(d.Lanes))
	of := map[trace.ProcID][]LaneID{}
	for l := range d.Lanes {
		if t := &b.threads[l]; !d.Lanes[l].Stream && t.ops > 0 && len(t.busy) >= repeats {
			of[d.Lanes[l].Proc] = append(of[d.Lanes[l].Proc], LaneID(l))
		}
	}
	for _, lanes := range of {
		if len(lanes) < 2 || len(lanes) > manyThreads {
			continue
		}
		ends := make([][]int64, len(lanes))
		for i, l := range lanes {
			ends[i] = b.worksUntil(l)
		}
		for _, x := range lanes {
			goesOn := b.goesOn(x)
			for i, y := range lanes {
				if x != y && endsWaits(goesOn, ends[i], &b.threads[x], &b.threads[y]) {
					b.enders[x] = append(b.enders[x], y)
				}
			}
		}
	}
}

// worksUntil returns when a thread stops working, if only to take what is next in a queue.
func (b pairer) worksUntil(l LaneID) (ends []int64) {
	busy := b.threads[l].busy
	for i := range busy {
		if i+1 == len(busy) || busy[i+1].Start-busy[i].End > handoffGap {
			ends = append(ends, busy[i].End)
		}
	}
	return ends
}

// goesOn returns when a thread goes on after what may have been a long wait.
func (b pairer) goesOn(l LaneID) (at []int64) {
	d := b.d
	for i := int(d.PieceFirst[l]); i+1 < int(d.PieceFirst[l+1]); i++ {
		if d.Pieces[i+1].Start-d.Pieces[i].Start >= longWait && d.waits(l, i) && (d.Pieces[i].Owner == NoAct || !d.blocks(d.Pieces[i].Owner)) {
			at = append(at, d.Pieces[i+1].Start)
		}
	}
	return at
}

// endsWaits reports whether a thread goes on at such times because another's work ended.
func endsWaits(goesOn, ends []int64, x, y *threadInfo) bool {
	if len(goesOn) < repeats || len(ends) < repeats {
		return false
	}
	from, to := max(x.busy[0].Start, y.busy[0].Start), min(x.busy[len(x.busy)-1].End, y.busy[len(y.busy)-1].End)
	follow := func(list, marks []int64, before, after int64) bool {
		hits, n := 0, 0
		for _, t := range list {
			if t < from || t > to+resumed {
				continue
			}
			n++
			if i := sort.Search(len(marks), func(i int) bool { return marks[i] >= t-before }); i < len(marks) && marks[i] <= t+after {
				hits++
			}
		}
		lo, hi := sort.Search(len(marks), func(i int) bool { return marks[i] >= from }), sort.Search(len(marks), func(i int) bool { return marks[i] > to })
		chance := float64(hi-lo) * float64(resumed) / float64(max(1, to-from))
		return hits >= repeats && float64(hits) >= repeatShare*float64(n) && chance <= chanceRepeat
	}
	return follow(ends, goesOn, 0, resumed) || follow(goesOn, ends, resumed, 0)
}

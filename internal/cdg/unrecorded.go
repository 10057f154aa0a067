package cdg

import (
	"sort"

	"overlay/internal/vendors"
)

// followers is how many operations behind one that started late are looked at.
const followers = 4

var unrecordedRule = rule{name: "unrecorded work", find: func(b *builder) { unrecorded{b}.find() }}

type unrecorded struct{ *builder }

// find finds operations that started long after everything known had released them because their stream was
// still busy with work of which there is no record: launched before recording began, or lost while calls were kept. What
// tells it from a wait for something else is that the next operations had queued up behind and followed at once.
func (b unrecorded) find() {
	d, cal := b.d, &b.d.Delays
	slack := max(20*us, 10*cal.Kernel.Min)
	known := make([]bool, len(d.Acts)) // something that was found says what held it
	for i := range b.found {
		f := &b.found[i]
		known[f.to] = known[f.to] || f.Rule == EventWait || f.Rule == GraphOrder || f.Rule == Launch && f.Evidence == ByAlignment
	}
	b.behind = map[ActID]ActID{}
	var lost map[LaneID][]ActID
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if !lane.Stream {
			continue
		}
		for k := lane.First; k < lane.Limit; k++ {
			call, p, start := b.launch[k], b.pred[k], d.Acts[k].Start
			if known[k] || b.graph[k] || p != NoAct && start <= d.Acts[p].End+slack || call != NoAct && start <= d.Acts[call].End+cal.Launch.Min+slack {
				continue
			}
			if call == NoAct && p != NoAct || !b.queuedBehind(k) || b.endedNear(k) {
				continue
			}
			if call != NoAct {
				if lost == nil {
					lost = b.lostLaunches()
				}
				if c := b.lostBefore(lost[d.Acts[call].Lane], k); c != NoAct {
					if p != NoAct && d.Acts[p].End >= d.Acts[c].Start {
						c = p
					} else {
						b.add(k, c, Launch, ByAlignment)
					}
					b.behind[k] = c
					continue
				}
			}
			if p == NoAct && !b.ranBefore(k) {
				b.behind[k] = NoAct
			}
		}
	}
}

// queuedBehind reports whether the operations that follow on the stream had been launched when k started, and followed
// without a gap.
func (b unrecorded) queuedBehind(k ActID) bool {
	d := b.d
	n := 0
	end := d.Acts[k].End
	for a := k + 1; a < d.Lanes[d.Acts[k].Lane].Limit && n < followers; a++ {
		if l := b.launch[a]; l != NoAct && d.Acts[l].End > d.Acts[k].Start {
			break
		}
		if d.Acts[a].Start > end+max(20*us, 10*d.Delays.Kernel.Min) {
			return false
		}
		end = max(end, d.Acts[a].End)
		n++
	}
	return n > 0
}

// endedNear reports whether an operation of another stream ended so shortly before k started that k may have waited for it.
func (b unrecorded) endedNear(k ActID) bool {
	d := b.d
	start := d.Acts[k].Start
	lo, hi := b.endsIn(start-30*us, start+b.clockGrain)
	for _, x := range b.byEnd[lo:hi] {
		if d.Acts[x].Lane != d.Acts[k].Lane && d.Acts[x].End > d.Acts[x].Start && b.sameProcess(d.Acts[x].Lane, d.Acts[k].Lane) {
			return true
		}
	}
	return false
}

// lostLaunches returns the launch calls without an operation, by thread and in order of time.
func (b unrecorded) lostLaunches() map[LaneID][]ActID {
	d := b.d
	isLaunch := matchSyms(b.tr, func(s string) bool { return vendors.VerbOf(s).Launches() })
	lost := map[LaneID][]ActID{}
	for l := range d.Lanes {
		if len(b.threads[l].launches) == 0 {
			continue
		}
		for a := d.Lanes[l].First; a < d.Lanes[l].Limit; a++ {
			if e := b.event(a); e.Kind.Call() && isLaunch[e.Name] && b.ofCall[a] == NoAct {
				lost[LaneID(l)] = append(lost[LaneID(l)], a)
			}
		}
	}
	return lost
}

// lostBefore returns the first of the launch calls without an operation after the launch that is recorded before that
// of k on its stream, NoAct if there is none.
func (b unrecorded) lostBefore(lost []ActID, k ActID) ActID {
	d := b.d
	i := 0
	if n := b.pos[k]; n > 0 {
		before := b.launch[b.order[d.Acts[k].Lane][n-1]]
		i = sort.Search(len(lost), func(i int) bool { return b.callLess(before, lost[i]) })
	}
	if i == len(lost) || !b.callLess(lost[i], b.launch[k]) {
		return NoAct
	}
	return lost[i]
}

// ranBefore reports whether the stream of the first operation in the window ran anything before the window.
func (b unrecorded) ranBefore(k ActID) bool {
	first := b.event(k)
	for i := range b.tr.Events {
		if e := &b.tr.Events[i]; e.Kind.Device() && e.Ph == 'X' && e.Track == first.Track && e.Start < first.Start {
			return true
		}
	}
	return false
}

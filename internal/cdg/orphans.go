package cdg

import "overlay/internal/vendors"

// assumeLaunches looks for what launched operations without a recorded launch, where nothing else explains their
// start: a launch call without a recorded operation, else the op that a launching thread was in one launch latency
// before.
func (b *builder) assumeLaunches() {
	d, cal := b.d, &b.d.Delays
	held := make([]bool, len(d.Acts))
	for i := range b.found {
		f := &b.found[i]
		held[f.to] = held[f.to] || f.Rule == EventWait || f.Rule == GraphOrder
	}
	isLaunch := matchSyms(b.tr, func(s string) bool { return vendors.VerbOf(s).Launches() })
	var launchers []LaneID
	for l := range d.Lanes {
		if len(b.threads[l].launches) > 0 {
			launchers = append(launchers, LaneID(l))
		}
	}
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if !lane.Stream {
			continue
		}
		last := NoLane
		for k := lane.First; k < lane.Limit; k++ {
			if b.launch[k] != NoAct {
				last = d.Acts[b.launch[k]].Lane
				continue
			}
			if p := b.pred[k]; held[k] || p != NoAct && d.Acts[k].Start <= d.Acts[p].End+max(20*us, 10*cal.Kernel.Min) {
				continue
			}
			if c := b.assumeLaunch(k, last, launchers, isLaunch); c != NoAct {
				b.add(k, c, Launch, ByAlignment)
			}
		}
	}
}

// assumeLaunch prefers an unused launch call of any thread, then an op of the thread that launched last on the stream.
func (b *builder) assumeLaunch(k ActID, last LaneID, launchers []LaneID, isLaunch []bool) ActID {
	d := b.d
	start := d.Acts[k].Start
	call, op := NoAct, NoAct
	for _, t := range launchers {
		if !b.sameProcess(t, d.Acts[k].Lane) {
			continue
		}
		i := d.PieceAt(t, start-d.Delays.Launch.Min)
		if i < 0 {
			continue
		}
		for j := i; j >= int(d.PieceFirst[t]) && d.Pieces[j].Start >= start-d.Delays.Launch.Max; j-- {
			c := d.Pieces[j].Owner
			if c != NoAct && b.event(c).Kind.Call() && b.ofCall[c] == NoAct && isLaunch[b.event(c).Name] {
				if call == NoAct || d.Acts[c].Start > d.Acts[call].Start {
					call = c
				}
				break
			}
		}
		if c := d.Pieces[i].Owner; c != NoAct && !b.event(c).Kind.Call() && !d.Marker(c) && (op == NoAct || t == last) {
			op = c
		}
	}
	if call != NoAct || b.pred[k] == NoAct {
		return call // the first operation of a stream was as likely launched before recording began
	}
	return op
}

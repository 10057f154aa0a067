package cdg

import (
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

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
	call, op, lacking := NoAct, NoAct, NoAct
	for _, t := range launchers {
		if !b.sameProcess(t, d.Acts[k].Lane) {
			continue
		}
		if x := b.lackingBefore(t, k); x != NoAct && (lacking == NoAct || d.Acts[x].End > d.Acts[lacking].End) {
			lacking = x
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
	switch {
	case call != NoAct:
		return call
	case lacking != NoAct:
		return lacking
	case b.pred[k] == NoAct:
		return NoAct // the first operation of a stream was as likely launched before recording began
	}
	return op
}

// lackingReach is how long before an operation the op that launched it may have ended.
const lackingReach = 20 * us

// lackingBefore returns the op of a thread that the stream of k is fed by which lacks a launch and went on last before k
// started.
func (b *builder) lackingBefore(t LaneID, k ActID) ActID {
	d := b.d
	if stream := d.Acts[k].Lane; len(b.order[stream]) > 0 && b.set[t] != b.set[stream] {
		return NoAct
	}
	start := d.Acts[k].Start
	for i := d.PieceAt(t, start); i >= int(d.PieceFirst[t]) && (i+1 == int(d.PieceFirst[t+1]) || d.Pieces[i+1].Start >= start-max(lackingReach, d.Delays.Launch.Max)); i-- {
		if a := d.Pieces[i].Owner; a != NoAct && b.event(a).Kind == trace.CPUOp && !d.Marker(a) && b.lacksLaunch(a) {
			return a
		}
	}
	return NoAct
}

// opLaunches says which ops launched something, and how many of a name did.
type opLaunches struct {
	holds       []bool  // per activity: a launch lies in it
	total, with []int32 // per symbol: ops of that name, and those that hold a launch
}

// lacksLaunch reports whether an op holds no launch though others of its name do, and at least four in five of them.
func (b *builder) lacksLaunch(op ActID) bool {
	d, o := b.d, &b.opLaunches
	if o.holds == nil {
		o.holds, o.total, o.with = make([]bool, len(d.Acts)), make([]int32, len(b.tr.Syms)), make([]int32, len(b.tr.Syms))
		for l := range b.threads {
			for _, c := range b.threads[l].launches {
				for a := d.Parent[c]; a != NoAct && !o.holds[a]; a = d.Parent[a] {
					o.holds[a] = true
				}
			}
			if d.Lanes[l].Stream {
				continue
			}
			for a := d.Lanes[l].First; a < d.Lanes[l].Limit; a++ {
				if e := b.event(a); e.Kind == trace.CPUOp {
					o.total[e.Name]++
					if o.holds[a] {
						o.with[e.Name]++
					}
				}
			}
		}
	}
	name := b.event(op).Name
	return !o.holds[op] && o.with[name] > 0 && 5*o.with[name] >= 4*(o.total[name]-1)
}

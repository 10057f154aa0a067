package cdg

import (
	"sort"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// assumeLaunches looks for what launched operations without a recorded launch, where nothing else explains their
// start: a launch call without a recorded operation, else the op that a launching thread was in one launch latency
// before.
func (b *builder) assumeLaunches() {
	asks := b.unlaunched()
	if len(asks) == 0 {
		return
	}
	f := b.newLaunchFinder()
	calls := f.find(asks)
	for i := range asks {
		if calls[i] != NoAct {
			b.add(asks[i].op, calls[i], Launch, ByAlignment)
		}
	}
}

// launchAsk is an operation that asks for its launch.
type launchAsk struct {
	op    ActID
	last  LaneID // the thread that launched last on its stream
	waits bool   // it may have waited for another stream, by times alone: only an op that lacks its launch can be that
}

// heldBy says on what evidence an operation is known to have waited for another.
type heldBy uint8

const (
	heldByNothing heldBy = iota
	heldByTimes
	heldForSure
)

// unlaunched lists the operations, in order, of which neither the launch nor anything else is known that explains their
// start.
func (b *builder) unlaunched() []launchAsk {
	d, cal := b.d, &b.d.Delays
	held := make([]heldBy, len(d.Acts)-int(b.firstOp))
	odd := 5 * cal.Kernel.Min // a wait for another stream hardly takes longer
	if cal.Event.Samples >= enough {
		odd = cal.Event.Spread[14] * 13 / 10
	}
	for i := range b.found {
		if f := &b.found[i]; f.to >= b.firstOp && (f.Rule == EventWait || f.Rule == GraphOrder) {
			by := heldForSure
			if f.Rule == EventWait && f.Evidence == ByAlignment && d.Acts[f.to].Start-d.Acts[f.From].End > odd {
				by = heldByTimes
			}
			held[f.to-b.firstOp] = max(held[f.to-b.firstOp], by)
		}
	}
	var asks []launchAsk
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
			by := held[k-b.firstOp]
			if p := b.pred[k]; by == heldForSure || p != NoAct && d.Acts[k].Start <= d.Acts[p].End+max(20*us, 10*cal.Kernel.Min) {
				continue
			}
			asks = append(asks, launchAsk{k, last, by == heldByTimes})
		}
	}
	return asks
}

// launchFinder finds what threads did just before operations started.
type launchFinder struct {
	*builder
	launchers []LaneID  // the threads that launch
	unused    [][]int32 // per one of them: pieces of its launch calls without a recorded operation, ascending
}

func (b *builder) newLaunchFinder() *launchFinder {
	d := b.d
	f := &launchFinder{builder: b}
	isLaunch := matchSyms(b.tr, func(s string) bool { return vendors.VerbOf(s).Launches() })
	for l := range d.Lanes {
		if len(b.threads[l].launches) == 0 {
			continue
		}
		var unused []int32
		for p := d.PieceFirst[l]; p < d.PieceFirst[l+1]; p++ {
			if c := d.Pieces[p].Owner; c != NoAct && b.ofCall[c] == NoAct && d.Call(c) && isLaunch[b.event(c).Name] {
				unused = append(unused, p)
			}
		}
		f.launchers, f.unused = append(f.launchers, LaneID(l)), append(f.unused, unused)
	}
	return f
}

// fewLaunchers are asked one by one for each operation.
const fewLaunchers = 16

// find returns for each of the operations what launched it, or NoAct.
func (f *launchFinder) find(asks []launchAsk) []ActID {
	few := len(f.launchers) <= fewLaunchers
	var out []ActID
	if few {
		out = f.oneByOne(asks)
	} else {
		out = f.sweep(asks)
	}
	for i, ask := range asks {
		if ask.waits {
			out[i] = NoAct
		} else if out[i] != NoAct && f.d.Call(out[i]) {
			continue
		}
		threads := f.launchers
		if !few {
			if threads = nil; ask.last != NoLane {
				threads = []LaneID{ask.last}
			}
		}
		lacking := NoAct
		for _, t := range threads {
			if x := f.lackingBefore(t, ask.op); x != NoAct && (lacking == NoAct || f.d.Acts[x].End > f.d.Acts[lacking].End) {
				lacking = x
			}
		}
		if lacking != NoAct {
			out[i] = lacking
		}
	}
	return out
}

// lackingReach is how long before an operation the op that launched it may have ended.
const lackingReach = 20 * us

// lackingBefore returns the op of a thread that the stream of k is fed by which lacks a launch and went on last before k
// started; a copy is launched by an op whose name says that it copies, too, where that holds no launch.
func (b *builder) lackingBefore(t LaneID, k ActID) ActID {
	d := b.d
	if stream := d.Acts[k].Lane; !b.sameProcess(t, stream) || len(b.order[stream]) > 0 && b.set[t] != b.set[stream] {
		return NoAct
	}
	start, copies := d.Acts[k].Start, b.event(k).Kind == trace.Memcpy
	for i := d.PieceAt(t, start); i >= int(d.PieceFirst[t]) && (i+1 == int(d.PieceFirst[t+1]) || d.Pieces[i+1].Start >= start-max(lackingReach, d.Delays.Launch.Max)); i-- {
		a := d.Pieces[i].Owner
		if a == NoAct || b.event(a).Kind != trace.CPUOp || d.Marker(a) || d.Acts[a].Start > start-d.Delays.Launch.Min {
			continue
		}
		if b.lacksLaunch(a) || copies && b.copiesByName(a) && !b.opLaunches.holds[a] {
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

// oneByOne looks at all threads for each operation.
func (f *launchFinder) oneByOne(asks []launchAsk) []ActID {
	d := f.d
	out := make([]ActID, len(asks))
	for i, ask := range asks {
		from, before := f.span(ask.op)
		call, op := NoAct, NoAct
		for x, t := range f.launchers {
			if !f.sameProcess(t, d.Acts[ask.op].Lane) {
				continue
			}
			unused := f.unused[x]
			n := sort.Search(len(unused), func(j int) bool { return d.Pieces[unused[j]].Start >= before })
			if n > 0 && d.Pieces[unused[n-1]].Start >= from {
				if c := d.Pieces[unused[n-1]].Owner; call == NoAct || f.laterCall(c, call) {
					call = c
				}
			}
			if p := d.PieceAt(t, before); p >= 0 && f.working(d.Pieces[p].Owner) && (op == NoAct || t == ask.last) {
				op = d.Pieces[p].Owner
			}
		}
		out[i] = f.choose(ask.op, call, op)
	}
	return out
}

// span is when the piece must have begun in which the launch of an operation was made: in [from, before).
func (f *launchFinder) span(op ActID) (from, before int64) {
	start, delay := f.d.Acts[op].Start, &f.d.Delays.Launch
	return start - delay.Max, start - delay.Min
}

// laterCall prefers the call that started later, of those that started together the one on the first thread.
func (f *launchFinder) laterCall(x, y ActID) bool {
	ax, ay := &f.d.Acts[x], &f.d.Acts[y]
	return ax.Start > ay.Start || ax.Start == ay.Start && ax.Lane < ay.Lane
}

// working reports whether the owner of a piece is an op.
func (f *launchFinder) working(owner ActID) bool {
	return owner != NoAct && !f.d.Call(owner) && !f.d.Marker(owner)
}

// choose prefers an unused launch call of any thread, then an op of the thread that launched last on the stream.
func (f *launchFinder) choose(k, call, op ActID) ActID {
	if call != NoAct || f.pred[k] == NoAct {
		return call // the first operation of a stream was as likely launched before recording began
	}
	return op
}

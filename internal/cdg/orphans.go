package cdg

import (
	"sort"

	"overlay/internal/vendors"
)

var lostLaunchesRule = rule{name: "lost launches", find: (*builder).assumeLaunches}

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
	op   ActID
	last LaneID // the thread that launched last on its stream
}

// unlaunched lists the operations, in order, of which neither the launch nor anything else is known that explains their
// start.
func (b *builder) unlaunched() []launchAsk {
	d, cal := b.d, &b.d.Delays
	held := make([]bool, len(d.Acts)-int(b.firstOp))
	for i := range b.found {
		if f := &b.found[i]; f.to >= b.firstOp && (f.Rule == EventWait || f.Rule == GraphOrder) {
			held[f.to-b.firstOp] = true
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
			if p := b.pred[k]; held[k-b.firstOp] || p != NoAct && d.Acts[k].Start <= d.Acts[p].End+max(20*us, 10*cal.Kernel.Min) {
				continue
			}
			asks = append(asks, launchAsk{k, last})
		}
	}
	return asks
}

// launchFinder finds what threads did just before operations started.
type launchFinder struct {
	*builder
	launchers []LaneID           // the threads that launch
	unused    map[LaneID][]int32 // of them: pieces of its launch calls without a recorded operation, ascending
}

func (b *builder) newLaunchFinder() *launchFinder {
	d := b.d
	f := &launchFinder{builder: b, unused: map[LaneID][]int32{}}
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
		f.launchers, f.unused[LaneID(l)] = append(f.launchers, LaneID(l)), unused
	}
	return f
}

// fewLaunchers are all asked for each operation; of more, the one that launched last on its stream.
const fewLaunchers = 16

// find returns for each of the operations what launched it, or NoAct.
func (f *launchFinder) find(asks []launchAsk) []ActID {
	out := make([]ActID, len(asks))
	for i, ask := range asks {
		threads := f.launchers
		if len(threads) > fewLaunchers {
			if threads = nil; ask.last != NoLane {
				threads = []LaneID{ask.last}
			}
		}
		out[i] = f.launched(ask, threads)
	}
	return out
}

// launched looks among threads for what launched an operation: an unused launch call of any of them, then an op of the
// thread that launched last on the stream.
func (f *launchFinder) launched(ask launchAsk, threads []LaneID) ActID {
	d, delay := f.d, &f.d.Delays.Launch
	from, before := d.Acts[ask.op].Start-delay.Max, d.Acts[ask.op].Start-delay.Min // when the piece began in which the launch was made
	call, op := NoAct, NoAct
	for _, t := range threads {
		if !f.sameProcess(t, d.Acts[ask.op].Lane) {
			continue
		}
		unused := f.unused[t]
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
	if call != NoAct || f.pred[ask.op] == NoAct {
		return call // the first operation of a stream was as likely launched before recording began
	}
	return op
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

package cdg

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"overlay/internal/par"
)

// Holds returns what blocking calls would wait for, sorted by (Call, Op), without repetition: a device synchronisation
// for what was put last on every stream, a stream synchronisation for its stream, an event synchronisation for what was
// put on the stream before the record of its event, and whatever is known that a call did wait for. What contradicts
// the recording, an operation that ends after the call, is left out. The stream or event is that of the call's
// cuda_sync record; without one, the stream on which the thread launched last, the event that it recorded last.
func (g *Graph) Holds() []Hold { return g.holds }

// holdsBeside finds the holds while threads are bound: what the rules know of calls and streams is at hand then, and of waits
// it needs those of activities alone. The returned function waits for its end. What it counts the rules have counted before.
func (b *builder) holdsBeside() (wait func()) {
	x, f, d := *b, *b.facts, *b.d
	x.facts, f.d, f.quality = &f, &d, map[string]int{}
	found := par.Beside(func() { d.holds = holder{&x}.findHolds() })
	return func() {
		found()
		b.d.holds = d.holds
	}
}

type holder struct{ *builder }

func (b holder) findHolds() []Hold {
	d := b.d
	var holds []Hold
	var syncs []ActID // of devices
	add := func(c, op ActID) {
		if op != NoAct && d.Acts[op].End <= d.Acts[c].End && d.Acts[op].Start < d.Acts[c].End {
			holds = append(holds, Hold{c, op})
		}
	}
	for c := range b.firstOp {
		for _, w := range d.Sources(c) {
			if w.Rule == Sync {
				add(c, w.From)
			}
		}
	}
	for _, c := range b.syncCalls {
		lanes, before := []LaneID(nil), c
		switch b.class(c) {
		case streamSync:
			lanes = b.synchronised(c)
		case eventSync:
			lanes, before = b.recordedFor(c)
		case deviceSync:
			syncs = append(syncs, c)
		}
		for _, s := range lanes {
			add(c, b.lastLaunchedBefore(s, before))
		}
	}
	b.deviceHolds(syncs, add)
	slices.SortFunc(holds, compareHolds)
	return slices.Clip(slices.Compact(holds))
}

func compareHolds(x, y Hold) int { return cmp.Or(cmp.Compare(x.Call, y.Call), cmp.Compare(x.Op, y.Op)) }

// synchronised returns the streams that a stream synchronisation waits for.
func (b holder) synchronised(c ActID) []LaneID {
	if r, ok := b.sync.of[c]; ok && r.stream >= 0 {
		return b.waitingLanes(c, r, -1)
	}
	if s := b.launchedLast(c); s != NoLane {
		return []LaneID{s}
	}
	return nil
}

// recordedFor returns on which streams the event of an event synchronisation was recorded, and by which call.
func (b holder) recordedFor(c ActID) ([]LaneID, ActID) {
	if r, ok := b.sync.of[c]; ok {
		if record, ok := b.recordOf(c, r); ok {
			lanes, _ := b.recordLanes(record, r)
			return lanes, record
		}
	}
	records := b.threads[b.d.Acts[c].Lane].records
	n := sort.Search(len(records), func(i int) bool { return !b.callLess(records[i], c) })
	if n == 0 {
		return nil, NoAct
	}
	if s := b.launchedLast(records[n-1]); s != NoLane {
		return []LaneID{s}, records[n-1]
	}
	return nil, NoAct
}

// syncsOf is a thread, and the device that its synchronisations wait for; unknownDevice for all of its process.
type syncsOf struct {
	thread LaneID
	device int64
}

const unknownDevice = math.MinInt64

// deviceHolds tells for what device synchronisations wait: for what was put last on every stream of the device, unless the
// thread has waited for that before. It goes along launches and synchronisations in the order of the calls, and keeps the
// streams in the order of their latest launch: only those are looked at on which something was put since the thread waited last.
func (b holder) deviceHolds(syncs []ActID, add func(c, op ActID)) {
	if len(syncs) == 0 {
		return
	}
	d := b.d
	var puts []ActID
	for l := range d.Lanes {
		puts = append(puts, b.order[l]...)
	}
	SortRuns(syncs, func(x, y *ActID) bool { return b.callLess(*x, *y) })
	SortRuns(puts, func(x, y *ActID) bool { return b.callLess(b.launch[*x], b.launch[*y]) })
	streams := newRecent(len(d.Lanes))
	since := map[syncsOf]int{}      // the number of puts when the thread waited last
	waited := map[[2]LaneID]ActID{} // by thread and stream: for what
	at := 0
	for _, c := range syncs {
		for ; at < len(puts) && b.callLess(b.launch[puts[at]], c); at++ {
			streams.use(d.Acts[puts[at]].Lane, at)
		}
		key := syncsOf{d.Acts[c].Lane, b.deviceOf(c)}
		streams.since(since[key], func(s LaneID) {
			if !b.sameProcess(s, key.thread) || key.device != unknownDevice && b.tr.Procs[d.Lanes[s].Proc].Device != key.device {
				return
			}
			if op := b.lastLaunchedBefore(s, c); op != NoAct && waited[[2]LaneID{key.thread, s}] != op+1 {
				waited[[2]LaneID{key.thread, s}] = op + 1
				add(c, op)
			}
		})
		since[key] = at
	}
}

// deviceOf is the device that a device synchronisation waits for: that of its record, where records tell devices apart,
// else that on which the thread launched last; unknownDevice without one.
func (b holder) deviceOf(c ActID) int64 {
	if r, ok := b.sync.of[c]; ok && b.sync.devices && r.device >= 0 {
		return r.device
	}
	if s := b.launchedLast(c); s != NoLane {
		return b.tr.Procs[b.d.Lanes[s].Proc].Device
	}
	return unknownDevice
}

// recent keeps lanes in the order in which they were used, the latest first: a list over places, that of lane l being l+1.
type recent struct {
	next, prev []int32 // place 0 is before the first and behind the last
	at         []int   // per lane: when
}

func newRecent(lanes int) *recent {
	return &recent{make([]int32, lanes+1), make([]int32, lanes+1), make([]int, lanes)}
}

// use puts a lane in front.
func (r *recent) use(l LaneID, at int) {
	r.at[l] = at
	i := int32(l) + 1
	if r.next[0] == i {
		return
	}
	if r.next[i] != 0 || r.prev[i] != 0 {
		r.next[r.prev[i]], r.prev[r.next[i]] = r.next[i], r.prev[i]
	}
	r.next[i], r.prev[i] = r.next[0], 0
	r.prev[r.next[0]] = i
	r.next[0] = i
}

// since visits the lanes that were used at a time or later.
func (r *recent) since(at int, visit func(LaneID)) {
	for i := r.next[0]; i != 0 && r.at[i-1] >= at; i = r.next[i] {
		visit(LaneID(i - 1))
	}
}

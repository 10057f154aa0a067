package cdg

import (
	"cmp"
	"slices"
	"sort"
)

// Hold says that a call does not return before an operation is over, by what the call means: whether the operation held
// it up in the recording, or was over long before.
type Hold struct{ Call, Op ActID }

// Holds returns what blocking calls would wait for, sorted by (Call, Op), without repetition: a device synchronisation
// for what was put last on every stream, a stream synchronisation for its stream, an event synchronisation for what was
// put on the stream before the record of its event, and whatever is known that a call did wait for. What contradicts
// the recording, an operation that ends after the call, is left out. The stream or event is that of the call's
// cuda_sync record; without one, the stream on which the thread launched last, the event that it recorded last.
func (g *Graph) Holds() []Hold {
	b := g.asBuilder()
	var holds []Hold
	add := func(c, op ActID) {
		if op != NoAct && g.Acts[op].End <= g.Acts[c].End && g.Acts[op].Start < g.Acts[c].End {
			holds = append(holds, Hold{c, op})
		}
	}
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		if lane.Stream {
			continue
		}
		device := map[LaneID]ActID{} // per stream: what a device synchronisation of this thread has waited for
		for c := lane.First; c < lane.Limit; c++ {
			for _, w := range g.Sources(c) {
				if w.Rule == Sync {
					add(c, w.From)
				}
			}
			lanes, before := []LaneID(nil), c
			switch b.class(c) {
			case streamSync:
				lanes = b.synchronised(c)
			case eventSync:
				lanes, before = b.recordedFor(c)
			case deviceSync:
				for _, s := range b.onDevice(c) {
					if op := b.lastLaunchedBefore(s, c); op != NoAct && device[s] != op+1 {
						device[s] = op + 1
						add(c, op)
					}
				}
			}
			for _, s := range lanes {
				add(c, b.lastLaunchedBefore(s, before))
			}
		}
	}
	order := func(x, y Hold) int { return cmp.Or(cmp.Compare(x.Call, y.Call), cmp.Compare(x.Op, y.Op)) }
	slices.SortFunc(holds, order)
	return slices.Compact(holds)
}

// asBuilder gives what the rules knew of calls and streams while the graph was made: it is found again where it is
// asked for, since few who have a graph need it. The graph stays as it is.
func (g *Graph) asBuilder() *builder {
	d, y := *g, *g.Layout
	y.Lanes = slices.Clone(y.Lanes)
	d.Layout = &y
	b := &builder{tr: g.Trace, o: &Options{}, d: &d, quality: map[string]int{}, clockGrain: g.ClockGrain, threads: g.threads}
	b.classifyCalls()
	b.linkStreams()
	b.readSyncRecords()
	return b
}

// synchronised returns the streams that a stream synchronisation waits for.
func (b *builder) synchronised(c ActID) []LaneID {
	if r, ok := b.sync.of[c]; ok && r.stream >= 0 {
		return b.waitingLanes(c, r, -1)
	}
	if s := b.launchedLast(c); s != NoLane {
		return []LaneID{s}
	}
	return nil
}

// recordedFor returns on which streams the event of an event synchronisation was recorded, and by which call.
func (b *builder) recordedFor(c ActID) ([]LaneID, ActID) {
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

// onDevice returns the streams of the device that a device synchronisation waits for: that of its record, where records
// tell devices apart, else that on which the thread launched last.
func (b *builder) onDevice(c ActID) []LaneID {
	d := b.d
	device, known := int64(0), false
	if r, ok := b.sync.of[c]; ok && b.sync.devices && r.device >= 0 {
		device, known = r.device, true
	} else if s := b.launchedLast(c); s != NoLane {
		device, known = b.tr.Procs[d.Lanes[s].Proc].Device, true
	}
	var lanes []LaneID
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if lane.Stream && b.sameProcess(LaneID(l), d.Acts[c].Lane) && (!known || b.tr.Procs[lane.Proc].Device == device) {
			lanes = append(lanes, LaneID(l))
		}
	}
	return lanes
}

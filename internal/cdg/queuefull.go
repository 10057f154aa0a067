package cdg

import (
	"slices"
	"sort"
)

const (
	hardQueue   = 1000    // operations that a stream of NVIDIA hardware holds, about 1,024, less some slack
	heldBacklog = 4       // operations that a stream has to hold before a launch is believed to wait for room
	heldLeast   = 10 * us // shorter launch calls are not looked at
	heldReturn  = 4 * us  // how long after an operation ended such a call returns, besides twice the usual launch
	heldProofs  = 3       // calls of a stream that have to look so
)

var fullQueuesRule = rule{name: "full queues", find: (*builder).fullQueues}

// fullQueues finds launch calls that waited for room in the queue of their stream: far longer than usual, with operations queued, and over
// when an operation of the stream ended. They are believed where most long launches of the stream look so. Where the stream held as many
// operations as the hardware does, a call waited for the queue; elsewhere nobody knows for what, and replays alone take its time for
// no work of its own.
func (b *builder) fullQueues() {
	d := b.d
	usual := d.Delays.Call
	for l := range d.Lanes {
		var order, ends []ActID // of single operations, by launch and by end
		for _, k := range b.order[l] {
			if !b.graph[k] {
				order = append(order, k)
			}
		}
		if len(order) <= heldBacklog {
			continue
		}
		for _, k := range b.endsOf[l] {
			if d.Acts[k].End > d.Acts[k].Start {
				ends = append(ends, k)
			}
		}
		endedBy := func(list []ActID, t int64) int {
			return sort.Search(len(list), func(i int) bool { return d.Acts[list[i]].End > t })
		}
		single := slices.DeleteFunc(slices.Clone(b.endsOf[l]), func(k ActID) bool { return b.launch[k] == NoAct || b.graph[k] })
		var held, full []Hold
		long := 0
		for i, k := range order {
			call := &d.Acts[b.launch[k]]
			if call.End-call.Start <= max(5*usual, heldLeast) {
				continue
			}
			backlog := i - endedBy(single, call.Start)
			if backlog < heldBacklog {
				continue
			}
			long++
			if n := endedBy(ends, call.End) - 1; n >= 0 && d.Acts[ends[n]].End > call.Start && call.End-d.Acts[ends[n]].End < 2*usual+heldReturn {
				if h := (Hold{b.launch[k], ends[n]}); backlog < hardQueue {
					held = append(held, h)
				} else {
					full = append(full, h)
				}
			}
		}
		if n := len(held) + len(full); n < heldProofs || 5*n < 3*long {
			continue
		}
		d.Held = append(d.Held, held...)
		for _, h := range full {
			b.add(h.Call, h.Op, QueueFull, ByAPI)
		}
	}
}

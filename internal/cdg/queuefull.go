package cdg

import (
	"slices"
	"sort"
)

const (
	hardQueue   = 1000 // operations that a stream of NVIDIA hardware holds, about 1,024, less some slack
	shortQueue  = 4    // the least limit that is believed when it is learned from the trace
	queueProofs = 3    // long launches at the same backlog that prove a learned limit
)

var fullQueuesRule = rule{name: "full queues", find: func(b *builder) { fullQueues{b}.find() }}

type fullQueues struct{ *builder }

// find finds launches that were held up because their stream's queue was full: they last much longer
// than most, start when the backlog is at its limit, and return when an operation of the stream ends. The limit is
// the largest backlog of the stream, believed when several long launches stop at it or when it is the hardware's.
func (b fullQueues) find() {
	d := b.d
	var orderBuf, endsBuf []ActID
	var backlog []int32
	var lasted []int64
	for l := range d.Lanes {
		if len(b.order[l]) <= shortQueue {
			continue
		}
		orderBuf, endsBuf = b.singles(b.order[l], orderBuf), b.singles(b.endsOf[l], endsBuf)
		order, ends := orderBuf, endsBuf
		if len(order) <= shortQueue {
			continue
		}
		endedBy := func(t int64) int {
			return sort.Search(len(ends), func(j int) bool { return d.Acts[ends[j]].End > t })
		}
		limit, ended := 0, 0
		backlog = backlog[:0]
		for i, k := range order { // by the start of their launches
			for start := d.Acts[b.launch[k]].Start; ended < len(ends) && d.Acts[ends[ended]].End <= start; {
				ended++
			}
			backlog = append(backlog, int32(i-ended))
			limit = max(limit, i-ended)
		}
		if limit < shortQueue {
			continue
		}
		var usual int64
		usual, lasted = b.usualLaunch(order, lasted)
		// An operation may end between the count and the call, so the largest backlog is the limit or one more than that.
		for _, least := range [...]int{limit, limit - 1} {
			var held []callWait
			atLimit := 0
			for i, k := range order {
				waiting := int(backlog[i])
				if waiting < least && waiting < hardQueue {
					continue
				}
				atLimit++
				call := &d.Acts[b.launch[k]]
				if call.End-call.Start < 10*us || waiting < limit && call.End-call.Start < 5*usual {
					continue
				}
				if n := endedBy(call.End); n > 0 {
					g := ends[n-1]
					if e := d.Acts[g].End; e > call.Start && call.End-e <= 50*us {
						held = append(held, callWait{b.launch[k], g, ByAPI})
					}
				}
			}
			if limit < hardQueue && (len(held) < queueProofs || 5*len(held) < 4*atLimit) {
				continue // a backlog that short calls reach is no limit
			}
			for _, w := range held {
				b.add(w.call, w.op, QueueFull, w.by)
			}
			break
		}
	}
}

// singles leaves out what graphs launched, which the queue counts otherwise, and what has no recorded launch. It
// writes over buf where that has the room.
func (b fullQueues) singles(ops, buf []ActID) []ActID {
	out := slices.Grow(buf[:0], len(ops))
	for _, a := range ops {
		if b.launch[a] != NoAct && !b.graph[a] {
			out = append(out, a)
		}
	}
	return out
}

// usualLaunch is how long launches last that nothing holds up: where the queue is always full they are few. It writes
// over buf, and returns it.
func (b fullQueues) usualLaunch(order []ActID, buf []int64) (int64, []int64) {
	lasted := slices.Grow(buf[:0], len(order))
	for _, k := range order {
		c := &b.d.Acts[b.launch[k]]
		lasted = append(lasted, c.End-c.Start)
	}
	return quantile(lasted, 0.1), lasted
}

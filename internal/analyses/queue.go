package analyses

import (
	"cmp"
	"slices"

	"overlay/internal/trace"
)

// StreamQueue is the queue of one stream over time.
type StreamQueue struct {
	Device      int64 `json:"device" unit:"id"`
	Stream      int64 `json:"stream" unit:"id"`
	Waiting     Stats `json:"waiting" unit:"count"`     // launched and not started (HTA's queue length), after each change
	Outstanding Stats `json:"outstanding" unit:"count"` // launched and not ended: what fills CUDA's queue of 1,024
	AtLimit     int64 `json:"at_limit_ns" unit:"ns" about:"time with as many outstanding operations as the limit"`
	WaitAtLimit int64 `json:"waiting_at_limit_ns" unit:"ns" about:"time with as many waiting operations as the limit"`
	Blocked     int   `json:"calls_that_blocked" unit:"count" about:"launches that began while the queue was full"`

	waiting, outstanding []change
}

// change is the length of a queue from a time on.
type change struct{ ts, n int64 }

// queue follows the queues of all streams (trace_counters.py, _get_queue_length_time_series_for_rank). Operations
// without a recorded launch are left out. At equal times launches come before starts and ends.
func queue(s *Set, o Options) []StreamQueue {
	o = o.withDefaults()
	out := make([]StreamQueue, 0, len(s.Streams))
	for i := range s.Streams {
		st := &s.Streams[i]
		q := StreamQueue{Device: st.Device, Stream: st.Stream}
		q.waiting = series(s, st.Ops, func(op *Op) int64 { return op.Start })
		q.outstanding = series(s, st.Ops, func(op *Op) int64 { return op.End })
		if len(q.waiting) == 0 {
			continue
		}
		q.Waiting, q.Outstanding = lengths(q.waiting), lengths(q.outstanding)
		q.AtLimit, q.WaitAtLimit = timeAt(q.outstanding, o.QueueLimit), timeAt(q.waiting, o.QueueLimit)
		q.Blocked = blocked(s, st.Ops, q.outstanding, o.QueueLimit)
		out = append(out, q)
	}
	return out
}

// series counts +1 at each launch's start and -1 at leave, in time order.
func series(s *Set, ops []int32, leave func(*Op) int64) []change {
	list := make([]change, 0, 2*len(ops))
	for _, id := range ops {
		if op := &s.Ops[id]; op.Launch != trace.NoEvent {
			list = append(list, change{op.LaunchStart, 1})
		}
	}
	for _, id := range ops {
		if op := &s.Ops[id]; op.Launch != trace.NoEvent {
			list = append(list, change{max(leave(op), op.LaunchStart), -1})
		}
	}
	slices.SortStableFunc(list, func(a, b change) int { return cmp.Or(cmp.Compare(a.ts, b.ts), cmp.Compare(b.n, a.n)) })
	n := int64(0)
	for i := range list {
		n += list[i].n
		list[i].n = n
	}
	return list
}

func lengths(list []change) Stats {
	v := make([]int64, len(list))
	for i := range list {
		v[i] = list[i].n
	}
	return Describe(v)
}

func timeAt(list []change, limit int64) int64 {
	var t int64
	for i := 0; i+1 < len(list); i++ {
		if list[i].n >= limit {
			t += list[i+1].ts - list[i].ts
		}
	}
	return t
}

// blocked counts the launches that began while limit operations were outstanding.
func blocked(s *Set, ops []int32, outstanding []change, limit int64) int {
	n := 0
	for _, id := range ops {
		op := &s.Ops[id]
		if op.Launch == trace.NoEvent {
			continue
		}
		at, _ := slices.BinarySearchFunc(outstanding, op.LaunchStart, func(c change, t int64) int { return cmp.Compare(c.ts, t) })
		if at > 0 && outstanding[at-1].n >= limit {
			n++
		}
	}
	return n
}

package memory

import (
	"cmp"
	"fmt"
	"slices"

	"overlay/internal/trace"
)

// Snapshot is what PyTorch's allocator of GPUs has told of itself: by device, in order of time.
type Snapshot struct{ Devices []Recorded }

// Recorded is one device: what it holds when the snapshot is taken, and what changed before.
type Recorded struct {
	Allocated, Reserved int64 // bytes
	Changes             []Change
}

// Change is a block that was allocated or freed, or a segment that was taken from the driver or given back.
type Change struct {
	At              int64 // Unix time, ns
	Addr            int64
	Bytes, Reserved int64  // below 0 of what is freed and given back
	Line            string // Python frame of the user's code that allocated; "" where none was recorded
}

// aroundEvent is how far the clocks of the profiler and of the allocator may be apart, ns.
const aroundEvent = 1_000_000

// join puts the records of a snapshot in place of those that the trace has of the same devices. An allocation that both recorded keeps the
// event of the trace, which says what allocated. Levels go back from what the snapshot holds at its end.
func (s *Snapshot) join(tr *trace.Trace, own []record) (list []record) {
	type place struct {
		device string
		addr   int64
	}
	seen := map[place][]*record{}
	for i := range own {
		if r := &own[i]; r.placed && r.bytes > 0 {
			seen[place{r.device, r.addr}] = append(seen[place{r.device, r.addr}], r)
		}
	}
	told := map[string]bool{}
	for i, d := range s.Devices {
		name := fmt.Sprint("GPU ", i)
		told[name] = len(d.Changes) > 0
		level, drawn, from := d.Allocated, d.Reserved, len(list)
		for _, c := range slices.Backward(d.Changes) {
			r := record{at: c.At, event: trace.NoEvent, device: name, addr: c.Addr, bytes: c.Bytes, level: level, drawn: drawn, placed: c.Bytes != 0, told: true, line: c.Line}
			if tr.HasBase {
				r.at -= tr.Base
			}
			level, drawn = level-c.Bytes, drawn-c.Reserved
			for _, o := range seen[place{name, c.Addr}] {
				if c.Bytes > 0 && o.at >= r.at-aroundEvent && o.at <= r.at+aroundEvent {
					r.event = o.event
				}
			}
			list = append(list, r)
		}
		slices.Reverse(list[from:])
	}
	list = append(list, slices.DeleteFunc(own, func(r record) bool { return told[r.device] })...)
	slices.SortStableFunc(list, func(a, b record) int { return cmp.Compare(a.at, b.at) })
	return list
}

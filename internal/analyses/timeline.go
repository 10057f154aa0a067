package analyses

import (
	"cmp"
	"slices"

	"overlay/internal/trace"
)

// DeviceTimeline is what one device did over time: the window cut into slots of equal length.
type DeviceTimeline struct {
	Device int64  `json:"device" unit:"id" key:"yes"`
	Slots  []Slot `json:"slots" about:"what a device did over time, in slots of equal length"`
}

// Slot is a stretch of the window. Its first three times do not overlap: where several kinds run at once the first one
// wins.
type Slot struct {
	Start         int64 `json:"start_ns" unit:"time"`
	Duration      int64 `json:"duration_ns" unit:"ns"`
	Computation   int64 `json:"computation_ns" unit:"ns"`
	Communication int64 `json:"communication_ns" unit:"ns"`
	Copies        int64 `json:"copies_ns" unit:"ns"`
	Hidden        int64 `json:"hidden_communication_ns" unit:"ns" about:"communication that runs beside computation, which counts as that"`
	Outstanding   int64 `json:"outstanding_max" unit:"count" about:"most operations at once that were launched and had not ended"`
}

// timelineSlots is how many slots a window has: as many as a page can show side by side.
const timelineSlots = 200

// timeline splits the time of each device as temporal does, slot by slot, and follows its queues as queue does.
func timeline(s *Set, _ Options) []DeviceTimeline {
	var out []DeviceTimeline
	s.devices(func(device int64, ops []Op) {
		t := DeviceTimeline{Device: device, Slots: s.slots()}
		comp := ofTypes(ops, 1<<Computation)
		work := ofTypes(ops, 1<<Computation|1<<CommunicationType)
		all := ofTypes(ops, 1<<numTypes-1)
		share(t.Slots, comp, func(p *Slot, ns int64) { p.Computation, p.Communication = p.Computation+ns, p.Communication-ns })
		share(t.Slots, work, func(p *Slot, ns int64) { p.Communication, p.Copies = p.Communication+ns, p.Copies-ns })
		share(t.Slots, intersect(comp, ofTypes(ops, 1<<CommunicationType)), func(p *Slot, ns int64) { p.Hidden += ns })
		share(t.Slots, all, func(p *Slot, ns int64) { p.Copies += ns })
		outstanding(t.Slots, ops)
		out = append(out, t)
	})
	return out
}

// slots cuts the window.
func (s *Set) slots() []Slot {
	d := s.End - s.Start
	n := min(timelineSlots, max(d, 1))
	out := make([]Slot, n)
	for i := range out {
		from, to := s.Start+d*int64(i)/n, s.Start+d*int64(i+1)/n
		out[i].Start, out[i].Duration = from, to-from
	}
	return out
}

// share gives each slot its part of a union of intervals.
func share(slots []Slot, list []Interval, add func(p *Slot, ns int64)) {
	i := 0
	for _, v := range list {
		for i > 0 && slots[i].Start > v.Start {
			i--
		}
		for ; i < len(slots); i++ {
			p := &slots[i]
			if ns := min(v.End, p.Start+p.Duration) - max(v.Start, p.Start); ns > 0 {
				add(p, ns)
			}
			if v.End <= p.Start+p.Duration {
				break
			}
		}
		i = min(i, len(slots)-1)
	}
}

// outstanding finds the longest queue of each slot. At equal times launches come before ends.
func outstanding(slots []Slot, ops []Op) {
	var list []change
	for i := range ops {
		if op := &ops[i]; op.Launch != trace.NoEvent {
			list = append(list, change{op.LaunchStart, 1}, change{max(op.End, op.LaunchStart), -1})
		}
	}
	slices.SortFunc(list, func(a, b change) int { return cmp.Or(cmp.Compare(a.ts, b.ts), cmp.Compare(b.n, a.n)) })
	var n int64
	next := 0
	for i := range slots {
		p := &slots[i]
		for ; next < len(list) && list[next].ts < p.Start; next++ {
			n += list[next].n
		}
		p.Outstanding = n
		for end := p.Start + p.Duration; next < len(list) && list[next].ts < end; next++ {
			n += list[next].n
			p.Outstanding = max(p.Outstanding, n)
		}
	}
}

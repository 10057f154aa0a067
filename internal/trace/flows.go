package trace

// IsFlow reports whether a phase letter is that of a flow event.
func IsFlow(ph byte) bool { return ph == 's' || ph == 't' || ph == 'f' }

// FlowSlots is a hash table of flows with open addressing: the flow events that share id, name and category have one
// slot.
type FlowSlots struct {
	of   *Trace
	Flow []int32 // per slot: 1 + an event of the flow, 0 when free
}

// NewFlowSlots makes room for n flows of a trace.
func NewFlowSlots(t *Trace, n int) FlowSlots {
	size := 2
	for size < 2*n {
		size *= 2
	}
	return FlowSlots{t, make([]int32, size)}
}

// Slot is the slot of the flow of an event: a free one when the flow is new. Profilers count their ids up, so 16 that
// follow each other lie together: their slots are 64 bytes.
func (t *FlowSlots) Slot(id int32) int {
	e := &t.of.Events[id]
	corr := t.of.Corr(e)
	h := (uint64(corr)>>4*0x9E3779B97F4A7C15 ^ uint64(e.Name)<<16 ^ uint64(e.Cat)) * 0x9E3779B97F4A7C15
	mask := uint64(len(t.Flow) - 1)
	for slot := (h>>32<<4 | uint64(corr)&15) & mask; ; slot = (slot + 1) & mask {
		if t.Flow[slot] == 0 {
			return int(slot)
		}
		if o := &t.of.Events[t.Flow[slot]-1]; t.of.Corr(o) == corr && o.Name == e.Name && o.Cat == e.Cat {
			return int(slot)
		}
	}
}

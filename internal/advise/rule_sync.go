package advise

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// The rules about single waits.
const (
	byPythonCondition = "sync-python-condition"
	byItem            = "sync-item"
	byDynamicSize     = "sync-dynamic-size"
	byHostTensor      = "sync-host-tensor"
	byCopy            = "sync-copy"
	byEvent           = "sync-event"
	byExplicit        = "sync-explicit"
	byOther           = "sync-other"
)

// syncCauses tells what made a call wait: the first of the list around it. Operators that wait contain others that do, as
// aten::is_nonzero contains aten::item; then the one that stands first here is what the user wrote.
var syncCauses = []struct {
	id  string
	ops []string
}{
	{byPythonCondition, []string{"aten::is_nonzero"}},
	{byItem, []string{"aten::item", "aten::_local_scalar_dense"}},
	{byDynamicSize, []string{"aten::nonzero", "aten::masked_select", "aten::_unique2", "aten::unique_dim", "aten::unique_consecutive", "aten::repeat_interleave", "aten::bincount"}},
}

// causeOf is the id of the rule that a wait belongs to.
func (r *run) causeOf(w *wait) string {
	var names []string
	r.around(w.call, func(_ cdg.ActID, name string) bool { names = append(names, name); return true })
	for _, c := range syncCauses {
		if slices.ContainsFunc(names, func(s string) bool { return slices.Contains(c.ops, s) }) {
			return c.id
		}
	}
	verb := r.verb(w.call)
	copies := verb == vendors.AsyncCopy || verb == vendors.BlockingCopy
	switch {
	case r.kind(w.for_) == trace.Memcpy && toDevice(r.name(w.for_)) && (copies || verb == vendors.StreamSync) && len(names) > 0 && slices.Contains(tensorMakers, names[0]):
		return byHostTensor
	case copies:
		return byCopy
	case verb == vendors.EventSync:
		return byEvent
	case len(names) == 0 && (verb == vendors.DeviceSync || verb == vendors.StreamSync):
		return byExplicit
	}
	return byOther
}

// waitsOf lists the waits of one cause.
func (r *run) waitsOf(id string) []wait {
	if r.byCause == nil {
		r.byCause = map[string][]wait{}
		for i := range r.waits {
			c := r.causeOf(&r.waits[i])
			r.byCause[c] = append(r.byCause[c], r.waits[i])
		}
	}
	return r.byCause[id]
}

// waiting is what all rules about waits find: how often, how long, and where.
func (r *run) waiting(list []wait, do string) *found {
	if len(list) == 0 {
		return nil
	}
	f := &found{change: r.scenario(), do: do}
	ns := int64(0)
	for _, w := range list {
		ns += w.ns
		f.events.list = append(f.events.list, w.call)
	}
	f.change.noWait(list)
	f.numbers = []Number{countOf("waits", len(list)), timeOf("waited", ns)}
	f.saw = tables.Counted(len(list), "wait")
	return f
}

const callsDoNotWait = "these calls return without waiting; what they wait for stays"

var _ = add(rule{
	id: byPythonCondition, group: Specific, class: critpath.ClassSync, kind: Predicted, level: Medium,
	why:      "aten::is_nonzero is around the waiting call",
	title:    "Python decides on a value that the GPU computes",
	cause:    "if, while, assert and bool() of a tensor wait until the GPU has computed it, and then nothing is queued",
	scenario: callsDoNotWait,
	action:   []string{"torch.where instead of if", "decide on the host from data that is there"},
	verify:   "aten::is_nonzero is gone",
	find: func(r *run) *found {
		return r.waiting(r.waitsOf(byPythonCondition), "torch.where instead of if on a tensor")
	},
})

var _ = add(rule{
	id: byItem, group: Specific, class: critpath.ClassSync, kind: Predicted, level: Medium,
	why:      "aten::item is around the waiting call",
	title:    "values are read back from the GPU one by one",
	cause:    ".item(), float(), .tolist() and printing wait until everything before them is computed, and then nothing is queued",
	scenario: callsDoNotWait,
	action:   []string{"keep the value on the GPU: loss_sum += loss.detach()", "read it every N steps"},
	verify:   "aten::item waits once in N steps",
	find: func(r *run) *found {
		return r.waiting(r.waitsOf(byItem), "keep values on the GPU, read them every N steps")
	},
})

var _ = add(rule{
	id: byDynamicSize, group: Specific, class: critpath.ClassSync, kind: Predicted, level: Medium,
	why:      "the operator around the waiting call has a result whose size only the GPU knows",
	title:    "sizes of tensors are computed on the GPU",
	cause:    "the CPU has to know how large the result of nonzero, unique or a mask as index is before it can go on",
	scenario: callsDoNotWait,
	action: []string{"torch.where or a multiplied mask instead of a mask as index", "nonzero_static(size=...), repeat_interleave(output_size=...)",
		"fixed sizes with padding"},
	verify: "aten::nonzero and its like are gone, or do not wait",
	find: func(r *run) *found {
		return r.waiting(r.waitsOf(byDynamicSize), "fixed sizes: torch.where instead of masks as index")
	},
})

var _ = add(rule{
	id: byHostTensor, group: Specific, class: critpath.ClassSync, kind: Predicted, level: Medium,
	why:      "the call waits for a copy to the device in an operator that makes tensors",
	title:    "tensors are made on the CPU and copied with a wait",
	cause:    "a copy of pageable memory returns when it is over, and so is what was queued before it",
	scenario: callsDoNotWait,
	action:   []string{"make them on the GPU: torch.tensor(..., device=\"cuda\") of few values, torch.arange, torch.zeros", "pin the memory, and .to(device, non_blocking=True)"},
	verify:   "no call waits for copies HtoD",
	find: func(r *run) *found {
		if copies, _ := r.smallToDevice(); len(copies) >= fewCopies {
			return nil // those are a finding of their own
		}
		return r.waiting(r.waitsOf(byHostTensor), "make tensors on the GPU, or pin their memory")
	},
})

var _ = add(rule{
	id: byExplicit, group: Specific, class: critpath.ClassSync, kind: Predicted, level: Medium,
	why:      "the call stands outside of every operator: the program asks for it",
	title:    "the program waits for the GPU in the middle of the run",
	cause:    "after synchronize() nothing is queued, and the GPU waits for the CPU",
	scenario: callsDoNotWait,
	action:   []string{"remove torch.cuda.synchronize()", "take times with torch.cuda.Event(enable_timing=True), and read them at the end"},
	verify:   "no synchronisation between the first and the last launch",
	find: func(r *run) *found {
		first, last := r.launches()
		var list []wait
		for _, w := range r.waitsOf(byExplicit) {
			if at := r.g.Acts[w.call].Start; at > first && at < last { // before and after it is the measurement that waits
				list = append(list, w)
			}
		}
		return r.waiting(list, "remove torch.cuda.synchronize(); time with events")
	},
})

// launches are the starts of the first and of the last call that launches.
func (r *run) launches() (first, last int64) {
	for _, o := range r.ops {
		if l := r.launch[o]; l != cdg.NoAct {
			at := r.g.Acts[l].Start
			if first == 0 || at < first {
				first = at
			}
			last = max(last, at)
		}
	}
	return first, last
}

// timingNear is how soon after it the elapsed time of an event that was waited for is read, ns.
const timingNear = 200_000

var _ = add(rule{
	id: byEvent, group: Specific, class: critpath.ClassSync, kind: Predicted, level: Medium,
	why:      "a call that waits for an event; what it is for cannot be seen",
	title:    "the CPU waits for events of the GPU",
	cause:    "Event.synchronize() stops the CPU, which then has nothing queued",
	scenario: callsDoNotWait,
	action:   []string{"stream.wait_event(event): the stream waits, not the CPU"},
	verify:   "no call waits for an event",
	find: func(r *run) *found {
		timing := r.named(callKinds, func(s string) bool { return strings.Contains(s, "EventElapsedTime") })
		var list []wait
		for _, w := range r.waitsOf(byEvent) {
			end := r.g.Acts[w.call].End
			if !slices.ContainsFunc(timing, func(a cdg.ActID) bool {
				at := r.g.Acts[a].Start
				return at >= end && at < end+timingNear
			}) {
				list = append(list, w)
			}
		}
		return r.waiting(list, "stream.wait_event(event) in place of synchronize()")
	},
})

var _ = add(rule{
	id: byCopy, group: Specific, class: critpath.ClassSync, kind: Predicted, level: Medium,
	why:      "a call that copies returned when the copy was over",
	title:    "copies stop the CPU",
	cause:    "a copy from or to pageable memory returns when it is over, and so is what was queued before it",
	scenario: callsDoNotWait,
	action:   []string{"pin the memory, and copy with non_blocking=True", "copy once a step, not once a value"},
	verify:   "no call that copies waits",
	find: func(r *run) *found {
		return r.waiting(r.waitsOf(byCopy), "pin the memory, and copy with non_blocking=True")
	},
})

var _ = add(rule{
	id: byOther, group: Specific, class: critpath.ClassSync, kind: Predicted, level: Medium,
	why:      "calls that waited, by no cause that is known",
	title:    "operators stop the CPU until the GPU is done",
	cause:    "the CPU waits inside an operator, and then nothing is queued",
	scenario: callsDoNotWait,
	action:   []string{"torch.cuda.set_sync_debug_mode(\"warn\") says which lines wait"},
	verify:   "the calls do not wait",
	find: func(r *run) *found {
		f := r.waiting(r.waitsOf(byOther), "")
		if f == nil {
			return nil
		}
		count := map[string]int{}
		for _, w := range r.waitsOf(byOther) {
			name := r.name(w.call)
			if o := r.opAround(w.call); o != cdg.NoAct {
				name = r.name(o)
			}
			count[name]++
		}
		most := ""
		for name, n := range count {
			if n > count[most] || n == count[most] && name < most {
				most = name
			}
		}
		f.do = fmt.Sprintf("set_sync_debug_mode(\"warn\"); most often %s", most)
		return f
	},
})

var syncAll = add(rule{
	id: "sync-all", group: General, rank: 1, class: critpath.ClassSync, kind: Predicted, level: Medium, limit: 0.02,
	why:      "all waits together gain more than each alone",
	title:    "the CPU waits for the GPU again and again",
	cause:    "each wait leaves the queue empty; as long as one of them stays, the others gain little",
	scenario: "no call waits for the GPU between the first launch and the last",
	action:   []string{"torch.cuda.set_sync_debug_mode(\"warn\") lists the waits with their lines", "remove them all: one that stays costs what the others cost"},
	verify:   "no call waits inside a step",
	find: func(r *run) *found {
		first, last := r.launches()
		var list []wait
		for _, w := range r.waits {
			if at := r.g.Acts[w.call].Start; at > first && at < last {
				list = append(list, w)
			}
		}
		if len(list) < 2 {
			return nil
		}
		f := r.waiting(list, "remove all waits: set_sync_debug_mode(\"warn\") lists them")
		count := map[string]int{}
		for i := range list {
			count[r.causeOf(&list[i])]++
		}
		for _, id := range slices.Sorted(maps.Keys(count)) {
			f.numbers = append(f.numbers, countOf("by "+id, count[id]))
		}
		return f
	},
})

const (
	blockedLaunch = 8_000 // ns that a launch takes which does not wait
	fewLaunches   = 50
)

var _ = add(rule{
	id: "launch-blocking", group: Specific, class: critpath.ClassLaunch, kind: Predicted, level: Medium,
	why:      "launches return after their own kernels",
	title:    "launches wait for their kernels",
	cause:    "with CUDA_LAUNCH_BLOCKING=1 and the like each launch returns when its kernel is over",
	scenario: "each such launch takes 8 µs and does not wait",
	action:   []string{"unset CUDA_LAUNCH_BLOCKING, HIP_LAUNCH_BLOCKING and AMD_SERIALIZE_KERNEL"},
	verify:   "launches take less than 10 µs",
	find: func(r *run) *found {
		var blocked []cdg.ActID
		n := 0
		for _, o := range r.ops {
			l := r.launch[o]
			if l == cdg.NoAct || r.kind(o) != trace.Kernel || r.verb(l) == vendors.GraphLaunch {
				continue
			}
			n++
			if r.g.Acts[l].End >= r.g.Acts[o].End {
				blocked = append(blocked, l)
			}
		}
		if n < fewLaunches || 2*len(blocked) < n {
			return nil
		}
		f := &found{events: events{blocked, blockedLaunch}, change: r.scenario(), do: "unset CUDA_LAUNCH_BLOCKING",
			numbers: []Number{countOf("launches that wait", len(blocked)), countOf("launches", n), timeOf("in them", sum(blocked, r.dur))}}
		f.saw = fmt.Sprintf("%s of %s launches wait", tables.Grouped(int64(len(blocked))), tables.Grouped(int64(n)))
		calls := r.m.SetOf(blocked...)
		var list []wait
		for _, w := range r.waits {
			if calls.Has(w.call) {
				list = append(list, w)
			}
		}
		f.change.shrink(blocked, blockedLaunch)
		f.change.noWait(list)
		return f
	},
})

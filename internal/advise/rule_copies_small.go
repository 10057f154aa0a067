package advise

import (
	"fmt"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
)

// tensorMakers are the operators that put small values of the host on a device.
var tensorMakers = []string{"aten::to", "aten::_to_copy", "aten::copy_", "aten::lift_fresh", "aten::tensor"}

// makerAround is the outermost operator around a copy that does nothing but move a value, NoAct for none.
func makerAround(r *run, a cdg.ActID) cdg.ActID {
	found := cdg.NoAct
	r.around(a, func(op cdg.ActID, name string) bool {
		if !slices.Contains(tensorMakers, name) {
			return false
		}
		found = op
		return true
	})
	return found
}

// smallToDevice lists small copies to a device with the operators that make them.
func smallToDevice(r *run) (copies, makers []cdg.ActID) {
	for _, a := range r.named(gpuCopy, toDevice) {
		if r.launch(a) == cdg.NoAct {
			continue
		}
		if n := r.recordedBytes(a); n == notSaid || n >= smallCopy {
			continue
		}
		copies = append(copies, a)
		if o := makerAround(r, a); o != cdg.NoAct {
			makers = append(makers, o)
		}
	}
	slices.Sort(makers)
	return copies, slices.Compact(makers)
}

// fillers are the operators that fill a tensor with numbers, of which the device is as capable as the CPU: the performance tuning guide of PyTorch
// has tensors made where they are needed.
var fillers = oneOf("aten::normal_", "aten::uniform_", "aten::random_", "aten::bernoulli_", "aten::exponential_", "aten::randn", "aten::rand", "aten::randint", "aten::randperm", "aten::arange", "aten::linspace")

const (
	filledLong = 50_000 // ns that filling takes from which on it is worth a word
	filledGPU  = 10_000 // ns that it takes the CPU to have the device do it
	nextLaunch = 2_000  // slices behind it among which its copy has to be the next launch
)

// filledOnHost lists fills of tensors on the CPU after which the next thing that their thread launches is a copy to the device; nil where they
// hold too little of the critical path for a word.
func filledOnHost(r *run) (list []cdg.ActID) {
	fills := slices.DeleteFunc(r.outermost(r.named(opKinds, fillers)), func(a cdg.ActID) bool { return r.dur(a) < filledLong })
	if 100*r.criticalOf(fills) <= r.window {
		return nil
	}
	calls, copies := r.launchesOf(r.ops), r.launchesOf(r.named(gpuCopy, toDevice))
	for _, a := range fills {
		last := r.g.Enclosed(a)
		for b, limit := a+1, min(last+nextLaunch, r.g.Lanes[r.g.Acts[a].Lane].Limit); b < limit; b++ {
			if calls.Has(b) {
				if b >= last && copies.Has(b) { // what launches itself fills on the device
					list = append(list, a)
				}
				break
			}
		}
	}
	return list
}

var _ = add(rule{
	id: byHostTensor, group: Specific, torch: true, class: critpath.ClassCopy, kind: Predicted, level: Medium,
	why:      "where the values come from cannot be seen",
	title:    "tensors are made on the CPU and copied with a wait",
	cause:    "a copy of pageable memory returns when it is over, and so is what was queued before it",
	scenario: "fills take 10 µs; nobody waits for the copies; where there are many small ones, they and the operators that make them take no time",
	action:   []string{"make them on the GPU: torch.tensor(..., device=\"cuda\") of few values, torch.arange, full, zeros", "pack the values into one pinned tensor, and copy that with non_blocking=True"},
	verify:   "no call waits for copies HtoD, and there are fewer",
	find: func(r *run) *found {
		copies, makers := smallToDevice(r)
		if filled := filledOnHost(r); 100*r.criticalOf(filled) > r.window {
			f := r.about(filled, "fill", "tensors filled on the CPU", "fill tensors on the GPU: device=\"cuda\"")
			f.title, f.cause, f.why = "tensors are filled on the CPU and copied to the GPU", "the CPU draws random numbers one after the other, and the GPU waits", "filling on the CPU, and a copy as the next launch of the thread"
			f.action = []string{"torch.randn(..., device=\"cuda\"); with torch.device(\"cuda\"): around the making of a model", "where results have to be those of the CPU's generator: fill beside the loop, in a worker"}
			f.change.shrink(filled, filledGPU)
			return f
		}
		if len(copies) < fewCopies {
			return waiting(r, r.waitsOf(byHostTensor), "make tensors on the GPU, or pin their memory")
		}
		waits, moved := r.waitsIn(r.within(makers)), sum(copies, r.bytes)
		f := &found{events: events{list: copies, expected: -1}, change: r.scenario(), do: "make them on the GPU (device=), or pack them in one",
			title: "many small values are copied to the GPU one by one", cause: "each copy costs the CPU as much as a kernel, and from pageable memory it waits",
			saw:     fmt.Sprintf("%s of %s", tables.Counted(len(copies), "small one"), tables.FormatBytes(moved)),
			numbers: []Number{countOf("copies", len(copies)), countOf("waits", len(waits)), timeOf("in the operators", sum(makers, r.dur)), bytesOf("moved", moved)}}
		f.change.remove(copies)
		f.change.shrink(makers, 0)
		f.change.noWait(waits)
		return f
	},
})

package advise

import (
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

var _ = add(rule{
	id: "data-parallel", group: Note, kind: None, level: Medium,
	why:    "the operator is recorded; what other processes would do is not in one trace",
	title:  "one process drives several GPUs (DataParallel)",
	cause:  "it copies the model to each GPU in each step, and one interpreter launches for all",
	action: []string{"torch.nn.parallel.DistributedDataParallel with one process a GPU: torchrun --nproc-per-node=N"},
	verify: "DataParallel.forward is gone",
	find: func(r *run) *found {
		list := r.outermost(r.named(markKinds, oneOf("DataParallel.forward")))
		if len(list) == 0 {
			return nil
		}
		return &found{events: events{list: list}, do: "DistributedDataParallel, one process a GPU", saw: tables.Counted(len(list), "pass"),
			numbers: []Number{countOf("passes", len(list)), timeOf("in them", sum(list, r.dur))}}
	},
})

// quickCollective is what a small collective between GPUs takes, ns.
const quickCollective = 50_000

var _ = add(rule{
	id: "gloo-on-gpu", group: Specific, class: critpath.ClassComm, kind: Predicted, level: Medium,
	why:      "collectives of the CPU in a run that uses GPUs; how large they are is not recorded",
	title:    "collectives go through the CPU (gloo) though there are GPUs",
	cause:    "tensors are copied to the host, and go over its network stack",
	scenario: "each such collective takes 50 µs",
	action:   []string{"torch.distributed.init_process_group(\"nccl\"), or \"cpu:gloo,cuda:nccl\" where objects are sent too"},
	verify:   "no gloo: annotations with tensors",
	find: func(r *run) *found {
		if len(r.ops) == 0 {
			return nil
		}
		var list []cdg.ActID
		for _, a := range r.outermost(r.named([]trace.Kind{trace.Annotation, trace.CPUOp}, func(s string) bool {
			backend, collective, ok := vendors.BackendCall(s)
			return ok && backend == vendors.HostBackend && collective != "barrier"
		})) {
			if r.dur(a) > quickCollective {
				list = append(list, a)
			}
		}
		if len(list) == 0 {
			return nil
		}
		f := r.about(list, "collective", "collectives", "init_process_group(\"nccl\")")
		f.events.expected = quickCollective
		f.change.shrink(list, quickCollective)
		return f
	},
})

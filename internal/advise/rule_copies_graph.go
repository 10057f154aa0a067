package advise

import (
	"fmt"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// graphWords are in the names of what launches graphs.
var graphWords = containsAny("CompiledFunction", "cudagraph", "CompiledFxGraph")

// fewGraphCopies is how many copies are no pattern.
const fewGraphCopies = 20

var _ = add(rule{
	id: "graph-input-copies", group: Specific, class: critpath.ClassCompute, kind: AtMost, level: Medium,
	why:      "some of the inputs may really change",
	title:    "inputs of CUDA graphs are copied before each launch",
	cause:    "a graph reads where it was recorded; what lies elsewhere is copied there, one tensor at a time",
	scenario: "the copies vanish",
	action:   []string{"torch._dynamo.mark_static_address(tensor) for inputs that stay where they are", "one graph in place of many: fewer graph breaks", "PyTorch 2.1 or later"},
	verify:   "no copies before graph launches",
	find: func(r *run) *found {
		if !r.program().graphs {
			return nil
		}
		compiled := r.named(markKinds, graphWords)
		in := r.within(compiled)
		var list, calls []cdg.ActID
		for _, a := range r.ops {
			if in.by(a) == cdg.NoAct || r.verb(r.launch(a)) == vendors.GraphLaunch {
				continue
			}
			if r.kind(a) == trace.Memcpy && !toDevice(r.name(a)) && !toHost(r.name(a)) || r.kind(a) == trace.Kernel && containsAny("copy_kernel", "copy_device", "direct_copy")(r.name(a)) {
				list = append(list, a)
				calls = append(calls, r.launch(a))
			}
		}
		if len(list) < fewGraphCopies {
			return nil
		}
		f := &found{events: events{list: list, expected: -1}, change: r.scenario(), do: "torch._dynamo.mark_static_address, fewer graphs",
			saw:     fmt.Sprintf("%s, %s", tables.Grouped(int64(len(list)))+" copies", tables.Duration(sum(list, r.dur))),
			numbers: []Number{countOf("copies", len(list)), timeOf("in them", sum(list, r.dur))}}
		f.change.remove(list)
		f.change.zero(calls)
		return f
	},
})

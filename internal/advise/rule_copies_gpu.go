package advise

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/vendors"
)

// Operators that move tensors about, and those that do so for another reason: a change of type, another finding.
var (
	movers    = []string{"aten::contiguous", "aten::clone", "aten::reshape", "aten::copy_", "aten::cat"}
	notMovers = []string{"aten::to", "aten::_to_copy", "CompiledFunction", "torch.distributed.ddp.reducer::copy_bucket_to_grad"}
)

// copiesWorth is the share of the window that copies on the device have to hold of the critical path.
const copiesWorth = 0.03

var _ = add(rule{
	id: "copies-on-gpu", group: Specific, torch: true, class: critpath.ClassCopy, kind: AtMost, level: Low, limit: copiesWorth,
	why:      "some of the copies are needed",
	title:    "tensors are copied from one place of the GPU to another",
	cause:    "each copy reads and writes all of the tensor, and computes nothing",
	scenario: "these copies vanish",
	action:   []string{"views in place of copies: look for .contiguous(), .clone() and torch.cat on the hot path", "write into slices of one buffer that is made once"},
	verify:   "fewer copies on the critical path",
	find: func(r *run) *found {
		candidates := r.m.SetOf(r.named(gpuCopy, func(s string) bool { return !toDevice(s) && !toHost(s) })...)
		comms, copying := r.m.SetOf(r.collectives()...), containsAny("copy_kernel", "copy_device", "direct_copy", "CatArray")
		for s := range r.fits(gpuKernel, copying) {
			for _, a := range r.list[r.first[s]:r.first[s+1]] {
				candidates.Add(a)
			}
		}
		critical := int64(0)
		candidates.Each(func(a cdg.ActID) { critical += r.mark(a) })
		if float64(critical) < copiesWorth*float64(r.window) {
			return nil
		}
		graphs := r.within(r.named(slices.Concat(markKinds, frameKinds), graphWords)) // inputs of graphs are a finding of their own
		chained := r.m.NewSet()
		if chains := r.result(elementwiseChain); chains != nil {
			chained = r.m.SetOf(chains.events.list...)
		}
		var list []cdg.ActID
		for _, a := range r.ops {
			if !candidates.Has(a) || comms.Has(a) || chained.Has(a) || graphs.by(a) != cdg.NoAct || r.launch(a) != cdg.NoAct && r.verb(r.launch(a)) == vendors.GraphLaunch {
				continue
			}
			moves, other := false, false
			r.around(a, func(_ cdg.ActID, name string) bool {
				moves = moves || slices.Contains(movers, name)
				other = other || slices.Contains(notMovers, name) || strings.HasPrefix(name, "Optimizer.")
				return !other
			})
			if moves && !other {
				list = append(list, a)
			}
		}
		if len(list) == 0 || float64(r.criticalOf(list)) < copiesWorth*float64(r.window) {
			return nil
		}
		f := &found{events: events{list: list, expected: -1}, change: r.scenario(), do: "views in place of copies; slices of one buffer",
			saw:     fmt.Sprintf("%s, %s on the path", countedCopies(len(list)), tables.Duration(r.criticalOf(list))),
			numbers: []Number{countOf("copies", len(list)), timeOf("in them", sum(list, r.dur)), timeOf("on the critical path", r.criticalOf(list))}}
		f.change.remove(list)
		return f
	},
})

// countedCopies is a number of copies in words.
func countedCopies(n int) string {
	if n == 1 {
		return "1 copy"
	}
	return tables.Grouped(int64(n)) + " copies"
}

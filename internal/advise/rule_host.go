package advise

import (
	"fmt"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

const (
	shortKernel = 10_000 // ns: about what eager PyTorch takes to launch one
	manyInStep  = 500    // launches
	aLoop       = 100    // launches below which there is no loop
)

var hostBound = add(rule{
	id: "host-bound", group: General, rank: 5, kind: AtMost, level: Low, limit: 0.05,
	why:      "that the CPU takes no time at all is the best case",
	title:    "the CPU launches short kernels too slowly",
	cause:    "each operator costs the CPU more than its kernel takes the GPU",
	scenario: "operators, calls and frames of threads that launch take no time",
	action:   []string{"torch.compile(model, mode=\"reduce-overhead\")", "torch.cuda.make_graphed_callables, or a CUDA graph of the step", "larger batches"},
	verify:   "the CPU's share of the critical path falls",
	find: func(r *run) *found {
		launches, short := 0, 0
		for i, l := range r.launches {
			if l == cdg.NoAct {
				continue
			}
			launches++
			if r.dur(r.firstOp+cdg.ActID(i)) < shortKernel {
				short++
			}
		}
		cpu := r.total.Class[critpath.ClassCPU]
		if cpu*5 < r.window || launches < aLoop || 10*short < 3*launches && launches < manyInStep*max(1, len(r.g.Steps)) {
			return nil
		}
		steps := r.m.NewSet()
		for s, name := range r.tr.Syms {
			if strings.HasPrefix(name, trace.StepPrefix) {
				for _, a := range r.list[r.first[s]:r.first[s+1]] {
					steps.Add(a)
				}
			}
		}
		list := make([]cdg.ActID, 0, r.firstOp)
		for l, on := range r.launching() {
			for a := r.g.Lanes[l].First; on && a < r.g.Lanes[l].Limit; a++ {
				if r.inside(a) && !steps.Has(a) {
					list = append(list, a)
				}
			}
		}
		f := &found{change: r.scenario(), do: "torch.compile, CUDA graphs, larger batches",
			saw:     fmt.Sprintf("%s operations, %s of them below 10 µs", tables.Grouped(int64(launches)), tables.Grouped(int64(short))),
			numbers: []Number{countOf("launches", launches), countOf("operations below 10 µs", short), timeOf("CPU on the critical path", cpu)}}
		f.change.zero(list)
		return f
	},
})

var _ = add(rule{
	id: "python-overhead", group: General, rank: 4, kind: AtMost, level: Low, limit: 0.05,
	why:      "that Python takes no time at all is the best case; recording stacks makes it slower than it is",
	title:    "Python code takes the time between operators",
	cause:    "the GPU waits while the interpreter runs",
	scenario: "frames of Python take no time of their own",
	action:   []string{"torch.compile(model)", "move Python out of the loop: lists, dictionaries, logging, checks"},
	verify:   "Python's share of the critical path falls",
	find: func(r *run) *found {
		python := r.total.Kind[critpath.PythonFrame]
		if python*20 < r.window {
			return nil
		}
		on := r.launching()
		var list []cdg.ActID
		for _, a := range r.named(frameKinds, func(string) bool { return true }) {
			if on[r.g.Acts[a].Lane] {
				list = append(list, a)
			}
		}
		if len(list) == 0 {
			return nil
		}
		f := &found{events: events{list: r.longestOwn(list)}, change: r.scenario(), do: "torch.compile, or move Python out of the loop",
			saw:     tables.Duration(python) + " of Python on the path",
			numbers: []Number{countOf("frames", len(list)), timeOf("Python on the critical path", python)}}
		f.change.zero(list)
		return f
	},
})

// longestOwn lists activities that hold a hundredth of the own time of all.
func (r *run) longestOwn(list []cdg.ActID) []cdg.ActID {
	whole := sum(list, func(a cdg.ActID) int64 { return r.own(a) })
	var out []cdg.ActID
	for _, a := range list {
		if r.own(a)*100 >= whole {
			out = append(out, a)
		}
	}
	return out
}

var _ = add(rule{
	id: "launch-gaps", group: General, rank: 3, class: critpath.ClassLaunch, kind: AtMost, level: Low,
	why:      "how much shorter gaps get depends on the device and its driver",
	title:    "the GPU stands still between kernels that are queued",
	cause:    "each kernel starts a microsecond or more after the one before it",
	scenario: "delays between launched work and its start fall by 60 %",
	action:   []string{"a CUDA graph of the step: torch.compile(mode=\"reduce-overhead\")", "fewer, larger kernels"},
	verify:   "the time of class launch on the critical path falls",
	find: func(r *run) *found {
		gaps := r.total.Kind[critpath.KernelDelay]
		if gaps*100 < 3*r.window || len(r.ops) < aLoop {
			return nil
		}
		if r.launchesGraphs() {
			return nil // it is done already
		}
		f := &found{change: r.scenario(), do: "a CUDA graph of the step, or fewer kernels", saw: tables.Duration(gaps) + " between queued kernels",
			numbers: []Number{timeOf("between queued kernels on the critical path", gaps), countOf("operations", len(r.ops))}}
		f.change.delay(2, 5, gaps, whatif.LaunchDelays)
		return f
	},
})

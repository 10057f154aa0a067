package advise

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// optimizerSteps lists the annotations of steps of optimizers with the class of each.
func optimizerSteps(r *run) (list []cdg.ActID, class string) {
	for _, a := range r.outermost(r.named(markKinds, func(s string) bool { return strings.HasPrefix(s, "Optimizer.step#") })) {
		name := strings.TrimSuffix(strings.TrimPrefix(r.name(a), "Optimizer.step#"), ".step")
		if class == "" {
			class = name
		}
		if name == class {
			list = append(list, a)
		}
	}
	return list, class
}

// inSteps is what lies in steps of an optimizer.
type inSteps struct {
	steps     []cdg.ActID
	ops       [][]cdg.ActID // per step: operations that it launched
	all       []cdg.ActID
	waits     []wait
	operators int  // of the CPU in them
	foreach   bool // operators or kernels that do many parameters at once
	fused     bool
}

func (r *run) inSteps(steps []cdg.ActID) inSteps {
	in := inSteps{steps: steps, ops: make([][]cdg.ActID, len(steps))}
	around := r.within(steps)
	at := map[cdg.ActID]int{}
	for i, a := range steps {
		at[a] = i
	}
	foreach := r.fits([]trace.Kind{trace.CPUOp, trace.Kernel}, containsAny("_foreach_", "multi_tensor_apply"))
	fused := r.fits(opKinds, func(s string) bool { return strings.Contains(strings.ToLower(s), "fused") })
	for a, o := range around {
		if o == cdg.NoAct {
			continue
		}
		name := r.syms[a]
		if r.kind(cdg.ActID(a)) == trace.CPUOp {
			in.operators++
		}
		in.foreach = in.foreach || foreach[name]
		in.fused = in.fused || fused[name]
	}
	for _, a := range r.ops {
		if o := around.by(a); o != cdg.NoAct {
			in.ops[at[o]] = append(in.ops[at[o]], a)
			in.all = append(in.all, a)
		}
	}
	in.waits = r.waitsIn(around)
	return in
}

// Optimizers by what they have instead of a loop over parameters, with the first version that has it.
var (
	fusedClasses   = []string{"Adam", "AdamW", "SGD"}
	foreachClasses = []string{"Adagrad", "Adadelta", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop"}
	adamKinds      = []string{"Adam", "AdamW", "Adamax", "NAdam", "RAdam"}
)

// kernelsPerParameter is about how many kernels an optimizer launches for a parameter.
func kernelsPerParameter(class string) int64 {
	if slices.Contains(adamKinds, class) {
		return 8
	}
	return 3
}

// loopOfKernels is from how many operations a step on an optimizer is a loop: ten parameters with four kernels each.
const loopOfKernels = 40

var _ = add(rule{
	id: "optimizer-loop", group: Specific, kind: Predicted, level: High,
	why:      "a step of the optimizer launches kernels for each parameter, and none that does many at once",
	title:    "the optimizer updates one parameter after the other",
	cause:    "each parameter costs several short kernels and their launches",
	scenario: "all operations of a step are one of half their time, and the step takes the CPU as long as a fused one",
	action:   []string{"fused=True: Adam and AdamW from PyTorch 2.0 on, SGD from 2.3"},
	verify:   "a step of the optimizer launches a few kernels",
	find: func(r *run) *found {
		steps, class := optimizerSteps(r)
		if len(steps) == 0 || strings.Contains(strings.ToLower(class), "fused") {
			return nil
		}
		in, fusable := r.inSteps(steps), slices.Contains(fusedClasses, class)
		switch {
		case len(r.ops) == 0:
			return loopOnCPU(r, steps, class, &in)
		case in.fused, in.foreach && (!fusable || len(in.all) == 0), !in.foreach && len(in.all) < loopOfKernels*len(steps):
			return nil
		}
		f := &found{events: events{list: steps}, change: r.scenario(), do: class + "(..., fused=True)", saw: fmt.Sprintf("%s, %s", tables.Counted(len(steps), "step"), tables.Counted(len(in.all), "kernel")),
			numbers: []Number{countOf("steps", len(steps)), countOf("operations", len(in.all)), timeOf("in steps", sum(steps, r.dur)), timeOf("on the GPU", sum(in.all, r.dur))}}
		switch {
		case in.foreach:
			f.title, f.cause = "the optimizer has a fused form that is not used", "steps over lists of parameters read and write all of them several times"
			f.level, f.why = Medium, "that a fused step takes half the time is a usual figure, not one of this trace"
			f.change.fuse(&in, class, 50, 50, 200_000, 0)
		case fusable:
			f.change.fuse(&in, class, 45, 60, 150_000, 1_000)
		default:
			if f.do = "update parameters in batches with torch._foreach_*"; slices.Contains(foreachClasses, class) {
				f.do = class + "(..., foreach=True)"
			}
			f.action = []string{f.do}
			f.change.fuse(&in, class, 45, 60, 300_000, 4_000)
		}
		return f
	},
})

// fusedOnCPU are the optimizers that have a fused step on the CPU, and what it takes of a step by parameter or over lists, in percent: measured
// for AdamW on small parameters (testdata/real), where it is 31; large ones are read and written once in place of ten times.
var fusedOnCPU = map[string]int64{"Adam": 35, "AdamW": 35, "SGD": 60, "Adagrad": 60}

// loopOnCPU is what the rule finds in a run without a device: there lists of parameters are a loop as well.
func loopOnCPU(r *run, steps []cdg.ActID, class string, in *inSteps) *found {
	percent := fusedOnCPU[class]
	if percent == 0 || in.fused || in.operators < loopOfKernels*len(steps) {
		return nil
	}
	f := &found{events: events{list: steps}, change: r.scenario(), do: class + "(..., fused=True)", action: []string{class + "(..., fused=True): on the CPU from PyTorch 2.4 on"},
		level: Medium, why: "a step runs operators for each parameter; that a fused one takes a third is measured for AdamW on small parameters",
		saw:     fmt.Sprintf("%s, %s", tables.Counted(len(steps), "step"), tables.Counted(in.operators, "operator")),
		cause:   "each parameter costs several short operators",
		numbers: []Number{countOf("steps", len(steps)), countOf("operators", in.operators), timeOf("in steps", sum(steps, r.dur))}}
	for _, step := range steps {
		f.change.shrink([]cdg.ActID{step}, r.dur(step)*percent/100)
	}
	return f
}

// fuse makes each step one operation of so many percent of the time, and gives the CPU what a fused step takes.
func (s *scenario) fuse(in *inSteps, class string, adam, other int64, host, perParameter int64) {
	percent := other
	if slices.Contains(adamKinds, class) {
		percent = adam
	}
	for i, step := range in.steps {
		parameters := int64(len(in.ops[i])) / kernelsPerParameter(class)
		s.shrink([]cdg.ActID{step}, host+parameters*perParameter)
		s.replace(in.ops[i], sum(in.ops[i], func(a cdg.ActID) int64 { return s.r.own(a) })*percent/100)
	}
	s.noWait(in.waits)
}

const (
	zeroedHost = 30_000 // ns that setting gradients to None takes
	fewZeroed  = 20
)

var _ = add(rule{
	id: "zero-grad", group: Specific, class: critpath.ClassCompute, kind: Predicted, level: Medium,
	why:      "zero_grad launches operations: it fills gradients instead of dropping them",
	title:    "gradients are filled with zeros",
	cause:    "each gradient is written, and read again when the next one is added to it",
	scenario: "the operations vanish, and each call takes the CPU 30 µs",
	action:   []string{"optimizer.zero_grad(set_to_none=True), the default since PyTorch 2.0"},
	verify:   "zero_grad launches nothing",
	find: func(r *run) *found {
		calls := r.outermost(r.named(markKinds, func(s string) bool { return strings.HasPrefix(s, "Optimizer.zero_grad#") }))
		if len(calls) == 0 {
			return nil
		}
		in := r.inSteps(calls)
		around := r.within(calls)
		zeros := len(slices.DeleteFunc(r.named(opKinds, oneOf("aten::zero_")), func(a cdg.ActID) bool { return around.by(a) == cdg.NoAct }))
		if len(in.all) < fewZeroed && zeros < fewZeroed {
			return nil
		}
		f := &found{events: events{list: calls, expected: zeroedHost}, change: r.scenario(), do: "zero_grad(set_to_none=True)",
			saw:     fmt.Sprintf("%s, %s", tables.Counted(len(calls), "call"), tables.Counted(max(len(in.all), zeros), "gradient")),
			numbers: []Number{countOf("calls", len(calls)), countOf("gradients", max(len(in.all), zeros)), timeOf("in calls", sum(calls, r.dur)), timeOf("on the GPU", sum(in.all, r.dur))}}
		f.change.shrink(calls, zeroedHost)
		f.change.remove(in.all)
		return f
	},
})

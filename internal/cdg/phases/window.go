package phases

import (
	"math"
	"sort"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// stepBounds are the marks inside one training step that place an op which no name explains.
type stepBounds struct {
	start       int64 // the step lasts until the next one starts
	first, last int64 // start of the first backward op, end of the last; first = MaxInt64 when there is none
	grad        int64 // start of the first op that takes part in autograd, MaxInt64 when there is none
	gradLast    int64 // start of the last such op before the backward pass
	gradTop     int64 // end of the outermost forward op so far (while building)
}

// findSteps cuts the trace into steps: ProfilerStep#N, else the ends of optimizer steps, else one for all.
func (p *phaser) findSteps(marked []cdg.Step) []stepBounds {
	starts := []int64{math.MinInt64}
	for _, s := range marked {
		starts = append(starts, s.Start)
	}
	if len(marked) == 0 {
		for _, a := range p.marks {
			if p.trait[a]&isOptimizer != 0 {
				starts = append(starts, p.d.Acts[a].End)
			}
		}
	}
	sort.Slice(starts, func(i, j int) bool { return starts[i] < starts[j] })
	steps := make([]stepBounds, len(starts))
	for i, s := range starts {
		steps[i] = stepBounds{start: s, first: math.MaxInt64, last: math.MinInt64, grad: math.MaxInt64, gradLast: math.MaxInt64}
	}
	for _, a := range p.marks {
		if act := &p.d.Acts[a]; p.trait[a]&isBackward != 0 {
			s := stepAt(steps, act.Start)
			s.first, s.last = min(s.first, act.Start), max(s.last, act.End)
		}
	}
	for _, a := range p.marks {
		if p.trait[a]&isForward == 0 {
			continue
		}
		act := &p.d.Acts[a]
		s := stepAt(steps, act.Start)
		s.grad = min(s.grad, act.Start)
		if act.Start < s.first && act.Start >= s.gradTop { // outermost only: nested ops share its number
			s.gradLast, s.gradTop = act.Start, act.End
		}
	}
	return steps
}

func stepAt(steps []stepBounds, at int64) *stepBounds {
	return &steps[sort.Search(len(steps), func(i int) bool { return steps[i].start > at })-1]
}

// place is the window rule, for ops and calls that nothing else explains. A trace without any backward op is inference.
// What begins after the last marked step belongs to no step, and to no phase.
func (p *phaser) place(a cdg.ActID) (Phase, rule) {
	act := &p.d.Acts[a]
	if n := len(p.d.Steps); n > 0 && act.Start >= p.d.Steps[n-1].End {
		return Other, noRule // the profiler's own wait for the device, as a rule
	}
	s := stepAt(p.steps, act.Start)
	phase, by := Forward, byWindowForward
	switch {
	case act.Start >= s.first && act.Start < s.last:
		phase, by = Backward, byWindowBackward
	case act.Start >= s.last && s.first != math.MaxInt64:
		phase, by = Update, byWindowUpdate
	case p.copy[a] && act.Start < s.grad && s.first != math.MaxInt64 && p.rules.on(byWindowCopy):
		return DataLoad, byWindowCopy
	case s.first != math.MaxInt64 && s.gradLast != math.MaxInt64 && act.Start >= s.gradLast && p.isReduction(act.Event) && p.rules.on(byWindowLoss):
		return Loss, byWindowLoss
	}
	if !p.rules.on(by) {
		return Other, noRule
	}
	return phase, by
}

func (p *phaser) isReduction(id trace.EventID) bool {
	name := p.t.Name(id)
	for _, r := range reductions {
		if name == r {
			return true
		}
	}
	return false
}

// findCopies marks the aten ops around the launch of a copy to the device, and all that they enclose.
func (p *phaser) findCopies() []bool {
	calls := make([]bool, len(p.t.Events))
	any := false
	for l := range p.d.Lanes {
		lane := &p.d.Lanes[l]
		for a := lane.First; lane.Stream && a < lane.Limit; a++ {
			id := p.d.Acts[a].Event
			e := &p.t.Events[id]
			if e.Kind == trace.Memcpy && p.t.Launch(id) != trace.NoEvent && strings.HasPrefix(p.t.Str(e.Name), "Memcpy HtoD") {
				calls[p.t.Launch(id)], any = true, true
			}
		}
	}
	inside := make([]bool, len(p.d.Acts))
	if !any {
		return inside
	}
	climbed := make([]bool, len(p.d.Acts))
	for id, is := range calls {
		if !is {
			continue
		}
		for a := p.d.ActOf[id]; a != cdg.NoAct && !climbed[a]; a = p.d.Parent[a] {
			climbed[a] = true
			e := &p.t.Events[p.d.Acts[a].Event]
			inside[a] = inside[a] || e.Kind.Call() || e.Kind == trace.CPUOp && strings.HasPrefix(p.t.Str(e.Name), "aten::")
		}
	}
	for a, up := range p.d.Parent {
		if up != cdg.NoAct && inside[up] {
			inside[a] = true
		}
	}
	return inside
}

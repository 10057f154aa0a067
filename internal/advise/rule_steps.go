package advise

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// stepTimes is what steps did. Times are ns, one a step.
type stepTimes struct {
	cpu, gpu []int64 // work: of threads that launch, without waits, and of operations by the step that launched them
	length   []int64 // from the last operation of the step before to its own last one; of runs without a GPU, of the step
}

func (r *run) findStepTimes() stepTimes {
	steps := r.g.Steps
	s := stepTimes{make([]int64, len(steps)), make([]int64, len(steps)), make([]int64, len(steps))}
	last := 0 // of the steps that begin before what was asked for last: most come in order of time
	at := func(t int64) int {
		i := last
		if steps[i].Start > t || i+1 < len(steps) && steps[i+1].Start <= t {
			n, _ := slices.BinarySearchFunc(steps, t+1, func(x cdg.Step, t int64) int { return int(min(max(x.Start-t, -1), 1)) })
			if i = n - 1; i < 0 {
				return -1
			}
			last = i
		}
		if t < steps[i].End {
			return i
		}
		return -1
	}
	ends := make([]int64, len(steps))
	for _, o := range r.ops {
		if l := r.launch(o); l != cdg.NoAct {
			if i := at(r.g.Acts[l].Start); i >= 0 {
				s.gpu[i] += r.own(o)
				ends[i] = max(ends[i], r.g.Acts[o].End)
			}
		}
	}
	for l, on := range r.launching() {
		for a := r.g.Lanes[l].First; on && a < r.g.Lanes[l].Limit; a++ {
			if i := at(r.g.Acts[a].Start); i >= 0 && !r.waited.Has(a) {
				s.cpu[i] += r.own(a)
			}
		}
	}
	for i := range steps {
		s.length[i] = steps[i].End - steps[i].Start
		if i > 0 && ends[i] > 0 && ends[i-1] > 0 {
			s.length[i] = ends[i] - ends[i-1]
		}
	}
	return s
}

// usualOf is the median of all but one of a sorted list of two or more.
func usualOf(sorted []int64, but int64) int64 {
	n := (len(sorted) - 1) / 2
	if but <= sorted[n] {
		n++
	}
	return sorted[n]
}

var _ = add(rule{
	id: "step-outlier", group: Note, kind: None, level: Medium,
	why:    "one step takes far longer than the median of the others",
	title:  "a step takes much longer than the others",
	cause:  "something happened in it that does not happen in each: a checkpoint, an evaluation, another batch, another job",
	verify: "steps of about one length",
	find: func(r *run) *found {
		if len(r.g.Steps) < 5 {
			return nil
		}
		s := r.steps()
		var list []cdg.ActID
		sorted := slices.Sorted(slices.Values(s.length))
		worst, usual := 0, int64(0)
		for i := 1; i < len(s.length); i++ { // the first is another note's
			if u := usualOf(sorted, s.length[i]); 10*s.length[i] > 13*u && 100*(s.length[i]-u) > r.window {
				list = append(list, r.g.ActOf[r.g.Steps[i].Event])
				if len(list) == 1 || s.length[i] > s.length[worst] {
					worst, usual = i, u
				}
			}
		}
		if len(list) == 0 || 4*len(list) > len(r.g.Steps) {
			return nil
		}
		number := func(i int) string { return strings.TrimPrefix(r.g.Steps[i].Name, trace.StepPrefix) }
		like := len(s.length) - 1
		for s.length[like] != usual {
			like--
		}
		return &found{events: events{list: list}, do: fmt.Sprintf("compare the reports of --step %s and --step %s", number(worst), number(like)),
			action:  []string{fmt.Sprintf("compare it with a usual one: overlay report FILE --step %s, then --step %s", number(worst), number(like)), "profile more steps: is it each Nth?"},
			saw:     fmt.Sprintf("%s takes %s, usual %s", r.g.Steps[worst].Name, tables.Duration(s.length[worst]), tables.Duration(usual)),
			numbers: []Number{countOf("steps", len(r.g.Steps)), countOf("long ones", len(list)), timeOf("the longest", s.length[worst]), timeOf("usual", usual)}}
	},
})

var _ = add(rule{
	id: "first-step-slow", group: Note, kind: None, level: Medium,
	why:    "the first step works far more than the others",
	title:  "the first step is not like the others",
	cause:  "it makes what stays: memory, plans, compiled code; shares of the window are not those of a long run",
	action: []string{"torch.profiler.schedule(wait=1, warmup=2, active=3)", "overlay report --step with a later step"},
	verify: "the first step works as long as the others",
	find: func(r *run) *found {
		if len(r.g.Steps) < 3 {
			return nil
		}
		s := r.steps()
		for _, x := range []struct {
			what string
			list []int64
		}{{"CPU", s.cpu}, {"GPU", s.gpu}} {
			u := usualOf(slices.Sorted(slices.Values(x.list)), x.list[0])
			if u > 0 && 2*x.list[0] >= 3*u && 100*(x.list[0]-u) >= r.window {
				return &found{events: events{list: []cdg.ActID{r.g.ActOf[r.g.Steps[0].Event]}}, do: "leave the first step out: --step, or warmup=2",
					saw:     fmt.Sprintf("%s work %s, usual %s", x.what, tables.Duration(x.list[0]), tables.Duration(u)),
					numbers: []Number{timeOf(x.what+" work of the first step", x.list[0]), timeOf("usual", u), countOf("steps", len(r.g.Steps))}}
			}
		}
		return nil
	},
})

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"overlay/internal/critpath"
	"overlay/internal/stat"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// StepLength is how long the steps of one kind take before and after.
type StepLength struct {
	Kind        string `json:"kind" about:"name of the steps without their number"`
	BeforeSteps int    `json:"before_steps" unit:"count"`
	AfterSteps  int    `json:"after_steps" unit:"count"`
	Before      int64  `json:"before_ns" unit:"ns" about:"the median step, without first ones that stand apart; of several runs the mean of their medians"`
	After       int64  `json:"after_ns" unit:"ns"`
	Effect      int64  `json:"effect_ns" unit:"change"`
	BeforeFar   int64  `json:"before_spread_ns" unit:"ns" about:"how far half of the steps at most are from the median"`
	AfterFar    int64  `json:"after_spread_ns" unit:"ns"`
	BeforeApart int    `json:"before_first_steps" unit:"count" about:"first steps that take much longer than the others, and are left out"`
	AfterApart  int    `json:"after_first_steps" unit:"count"`
	BeforeFirst int64  `json:"before_first_ns" unit:"ns" about:"the longest of those; 0 without"`
	AfterFirst  int64  `json:"after_first_ns" unit:"ns"`
	Mean        bool   `json:"mean" unit:"flag" about:"the host runs ahead: a step is the mean of all, with what devices do after the last one"`
	BeforeTail  int64  `json:"before_tail_ns" unit:"ns" about:"what that is; else 0"`
	AfterTail   int64  `json:"after_tail_ns" unit:"ns"`
}

// firstApart is how many times as long as the median of the others a first step takes that is left out.
const firstApart = 1.5

// kindOfStep is the name of a step without its number, or what a server calls its iterations.
func kindOfStep(name string) string {
	if like := trace.StepsLike(name); like != "" && !trace.IsStep(name) {
		return like
	}
	return strings.TrimRight(strings.TrimRight(name, "0123456789"), " #_-")
}

// stepsOf are the steps of one kind of one side, without the first ones of each run that take much longer than the others.
type stepsOf struct {
	all   []*Step
	times stat.Units
	count int              // with those that are left out
	apart int              // how many those are
	first int64            // the longest of them
	tail  int64            // device work that goes on after the last step of the runs, and is shared out among the steps; else 0
	made  map[string]int64 // what the steps and the tail are made of
}

// deviceTime is the time of a step on the path in which devices work, or are waited for.
func (s *Step) deviceTime() (ns int64) {
	for _, c := range [...]critpath.Class{critpath.ClassCompute, critpath.ClassComm, critpath.ClassCopy, critpath.ClassSync} {
		ns += s.ByClass[c.String()]
	}
	return ns
}

// tailOf is what goes on on devices after the last step of a run, on the path.
func tailOf(r *Report) *Step {
	if i := slices.IndexFunc(r.Steps, func(s Step) bool { return s.Name == "after" }); i >= 0 {
		return &r.Steps[i]
	}
	return &Step{}
}

// shareTail makes the steps of each run one unit, their sum with what devices do after the last one by their number: where a host runs
// ahead, its steps do not say how long their work takes.
func (x *stepsOf) shareTail(runs []*Report) {
	x.made = map[string]int64{}
	for _, s := range x.all {
		for c, ns := range s.ByClass {
			x.made[c] += ns
		}
	}
	for i, r := range runs {
		after := tailOf(r)
		tail := after.deviceTime()
		if tail > 0 {
			for c, ns := range after.ByClass {
				x.made[c] += int64(tables.ShareOf(ns, after.Duration) * float64(tail))
			}
		}
		sum, n := tail, int64(len(x.times[i]))
		for _, ns := range x.times[i] {
			sum += ns
		}
		x.tail, x.times[i] = max(x.tail, tail), []int64{sum / max(n, 1)}
	}
}

// runsAhead reports whether the host of a run launches the work of steps and leaves it to later ones, or to the end, to wait for it: for
// a quarter of all that the steps take and more. The median step does not know of it then.
func runsAhead(x *stepsOf, runs []*Report) bool {
	if len(x.times) != len(runs) {
		return false
	}
	typical := x.times.Typical()
	var later float64
	for _, r := range runs {
		later += float64(tailOf(r).deviceTime())
	}
	for _, s := range x.all {
		if float64(s.Duration) > firstApart*typical {
			later += max(float64(s.deviceTime())-typical, 0)
		}
	}
	return 4*later > typical*float64(len(x.all))
}

// stepsByKind are the steps of runs by their kind, and the kinds in order of their first steps.
func stepsByKind(runs []*Report) (by map[string]*stepsOf, kinds []string) {
	by = map[string]*stepsOf{}
	for _, r := range runs {
		mine := map[string][]*Step{}
		for i := range r.Steps {
			if s := &r.Steps[i]; !OutsideSteps(s.Name) {
				k := kindOfStep(s.Name)
				mine[k] = append(mine[k], s)
				if by[k] == nil {
					by[k], kinds = &stepsOf{}, append(kinds, k)
				}
			}
		}
		for k, list := range mine {
			x := by[k]
			x.count += len(list)
			var times []int64
			for _, s := range list {
				times = append(times, s.Duration)
			}
			for len(times) >= 3 && float64(times[0]) > firstApart*float64(stat.Median(slices.Clone(times[1:]))) {
				x.apart, x.first = x.apart+1, max(x.first, times[0])
				times, list = times[1:], list[1:]
			}
			x.all, x.times = append(x.all, list...), append(x.times, times)
		}
	}
	return by, kinds
}

// spread is how far half of the steps at most are from the median of all.
func (x *stepsOf) spread() int64 {
	all := slices.Concat(x.times...)
	return stat.Spread(all, stat.Median(slices.Clone(all)))
}

// perStep makes the difference one of steps, where both windows are whole traces that hold steps of the same kinds.
func (d *Difference) perStep(before, after []*Report) {
	if d.Before.Window.Annotation != "" || d.After.Window.Annotation != "" {
		return
	}
	a, kinds := stepsByKind(before)
	b, _ := stepsByKind(after)
	if len(kinds) == 1 && b[kinds[0]] != nil {
		if x, y := a[kinds[0]], b[kinds[0]]; runsAhead(x, before) || runsAhead(y, after) {
			x.shareTail(before)
			y.shareTail(after)
		}
	}
	var x, y []stat.Units
	var weights []float64
	for _, k := range kinds {
		if b[k] == nil {
			continue
		}
		l := StepLength{Kind: k, BeforeSteps: a[k].count, AfterSteps: b[k].count, BeforeApart: a[k].apart, AfterApart: b[k].apart, BeforeFirst: a[k].first, AfterFirst: b[k].first,
			Before: int64(a[k].times.Typical()), After: int64(b[k].times.Typical()), BeforeFar: a[k].spread(), AfterFar: b[k].spread(), BeforeTail: a[k].tail, AfterTail: b[k].tail, Mean: a[k].made != nil}
		l.Effect = l.After - l.Before
		d.PerStep = append(d.PerStep, l)
		d.steps[0], d.steps[1] = d.steps[0]+int64(l.BeforeSteps), d.steps[1]+int64(l.AfterSteps)
		x, y, weights = append(x, a[k].times), append(y, b[k].times), append(weights, float64(min(l.BeforeSteps, l.AfterSteps)))
	}
	if len(d.PerStep) == 0 {
		return
	}
	d.Noise = noiseOf(x, y, weights, len(before), len(after), "steps")
	// Where there are several kinds, a step is one of the mix that both have.
	var n, sx, sy int64
	for _, l := range d.PerStep {
		w := int64(min(l.BeforeSteps, l.AfterSteps))
		n, sx, sy = n+w, sx+w*l.Before, sy+w*l.After
	}
	d.Window = Change{"step", sx / n, sy / n, sy/n - sx/n}
	classes := func(by map[string]*stepsOf, length func(l *StepLength) int64) map[string]int64 {
		sum := map[string]int64{}
		for i := range d.PerStep {
			l := &d.PerStep[i]
			made := by[l.Kind].made
			if made == nil {
				made = nearest(by[l.Kind].all, length(l)).ByClass
			}
			var whole int64
			for _, ns := range made {
				whole += ns
			}
			for c, ns := range made {
				sum[c] += int64(tables.ShareOf(ns, whole) * float64(length(l)) * float64(min(l.BeforeSteps, l.AfterSteps)) / float64(n))
			}
		}
		return sum
	}
	d.Classes = changes(classes(a, func(l *StepLength) int64 { return l.Before }), classes(b, func(l *StepLength) int64 { return l.After }))
	d.Hotspots = hotspotChanges(oneStep(d.Before), oneStep(d.After))
}

// nearest is the step whose length is next to a given one.
func nearest(list []*Step, length int64) *Step {
	return slices.MinFunc(list, func(a, b *Step) int {
		return cmp.Compare(max(a.Duration-length, length-a.Duration), max(b.Duration-length, length-b.Duration))
	})
}

// oneStep is what falls to one of the steps of a run of each hotspot.
func oneStep(r *Report) []Hotspot {
	out, n := slices.Clone(r.Hotspots), max(r.countSteps(), 1)
	for i := range out {
		out[i].NS, out[i].Calls = out[i].NS/int64(n), (out[i].Calls+n/2)/n
	}
	return out
}

// stepsVerdict says how much longer a step takes; "" where windows are compared.
func (d *Difference) stepsVerdict() string {
	if len(d.PerStep) == 0 {
		return ""
	}
	var counts []string
	for _, l := range d.PerStep {
		s := fmt.Sprintf("%s against %d", tables.Counted(l.BeforeSteps, "step"), l.AfterSteps)
		if len(d.PerStep) > 1 {
			s += " of " + Plain(l.Kind)
		}
		counts = append(counts, s)
	}
	runs := ""
	if d.Noise.BeforeRuns+d.Noise.AfterRuns > 2 {
		runs = fmt.Sprintf("%s against %d, ", tables.Counted(d.Noise.BeforeRuns, "run"), d.Noise.AfterRuns)
	}
	return fmt.Sprintf("%s%s; a step takes %s%s%s (%s, %s)", runs, strings.Join(counts, ", "), tables.Duration(d.Window.Before), tables.Arrow, tables.Duration(d.Window.After), tables.SignedPercent(d.Slower), d.Noise.words())
}

// Apart says which first steps are left out, and what steps of which kinds take where there are several; "" else.
func (d *Difference) Apart() string {
	var say []string
	for _, l := range d.PerStep {
		if len(d.PerStep) > 1 {
			say = append(say, Plain(l.Kind)+" takes "+tables.Duration(l.Before)+tables.Arrow+tables.Duration(l.After))
		}
		for i, first := range []int64{l.BeforeFirst, l.AfterFirst} {
			switch n := [2]int{l.BeforeApart, l.AfterApart}[i]; {
			case n == 1:
				say = append(say, "the first step "+d.Labels()[i]+" took "+tables.Duration(first)+" and stands apart")
			case n > 1:
				say = append(say, tables.Counted(n, "first step")+" "+d.Labels()[i]+" took up to "+tables.Duration(first)+" and stand apart")
			}
		}
	}
	for _, l := range d.PerStep {
		if l.Mean {
			say = append(say, "the host runs ahead, so that a step is a mean, with the device work after the last one ("+tables.Duration(l.BeforeTail)+" and "+tables.Duration(l.AfterTail)+")")
		}
	}
	return strings.Join(say, "; ")
}

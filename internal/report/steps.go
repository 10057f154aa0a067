package report

import (
	"cmp"
	"slices"

	"overlay/internal/analyses"
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// Step is the one path of the window clipped to a step; "before" and "after" are what lies outside.
type Step struct {
	Name     string           `json:"name" key:"yes"`
	Start    int64            `json:"start_ns" unit:"time"`
	Duration int64            `json:"duration_ns" unit:"ns"`
	BoundBy  string           `json:"bound_by"`
	Type     string           `json:"type,omitempty" about:"of an iteration of a server: prefill, decode, mixed, verify, draft, image, idle, or iteration"`
	Batch    *int64           `json:"batch,omitempty" unit:"count" about:"its requests"`
	Tokens   *int64           `json:"tokens,omitempty" unit:"count" about:"that it computes"`
	ByClass  map[string]int64 `json:"by_class" entry:"class" unit:"ns" about:"time of the step by class"`
}

// StepTimes says how long steps take.
type StepTimes struct {
	Stats analyses.Stats `json:"stats" unit:"ns"`
}

// withoutLead gives to what lies before the steps so much of the first one, at the start of the window, as belongs to work from before recording.
func withoutLead(lines []critpath.StepLine, lead int64) []critpath.StepLine {
	k := slices.IndexFunc(lines, func(l critpath.StepLine) bool { return l.Step >= 0 })
	if lead == 0 || k < 0 || lines[0].Start+lead <= lines[k].Start || lines[0].Start+lead >= lines[k].End {
		return lines
	}
	before, first := critpath.StepLine{Name: "before", Step: -1, Start: lines[0].Start, End: lines[0].Start + lead}, lines[k]
	before.Class[critpath.ClassCompute] = lead
	first.Class[critpath.ClassCompute] -= before.End - first.Start
	first.Start = before.End
	return append([]critpath.StepLine{before, first}, lines[k+1:]...)
}

func steps(of []cdg.Step, lines []critpath.StepLine) []Step {
	out := []Step{}
	for i := range lines {
		l := &lines[i]
		s := Step{Name: l.Name, Start: l.Start, Duration: l.End - l.Start, BoundBy: critpath.BoundBy(&l.Class).String(), ByClass: classes(&l.Class)}
		if l.Step >= 0 {
			it := &of[l.Step].Of
			s.Type, s.Batch, s.Tokens = it.Type.String(), told(it, it.Batch), told(it, it.Tokens)
		}
		out = append(out, s)
	}
	return out
}

// told is a number that the name of an iteration tells, nil where it does not.
func told(it *trace.Iteration, n int64) *int64 {
	if it.Type == trace.NoIteration || n < 0 {
		return nil
	}
	return &n
}

// countSteps is how many steps the window holds.
func (r *Report) countSteps() (n int) {
	for i := range r.Steps {
		if !OutsideSteps(r.Steps[i].Name) {
			n++
		}
	}
	return n
}

// stepTimes describes how long steps take; nil without steps.
func stepTimes(steps []Step) *StepTimes {
	var times []int64
	for i := range steps {
		if !OutsideSteps(steps[i].Name) {
			times = append(times, steps[i].Duration)
		}
	}
	if len(times) == 0 {
		return nil
	}
	return &StepTimes{analyses.Describe(times)}
}

func (r *Report) stepSection(list []tables.Table) (s Section) {
	t := tables.Find(list, "steps")
	s.Name, s.Title = "steps", "Steps"
	if t == nil || t.Rows == 0 {
		return s
	}
	if times := tables.Find(list, "step_times"); times != nil && times.Rows > 0 && times.Line(0).Value("stats_count").Int() >= 2 {
		s.Says = say(times.Line(0), "{stats_count} steps: half of them take {stats_p50} and less, the shortest {stats_min}, the longest {stats_max}.")
	}
	order := make([]int, t.Rows)
	for i := range order {
		order[i] = i
	}
	if g := r.iterationGrid(tables.Find(list, "iterations")); len(g.Rows) > 0 {
		s.Title, s.Grids = "Iterations of the server", append(s.Grids, g)
		s.Says = r.servedWords()
	}
	if len(order) > maxBars {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Steps[b].Duration, r.Steps[a].Duration) })
		order = order[:cardRows]
	}
	longest := int64(most(t, "duration_ns"))
	of := func(l tables.Line) *Step { return &r.Steps[l.Row] }
	g := gridIn(t, order, "steps", textual("step", "{name}"),
		bars("", func(l tables.Line) []Part { return ClassParts(of(l).ByClass, of(l).Duration, longest) }),
		figure(t, "time", "duration_ns"), wordsBy("made of", func(l tables.Line) string { return mostly(of(l).ByClass, of(l).Duration, 4) }))
	for c := range critpath.NumClasses {
		if r.Path.ByClass[c.String()] > 0 {
			g.Key = append(g.Key, Key{c.String(), c.Words()})
		}
	}
	if g.Left > 0 {
		g.Title = "The longest"
	}
	s.Grids = append(s.Grids, g)
	return s
}

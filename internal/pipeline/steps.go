package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/report"
	"overlay/internal/trace"
)

// StepChoice says which parts of one run are compared: its steps, or the instances of an annotation.
type StepChoice struct {
	Annotation string // "" for the profiler's steps
	Of         int    // number of the step, or of the instance counted from 0; negative: the one that lasts longest
	Against    int    // the same; negative: of the others the one in the middle by length
}

// part is a step or an instance of an annotation, clipped to the window.
type part struct {
	name       string // of a step
	number     int
	start, end int64
}

func (p *part) length() int64 { return p.end - p.start }

// CompareSteps compares two steps of a run: the one path of its window is clipped to each, so that the lengths are those of the report's
// steps, and nothing is counted in both. s says what is wanted of the two reports, as for Report.
func (r *Run) CompareSteps(s report.Source, c StepChoice) (*report.Difference, error) {
	parts, word, err := r.parts(c.Annotation)
	if err != nil {
		return nil, err
	}
	if len(parts) < 2 {
		return nil, fmt.Errorf("the trace has one %s only, and nothing to compare it with", word)
	}
	after, why, err := choose(parts, c.Of, word, "the longest", func(list []part) int { return len(list) - 1 })
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return p == after })
	median := "the median of the others"
	before, whyBefore, err := choose(others, c.Against, word, median, func(list []part) int {
		middle := (len(list) - 1) / 2
		at := r.ownNear(list, middle)
		if at != middle {
			median = "nearest to the median of the others with a path of its own work"
		}
		return at
	})
	if err != nil {
		if c.Against == after.number {
			return nil, fmt.Errorf("%s %d cannot be compared with itself", word, c.Against)
		}
		return nil, err
	}
	if whyBefore != "" {
		whyBefore = median
	}
	side := func(p part, why string) (*report.Report, report.StepSide) {
		path := r.path.Clip(r.graph, p.start, p.end)
		path.Window.Annotation, path.Window.Instance = cmp.Or(c.Annotation, p.name), "0"
		if c.Annotation != "" {
			path.Window.Instance = strconv.Itoa(p.number)
		}
		one := s
		one.Graph, one.Path, one.Slim, one.Brief = r.graph, path, r.Recorded, true
		rep := report.New(one)
		rep.CDG = report.CDG{Nodes: []report.Node{}, Edges: []report.NodeEdge{}, ByPhase: map[string]int64{}} // it is that of the whole
		return rep, report.StepSide{Name: word + " " + strconv.Itoa(p.number), Why: why, Earlier: r.launchedBefore(path)}
	}
	a, x := side(before, whyBefore)
	b, y := side(after, why)
	return report.CompareSteps(a, b, x, y, len(parts)), nil
}

// triedSteps is how many steps around the median are looked at for one whose path is mostly its own work.
const triedSteps = 16

// ownNear is the place nearest to one of a list whose part has most of its path in work that was launched in it: a comparison with one in
// which the GPU does the work of earlier ones says nothing of either. Where none is near it is the place itself.
func (r *Run) ownNear(list []part, middle int) int {
	for i := range 2 * min(triedSteps, len(list)) {
		at := middle + (i+1)/2*(1-i%2*2) // middle, one before, one behind, …
		if at < 0 || at >= len(list) {
			continue
		}
		if p := &list[at]; 2*r.launchedBefore(r.path.Clip(r.graph, p.start, p.end)) < p.length() {
			return at
		}
	}
	return middle
}

// parts lists what the path can be clipped to, by time.
func (r *Run) parts(annotation string) (list []part, word string, err error) {
	w := r.path.Window
	if annotation != "" {
		found, err := cdg.FindInstances(r.Trace, annotation)
		if err != nil {
			return nil, "", err
		}
		for i := range found {
			if p := (part{"", i, max(found[i].Start, w.Start), min(found[i].End, w.End)}); p.length() > 0 {
				list = append(list, p)
			}
		}
		return list, "instance", nil
	}
	for _, l := range critpath.StepTable(r.graph.Steps, r.path) {
		if l.Step >= 0 && r.graph.Steps[l.Step].Number >= 0 {
			list = append(list, part{l.Name, int(r.graph.Steps[l.Step].Number), l.Start, l.End})
		}
	}
	if len(list) == 0 {
		return nil, "", cdg.NoSteps(r.Trace)
	}
	return list, "step", nil
}

// choose takes the part with a number, or where that is negative the one at a place by length.
func choose(list []part, number int, word, why string, at func([]part) int) (part, string, error) {
	if number < 0 {
		byLength := slices.SortedStableFunc(slices.Values(list), func(a, b part) int { return cmp.Compare(a.length(), b.length()) })
		return byLength[at(byLength)], why, nil
	}
	i := slices.IndexFunc(list, func(p part) bool { return p.number == number })
	if i < 0 {
		return part{}, "", fmt.Errorf("no %s %d in the trace; it has %d, from %d to %d", word, number, len(list), list[0].number, list[len(list)-1].number)
	}
	return list[i], "", nil
}

// launchedBefore is the time of a path in operations that were launched before its window began, ns: work of what came earlier.
func (r *Run) launchedBefore(p *critpath.Path) (ns int64) {
	for _, m := range p.Marks.All() {
		if l := r.Trace.Launch(m.Event); r.Trace.Events[m.Event].Kind.Device() && l != trace.NoEvent && r.Trace.Events[l].Start < p.Window.Start {
			ns += m.NS
		}
	}
	return ns
}

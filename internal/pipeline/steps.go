package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/flame"
	"overlay/internal/report"
	"overlay/internal/trace"
)

// CompareSteps compares two steps of a run: the one path of its window is clipped to each, so that the lengths are those of the report's
// steps, and nothing is counted in both. s says what is wanted of the two reports, as for Report. of and against are what cdg.ChooseStep takes:
// without of it is the step that lasts longest, without against the one in the middle by length, of the others of its type where there are such.
// Both are there by stacks, too.
func (r *Run) CompareSteps(s report.Source, of, against string) (*report.Difference, [2]*flame.Graph, error) {
	var stacks [2]*flame.Graph
	parts, err := r.parts()
	if err != nil {
		return nil, stacks, err
	}
	if len(parts) < 2 {
		return nil, stacks, errors.New("the trace has one step only, and nothing to compare it with")
	}
	length := func(a, b cdg.Step) int { return cmp.Compare(a.End-a.Start, b.End-b.Start) }
	var before cdg.Step
	if against != "" {
		at, err := cdg.ChooseStep(parts, against)
		if err != nil {
			return nil, stacks, err
		}
		before = parts[at]
	}
	without := func(x cdg.Step) []cdg.Step {
		return slices.DeleteFunc(slices.Clone(parts), func(p cdg.Step) bool { return p.Event == x.Event })
	}
	var after cdg.Step
	why, whyBefore := "", ""
	if of != "" {
		at, err := cdg.ChooseStep(parts, of)
		if err != nil {
			return nil, stacks, err
		}
		after = parts[at]
	} else {
		list := parts
		if against != "" {
			list = without(before)
		}
		list = slices.SortedStableFunc(slices.Values(list), length)
		after, why = list[len(list)-1], "the longest"
	}
	switch others := without(after); {
	case against == "":
		whyBefore = "the median of the others"
		if same := slices.DeleteFunc(slices.Clone(others), func(p cdg.Step) bool { return p.Of.Type != after.Of.Type }); len(same) > 0 && after.Of.Type != trace.NoIteration && len(same) < len(others) {
			others, whyBefore = same, "the median of the other "+after.Of.Type.String()+" steps"
		}
		slices.SortStableFunc(others, length)
		middle := (len(others) - 1) / 2
		at := r.ownNear(others, middle)
		if at != middle {
			whyBefore = "nearest to the median of the others with a path of its own work"
		}
		before = others[at]
	case before.Event == after.Event:
		name := against
		if before.Of.Type != trace.NoIteration { // decode alone is one of them
			name = before.Name
		}
		return nil, stacks, fmt.Errorf("step %s cannot be compared with itself", name)
	}
	side := func(i int, p cdg.Step, why string) (*report.Report, report.StepSide) {
		path := r.path.Clip(r.graph, p.Start, p.End)
		stacks[i] = flame.Of(r.graph, path)
		path.Window.Annotation, path.Window.Instance = p.Name, "0"
		name := p.Name
		if trace.IsStep(name) {
			name = "step " + strconv.FormatInt(p.Number, 10)
		}
		one := s
		one.Graph, one.Path, one.Slim, one.Brief = r.graph, path, r.Recorded, true
		rep := report.New(one)
		rep.CDG = report.CDG{Nodes: []report.Node{}, Edges: []report.NodeEdge{}, ByPhase: map[string]int64{}} // it is that of the whole
		return rep, report.StepSide{Name: name, Why: why, Earlier: r.launchedBefore(path)}
	}
	a, x := side(0, before, whyBefore)
	b, y := side(1, after, why)
	return report.CompareSteps(a, b, x, y, len(parts)), stacks, nil
}

// triedSteps is how many steps around the median are looked at for one whose path is mostly its own work.
const triedSteps = 16

// ownNear is the place nearest to one of a list whose part has most of its path in work that was launched in it: a comparison with one in
// which the GPU does the work of earlier ones says nothing of either. Where none is near it is the place itself.
func (r *Run) ownNear(list []cdg.Step, middle int) int {
	for i := range 2 * min(triedSteps, len(list)) {
		at := middle + (i+1)/2*(1-i%2*2) // middle, one before, one behind, …
		if at < 0 || at >= len(list) {
			continue
		}
		if p := &list[at]; 2*r.launchedBefore(r.path.Clip(r.graph, p.Start, p.End)) < p.End-p.Start {
			return at
		}
	}
	return middle
}

// parts lists what the path can be clipped to, by time.
func (r *Run) parts() (list []cdg.Step, err error) {
	for _, l := range critpath.StepTable(r.graph.Steps, r.path) {
		if l.Step >= 0 && r.graph.Steps[l.Step].Number >= 0 {
			p := r.graph.Steps[l.Step]
			p.Start, p.End = l.Start, l.End
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, cdg.ErrNoSteps
	}
	return list, nil
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

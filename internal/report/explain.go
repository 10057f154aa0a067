package report

import (
	"overlay/internal/tables"
	"overlay/internal/whatif"
)

// Explained is where a difference comes from: the effects of the changes, of the others and of what is left make the whole of it.
type Explained struct {
	NS      int64        `json:"explained_ns" unit:"change" about:"of the difference: what a replay of the second run with all times as in the first takes back"`
	Share   float64      `json:"explained_share" unit:"share" about:"of the difference"`
	Others  int64        `json:"others_ns" unit:"change" about:"of that by what is not among the changes"`
	Left    int64        `json:"left_ns" unit:"change" about:"of the difference: the rest, as work that only one of the two does, or outside of the steps that count"`
	By      string       `json:"by" about:"names, or places: modules and operators, where the kernels of the two have other names"`
	Changes []NameChange `json:"changes" table:"changes" about:"what differs most in its own time, those first that explain most"`
}

// NameChange is a name, or a place, whose own time differs between two runs.
type NameChange struct {
	Name         string `json:"name"`
	Before       int64  `json:"before_ns" unit:"ns" about:"own time of all its events, on the path or not; of a step where per_step is there"`
	After        int64  `json:"after_ns" unit:"ns"`
	BeforeEvents int    `json:"before_events" unit:"count" about:"the same"`
	AfterEvents  int    `json:"after_events" unit:"count"`
	Effect       int64  `json:"effect_ns" unit:"change" about:"what it adds to the difference, by a replay without it and without what differs more"`
}

// StepsBeside is how many steps a run and another one hold that are compared; 1 and 1 where windows are.
func (r *Report) StepsBeside(other *Report) (own, others int64) {
	if a, b := r.countSteps(), other.countSteps(); a > 0 && b > 0 && a != b {
		return int64(a), int64(b)
	}
	return 1, 1
}

// Explain adds to a difference where it comes from.
func (d *Difference) Explain(x *whatif.Explanation) {
	if d.Work != nil || d.Window.Effect == 0 {
		return
	}
	before, after := 1, 1
	if len(d.PerStep) > 0 {
		before, after = d.Before.countSteps(), d.After.countSteps()
	}
	n := int64(after)
	e := &Explained{NS: x.Explained / n, By: "names", Changes: []NameChange{}}
	if x.ByPlace {
		e.By = "places"
	}
	e.Others, e.Left, e.Share = e.NS, d.Window.Effect-e.NS, float64(e.NS)/float64(d.Window.Effect)
	for _, c := range x.Changes {
		e.Changes = append(e.Changes, NameChange{c.Name, c.Before.NS / int64(before), c.After.NS / n, (c.Before.Events + before/2) / before, (c.After.Events + after/2) / after, c.Effect / n})
		e.Others -= c.Effect / n
	}
	d.Explained = e
}

// explainedGrid says what explains a difference, in lines that make the whole of it: so many names, all others, and the rest.
func (d *Difference) explainedGrid() Grid {
	x := d.Explained
	if x == nil || len(x.Changes) == 0 {
		return Grid{}
	}
	list, others := []Change{}, x.Others
	for _, c := range x.Changes {
		if len(list) == cardRows-2 || c.Effect == 0 {
			others += c.Effect
			continue
		}
		list = append(list, Change{c.Name, c.Before, c.After, c.Effect})
	}
	g := changeGrid(&tables.From("explained", "", list)[0], maxRows, true, d.Labels(), "names", named("own time of "+x.By, "name"))
	for _, rest := range []Change{{Name: "all others", Effect: others}, {Name: "the rest: work of one of them alone, or outside of the steps that count", Effect: x.Left}} {
		if rest.Effect != 0 {
			g.add(Cell{Text: rest.Name}, Cell{}, Cell{Text: NoValue}, Cell{Text: NoValue}, Cell{Text: tables.Signed(rest.Effect)})
		}
	}
	return g
}

package report

import (
	"math"
	"strings"

	"overlay/internal/tables"
	"overlay/internal/whatif"
)

// Explained is where a difference comes from: the effects of the changes, of the others and of what is left make the whole of it.
type Explained struct {
	NS      int64        `json:"explained_ns" unit:"change" about:"of the difference: what a replay of the second run with all times as in the first takes back"`
	Share   float64      `json:"explained_share" unit:"share" about:"of the difference"`
	Calls   int64        `json:"by_calls_ns" unit:"change" about:"of that by how often things are called: a replay with as many calls as in the first, which take as long as in the second"`
	Times   int64        `json:"by_time_per_call_ns" unit:"change" about:"of that by how long a call takes: the rest of it"`
	Others  int64        `json:"others_ns" unit:"change" about:"of that by what is not among the changes"`
	Left    int64        `json:"left_ns" unit:"change" about:"of the difference: the rest, as work that only one of the two does, or outside of the steps that count"`
	By      string       `json:"by" about:"names, or places: modules and operators, where the kernels of the two have other names"`
	Changes []NameChange `json:"changes" table:"changes" about:"what differs most in its own time, those first that explain most"`
}

// NameChange is a name, or a place, whose own time differs between two runs.
type NameChange struct {
	Name         string  `json:"name"`
	Before       int64   `json:"before_ns" unit:"ns" about:"own time of all its events, on the path or not; of a step where per_step is there"`
	After        int64   `json:"after_ns" unit:"ns"`
	BeforeEvents float64 `json:"before_events" unit:"count" about:"the same"`
	AfterEvents  float64 `json:"after_events" unit:"count"`
	Effect       int64   `json:"effect_ns" unit:"change" about:"what it adds to the difference, by a replay without it and without what differs more"`
}

// Explain adds to a difference where it comes from. The works are those of all runs of a side; replay is given them with the units that they hold,
// and replays the run that stands for the later ones.
func (d *Difference) Explain(before, after *whatif.Works, replay func(before, after *whatif.Works) whatif.Explanation) {
	if d.Work != nil || d.Window.Effect == 0 {
		return
	}
	n := int64(1)
	if len(d.PerStep) > 0 {
		before.Units, after.Units, n = d.steps[0], d.steps[1], int64(d.After.countSteps())
	}
	x := replay(before, after)
	e := &Explained{NS: x.Explained / n, Calls: x.Calls / n, By: "names", Changes: []NameChange{}}
	if x.ByPlace {
		e.By = "places"
	}
	e.Others, e.Times, e.Left, e.Share = e.NS, e.NS-e.Calls, d.Window.Effect-e.NS, float64(e.NS)/float64(d.Window.Effect)
	for _, c := range x.Changes {
		e.Changes = append(e.Changes, NameChange{c.Name, c.Before.NS / before.Units, c.After.NS / after.Units, per(c.Before.Events, before.Units), per(c.After.Events, after.Units), c.Effect / n})
		e.Others -= c.Effect / n
	}
	d.Explained = e
}

// per is how many there are in one of so many units, rounded to hundredths.
func per(n int, units int64) float64 { return math.Round(100*float64(n)/float64(units)) / 100 }

// explainedGrid says what explains a difference, in lines that make the whole of it: so many names, all others, and the rest.
func (d *Difference) explainedGrid() Grid {
	x := d.Explained
	if x == nil || len(x.Changes) == 0 {
		return Grid{}
	}
	list, others := []NameChange{}, x.Others
	for _, c := range x.Changes {
		if len(list) == cardRows-2 || c.Effect == 0 {
			others += c.Effect
			continue
		}
		list = append(list, c)
	}
	sides := func(by func(ns, events float64) string) func(l tables.Line) string {
		return func(l tables.Line) string {
			of := func(side string) string {
				return by(l.Value(side+"_ns").Float(), l.Value(side+"_events").Float())
			}
			if of("before") == of("after") {
				return of("after")
			}
			return of("before") + tables.Arrow + of("after")
		}
	}
	g := changeGrid(&tables.From("explained", "", list)[0], maxRows, true, d.Labels(), "names", named("own time of "+x.By, "name"),
		wordsBy("calls", sides(func(_, events float64) string { return tables.Float(events).Exact() })),
		wordsBy("a call", sides(func(ns, events float64) string {
			if events == 0 {
				return NoValue
			}
			return tables.Duration(int64(ns / events))
		})))
	for _, rest := range []Change{{Name: "all others", Effect: others}, {Name: leftWords, Effect: x.Left}} {
		if rest.Effect != 0 {
			g.add(Cell{Text: rest.Name}, Cell{}, Cell{Text: NoValue}, Cell{Text: NoValue}, Cell{Text: tables.Signed(rest.Effect)}, Cell{}, Cell{})
		}
	}
	return g
}

// leftWords is what is not explained by times.
const leftWords = "the rest: work of one of them alone, or outside of the steps that count"

// says is how much of a difference comes from the number of calls, and how much from the time that a call takes.
func (x *Explained) says() string {
	if x == nil {
		return ""
	}
	var parts []string
	for _, p := range []Change{{Name: "how often things are called", Effect: x.Calls}, {Name: "how long a call takes", Effect: x.Times}, {Name: "the rest", Effect: x.Left}} {
		if p.Effect != 0 {
			parts = append(parts, tables.Signed(p.Effect)+" by "+p.Name)
		}
	}
	return "By a replay of the second with the times of the first: " + strings.Join(parts, ", ") + "."
}

package report

import (
	"math"

	"overlay/internal/tables"
)

// changeGrid is a table of what changed: a name, how much as a bar beside the largest change, and times before and after. Bars have the
// colour of kind, a pattern, or with "" one for longer and one for shorter.
func changeGrid(t *tables.Table, limit int, labels [2]string, what, kind string, first Column, more ...Column) Grid {
	if t == nil {
		return Grid{}
	}
	most := 0.0
	for l := range t.Lines(-1) {
		most = max(most, math.Abs(l.Value("effect_ns").Float()))
	}
	effect := bars("", func(l tables.Line) []Part {
		x, colour := l.Value("effect_ns").Float(), "faster"
		if x > 0 {
			colour = "slower"
		}
		if kind != "" {
			colour = say(l, kind)
		}
		return []Part{{colour, ratio(math.Abs(x), most), l.Show("effect_ns")}}
	})
	g := gridOf(t, limit, what, append([]Column{first, effect, figure(t, labels[0], "before_ns"), figure(t, labels[1], "after_ns"), figure(t, "effect", "effect_ns")}, more...)...)
	if kind == "" {
		g.Key = []Key{{"slower", "longer than " + labels[0]}, {"faster", "shorter than " + labels[0]}}
	}
	return g
}

func classChanges(list []tables.Table, labels [2]string) Grid {
	return changeGrid(tables.Find(list, "classes"), maxRows, labels, "classes", "{name}", textual("class", "{class name}"))
}

// Sections are the tables of the page of a difference.
func (d *Difference) Sections() []Section {
	list, labels := d.Tables(), d.Labels()
	calls := label("calls", func(l tables.Line) Cell {
		if l.Show("before_calls") != l.Show("after_calls") {
			return Cell{Text: say(l, "{before_calls} → {after_calls}")}
		}
		return Cell{Text: l.Show("before_calls")}
	})
	served := tables.Find(list, "iterations_changed")
	return []Section{{Title: "Iterations of the server", Grids: filled([]Grid{changeGrid(served, maxRows, labels, "types", "", textual("", "{type}"), figure(served, "tokens/s "+labels[0], "before_tokens_per_s"), figure(served, "tokens/s "+labels[1], "after_tokens_per_s"))})},
		{Title: "What the path is made of", Grids: []Grid{classChanges(list, labels)}},
		{Title: "Hotspots, largest effect first", Grids: filled([]Grid{changeGrid(tables.Find(list, "hotspots"), 4*cardRows, labels, "names", "", label("name", shownCell), calls)})}}
}

// Sections are the tables of the page of a difference of jobs.
func (d *JobDifference) Sections() []Section {
	list, labels := d.Tables(), d.Labels()
	waits := tables.Find(list, "waits")
	who := func(name string) []Grid {
		t := tables.Find(list, name)
		return filled([]Grid{gridOf(t, maxRows, name, textual("", "{change}"), named("who", "who"), textual("why", "{cause}"), figure(t, "before", "before"), figure(t, "after", "after"))})
	}
	return []Section{
		{Title: "What the path is made of", Grids: []Grid{classChanges(list, labels), gridOf(waits, 1, "waits", textual("", "waited in collectives, a rank on average"),
			figure(waits, labels[0], "before_ns"), figure(waits, labels[1], "after_ns"), figure(waits, "effect", "effect_ns"))}},
		{Title: "What all ranks waited for, largest effect first", Grids: filled([]Grid{changeGrid(tables.Find(list, "charged"), maxRows, labels, "names", "", textual("name", "{name}"))})},
		{Title: "Ranks with more work than their peers", Grids: who("stragglers")},
		{Title: "Slow links", Grids: who("links")},
		{Title: "Steps that both jobs recorded", Grids: filled([]Grid{changeGrid(tables.Find(list, "steps"), maxRows, labels, "steps", "", named("step", "name"))})},
	}
}

package page

import (
	"strings"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// kernelKinds are the colours of the types of operations.
var kernelKinds = map[string]string{"computation": "gpu_compute", "communication": "communication", "memory": "copy", "other": "untraced"}

func kernelsCard(list []tables.Table, as report.Names) card {
	t, names := &list[0], tables.Find(list, "kernels_names")
	l, ok := largest(t, "ns")
	if !ok {
		return card{}
	}
	c := card{Says: "Of the time of all operations " + l.Show("share") + " goes to " + l.Str("type") + ". Only what is red in the viewer, or stands among the hotspots, holds up the run."}
	c.Grids = []grid{makeGrid(t, cardRows, "types", label("type", func(l tables.Line) gridCell { return gridCell{Text: l.Str("type")} }),
		bars("", func(l tables.Line) []part {
			return []part{{kernelKinds[l.Str("type")], l.Value("share").Float(), l.Show("share") + ", " + l.Show("ns")}}
		}),
		figure(t, "share", "share"), figure(t, "time", "ns"))}
	if names != nil {
		longest := most(names, "stats_sum")
		names = names.Sorted("stats_sum")
		c.Grids = append(c.Grids, makeGrid(names, cardRows, "names", label("name", func(l tables.Line) gridCell { return cellOf(l.Str("name"), as.Readable(l.Str("name"))) }), wordsOf("type", "type"),
			bars("", func(l tables.Line) []part {
				return []part{{kernelKinds[l.Str("type")], ratio(l.Value("stats_sum").Float(), longest), ""}}
			}),
			figure(names, "time", "stats_sum"), figure(names, "calls", "stats_count"), extra(figure(names, "mean", "stats_mean")), figure(names, "on the path", "critical_ns")))
	}
	return c
}

func copiesCard(list []tables.Table, _ report.Names) card {
	kinds, memory := tables.Find(list, "copies_kinds"), tables.Find(list, "copies_memory")
	var c card
	if kinds != nil && kinds.Rows > 0 {
		l, ok := largest(kinds, "ns")
		if ok {
			c.Says = report.Plain(l.Str("kind")) + " takes most of the time of copies: " + l.Show("ns") + " for " + l.Show("bytes") + ", at " + l.Show("gb_per_s") + "."
		}
		c.Grids = append(c.Grids, makeGrid(kinds, cardRows, "kinds", named("kind", "kind"), bar(kinds, "ns", "copy"),
			figure(kinds, "time", "ns"), figure(kinds, "copies", "count"), figure(kinds, "amount", "bytes"), figure(kinds, "rate", "gb_per_s")))
	}
	if memory != nil && most(memory, "peak_reserved_bytes") > 0 {
		longest := most(memory, "peak_reserved_bytes")
		c.Key = []keyEntry{{"handoff", "allocated"}, {"pale", "reserved"}}
		c.Grids = append(c.Grids, makeGrid(memory, cardRows, "devices", named("memory of", "device"),
			bars("", func(l tables.Line) []part {
				a, all := l.Value("peak_allocated_bytes").Float(), l.Value("peak_reserved_bytes").Float()
				return without([]part{{"handoff", ratio(a, longest), "allocated " + l.Show("peak_allocated_bytes")}, {"pale", ratio(all-a, longest), "reserved " + l.Show("peak_reserved_bytes")}})
			}),
			figure(memory, "most allocated", "peak_allocated_bytes"), figure(memory, "most reserved", "peak_reserved_bytes")))
	}
	return c
}

func blockingCard(list []tables.Table, _ report.Names) card {
	t := &list[0]
	var c card
	if l, ok := largest(t, "waited_ns"); ok {
		c.Says = blockingName(l) + " waits longest: " + l.Show("waited_ns") + " in " + counted(l, "waited", "call") + "."
		if hint := l.Str("hint"); hint != "" {
			c.Says += " What to do: " + hint + "."
		}
	} else {
		c.Says = "These calls can wait for the GPU. Here none had to."
	}
	longest := most(t, "ns")
	c.Key = []keyEntry{{"sync", "waiting for the GPU"}, {"cpu", "the rest of the call"}}
	c.Grids = []grid{makeGrid(t, cardRows, "calls",
		label("call", func(l tables.Line) gridCell {
			cell := gridCell{Text: blockingName(l)}
			if caller := l.Str("caller"); caller != "" {
				cell.Small = "from " + report.Plain(caller)
			}
			return cell
		}),
		bars("", func(l tables.Line) []part {
			wait, all := l.Value("waited_ns").Float(), l.Value("ns").Float()
			return without([]part{{"sync", ratio(wait, longest), "waiting " + l.Show("waited_ns")}, {"cpu", ratio(all-wait, longest), "in the call " + l.Show("ns")}})
		}),
		figure(t, "in the call", "ns"), figure(t, "waiting", "waited_ns"), figure(t, "calls", "count"), extra(figure(t, "calls that waited", "waited")))}
	return c
}

// blockingName is the call and the operator that made it.
func blockingName(l tables.Line) string {
	if op := l.Str("operator"); op != "" {
		return report.Plain(l.Str("call") + " in " + op)
	}
	return report.Plain(l.Str("call"))
}

// launching is the column of an operator with the operations that it launches.
func launching(as report.Names) column {
	return label("operator and what it launches", func(l tables.Line) gridCell {
		names := l.Value("kernels").List()
		return gridCell{Text: report.Plain(report.Operator(l.Str("operator"))), Small: report.Plain(as.ReadableList(names)), Title: strings.Join(names, tables.Arrow)}
	})
}

func operatorsCard(list []tables.Table, as report.Names) card {
	t := &list[0]
	l, ok := largest(t, "count")
	if !ok {
		return card{}
	}
	return card{
		Says: report.Plain(report.Operator(l.Str("operator"))) + " launches most often. The first delay is the operator's own work before its launch, the second the way from there to the GPU.",
		Grids: []grid{makeGrid(t, cardRows, "operators", launching(as), bar(t, "launch_delay_ns", "cpu"),
			figure(t, "to the launch", "launch_delay_ns"), figure(t, "to the start", "kernel_delay_ns"), figure(t, "calls", "count"))}}
}

func sequencesCard(list []tables.Table, as report.Names) card {
	t := &list[0]
	if _, ok := largest(t, "count"); !ok {
		return card{}
	}
	c := card{Says: "Operations that one operator launches together, and often, are what a fused kernel or a captured graph would take together. None of these holds up the run."}
	if l, ok := largest(t, "critical_ns"); ok {
		c.Says = "Operations that one operator launches together, and often, are what a fused kernel or a captured graph would take together. Of the path they hold " + l.Show("critical_ns") + " at most."
	}
	c.Grids = []grid{makeGrid(t, cardRows, "sequences", launching(as), bar(t, "critical_ns", "gpu_compute"),
		figure(t, "on the path", "critical_ns"), figure(t, "calls", "count"))}
	return c
}

func annotationsCard(list []tables.Table, _ report.Names) card {
	t := &list[0]
	longest := most(t, "stats_sum")
	kind := func(l tables.Line) (class, word string) {
		if l.Value("gpu").Int() != 0 {
			return "gpu_compute", "GPU"
		}
		return "cpu", "CPU"
	}
	c := card{Key: []keyEntry{{"cpu", "on the CPU"}, {"gpu_compute", "on the GPU"}}, Says: "Annotations of the program with the time from their begin to their end. They nest, so their times do not add up."}
	c.Grids = []grid{makeGrid(t, cardRows, "annotations", named("name", "name"),
		column{gridColumn{Head: "where", Extra: true}, func(l tables.Line) gridCell { _, word := kind(l); return gridCell{Text: word} }},
		bars("", func(l tables.Line) []part {
			class, _ := kind(l)
			return []part{{class, ratio(l.Value("stats_sum").Float(), longest), ""}}
		}),
		figure(t, "time", "stats_sum"), figure(t, "times", "stats_count"), extra(figure(t, "mean", "stats_mean")))}
	return c
}

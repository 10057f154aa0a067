package report

import (
	"slices"
	"strings"

	"overlay/internal/cdg/phases"
	"overlay/internal/tables"
)

// maxBars is how many steps a page lists one by one. Of more it shows how long they take, and the longest.
const maxBars = 24

// Sections are the parts of a page of the report between its picture of the window and what it rests on, in order: what the path is
// made of, the analyses, what the method has besides, the graph.
func (r *Report) Sections() [4][]Section {
	list := r.Tables()
	return [4][]Section{r.pathSections(list), slices.DeleteFunc(r.analysisSections(), func(s Section) bool { return len(s.Grids) == 0 }), methodSections(list), {graphSection(list)}}
}

// pathSections are what the path is made of, and what holds the memory.
func (r *Report) pathSections(list []tables.Table) []Section {
	return []Section{r.stepSection(list), r.hotspotSection(list), r.gainSection(list), r.unknownSection(list), r.memorySection(list)}
}

// ClassParts are the classes of a stretch of the path side by side, most time first.
func ClassParts(byClass map[string]int64, duration, longest int64) (parts []Part) {
	for _, c := range ByTime(byClass) {
		ns := byClass[c]
		parts = append(parts, Part{c, tables.ShareOf(ns, longest), ClassWords(c) + " " + tables.FormatShare(tables.ShareOf(ns, duration)) + ", " + tables.Duration(ns)})
	}
	return parts
}

// mostly names the classes, so many at most, that hold most of a stretch of the path.
func mostly(byClass map[string]int64, duration int64, most int) string {
	var parts []string
	for _, c := range ByTime(byClass) {
		if ns := byClass[c]; tables.ShareOf(ns, duration) >= 0.02 && len(parts) < most {
			parts = append(parts, ClassWords(c)+" "+tables.WholePercent(ns, duration))
		}
	}
	return strings.Join(parts, ", ")
}

// smallParts stands between what a text shows on lines of their own.
const smallParts = "; "

// nonEmpty are the texts that say something.
func nonEmpty(list ...string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// methodSections are the tables of the paper and of HTA.
func methodSections(list []tables.Table) (out []Section) {
	for i, side := range [...][2]string{{"ctda_cpu", "CPU"}, {"ctda_gpu", "GPU"}} {
		t := tables.Find(list, side[0])
		if t == nil {
			continue
		}
		s := Section{Title: "The paper's table, " + side[1], Grids: filled([]Grid{gridOf(t, maxRows, "names", named("name", "name"), wordsOf("category", "{category}"), bar(t, "duration_ns", "handoff", ""),
			figure(t, "duration", "duration_ns"), figure(t, "proportion", "proportion"), figure(t, "prop_in_total", "prop_in_total"))})}
		if i == 0 {
			rows := func(name string) string { return tables.Grouped(int64(tables.Find(list, name).Rows)) }
			s.Says = rows("nodes") + " nodes, " + rows("node_edges") + " edges, " + tables.Fixed(tables.Find(list, "cdg").Line(0).Value("events_per_node").Float(), 0) + " events a node, " + rows("ctda_path_nodes") + " nodes on the path."
		}
		out = append(out, s)
	}
	if t := tables.Find(list, "hta"); t != nil {
		out = append(out, Section{Title: "HTA's summary", Grids: filled([]Grid{gridOf(t, maxRows, "rows", textual("bound by", "{words bound_by}"), bar(t, "ns", "handoff", ""),
			figure(t, "of the path's weight", "share"), figure(t, "time", "ns"))})})
	}
	return out
}

// graphSection shows the busy time of the aggregated nodes by phase, in the order of training, and the nodes that hold most of the path.
func graphSection(list []tables.Table) Section {
	t, nodes := tables.Find(list, "by_phase"), tables.Find(list, "nodes")
	s := Section{Name: "graph", Title: "Dependency graph"}
	if most(t, "ns") == 0 {
		return s
	}
	var order []int
	for _, phase := range [...]phases.Phase{phases.DataLoad, phases.Forward, phases.Loss, phases.Backward, phases.Communication, phases.Update, phases.Other} {
		for l := range t.Lines(-1) {
			if l.Str("phase") == phase.String() && l.Value("ns").Int() > 0 {
				order = append(order, l.Row)
			}
		}
	}
	s.Says = tables.Grouped(int64(nodes.Rows)) + " nodes and " + tables.Grouped(int64(tables.Find(list, "node_edges").Rows)) + " edges: runs of events with only sequential dependencies among them. The bars are their busy time by phase, CPU and GPU."
	s.Grids = []Grid{gridIn(t, order, "phases", textual("phase", "{phase}"), bar(t, "ns", "handoff", ""), figure(t, "busy", "ns"))}
	s.Grids[0].Left = 0
	if nodes.Rows > 0 {
		nodes = nodes.Sorted("critical_ns")
		g := gridOf(nodes, cardRows, "nodes", label("node", func(l tables.Line) Cell { return Cell{Text: l.Show("id"), Exact: l.Exact("id")} }),
			wordsOf("phase", "{phase}"), wordsOf("row", "{resource}"), bar(nodes, "critical_ns", "handoff", ""), figure(nodes, "on the path", "critical_ns"), figure(nodes, "busy", "busy_ns"), figure(nodes, "events", "events"))
		g.Title, g.Folded = "Nodes that hold most of the path", true
		s.Grids = append(s.Grids, g)
	}
	return s
}

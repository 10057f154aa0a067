package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg/phases"
	"overlay/internal/critpath"
	"overlay/internal/tables"
)

// maxBars is how many steps a page lists one by one. Of more it shows how long they take, and the longest.
const maxBars = 24

// Sections are the parts of a page of the report between its picture of the window and what it rests on, in order: what the path is
// made of, the analyses, what the method has besides, the graph.
func (r *Report) Sections() [4][]Section {
	list := r.Tables()
	return [4][]Section{{r.stepSection(list), hotspotSection(list), gainSection(list), r.unknownSection(list), r.memorySection(list)}, r.analysisSections(), methodSections(list), {graphSection(list)}}
}

// ClassParts are the classes of a stretch of the path side by side, most time first.
func ClassParts(byClass map[string]int64, duration, longest int64) (parts []Part) {
	for _, c := range ByTime(byClass) {
		ns := byClass[c]
		parts = append(parts, Part{c, tables.ShareOf(ns, longest), ClassWords(c) + " " + tables.FormatShare(tables.ShareOf(ns, duration)) + ", " + tables.Duration(ns)})
	}
	return parts
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
		if h := tables.Find(list, "step_times_histogram"); h != nil && len(s.Grids) == 0 { // iterations of several types have no typical length
			counts := bar(h, "count", "handoff", "{count#step}")
			s.Grids = append(s.Grids, gridOf(h, 64, "buckets", label("a step takes", func(l tables.Line) Cell {
				return Cell{Text: say(l, "{from_ns} to {to_ns}"), Exact: l.Exact("from_ns")}
			}), bars("", func(l tables.Line) []Part { return counts.cell(l).Parts }), figure(h, "steps", "count")))
		}
	}
	longest := int64(most(t, "duration_ns"))
	of := func(l tables.Line) *Step { return &r.Steps[l.Row] }
	g := gridIn(t, order, "steps", textual("step", "{name}"),
		bars("", func(l tables.Line) []Part { return ClassParts(of(l).ByClass, of(l).Duration, longest) }),
		figure(t, "time", "duration_ns"), Column{Head: "bound by", cell: textual("", "{class bound_by}").cell},
		Column{Head: "its share", Number: true, Extra: true, Unit: tables.Share, cell: func(l tables.Line) Cell { return shareCell(of(l).ByClass[of(l).BoundBy], of(l).Duration) }})
	for c := range critpath.NumClasses {
		if r.Path.ByClass[c.String()] > 0 {
			g.Key = append(g.Key, Key{c.String(), c.Words()})
		}
	}
	if len(s.Grids) > 0 {
		g.Title = "The longest"
	}
	s.Grids = append(s.Grids, g)
	return s
}

// iterationGrid lists the types of iterations of a server, with what the path of one is made of.
func (r *Report) iterationGrid(t *tables.Table) Grid {
	if t == nil {
		return Grid{}
	}
	longest := int64(0)
	total := func(x map[string]int64) (ns int64) {
		for _, n := range x {
			ns += n
		}
		return ns
	}
	for i := range r.Iterations {
		longest = max(longest, total(r.Iterations[i].ByClass))
	}
	return gridOf(t, maxRows, "types", textual("an iteration", "{type}"), bars("", func(l tables.Line) []Part {
		x := r.Iterations[l.Row].ByClass
		return ClassParts(x, total(x), longest)
	}), figure(t, "count", "count"), figure(t, "takes", "time_ns"), figure(t, "host gap", "host_gap_ns"), figure(t, "GPU busy", "gpu_busy_share"), extra(figure(t, "batch", "batch")),
		extra(figure(t, "tokens", "tokens")), figure(t, "tokens/s", "tokens_per_s"))
}

// servedWords says of each type what an iteration takes, and what replays would make of it.
func (r *Report) servedWords() string {
	var words []string
	for i := range r.Iterations {
		x := &r.Iterations[i]
		s := strings.ToUpper(x.Type[:1]) + x.Type[1:] + " takes " + tables.Duration(x.Time)
		for k, c := range x.Replays {
			s += []string{"; replayed ", ", "}[min(k, 1)] + tables.Duration(c.Time) + " with " + c.Change
		}
		words = append(words, s)
	}
	if s := r.CutInto(); s != "" {
		words = append(words, "R"+s[1:])
	}
	return strings.Join(words, ". ") + "."
}

// steps lists the steps with the classes that hold most of them.
func (t *text) steps(r *Report) {
	if len(r.Steps) == 0 {
		return
	}
	t.head("steps")
	for i, s := range r.Steps {
		if t.middle(i, len(r.Steps)) {
			continue
		}
		var parts []string
		for _, c := range ByTime(s.ByClass) {
			if ns := s.ByClass[c]; tables.ShareOf(ns, s.Duration) >= 0.02 && len(parts) < 4 {
				parts = append(parts, ClassWords(c)+" "+tables.WholePercent(ns, s.Duration))
			}
		}
		t.line("  %-18s %11s  %s", Shorten(Plain(s.Name), 18), tables.Duration(s.Duration), fitting(parts, t.width-34))
	}
}

// maxSteps is how many steps a text lists before the middle is left out.
const maxSteps = 8

// middle reports whether step i of n is left out, and says so once.
func (t *text) middle(i, n int) bool {
	if n <= maxSteps || i < maxSteps/2 || i >= n-maxSteps/2 {
		return false
	}
	if i == maxSteps/2 {
		t.rest("  ", n-maxSteps)
	}
	return true
}

func hotspotSection(list []tables.Table) Section {
	t := tables.Find(list, "hotspots")
	return Section{"hotspots", "Hotspots", "Time on the critical path by name: what is shorter here makes the run shorter.", filled([]Grid{gridOf(t, maxRows, "names",
		label("name", func(l tables.Line) Cell {
			c := shownCell(l)
			c.Small = strings.Join(cameFrom(l), ", ")
			return c
		}), bar(t, "critical_ns", "{of kind}", ""), figure(t, "of the window", "share_of_window"), figure(t, "time", "critical_ns"), figure(t, "calls", "calls"),
		wordsOf("kind", "{kind}"), wordsOf("phase", "{phase}"))})}
}

func (t *text) hotspots() {
	spots := t.table("hotspots")
	if spots.Rows == 0 {
		return
	}
	t.head("hotspots: time on the critical path")
	fixed, phase, head := 42, "", ""
	if t.width >= 100 && tellsApart(spots, "phase") { // room for one more column
		fixed, phase, head = 53, "{phase phase:-9}  ", "phase      "
	}
	t.line("  %7s %11s %8s  %-8s  %s%s", "share", "time", "calls", "kind", head, "name")
	for l := range spots.Lines(-1) {
		t.row(l, fmt.Sprintf("  {share_of_window:7} {critical_ns:11} {calls:8}  {kind kind:-8!}  %s{readable<%d}", phase, fixed))
		for _, s := range cameFrom(l) {
			t.line("%*s%s", fixed, "", Shorten(Plain(s), t.width-fixed))
		}
	}
}

// cameFrom says what led to a hotspot: operator, module and line, or where nothing but the launch of its graph was recorded, its place there.
func cameFrom(l tables.Line) (list []string) {
	from := after("from ", l.Str("caller"))
	if l.Str("operator") == "" {
		from = cmp.Or(l.Str("graph"), from)
	}
	return slices.DeleteFunc([]string{strings.TrimSpace(l.Str("operator") + after(" in ", l.Str("module"))), from}, func(s string) bool { return s == "" })
}

// gainSection shows what replays say of each class and hotspot: how much shorter the window is without it.
func gainSection(list []tables.Table) Section {
	t := tables.Find(list, "gains")
	return Section{"gains", "What could be gained", "The run replayed without it: no work on it saves more than this, since something else binds then.", filled([]Grid{gridOf(t, maxRows, "rows",
		label("without", func(l tables.Line) Cell {
			if l.Str("what") == "class" {
				return Cell{Text: l.Str("readable")}
			}
			return shownCell(l)
		}), bar(t, "saves_at_most_ns", "pale", ""), figure(t, "saves at most", "saves_at_most_ns"), figure(t, "of the window", "saves_at_most_share"), figure(t, "with half of it", "half_saves_ns"),
		extra(figure(t, "on the path", "critical_ns")), extra(textual("then bound by", "{class then_bound_by}")))})}
}

// worthGain is the share of the window below which what could be gained is not listed in the text.
const worthGain = 0.005

func (t *text) gains() {
	all := t.table("gains")
	if all.Rows == 0 {
		return
	}
	t.head("what could be gained: the run replayed with less of it")
	t.line("  %12s %8s %12s  %-15s  %s", "at most", "", "half of it", "then bound by", "at")
	little := 0
	for l := range all.Lines(-1) {
		if l.Value("saves_at_most_share").Float() < worthGain {
			little++
			continue
		}
		t.row(l, "  {saves_at_most_ns:12} {saves_at_most_share:8} {half_saves_ns:12}  {class then_bound_by:-15}  {readable<56}")
	}
	if little > 0 {
		t.line("  little or nothing at %s of the path", tables.Counted(little, "other part"))
	}
}

// unknownSection shows the time that no event owns, by reason and by what stands around it.
func (r *Report) unknownSection(list []tables.Table) Section {
	by, gaps := tables.Find(list, "unknown_time"), tables.Find(list, "gaps")
	s := Section{Name: "unknown", Title: "Time that no recorded event owns", Says: "What the profiler did not record, by its likely reason with what to do to see it; below that by what stands before and after."}
	if by == nil || by.Rows == 0 || gaps == nil {
		return s
	}
	s.Grids = filled([]Grid{
		gridOf(by, cardRows, "reasons", label("likely reason, and how to record it", func(l tables.Line) Cell {
			return Cell{Text: say(l, "{kind kind}: {likely}"), Small: Sentence(l.Str("record"))}
		}), bar(by, "ns", "{of kind}", ""), figure(by, "of the window", "share_of_window"), figure(by, "time", "ns"), figure(by, "times", "count")),
		gridOf(gaps, cardRows, "gaps", label("before it, and after it", func(l tables.Line) Cell {
			before, after := cellOf(l.Str("before"), r.Names.Readable(l.Str("before"))), cellOf(l.Str("after"), r.Names.Readable(l.Str("after")))
			return Cell{Text: cmp.Or(before.Text, "the start of the row"), Small: "then " + cmp.Or(after.Text, "the end of the row"), Title: cmp.Or(before.Title, after.Title)}
		}), bar(gaps, "ns", "{of kind}", ""), figure(gaps, "of the window", "share_of_window"), figure(gaps, "time", "ns"), figure(gaps, "times", "count"), extra(figure(gaps, "longest", "longest_ns"))),
	})
	return s
}

// worthGap is the share of the window below which time that no event owns is not listed in the text.
const worthGap = 0.01

// gapLines is how many pairs of neighbours the text lists.
const gapLines = 5

// gapIndent is where the words of a line begin.
const gapIndent = 32

// unknown prints what no recorded event owns: the likely reasons, and what stands around.
func (t *text) unknown(r *Report) {
	var sum int64
	for i := range r.Unknown {
		sum += r.Unknown[i].NS
	}
	if tables.ShareOf(sum, r.Window.Duration) < worthGap {
		return
	}
	t.head("time that no recorded event owns: " + tables.FormatShare(tables.ShareOf(sum, r.Window.Duration)))
	const numbers = "  {share_of_window:7} {ns:11} {count:8}  "
	for l := range t.table("unknown_time").Lines(-1) {
		if l.Value("share_of_window").Float() < worthGap/10 {
			continue
		}
		lines := append(wrap(say(l, "{kind kind}: {likely}"), t.width-gapIndent), wrap(l.Str("record"), t.width-gapIndent)...)
		t.line("%s%s", say(l, numbers), lines[0])
		for _, more := range lines[1:] {
			t.line("%s%s", strings.Repeat(" ", gapIndent), more)
		}
	}
	side := func(s, none string) string {
		if s == "" {
			return none
		}
		return Shorten(Plain(t.names.Readable(s)), max((t.width-gapIndent-5)/2, 12))
	}
	n := 0
	for l := range t.table("gaps").Lines(gapLines) {
		if l.Value("share_of_window").Float() < worthGap/10 {
			break
		}
		if n++; n == 1 {
			t.line("  by what stands before and after")
		}
		t.line("%s%s … %s", say(l, numbers), side(l.Str("before"), "(nothing)"), side(l.Str("after"), "(nothing)"))
	}
}

// methodSections are the tables of the paper and of HTA.
func methodSections(list []tables.Table) (out []Section) {
	for _, side := range paperSides {
		if t := tables.Find(list, side[0]); t != nil {
			out = append(out, Section{Title: "The paper's table, " + side[1], Grids: filled([]Grid{gridOf(t, maxRows, "names", named("name", "name"), wordsOf("category", "{category}"), bar(t, "duration_ns", "handoff", ""),
				figure(t, "duration", "duration_ns"), figure(t, "proportion", "proportion"), figure(t, "prop_in_total", "prop_in_total"))})})
		}
	}
	if t := tables.Find(list, "hta"); t != nil {
		out = append(out, Section{Title: "HTA's summary", Grids: filled([]Grid{gridOf(t, maxRows, "rows", textual("bound by", "{words bound_by}"), bar(t, "ns", "handoff", ""),
			figure(t, "of the path's weight", "share"), figure(t, "time", "ns"))})})
	}
	return out
}

// paperSides are the two tables of the CTDA-CPA paper.
var paperSides = [...][2]string{{"ctda_cpu", "CPU"}, {"ctda_gpu", "GPU"}}

// methods prints the tables of the paper, and the summary of HTA's method.
func (t *text) methods(r *Report) {
	if r.CTDA != nil {
		for _, side := range paperSides {
			t.head("paper's table, " + side[1])
			t.line("  %11s %10s %13s  %-15s %s", "duration", "proportion", "prop_in_total", "category", "name")
			t.rows(t.table(side[0]), 0, "  {duration_ns:11} {proportion:10} {prop_in_total:13}  {category:-15} {generic name<55}")
		}
		rows := func(name string) string { return tables.Plain(int64(t.table(name).Rows)) }
		t.line("%s nodes, %s edges, %s events a node, %s nodes on the path", rows("nodes"), rows("node_edges"), say(t.one("cdg"), "{whole events_per_node}"), rows("ctda_path_nodes"))
	}
	if classes := t.table("hta"); classes.Rows > 0 {
		t.head("HTA's summary, of the path's weight")
		t.rows(classes, 0, "  {share:8} {ns:12}  {bound_by}")
	}
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

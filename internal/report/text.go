package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"overlay/internal/cdg"
	"overlay/internal/tables"
)

// TextOptions say how text is laid out.
type TextOptions struct {
	Color bool
	Width int  // columns; 0 = 100; at least 60
	Walk  bool // the path, a line a segment
	Short bool // without the analyses
}

// ansi are the colours of the classes on a terminal.
var ansi = map[string]string{"cpu": "34", "gpu_compute": "32", "communication": "35", "copy": "33", "launch": "93", "sync": "36", "handoff": "94", "unexplained": "95", "untraced": "90", "idle": "37"}

// text lays out lines of tables; the first write error sticks.
type text struct {
	w      *bufio.Writer
	o      TextOptions
	width  int
	tables []tables.Table
	names  Names
}

func newText(w io.Writer, o TextOptions, list []tables.Table) *text {
	return &text{w: bufio.NewWriter(w), o: o, width: max(cmp.Or(o.Width, 100), 60), tables: list}
}

// table finds a table; one that is not there has no rows.
func (t *text) table(name string) *tables.Table {
	if found := tables.Find(t.tables, name); found != nil {
		return found
	}
	return &tables.Table{Name: name}
}

// one is the row of a table that always has one.
func (t *text) one(name string) tables.Line { return t.table(name).Line(0) }

// WriteText writes the report on about one screen.
func (r *Report) WriteText(w io.Writer, o TextOptions) error {
	t := newText(w, o, r.Tables())
	t.names = r.Names
	t.head(r)
	t.composition(r)
	t.steps(r)
	t.hotspots()
	t.unknown(r)
	t.ctda(r)
	t.hta()
	t.trust(r)
	t.gains()
	t.advice(r.Advice)
	if o.Walk {
		t.walk(r)
	}
	if !o.Short {
		for _, s := range r.Analyses.Sections() {
			t.analysis(s)
		}
	}
	return t.w.Flush()
}

func (t *text) line(format string, args ...any) {
	s := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	t.w.WriteString(s)
	t.w.WriteByte('\n')
}

func (t *text) paint(code, s string) string {
	if !t.o.Color || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (t *text) bold(s string) string { return t.paint("1", s) }

func (t *text) head(r *Report) {
	window := "whole trace"
	if r.Window.Annotation != "" {
		window = Plain(r.Window.Annotation)
		if r.Window.Instance != "" {
			window += ", instance " + r.Window.Instance
		}
	}
	t.line("%s", t.bold(Shorten(Plain(r.Input.Name), t.width)))
	t.line("%s events, window %s (%s)%s", t.one("input").Show("events"), t.one("window").Show("duration_ns"), Shorten(window, max(t.width-64, 10)), unusual(r.Method, r.Threads))
	t.line("")
	t.line("%s", t.bold(t.paint(ansi[r.Path.BoundBy], Shorten(r.Bound(), t.width))))
	if blind := r.Blind(); blind != "" {
		t.line("%s", Shorten(blind, t.width))
	}
	p := t.one("critical_path")
	t.line("path %s in %s, %s of the window in recorded events", p.Show("duration_ns"), tables.Counted(r.Path.Count, "segment"), p.Show("cpcr"))
	t.strip(r)
}

// unusual says how the path was found where that is not as usual.
func unusual(method, threads string) string {
	s := ""
	if method != "exact" {
		s += ", method " + method
	}
	if threads != cdg.ThreadsGIL.String() {
		s += ", threads " + threads
	}
	return s
}

// strip draws the window from left to right, a letter a column, for those who cannot see the colours.
func (t *text) strip(r *Report) {
	if len(r.Path.Strip) == 0 || r.Window.Duration <= 0 {
		return
	}
	n := min(t.width, 100)
	var b strings.Builder
	i := 0
	for c := range n {
		at := r.Window.Start + int64((float64(c)+0.5)/float64(n)*float64(r.Window.Duration))
		for i < len(r.Path.Strip) && r.Path.Strip[i].End <= at {
			i++
		}
		if i == len(r.Path.Strip) || r.Path.Strip[i].Start > at {
			b.WriteByte(' ')
			continue
		}
		class := r.Path.Strip[i].Class
		if t.o.Color {
			b.WriteString(t.paint(ansi[class], "█"))
		} else {
			b.WriteString(letters[class])
		}
	}
	t.line("%s", b.String())
}

var letters = map[string]string{"cpu": "C", "gpu_compute": "G", "communication": "M", "copy": "P", "launch": "L", "sync": "S", "handoff": "H", "unexplained": "?", "untraced": ".", "idle": "_"}

func (t *text) composition(r *Report) {
	t.line("")
	const bar = 40
	for _, c := range ByTime(r.Path.ByClass) {
		ns := r.Path.ByClass[c]
		s := tables.ShareOf(ns, r.Window.Duration)
		n := int(s*bar + 0.5)
		key := " "
		if !t.o.Color {
			key = letters[c]
		}
		t.line("%s %-15s %8s %12s  %s", key, classWords[c], tables.FormatShare(s), tables.Duration(ns), t.paint(ansi[c], strings.Repeat("█", n)))
	}
}

// maxSteps is how many steps are listed before the middle is left out.
const maxSteps = 8

func (t *text) steps(r *Report) {
	if len(r.Steps) == 0 {
		return
	}
	t.line("")
	t.line("%s", t.bold("steps"))
	for i, s := range r.Steps {
		if len(r.Steps) > maxSteps && i >= maxSteps/2 && i < len(r.Steps)-maxSteps/2 {
			if i == maxSteps/2 {
				t.line("  … %s more", tables.Plain(int64(len(r.Steps)-maxSteps)))
			}
			continue
		}
		var parts []string
		for _, c := range ByTime(s.ByClass) {
			if ns := s.ByClass[c]; tables.ShareOf(ns, s.Duration) >= 0.02 && len(parts) < 4 {
				parts = append(parts, classWords[c]+" "+tables.WholePercent(ns, s.Duration))
			}
		}
		t.line("  %-18s %11s  %s", Shorten(Plain(s.Name), 18), tables.Duration(s.Duration), fitting(parts, t.width-34))
	}
}

// fitting joins as many parts, the first ones, as there is room for.
func fitting(parts []string, width int) string {
	s := ""
	for i, p := range parts {
		if i > 0 {
			p = ", " + p
		}
		if i > 0 && utf8.RuneCountInString(s)+utf8.RuneCountInString(p) > width {
			break
		}
		s += p
	}
	return Shorten(s, width)
}

func (t *text) hotspots() {
	spots := t.table("hotspots")
	if spots.Rows == 0 {
		return
	}
	t.line("")
	t.line("%s", t.bold("hotspots: time on the critical path"))
	phase := func(string) string { return "" }
	fixed := 2 + 7 + 1 + 11 + 1 + 8 + 2 + 8 + 2
	if t.width >= 100 && tellsApart(spots, "phase") { // room for one more column
		phase = func(s string) string { return fmt.Sprintf("%-9s  ", shortPhase(s)) }
		fixed += 11
	}
	name := t.width - fixed
	t.line("  %7s %11s %8s  %-8s  %s%s", "share", "time", "calls", "kind", phase("phase"), "name")
	for l := range spots.Lines(-1) {
		t.line("  %7s %11s %8s  %-8s  %s%s", l.Show("share_of_window"), l.Show("critical_ns"), l.Show("calls"), Shorten(l.Str("kind"), 8), phase(l.Str("phase")), Shorten(Plain(l.Str("readable")), name))
		if caller := l.Str("caller"); caller != "" {
			t.line("%s%s", strings.Repeat(" ", fixed), Shorten("from "+Plain(caller), name))
		}
	}
}

// tellsApart reports whether a column has different texts.
func tellsApart(table *tables.Table, column string) bool {
	first := ""
	for l := range table.Lines(-1) {
		if s := l.Str(column); first == "" {
			first = s
		} else if s != first {
			return true
		}
	}
	return false
}

// shortPhase is a phase in nine letters.
func shortPhase(phase string) string {
	if phase == "Communication" {
		return "Comm."
	}
	return Shorten(phase, 9)
}

// ctda prints the tables of the CTDA-CPA paper.
func (t *text) ctda(r *Report) {
	if r.CTDA == nil {
		return
	}
	for _, side := range [...][2]string{{"ctda_cpu", "CPU"}, {"ctda_gpu", "GPU"}} {
		t.line("")
		t.line("%s", t.bold("paper's table, "+side[1]))
		t.line("  %11s %10s %13s  %-15s %s", "duration", "proportion", "prop_in_total", "category", "name")
		for l := range t.table(side[0]).Lines(-1) {
			t.line("  %11s %10s %13s  %-15s %s", l.Show("duration_ns"), l.Show("proportion"), l.Show("prop_in_total"), l.Str("category"), Shorten(Plain(Readable(l.Str("name"))), t.width-55))
		}
	}
	rows := func(name string) string { return tables.Plain(int64(t.table(name).Rows)) }
	t.line("%s nodes, %s edges, %s events a node, %s nodes on the path", rows("nodes"), rows("node_edges"),
		tables.Fixed(t.one("cdg").Value("events_per_node").Float(), 0), rows("ctda_path_nodes"))
}

// hta prints the summary of HTA's method.
func (t *text) hta() {
	classes := t.table("hta")
	if classes.Rows == 0 {
		return
	}
	t.line("")
	t.line("%s", t.bold("HTA's summary, of the path's weight"))
	for l := range classes.Lines(-1) {
		t.line("  %8s %12s  %s", l.Show("share"), l.Show("ns"), l.Str("bound_by"))
	}
}

// trust says what is measured and what is not.
func (t *text) trust(r *Report) {
	t.line("")
	p := &r.Path
	none := p.ByEvidence["none"]
	of := func(ns, whole int64) string { return tables.FormatShare(tables.ShareOf(ns, whole)) }
	t.line("evidence of the path: %s recorded, %s inferred, %s none", of(p.Duration-p.Inferred-none, p.Duration),
		of(p.Inferred, p.Duration), of(none, p.Duration))
	var notes []string
	for l := range t.table("repairs").Lines(-1) {
		notes = append(notes, l.Show("count")+" "+Words(l.Str("reason")))
	}
	if len(notes) > 0 {
		t.wrapped("mended in the input: " + strings.Join(notes, ", "))
	}
	notes = notes[:0]
	for l := range t.table("quality").Lines(-1) {
		if l.Value("count").Int() > 0 {
			words := qualityWords(l.Str("reason"))
			if l.Value("count").Int() == 1 {
				words = singular(words)
			}
			notes = append(notes, l.Show("count")+" "+words)
		}
	}
	if len(notes) > 0 {
		t.wrapped("odd in the trace: " + strings.Join(notes, ", "))
	}
}

// wrapped prints text on as many lines as it needs.
func (t *text) wrapped(s string) {
	for i, l := range wrapText(s, t.width-2) {
		t.line("%s%s", []string{"", "  "}[min(i, 1)], l)
	}
}

// gains says what could be gained at each class and hotspot.
func (t *text) gains() {
	all := t.table("gains")
	if all.Rows == 0 {
		return
	}
	t.line("")
	t.line("%s", t.bold("what could be gained: the run replayed with less of it"))
	t.line("  %12s %8s %12s  %-15s  %s", "at most", "", "half of it", "then bound by", "at")
	little := 0
	for l := range all.Lines(-1) {
		if l.Value("saves_at_most_share").Float() < worthGain {
			little++
			continue
		}
		t.line("  %12s %8s %12s  %-15s  %s", l.Show("saves_at_most_ns"), l.Show("saves_at_most_share"), l.Show("half_saves_ns"), classWords[l.Str("then_bound_by")], Shorten(Plain(l.Str("readable")), t.width-56))
	}
	if little > 0 {
		t.line("  little or nothing at %s of the path", tables.Counted(little, "other part"))
	}
}

// worthGain is the share of the window below which what could be gained is not listed in the text.
const worthGain = 0.005

// walk prints the path, runs of one name on one resource folded.
func (t *text) walk(r *Report) {
	t.line("")
	t.line("%s", t.bold("the walk, from the start of the window"))
	for i := 0; i < len(r.Path.Segments); {
		s := &r.Path.Segments[i]
		j, sum := i, int64(0)
		for j < len(r.Path.Segments) && r.Path.Segments[j].Name == s.Name && r.Path.Segments[j].Kind == s.Kind && r.Path.Segments[j].Resource == s.Resource {
			sum += r.Path.Segments[j].End - r.Path.Segments[j].Start
			j++
		}
		times := ""
		if j-i > 1 {
			times = tables.Plain(int64(j-i)) + "×"
		}
		where := Shorten(Plain(s.Resource), 18)
		t.line("%12s %11s %5s  %-12s %-18s %s", "+"+tables.Duration(s.Start-r.Window.Start), tables.Duration(sum), times, s.Kind, where, Shorten(Plain(t.names.Readable(s.Name)), max(t.width-66, 20)))
		i = j
	}
}

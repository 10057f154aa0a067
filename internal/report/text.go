package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"overlay/internal/advise"
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
)

// TextOptions say how text is laid out.
type TextOptions struct {
	Color bool
	Width int  // columns; 0 = 100; at least 60
	Walk  bool // the path, a line a segment
	Short bool // without the analyses
	Top   int  // rows of each list of a job; 0 = as many as fit one screen
}

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
	t.verdict(r)
	t.line("")
	ns, byClass := r.Steady()
	t.classes(byClass, ns)
	t.sections(append(r.pathSections(t.tables), methodSections(t.tables)...), func(Section) int { return maxBars })
	t.line("")
	for _, s := range r.Trust() {
		t.wrapped(s)
	}
	t.advice(r.Advice)
	if o.Walk {
		t.walk(r)
	}
	if !o.Short {
		t.analyses(r)
	}
	return t.w.Flush()
}

func (t *text) line(format string, args ...any) {
	s := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	t.w.WriteString(s)
	t.w.WriteByte('\n')
}

// most is how many rows a list of a job has: what was asked for, or as many as usual.
func (t *text) most(usual int) int { return cmp.Or(t.o.Top, usual) }

// first is a list up to as many as there is room for.
func first[E any](list []E, most int) []E { return list[:min(len(list), most)] }

// rest says how many of a list are not shown, where there are any.
func (t *text) rest(indent string, n int) {
	if n > 0 {
		t.line("%s… %s more", indent, tables.Plain(int64(n)))
	}
}

func (t *text) paint(code, s string) string {
	if !t.o.Color || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (t *text) bold(s string) string { return t.paint("1", s) }

// head begins a section.
func (t *text) head(title string) {
	t.line("")
	t.line("%s", t.bold(title))
}

func (t *text) verdict(r *Report) {
	window := r.Window.name()
	if r.Window.Instance != "" {
		window += ", instance " + r.Window.Instance
	}
	t.line("%s", t.bold(Shorten(Plain(r.Input.Name), t.width)))
	t.line("%s events, window %s (%s)%s", t.one("input").Show("events"), t.one("window").Show("duration_ns"), Shorten(window, max(t.width-64, 10)), unusual(r.Method, r.Threads))
	t.line("")
	for _, l := range wrapText(r.Bound(), t.width) {
		t.line("%s", t.bold(t.paint(colour(r.Path.BoundBy), l)))
	}
	for _, s := range append([]string{r.Devices()}, r.Doubts()...) {
		t.para(s)
	}
	p := t.one("critical_path")
	t.line("path %s in %s, %s of the window in recorded events", p.Show("duration_ns"), tables.Counted(r.Path.Count, "segment"), p.Show("cpcr"))
	t.strip(r)
}

// Doubts are sentences below the verdict: where the trace tells little of it, what of the trace it leaves out, and what was corrected.
func (r *Report) Doubts() []string {
	say := slices.DeleteFunc([]string{r.Path.Without, r.Outside()}, func(s string) bool { return s == "" })
	for i := range r.Clock {
		say = append(say, r.Clock[i].Corrected(r.Window.Start))
	}
	if tie := r.tied(); tie != "" {
		say = append(say, tie)
	}
	return say
}

// tied tells the longest stretch in which little decides which path is critical.
func (r *Report) tied() string {
	if r.Advice == nil || len(r.Advice.NearTies) == 0 {
		return ""
	}
	list := r.Advice.NearTies
	t := slices.MaxFunc(list, func(x, y advise.NearTie) int { return cmp.Compare(x.To-x.From, y.To-y.From) })
	through := ClassWords(t.Class)
	if t.Name != "" {
		through += ", longest " + Shorten(Plain(r.Names.Readable(t.Name)), 40)
	}
	s := fmt.Sprintf("near tie: in %s of the window, from %s to %s, a second path (%s) is only %s shorter, and what shortens one of the two saves no more than that",
		tables.WholePercent(t.To-t.From, r.Window.Duration), tables.Duration(t.From-r.Window.Start), tables.Duration(t.To-r.Window.Start), through, tables.Duration(t.Margin))
	if more := len(list) - 1; more > 0 {
		s += fmt.Sprintf("; %d more in the JSON", more)
	}
	return s
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

// name is the annotation that a window is an instance of, or that it is all there is.
func (w *Window) name() string { return cmp.Or(Plain(w.Annotation), "whole trace") }

// strip draws the window from left to right, a letter a column, for those who cannot see the colours.
func (t *text) strip(r *Report) {
	if len(r.Path.Strip) == 0 || r.Window.Duration <= 0 {
		return
	}
	var ends []int64
	var signs []string
	add := func(end int64, sign string) { ends, signs = append(ends, end), append(signs, sign) }
	for _, x := range r.Path.Strip {
		if n := len(ends); n > 0 && ends[n-1] < x.Start {
			add(x.Start, " ") // the path of HTA has holes
		}
		if t.o.Color {
			add(x.End, t.paint(colour(x.Class), "█"))
		} else {
			add(x.End, letter(x.Class))
		}
	}
	ns, _ := r.Steady()
	t.columns(r.Window.End-ns, ns, ends, func(i int) string { return signs[i] })
}

// columns draws what follows each other in a window, of each when it ends, a sign a column.
func (t *text) columns(start, duration int64, ends []int64, sign func(i int) string) {
	n, i := min(t.width, 100), 0
	var b strings.Builder
	for c := range n {
		at := start + int64((float64(c)+0.5)/float64(n)*float64(duration))
		for i+1 < len(ends) && ends[i] <= at {
			i++
		}
		b.WriteString(sign(i))
	}
	t.line("%s", b.String())
}

// classes prints what a path is made of, most time first, as bars; classes with next to nothing share a line.
func (t *text) classes(byClass map[string]int64, duration int64) {
	const bar = 40
	little, rest := []string{}, int64(0)
	for _, c := range ByTime(byClass) {
		ns := byClass[c]
		s := tables.ShareOf(ns, duration)
		if s < littleShare {
			little, rest = append(little, ClassWords(c)), rest+ns
			continue
		}
		key := " "
		if !t.o.Color {
			key = letter(c)
		}
		t.line("%s %-15s %8s %12s  %s", key, ClassWords(c), tables.FormatShare(s), tables.Duration(ns), t.paint(colour(c), strings.Repeat("█", int(s*bar+0.5))))
	}
	if rest > 0 {
		t.line("  %-15s %8s %12s  %s", "below 0.1 %", "", tables.Duration(rest), Shorten(strings.Join(little, ", "), t.width-41))
	}
}

// Rests says what the path rests on.
func (p *Path) Rests() string {
	none := p.ByEvidence["none"]
	unseen := min(p.ByKind[critpath.HostUnrecorded.String()], none)
	var parts []string
	for _, x := range [...]struct {
		ns   int64
		what string
	}{{p.Duration - p.Inferred - none, "recorded in the trace"}, {p.Inferred, "concluded from calls and times"}, {unseen, "host code that was not recorded"}, {none - unseen, "not explained by anything"}} {
		if share := tables.ShareOf(x.ns, p.Duration); share >= littleShare/2 { // else it reads 0.0 %
			parts = append(parts, tables.FormatShare(share)+" is "+x.what)
		}
	}
	return "what came after what: " + strings.Join(parts, ", ")
}

// Trust says what the report rests on, and what was odd in the trace.
func (r *Report) Trust() []string {
	rests := r.Path.Rests()
	if r.Quality[unseenLaunches] > 0 {
		rests += "; of the GPU nothing is"
	}
	counted := func(counts map[string]int, word func(string) string) string {
		var notes []string
		for _, reason := range slices.Sorted(maps.Keys(counts)) {
			n, words := counts[reason], word(reason)
			if n == 1 {
				words = singular(words)
			}
			if n > 0 {
				notes = append(notes, tables.Grouped(int64(n))+" "+words)
			}
		}
		return strings.Join(notes, ", ")
	}
	return nonEmpty(rests, after("mended in the input: ", counted(r.Input.Repairs, Words)), after("odd in the trace: ", counted(r.Quality, qualityWords)))
}

// para prints a sentence on as many lines as it needs, "" on none.
func (t *text) para(s string) {
	if s == "" {
		return
	}
	for _, l := range wrapText(s, t.width) {
		t.line("%s", l)
	}
}

// wrapped prints text on as many lines as it needs.
func (t *text) wrapped(s string) {
	for i, l := range wrapText(s, t.width-2) {
		t.line("%s%s", []string{"", "  "}[min(i, 1)], l)
	}
}

// walk prints the path.
func (t *text) walk(r *Report) {
	walked(t, r.Path.Segments, r.Window.Start, func(s *Segment) stretch { return stretch{s.Start, s.End, s.Kind, s.Name, s.Resource} }, 18)
}

// stretch is a piece of a path, as the walk shows it.
type stretch struct {
	start, end        int64
	kind, name, where string
}

// walked prints pieces of a path, those that follow each other with one name at one place folded; a place has so many letters. Times
// count from since.
func walked[S any](t *text, list []S, since int64, of func(*S) stretch, letters int) {
	t.head("the walk, from the start of the window")
	for i := 0; i < len(list); {
		x := of(&list[i])
		k, sum := i, int64(0)
		for ; k < len(list); k++ {
			y := of(&list[k])
			if y.name != x.name || y.kind != x.kind || y.where != x.where {
				break
			}
			sum += y.end - y.start
		}
		times := ""
		if k-i > 1 {
			times = tables.Plain(int64(k-i)) + "×"
		}
		t.line("%12s %11s %5s  %-12s %-*s %s", "+"+tables.Duration(x.start-since), tables.Duration(sum), times, x.kind, letters, Shorten(Plain(x.where), letters),
			Shorten(Plain(t.names.Readable(x.name)), max(t.width-48-letters, 20)))
		i = k
	}
}

// wrap breaks a sentence into lines of a width, at spaces.
func wrap(s string, width int) []string {
	var lines []string
	for len(s) > width {
		cut := strings.LastIndexByte(s[:width+1], ' ')
		if cut <= 0 {
			break
		}
		lines, s = append(lines, s[:cut]), s[cut+1:]
	}
	return append(lines, s)
}

// heading is how the report of a job begins: who is slow, where somebody is, and its inputs.
func (t *text) heading(headline, inputs string) {
	if headline != "" {
		for _, l := range wrapText(Plain(headline), t.width) {
			t.line("%s", t.bold(l))
		}
	}
	t.line("%s", t.bold(Shorten(Plain(inputs), t.width)))
}

// wrapText breaks a sentence into lines of a width, and words that are longer than a line: code behind one of its signs, so that
// nothing of it is lost.
func wrapText(s string, width int) []string {
	var out []string
	for _, l := range wrap(s, width) {
		for r := []rune(l); len(r) > width; r = []rune(l) {
			cut := width
			for i := width; i > width/2; i-- {
				if strings.ContainsRune("(.=,/", r[i-1]) {
					cut = i
					break
				}
			}
			out, l = append(out, string(r[:cut])), string(r[cut:])
		}
		out = append(out, l)
	}
	return out
}

package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// TextOptions say how text is laid out.
type TextOptions struct {
	Color bool
	Width int    // columns; 0 = 100; at least 60
	Next  string // command to type next, "" for none
	Walk  bool   // the path, a line a segment
}

// ansi are the colours of the classes on a terminal.
var ansi = map[string]string{"cpu": "34", "gpu_compute": "32", "communication": "35", "copy": "33", "launch": "93", "sync": "36", "handoff": "94", "unexplained": "95", "untraced": "90"}

// text lays out lines; the first write error sticks.
type text struct {
	w     *bufio.Writer
	o     TextOptions
	width int
}

// WriteText writes the report on about one screen.
func (r *Report) WriteText(w io.Writer, o TextOptions) error {
	t := &text{w: bufio.NewWriter(w), o: o, width: max(cmp.Or(o.Width, 100), 60)}
	t.head(r)
	t.composition(r)
	t.steps(r)
	t.hotspots(r)
	t.peers(r)
	t.trust(r)
	t.hints(r)
	if o.Walk {
		t.walk(r)
	}
	t.analyses(r)
	if o.Next != "" {
		t.line("")
		t.line("next  %s", o.Next)
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

// MS is a time as people read it.
func MS(ns int64) string {
	switch a := max(ns, -ns); {
	case a >= 10_000_000_000:
		return fmt.Sprintf("%.2f s", float64(ns)/1e9)
	case a >= 1_000_000:
		return fmt.Sprintf("%.2f ms", float64(ns)/1e6)
	case a >= 1000:
		return fmt.Sprintf("%.1f µs", float64(ns)/1e3)
	}
	return fmt.Sprintf("%d ns", ns)
}

// Percent is a share with one decimal.
func Percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

func (t *text) head(r *Report) {
	window := "whole trace"
	if r.Window.Annotation != "" {
		window = plain(r.Window.Annotation)
		if r.Window.Instance != "" {
			window += ", instance " + r.Window.Instance
		}
	}
	t.line("%s", t.bold(Shorten(plain(r.Input.Name), t.width)))
	t.line("%s events, window %s (%s), method %s, threads %s", group(int64(r.Input.Events)), MS(r.Window.Duration), Shorten(window, max(t.width-64, 10)), r.Method, r.Threads)
	t.line("")
	word := classWords[r.Path.BoundBy]
	t.line("%s", t.bold(t.paint(ansi[r.Path.BoundBy], "bound by "+word)))
	t.line("path %s in %s segments, covers %s of the window", MS(r.Path.Duration), group(int64(r.Path.Count)), Percent(r.Path.CPCR))
	t.strip(r)
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

var letters = map[string]string{"cpu": "C", "gpu_compute": "G", "communication": "M", "copy": "P", "launch": "L", "sync": "S", "handoff": "H", "unexplained": "?", "untraced": "."}

// byTime lists the classes of a map, most time first.
func byTime(m map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(classOrder[a], classOrder[b]), cmp.Compare(a, b))
	})
}

func (t *text) composition(r *Report) {
	t.line("")
	const bar = 40
	for _, c := range byTime(r.Path.ByClass) {
		ns := r.Path.ByClass[c]
		s := share(ns, r.Window.Duration)
		n := int(s*bar + 0.5)
		key := " "
		if !t.o.Color {
			key = letters[c]
		}
		t.line("%s %-15s %8s %12s  %s", key, classWords[c], Percent(s), MS(ns), t.paint(ansi[c], strings.Repeat("█", n)))
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
				t.line("  … %d more", len(r.Steps)-maxSteps)
			}
			continue
		}
		var parts []string
		for _, c := range byTime(s.ByClass) {
			if sh := share(s.ByClass[c], s.Duration); sh >= 0.02 && len(parts) < 4 {
				parts = append(parts, fmt.Sprintf("%s %.0f %%", classWords[c], 100*sh))
			}
		}
		t.line("  %-18s %11s  %s", Shorten(plain(s.Name), 18), MS(s.Duration), Shorten(strings.Join(parts, ", "), t.width-34))
	}
}

func (t *text) hotspots(r *Report) {
	if len(r.Hotspots) == 0 {
		return
	}
	t.line("")
	t.line("%s", t.bold("hotspots: time on the critical path"))
	phase := func(string) string { return "" }
	fixed := 2 + 7 + 1 + 11 + 1 + 8 + 2 + 8 + 2
	if t.width >= 100 { // room for one more column
		phase = func(s string) string { return fmt.Sprintf("%-9s  ", Shorten(s, 9)) }
		fixed += 11
	}
	name := t.width - fixed
	t.line("  %7s %11s %8s  %-8s  %s%s", "share", "time", "calls", "kind", phase("phase"), "name")
	for _, h := range r.Hotspots {
		t.line("  %7s %11s %8s  %-8s  %s%s", Percent(h.ShareOfWindow), MS(h.NS), group(int64(h.Calls)), Shorten(h.Kind, 8), phase(h.Phase), Shorten(plain(h.Readable), name))
		if h.Caller != "" {
			t.line("%s%s", strings.Repeat(" ", fixed), Shorten("from "+plain(h.Caller), name))
		}
	}
}

// peers prints the tables of the methods that are not ours.
func (t *text) peers(r *Report) {
	if r.Paper != nil {
		for _, side := range []struct {
			name string
			list []PaperLine
		}{{"CPU", r.Paper.CPU}, {"GPU", r.Paper.GPU}} {
			t.line("")
			t.line("%s", t.bold("paper's table, "+side.name))
			t.line("  %11s %10s %13s  %-15s %s", "duration", "proportion", "prop_in_total", "category", "name")
			for _, h := range side.list {
				t.line("  %11s %10s %13s  %-15s %s", MS(h.Duration), Percent(h.Proportion), Percent(h.InTotal), h.Category, Shorten(plain(Readable(h.Name)), t.width-55))
			}
		}
		t.line("%d nodes, %d edges, %.0f events a node, %d nodes on the path", len(r.CDG.Nodes), len(r.CDG.Edges), r.CDG.Reduction, len(r.Paper.Nodes))
	}
	if len(r.Peer) > 0 {
		t.line("")
		t.line("%s", t.bold("HTA's summary, of the path's weight"))
		for _, p := range r.Peer {
			t.line("  %8s %12s  %s", Percent(p.Share), MS(p.NS), p.Name)
		}
	}
}

// trust says what is measured and what is not.
func (t *text) trust(r *Report) {
	t.line("")
	none := r.Path.ByEvidence["none"]
	t.line("measured %s, inferred %s, no evidence %s; unexplained and untraced %s", Percent(share(r.Path.Duration-r.Path.Inferred-none, r.Path.Duration)),
		Percent(share(r.Path.Inferred, r.Path.Duration)), Percent(share(none, r.Path.Duration)), Percent(share(r.Path.ByClass["unexplained"]+r.Path.ByClass["untraced"], r.Window.Duration)))
	var notes []string
	for _, k := range slices.Sorted(maps.Keys(r.Input.Repairs)) {
		notes = append(notes, fmt.Sprintf("%s %s", group(int64(r.Input.Repairs[k])), strings.ReplaceAll(k, "_", " ")))
	}
	if len(notes) > 0 {
		t.line("%s", Shorten("mended in the input: "+strings.Join(notes, ", "), t.width))
	}
	notes = notes[:0]
	for _, k := range slices.Sorted(maps.Keys(r.Quality)) {
		if r.Quality[k] > 0 {
			notes = append(notes, fmt.Sprintf("%s %s", strings.ReplaceAll(k, "_", " "), group(int64(r.Quality[k]))))
		}
	}
	if len(notes) > 0 {
		t.line("%s", Shorten("data quality: "+strings.Join(notes, ", "), t.width))
	}
}

func (t *text) hints(r *Report) {
	if len(r.Hints) == 0 {
		return
	}
	t.line("")
	for _, h := range r.Hints {
		t.line("%s", Shorten(fmt.Sprintf("%s at stake: %s", MS(h.NS), h.Text), t.width))
	}
}

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
			times = fmt.Sprintf("%d×", j-i)
		}
		where := Shorten(plain(s.Resource), 18)
		t.line("%12s %11s %5s  %-12s %-18s %s", "+"+MS(s.Start-r.Window.Start), MS(sum), times, s.Kind, where, Shorten(plain(Readable(s.Name)), max(t.width-66, 20)))
		i = j
	}
}

// group writes thousands apart.
func group(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

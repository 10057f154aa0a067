package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"overlay/internal/critpath"
)

// writeFindings prints what the path is made of: window, verdict, classes, hotspots, steps.
func (j *job) writeFindings(w io.Writer, a analysis, bold bool) error {
	p, totals := a.path, critpath.Breakdown(a.path)
	window := p.Window.End - p.Window.Start
	emphasis, plain := "", ""
	if bold {
		emphasis, plain = "\x1b[1m", "\x1b[0m"
	}
	fmt.Fprintf(w, "%s, %s\n", count(len(a.trace.Events), "event"), windowText(p))
	if a.slim {
		fmt.Fprintf(w, "a slim trace: window, method and delays are those of the run that wrote it\n")
	}
	fmt.Fprintf(w, "%sbound by %s%s, method %s\n", emphasis, critpath.BoundBy(&totals.Class).Words(), plain, p.Method)

	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, c := range classesByTime(totals.Class) {
		fmt.Fprintf(t, "%s\t%s\t  %s\n", percent(totals.Class[c], window), milliseconds(totals.Class[c]), critpath.Class(c).Words())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	spots := critpath.Hotspots(a.graph, p)
	if spots = spots[:min(len(spots), j.opts.top)]; len(spots) > 0 {
		fmt.Fprintf(w, "hotspots on the path\n")
		for _, h := range spots {
			fmt.Fprintf(t, "%s\t%s\t%s\t  %s\n", percent(h.NS, window), milliseconds(h.NS), group(int64(h.Calls))+" ×", shorten(h.Name, 80))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return writeSteps(w, critpath.StepTable(a.graph, p))
}

func windowText(p *critpath.Path) string {
	s := "window " + milliseconds(p.Window.End-p.Window.Start)
	switch {
	case p.Window.Annotation == "":
		s += " (whole trace)"
	case p.Window.Instance != "":
		s += fmt.Sprintf(" (%s, instance %s)", p.Window.Annotation, p.Window.Instance)
	default:
		s += fmt.Sprintf(" (%s)", p.Window.Annotation)
	}
	return s
}

func writeSteps(w io.Writer, steps []critpath.StepLine) error {
	if len(steps) == 0 {
		return nil
	}
	fmt.Fprintf(w, "steps\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for i := range steps {
		s := &steps[i]
		var parts []string
		for _, c := range classesByTime(s.Class) {
			if len(parts) < 3 {
				parts = append(parts, critpath.Class(c).Words()+" "+percent(s.Class[c], s.End-s.Start))
			}
		}
		fmt.Fprintf(t, "%s\t%s\t  %s\n", s.Name, milliseconds(s.End-s.Start), strings.Join(parts, ", "))
	}
	return t.Flush()
}

// classesByTime are the classes that occur, most time first, then in table order.
func classesByTime(ns [critpath.NumClasses]int64) []int {
	var list []int
	for c := range ns {
		if ns[c] == 0 {
			continue
		}
		at := len(list)
		for at > 0 && ns[list[at-1]] < ns[c] {
			at--
		}
		list = append(list[:at], append([]int{c}, list[at:]...)...)
	}
	return list
}

func percent(part, whole int64) string {
	if whole <= 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

func milliseconds(ns int64) string {
	us := (ns + 500) / 1000
	return fmt.Sprintf("%s.%03d ms", group(us/1000), us%1000)
}

// kernelNoise is what C++ kernel names have in common: without it, what tells them apart fits on a line.
var kernelNoise = strings.NewReplacer("(anonymous namespace)::", "", "at::native::", "", "c10::", "")

// shorten cuts a name for a line of text: parameters and common namespaces first, then the end.
func shorten(s string, n int) string {
	s = kernelNoise.Replace(oneLine(s))
	if rest, ok := strings.CutPrefix(s, "void "); ok {
		s, _, _ = strings.Cut(rest, ">(") // the parameters follow the template's last bracket
		if s != rest {
			s += ">"
		}
	}
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"overlay/internal/clock"
	"overlay/internal/frompftrace"
	"overlay/internal/kineto"
	"overlay/internal/report"
	"overlay/internal/tables"
)

// traceCheck is the JSON form of `check` for one trace.
type traceCheck struct {
	Schema string `json:"schema"`
	File   string `json:"file"`
	Format string `json:"format"`
	kineto.Survey
	Clock []report.Clock `json:"clock,omitempty"`
}

// checkOne says what a trace holds.
func (j *job) checkOne(name string) error {
	if j.opts.capture > 1 {
		return j.opts.usage("--capture %d of 1: this is one trace", j.opts.capture)
	}
	tr, err := j.in.LoadAny(name)
	if err != nil {
		return err
	}
	j.stages.start("checking")
	s := kineto.Inspect(tr)
	if frompftrace.Unjoined(tr) {
		s.Oddities = append(s.Oddities, kineto.Oddity{What: "not to be analysed", Count: 1, Means: frompftrace.UnjoinedText})
	}
	j.show(&traceCheck{"overlay-check/1", name, "kineto", s, report.ClocksOf(clock.Solve(tr))})
	return nil
}

func (c *traceCheck) WriteJSON(w io.Writer) error { return writeJSON(w, c) }

func (c *traceCheck) WriteText(w io.Writer, _ report.TextOptions) error {
	out := bufio.NewWriter(w) // it keeps the first error
	fmt.Fprintf(out, "%s: profiler trace\n", report.Plain(c.File))
	writeSurvey(out, &c.Survey)
	for i := range c.Clock {
		fmt.Fprintf(out, "clock       %s\n", c.Clock[i].Corrected(c.Start))
	}
	return out.Flush()
}

// maxCategories is how many categories are listed.
const maxCategories = 12

// writeSurvey writes what a trace holds, a line each.
func writeSurvey(w io.Writer, s *kineto.Survey) {
	line := func(format string, args ...any) { fmt.Fprintln(w, report.Plain(fmt.Sprintf(format, args...))) }
	if s.Generation != "" {
		line("JSON %s, %s", s.Form, generationWords(s.Generation))
	} else {
		line("%s", s.Form)
	}
	if len(s.Hints) > 0 {
		line("holds       %s", strings.Join(s.Hints, ", "))
	}
	if s.Rank >= 0 {
		line("rank        %d", s.Rank)
	}
	line("events      %s in %s", tables.Grouped(int64(s.Events)), tables.FormatBytes(int64(s.Bytes)))
	line("window      %s, %s", tables.Milliseconds(s.End-s.Start), tables.Counted(s.Steps, "step"))
	line("rows        %s, %s", tables.Counted(s.Threads, "thread"), tables.Counted(s.Streams, "stream"))
	for _, d := range s.Devices {
		line("device      %s", strings.TrimSuffix(fmt.Sprintf("GPU %d, %d operations, %s", d.ID, d.Operations, d.Name), ", "))
	}
	categories := slices.SortedFunc(maps.Keys(s.ByCategory), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.ByCategory[b], s.ByCategory[a]), cmp.Compare(a, b))
	})
	head := func(i int, word string) string { // before the first line of a list
		if i > 0 {
			return ""
		}
		return word
	}
	for i, c := range categories {
		if i == maxCategories {
			line("            and %d more categories", len(categories)-i)
			break
		}
		line("%-11s %8d %s", head(i, "categories"), s.ByCategory[c], c)
	}
	for i, r := range s.Repairs {
		line("%-11s %8d %s, first at byte %d", head(i, "mended"), r.Count, strings.ReplaceAll(r.Reason, "_", " "), r.First[0])
	}
	for i, o := range s.Oddities {
		count := tables.Plain(int64(o.Count))
		if strings.HasPrefix(o.What, "no ") {
			count = ""
		}
		line("%-11s %8s %s: %s", head(i, "odd"), count, o.What, o.Means)
	}
	if len(s.Repairs) == 0 {
		line("mended      nothing")
	}
}

// generationWords is a form of traces without its short name, which is for scripts.
func generationWords(name string) string {
	if short, words, ok := strings.Cut(name, ": "); ok && len(short) == 2 { // as in K5
		return words
	}
	return name
}

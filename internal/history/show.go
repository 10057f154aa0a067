package history

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/tables"
)

// Day is the date of a run, empty where it is not known.
func (r *Run) Day() string {
	if !r.Dated() {
		return ""
	}
	return time.Unix(0, r.Start).UTC().Format("2006-01-02")
}

// Called names a run with its date.
func (r *Run) Called() string { return strings.TrimSpace(r.Day() + " " + report.Plain(r.Name)) }

// head says what was searched.
func (r *Report) head() string {
	if len(r.Runs) == 0 {
		return "no runs"
	}
	ranks, hosts, steps := 0, 0, 0
	for _, x := range r.Runs {
		steps += x.Steps
		ranks, hosts = max(ranks, x.Ranks), max(hosts, x.Hosts)
	}
	s := tables.Counted(len(r.Runs), "run")
	if first, last := r.Runs[0].Day(), r.Runs[len(r.Runs)-1].Day(); r.Dated {
		s += " from " + first + " to " + last
	} else {
		s += " in the order of their names, since not all say when they were recorded"
	}
	s += ", up to " + tables.Counted(ranks, "rank")
	if hosts > 1 {
		s += " on " + tables.Counted(hosts, "host")
	}
	if r.Series == 0 {
		return s + "; to find a change it takes " + tables.Counted(2*least, "run") + " with steps"
	}
	s += "; " + tables.Grouped(int64(r.Series)) + " series searched"
	if steps > 0 && r.Bytes > 0 {
		s += ", " + tables.Grouped(r.Bytes/int64(steps)) + " bytes a rank and step kept"
	}
	return s
}

// Says is a change in words.
func (f Found) Says() string {
	return report.Plain(f.Words()) + " " + tables.Duration(f.Before) + " → " + tables.Duration(f.After) + " (" + tables.SignedPercent(100*f.Size) + f.against() + ", noise ± " + tables.Fixed(100*f.Noise, 1) + ")"
}

func (f Found) against() string {
	switch {
	case f.Beside && f.Scope == Host:
		return " beside the other hosts"
	case f.Beside:
		return " beside the other ranks"
	}
	return ""
}

// AlikeSays says how many changes were left out.
func (e Event) AlikeSays() string {
	if e.Alike == 0 {
		return ""
	}
	return tables.Grouped(int64(e.Alike)) + " further series of hosts and ranks say the same"
}

// shown is how many changes of an event text has.
const shown = 8

// WriteText says what changed and when.
func (r *Report) WriteText(w io.Writer, _ report.TextOptions) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.head())
	for _, e := range r.Events {
		fmt.Fprintf(&b, "\nsince %s\n", r.Runs[e.Run].Called())
		for i, c := range e.Changes {
			if i == shown {
				fmt.Fprintf(&b, "  %d more: --json lists them\n", len(e.Changes)-shown)
				break
			}
			own := ""
			if at := c.Runs[c.At]; at != e.Run {
				own = ", since " + r.Runs[at].Called()
			}
			fmt.Fprintf(&b, "  %s%s\n", c.Says(), own)
		}
		if s := e.AlikeSays(); s != "" {
			fmt.Fprintf(&b, "  %s\n", s)
		}
	}
	if len(r.Events) == 0 && r.Series > 0 {
		fmt.Fprintln(&b, "nothing changed")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Document is a history for programs.
type Document struct {
	Schema string          `json:"schema"`
	Dated  bool            `json:"dated"`
	Series int             `json:"series_count"`
	Events []EventDocument `json:"events"`
	Runs   []*Run          `json:"runs"`
}

// EventDocument is what changed with one run.
type EventDocument struct {
	Run     string           `json:"run"`
	Start   int64            `json:"start_ns"`
	Changes []ChangeDocument `json:"changes"`
	Alike   int              `json:"alike_count"`
}

// ChangeDocument is a change of a series.
type ChangeDocument struct {
	Series
	Run    string  `json:"run"`
	Before int64   `json:"before_ns"`
	After  int64   `json:"after_ns"`
	Size   float64 `json:"change_percent"`
	Noise  float64 `json:"noise_percent"`
	Tail   float64 `json:"false_alarm_share"`
}

// WriteJSON writes the same for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	doc := Document{Schema, r.Dated, r.Series, []EventDocument{}, r.Runs}
	for _, e := range r.Events {
		x := EventDocument{r.Runs[e.Run].Name, r.Runs[e.Run].Start, nil, e.Alike}
		for _, c := range e.Changes {
			x.Changes = append(x.Changes, ChangeDocument{c.Series, r.Runs[c.Runs[c.At]].Name, c.Before, c.After, rounded(100 * c.Size), rounded(100 * c.Noise), c.Tail})
		}
		doc.Events = append(doc.Events, x)
	}
	return writeJSON(w, doc)
}

func writeJSON(w io.Writer, doc any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

func rounded(percent float64) float64 { return math.Round(1e4*percent) / 1e4 }

//go:embed history.html
var pageText string

// WritePage draws the series that changed.
func (r *Report) WritePage(w io.Writer) error {
	type change struct {
		Says string
		Plot page.Markup
	}
	type event struct {
		Since, Alike string
		Changes      []change
	}
	data := struct {
		Head, Title string
		Events      []event
	}{r.head(), "Nothing changed", nil}
	for _, e := range r.Events {
		x := event{Since: r.Runs[e.Run].Called(), Alike: e.AlikeSays()}
		for _, c := range e.Changes {
			x.Changes = append(x.Changes, change{report.Sentence(c.Says()), c.plot(len(r.Runs))})
		}
		data.Events = append(data.Events, x)
	}
	if n := len(r.Events); n > 0 {
		data.Title = tables.Counted(n, "change")
	}
	return page.Write(w, pageText, "history", data)
}

// plot draws a series: a dot a run, and the levels before and after. The height is the range of its values.
func (f Found) plot(runs int) page.Markup {
	const wide, high = 1000, 100
	low, top := slices.Min(f.Values), slices.Max(f.Values)
	x := func(run int) string { return tables.Fixed((float64(run)+0.5)*wide/float64(runs), 1) }
	y := func(ns int64) string {
		return tables.Fixed(high-5-float64(ns-low)/float64(max(top-low, 1))*(high-10), 1)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" preserveAspectRatio="none" role="img">`, wide, high)
	for i, v := range f.Values {
		fmt.Fprintf(&b, `<circle cx="%s" cy="%s" r="3" class="cpu"/>`, x(f.Runs[i]), y(v))
	}
	at := f.Runs[f.At]
	fmt.Fprintf(&b, `<path d="M%s %sH%sM%s %sH%s" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>`, x(f.Runs[0]), y(f.Before), x(at), x(at), y(f.After), x(f.Runs[len(f.Runs)-1]))
	return page.Markup(b.String())
}

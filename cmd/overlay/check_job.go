package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"overlay/internal/inputs"
	"overlay/internal/kineto"
	"overlay/internal/ranks/roster"
	"overlay/internal/report"
	"overlay/internal/tables"
)

// jobCheck is the JSON form of `check` for the traces of a job.
type jobCheck struct {
	Schema  string      `json:"schema"`
	File    string      `json:"file"` // the inputs as they were given
	Format  string      `json:"format"`
	World   int64       `json:"world"` // number of ranks, as far as it is known
	Ranks   []rankCheck `json:"ranks"` // by rank; of several captures the chosen one
	Missing []int64     `json:"missing"`
	Ignored []leftCheck `json:"ignored"`
	Other   int         `json:"other_files"` // of folders, not looked at
	Notes   []string    `json:"notes"`
	Problem string      `json:"problem"` // why these are not the ranks of one job; then ranks are all that was read
}

// rankCheck is one trace. Times are unix ns, by the rank's own clock.
type rankCheck struct {
	Rank       int64           `json:"rank"`    // -1 when not known
	By         roster.Evidence `json:"rank_by"` // "" when not known
	Source     string          `json:"source"`
	Events     int             `json:"events"`
	Start      int64           `json:"start_ns"`
	End        int64           `json:"end_ns"`
	Steps      int             `json:"steps"`
	FirstStep  int64           `json:"first_step"` // -1 without steps
	LastStep   int64           `json:"last_step"`
	Host       string          `json:"host"`   // "" when not said
	Device     int64           `json:"device"` // -1 when not said
	Generation string          `json:"generation"`
	Truncated  bool            `json:"truncated"`
}

type leftCheck struct {
	Source string `json:"source"`
	Why    string `json:"why"`
}

// checkJob lists the ranks of a job. When they are not those of one job it lists what was read and says why, and the
// command fails.
func (j *job) checkJob(f *inputs.Found) error {
	j.stages.start("reading ranks")
	all := inputs.Each(j.in, f, inputs.How{}, func(x *inputs.Item) (string, error) {
		generation, _ := kineto.Generation(x.Trace)
		return generation, nil
	})
	r, err := roster.Make(all.Entries, roster.Options{Capture: j.opts.capture, Strict: j.opts.strict})
	if choice := (*roster.ChoiceError)(nil); errors.As(err, &choice) {
		return &usageError{choice.Error(), j.opts.command}
	}
	c := newJobCheck(f, all, r, err)
	if len(c.Ranks) == 0 || err != nil && j.opts.strict {
		return err
	}
	j.verdict = err
	j.show(c)
	return nil
}

func newJobCheck(f *inputs.Found, all *inputs.Made[string], r *roster.Roster, err error) *jobCheck {
	c := &jobCheck{Schema: "overlay-check/1", File: f.Shown, Format: "job", Ranks: []rankCheck{}, Missing: []int64{}, Ignored: []leftCheck{}, Notes: []string{}, Other: f.Other}
	if err != nil {
		c.Problem = err.Error()
		for i := range all.Entries {
			if e := &all.Entries[i]; e.Fault == "" {
				c.Ranks = append(c.Ranks, newRankCheck(e, max(e.Recorded, e.Said), "", all.Of[i]))
				c.World = max(c.World, e.World)
			} else {
				c.Ignored = append(c.Ignored, leftCheck{e.Name, e.Fault})
			}
		}
		return c
	}
	c.World = r.World
	for _, m := range r.Members {
		c.Ranks = append(c.Ranks, newRankCheck(&all.Entries[m.Entry], m.Rank, m.By, all.Of[m.Entry]))
	}
	c.Missing = append(c.Missing, r.Missing...)
	for _, l := range r.Left {
		c.Ignored = append(c.Ignored, leftCheck{all.Entries[l.Entry].Name, l.Why})
	}
	c.Notes = append(c.Notes, r.Notes...)
	if r.Captures > 1 {
		c.Notes = append(c.Notes, fmt.Sprintf("one of %d captures of each rank", r.Captures))
	}
	return c
}

func newRankCheck(e *roster.Entry, rank int64, by roster.Evidence, generation string) rankCheck {
	return rankCheck{Rank: rank, By: by, Source: e.Name, Events: e.Events, Start: e.Window[0], End: e.Window[1], Steps: e.Steps, FirstStep: e.FirstStep,
		LastStep: e.LastStep, Host: e.Host, Device: e.Device, Generation: generation, Truncated: e.Truncated}
}

func (c *jobCheck) WriteJSON(w io.Writer) error { return writeJSON(w, c) }

// WriteText writes the list: when each rank begins is told from the first of them.
func (c *jobCheck) WriteText(w io.Writer, _ report.TextOptions) error {
	out := bufio.NewWriter(w) // it keeps the first error
	line := func(format string, args ...any) { fmt.Fprintln(out, report.Plain(fmt.Sprintf(format, args...))) }
	events := 0
	first := slices.MinFunc(c.Ranks, func(a, b rankCheck) int { return int(min(max(a.Start-b.Start, -1), 1)) }).Start
	for i := range c.Ranks {
		events += c.Ranks[i].Events
	}
	switch {
	case c.Problem != "":
		line("%s: %s, not of one job", c.File, tables.Counted(len(c.Ranks), "trace"))
	default:
		line("%s: %d of %s, %s events", c.File, len(c.Ranks), tables.Counted(int(c.World), "rank"), tables.Grouped(int64(events)))
	}
	c.writeRanks(out, first)
	if len(c.Missing) > 0 {
		line("missing     %d ranks have no trace: %s", len(c.Missing), roster.List(c.Missing))
	}
	for _, l := range c.Ignored {
		why := strings.TrimPrefix(l.Why, l.Source+": ")
		line("ignored     %s: %s", l.Source, why)
	}
	if c.Other > 0 {
		line("ignored     %s that %s no trace by name", tables.Counted(c.Other, "other file"), map[bool]string{true: "is", false: "are"}[c.Other == 1])
	}
	for _, n := range c.Notes {
		line("note        %s", n)
	}
	return out.Flush()
}

// writeRanks writes a line for each rank. What is the same everywhere stands once above.
func (c *jobCheck) writeRanks(out io.Writer, first int64) {
	generation, hosts := c.Ranks[0].Generation, false
	for i := range c.Ranks {
		if c.Ranks[i].Generation != generation {
			generation = ""
		}
		hosts = hosts || c.Ranks[i].Host != ""
	}
	if generation != "" {
		fmt.Fprintf(out, "profiler    %s\n", report.Plain(profilerOf(generation)))
	}
	within := strings.TrimRight(c.File, "/") + "/" // a folder or an archive, if it is the only input
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer t.Flush()
	row := func(cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")) }
	head := []string{"rank", "known by", "events", "begins", "window", "steps", "device"}
	if hosts {
		head = append(head, "host")
	}
	if generation == "" {
		head = append(head, "profiler")
	}
	row(append(head, "file")...)
	for i := range c.Ranks {
		r := &c.Ranks[i]
		cells := []string{known(r.Rank), string(r.By), tables.Grouped(int64(r.Events)), c.begins(r, first), tables.Duration(r.End - r.Start),
			steps(r), known(r.Device)}
		if hosts {
			cells = append(cells, cellText(r.Host))
		}
		if generation == "" {
			cells = append(cells, cellText(profilerOf(r.Generation)))
		}
		file := cellText(strings.TrimPrefix(r.Source, within))
		if r.Truncated {
			file += " (cut)"
		}
		row(append(cells, file)...)
	}
}

// begins says when a rank begins: after the first of its job, else on which day and when, where that is known.
func (c *jobCheck) begins(r *rankCheck, first int64) string {
	switch {
	case c.Problem == "":
		return "+" + tables.Duration(r.Start-first)
	case r.Start > 1e18: // 2001
		return time.Unix(0, r.Start).UTC().Format(time.DateTime)
	}
	return "-"
}

// profilerOf is who wrote a trace, of a form such as "K5: ns relative to baseTimeNanoseconds (PyTorch 2.4 and later)".
func profilerOf(generation string) string {
	words := generationWords(generation)
	if _, of, ok := strings.Cut(words, " ("); ok {
		return strings.TrimSuffix(of, ")")
	}
	return words
}

// cellText is a text of the input in a cell.
func cellText(s string) string {
	if s == "" {
		return "-"
	}
	return report.Plain(s)
}

func known(n int64) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func steps(r *rankCheck) string {
	switch {
	case r.Steps == 0:
		return "-"
	case r.FirstStep == r.LastStep:
		return fmt.Sprint(r.FirstStep)
	case r.Steps == int(r.LastStep-r.FirstStep)+1:
		return fmt.Sprintf("%d-%d", r.FirstStep, r.LastStep)
	}
	return fmt.Sprintf("%d of %d-%d", r.Steps, r.FirstStep, r.LastStep)
}

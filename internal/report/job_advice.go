package report

import (
	"fmt"
	"io"

	"overlay/internal/advise/jobadvice"
	"overlay/internal/tables"
)

// JobAdviceSchema names the form of the JSON; docs/reference/advise-job.schema.json describes it.
const JobAdviceSchema = "overlay-advice/2"

// JobAdvice is what would make a job of many ranks shorter: over the ranks, and on the rank to look into.
type JobAdvice struct {
	Schema string `json:"schema"`
	Tool   Tool   `json:"tool"`
	Input  string `json:"input"`

	Headline string `json:"headline" about:"who the job waits for most, and what it costs; empty where nobody is slow"`

	World  int               `json:"world" unit:"count" about:"ranks of the job, with or without a trace"`
	Traced int               `json:"traced" unit:"count" about:"ranks with a trace"`
	Window JobWindow         `json:"window" about:"the analysed interval"`
	Bound  string            `json:"bound_by" about:"the class with the most time on the path over the ranks"`
	Advice *jobadvice.Advice `json:"advice" about:"what the ranks wait for; gains are bounds"`
	Rank   RankAdvice        `json:"rank" about:"the rank to look into"`
}

// RankAdvice is what would make the rank shorter that a job waits for.
type RankAdvice struct {
	Rank   int     `json:"rank" unit:"id"`
	Why    string  `json:"why" about:"why this one"`
	Source string  `json:"source" about:"its trace"`
	Own    *Advice `json:"own" about:"what would make it shorter by itself, as overlay advise says of its trace; null when the trace is not here"`
}

// NewJobAdvice makes the report of what was found over all ranks; what is wrong on the rank itself is filled in by who has its trace.
func NewJobAdvice(s JobSource, a *jobadvice.Advice) *JobAdvice {
	r := NewJob(s)
	w := a.Worst()
	return &JobAdvice{Schema: JobAdviceSchema, Tool: r.Tool, Input: r.name, Headline: r.Headline, World: r.Job.World, Traced: len(r.Job.Ranks), Window: r.Job.Window, Bound: r.Job.Path.BoundBy,
		Advice: a, Rank: RankAdvice{Rank: r.Job.Ranks[w.Member].Rank, Why: w.Why, Source: r.Job.Ranks[w.Member].Source}}
}

// WriteJSON writes the advice as an indented JSON document.
func (a *JobAdvice) WriteJSON(w io.Writer) error {
	return writeJSON(w, a)
}

// WriteText writes all findings with their evidence: those over the ranks, then those of the one rank.
func (a *JobAdvice) WriteText(w io.Writer, o TextOptions) error {
	t := newText(w, o, nil)
	window := "whole job"
	if a.Window.Step != nil {
		window = "step " + tables.Plain(int64(*a.Window.Step))
	}
	t.heading(a.Headline, a.Input)
	t.line("%s of %s, window %s (%s), %s", tables.Counted(a.Traced, "rank"), tables.Grouped(int64(a.World)), tables.Duration(a.Window.Duration), window, boundBy(a.Bound))
	if len(a.Advice.Findings) == 0 {
		t.line("")
		t.line("nothing found over the ranks above 1 %% of the window (%d rules)", a.Advice.Rules)
	}
	for i := range a.Advice.Findings {
		t.finding(&a.Advice.Findings[i])
	}
	t.below(small(a.Advice.Below))
	r := &a.Rank
	t.line("")
	t.line("%s", t.bold(Shorten(fmt.Sprintf("rank %d by itself: %s", r.Rank, r.Why), t.width)))
	if r.Own == nil {
		t.para("its trace is not here: overlay advise says of it what makes it slow")
		return t.w.Flush()
	}
	t.para(fmt.Sprintf("%s, window %s, %s", Plain(r.Source), tables.Duration(r.Own.Window.Duration), r.Own.Says))
	t.line("gains below are those of the rank; the job gains no more than it waits for it")
	t.wholeAdvice(r.Own)
	return t.w.Flush()
}

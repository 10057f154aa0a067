package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/advise"
	"overlay/internal/advise/jobadvice"
	"overlay/internal/inputs"
	"overlay/internal/report"
	"overlay/internal/roofline"
	"overlay/internal/trace"
)

func (p *program) adviseCommand() *cli.Command {
	takes := groups{inputFlags(), captureFlags(), jobFlags(), expectFlags(), windowFlags(), deviceFlags(), jsonFlags(), failOnFlags(), generalFlags()}
	return &cli.Command{Name: "advise", Usage: "say what would make the run shorter, with evidence", ArgsUsage: "FILE|FOLDER [flags]", Flags: takes.flags(),
		Action: p.action(takes, inputFiles, checkAdvise, (*job).advise)}
}

func checkAdvise(r *flagReader, o *options) {
	r.needInput(o)
	o.advice = true
}

func deviceFlags() group {
	return group{[]cli.Flag{
		&cli.StringFlag{Name: "device", Category: analysisGroup, Usage: "the model of the GPU, such as H100, where the trace names none: `NAME` has peaks to compare with"},
	}, func(r *flagReader, o *options) {
		if o.device = r.path("device"); o.device != "" && roofline.Known(o.device) == nil {
			r.problem("--device %s is unknown; docs/reference/peaks.md lists models", quote(o.device))
		}
	}}
}

func failOnFlags() group {
	return group{[]cli.Flag{
		&cli.StringFlag{Name: "fail-on", Category: reportGroup, Usage: "end with status 3 when one of these is found: `RULE[:PERCENT],…` or any; gains that are bounds count only with a percentage"},
	}, readGates}
}

func readGates(r *flagReader, o *options) {
	for word := range strings.SplitSeq(r.path("fail-on"), ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			continue
		}
		g := gate{}
		var number string
		g.id, number, g.set = strings.Cut(word, ":")
		if g.set {
			var err error
			if g.percent, err = strconv.ParseFloat(number, 64); err != nil || !(g.percent >= 0) {
				r.problem("--fail-on %s: %s is no percentage", quote(word), quote(number))
			}
		}
		if now, was := advise.Replaced[g.id]; was {
			r.problem("--fail-on %s: no rule of that name is left%s", quote(g.id), map[bool]string{true: "", false: "; " + quote(now) + " finds that cause"}[now == ""])
		} else if ids := adviceIDs(); g.id != "any" && !slices.Contains(ids, g.id) {
			r.problem("--fail-on %s is unknown: any, %s", quote(g.id), strings.Join(ids, ", "))
		}
		o.gates = append(o.gates, g)
	}
}

// fails lists the findings on which a check fails.
func (g *gate) fails(findings []advise.Finding) (list []string) {
	for i := range findings {
		f := &findings[i]
		switch {
		case g.id != "any" && g.id != f.ID:
		case g.id == "any" && f.Kind == advise.None, f.Kind == advise.AtMost && !g.set, f.Share*100 < g.percent:
		default:
			list = append(list, f.ID)
		}
	}
	return list
}

// failOn is the verdict when one of the findings is one that was asked for.
func (o *options) failOn(findings []advise.Finding) error {
	var failed []string
	for i := range o.gates {
		failed = append(failed, o.gates[i].fails(findings)...)
	}
	slices.Sort(failed)
	if failed = slices.Compact(failed); len(failed) > 0 {
		return fmt.Errorf("%w: %s", errFound, strings.Join(failed, ", "))
	}
	return nil
}

// advise prints what would make one run shorter, or a job of many ranks.
func (j *job) advise() error {
	s, err := j.read(j.opts.inputs, j.pipeline(), false)
	if err != nil {
		return err
	}
	if s.job != nil {
		return j.adviseJob(s.found, s.job)
	}
	a := s.run.Advise(report.Source{Name: inputs.Name(s.name), Version: version})
	if a.Advice != nil {
		j.verdict = j.opts.failOn(a.Advice.Findings)
	}
	j.show(a)
	return nil
}

// adviseJob prints what would make a job of many ranks shorter: what the ranks wait for, and what is wrong on the one that they wait
// for most.
func (j *job) adviseJob(f *inputs.Found, r *rankedJob) error {
	a := report.NewJobAdvice(r.source, jobadvice.New(r.job, r.verdict, report.Readable))
	worst := a.Advice.Worst().Member
	name := r.sourceOf(worst)
	err := j.in.Again(f, map[string]int32{name: worst}, func(_ int32, tr *trace.Trace) error { // where its trace is here
		solved, err := j.solve(name, tr, j.pipeline(), false)
		if err != nil {
			return err
		}
		a.Rank.Own, err = solved.Advise(report.Source{Name: a.Rank.Source, Version: version}).Detached()
		return err
	})
	if err != nil {
		return err
	}
	all := a.Advice.Findings
	if a.Rank.Own != nil && a.Rank.Own.Advice != nil {
		all = append(all[:len(all):len(all)], a.Rank.Own.Advice.Findings...)
	}
	j.verdict = j.opts.failOn(all)
	j.show(a)
	return nil
}

// adviceIDs are the names of all rules, of one trace and of a job.
func adviceIDs() []string { return append(advise.IDs(), jobadvice.IDs()...) }

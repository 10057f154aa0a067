package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/advise"
	"overlay/internal/report"
)

func (p *program) adviseCommand() *cli.Command {
	return &cli.Command{Name: "advise", Usage: "say what would make the run shorter, with evidence", ArgsUsage: "FILE [flags]",
		Flags: slices.Concat(inputFlags(), windowFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "json", Category: reportGroup, Usage: "print JSON instead of text"},
			&cli.StringFlag{Name: "fail-on", Category: reportGroup, Usage: "end with status 3 when one of these is found: `RULE[:PERCENT],…` or any; gains that are bounds count only with a percentage"},
		}, generalFlags()),
		Description: `
Lists causes that rules find in the trace: what is wrong, where, what to change, and by how much the window gets shorter
then. Each gain is a replay of the run without the cause, never a time read off the trace; at most marks bounds.

Examples:
  overlay advise trace.json.gz
  overlay advise trace.json.gz --step 3 --json
  overlay advise trace.json.gz --fail-on data-no-workers,sync-item:5
  overlay advise trace.json.gz --fail-on any`,
		Action: p.action(ownFiles, checkAdvise, (*job).advise)}
}

// gate is a finding on which a check fails, from a percentage of the window on.
type gate struct {
	id      string // "any" for all
	percent float64
	set     bool // a percentage was given
}

// checkAdvise completes and checks the options of `advise`.
func checkAdvise(r *flagReader, o *options) {
	r.fileOrInput(o)
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
		if g.id != "any" && !slices.Contains(advise.IDs(), g.id) {
			r.problem("--fail-on %s is unknown: any, %s", quote(g.id), strings.Join(advise.IDs(), ", "))
		}
		o.gates = append(o.gates, g)
	}
}

// fileOrInput takes the one trace from the arguments, or from -i.
func (r *flagReader) fileOrInput(o *options) {
	o.inputs = append(o.inputs, r.Args().Slice()...)
	if len(o.inputs) > 1 {
		r.problem("argument %s is too many: advise takes one trace", quote(o.inputs[1]))
		return
	}
	if len(o.inputs) == 1 {
		o.input = o.inputs[0]
	}
	r.needInput(o)
	r.oneInput(o)
}

// fails lists the findings on which a check fails.
func (g *gate) fails(a *advise.Advice) (list []string) {
	for i := range a.Findings {
		f := &a.Findings[i]
		switch {
		case g.id != "any" && g.id != f.ID:
		case g.id == "any" && f.Kind == advise.None, f.Kind == advise.AtMost && !g.set, f.Share*100 < g.percent:
		default:
			list = append(list, f.ID)
		}
	}
	return list
}

// advise prints what would make one run shorter.
func (j *job) advise() error {
	tr, err := j.load(j.opts.input)
	if err != nil {
		return err
	}
	solved, err := j.solve(j.opts.input, tr, false)
	if err != nil {
		return err
	}
	a := solved.Advise(report.Source{Name: inputName(j.opts.input), Version: version})
	if a.Advice != nil {
		var failed []string
		for i := range j.opts.gates {
			failed = append(failed, j.opts.gates[i].fails(a.Advice)...)
		}
		slices.Sort(failed)
		if failed = slices.Compact(failed); len(failed) > 0 {
			j.verdict = fmt.Errorf("%w: %s", errFound, strings.Join(failed, ", "))
		}
	}
	j.result = func(w io.Writer) error { return a.WriteText(w, j.textOptions(j.resultTo)) }
	if j.opts.json {
		j.result = a.WriteJSON
	}
	return nil
}

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
	takes := groups{inputFlags(), captureFlags(), jobFlags(), windowFlags(), jsonFlags(), failOnFlags(), generalFlags()}
	return &cli.Command{Name: "advise", Usage: "say what would make the run shorter, with evidence", ArgsUsage: "FILE|FOLDER [flags]", Flags: takes.flags(),
		Description: `
Lists causes that rules find in the trace: what is wrong, where, what to change, and by how much the window gets shorter
then. Each gain is a replay of the run without the cause, never a time read off the trace; at most marks bounds.

Of a folder, a quoted pattern or an archive with a trace for each rank of a job it says what the ranks wait for, which is
a bound of what the job can gain, and then what is wrong on the rank that they wait for most.

Examples:
  overlay advise trace.json.gz
  overlay advise traces/ --step 3
  overlay advise trace.json.gz --step 3 --json
  overlay advise trace.json.gz --fail-on data-no-workers,sync-item:5
  overlay advise trace.json.gz --fail-on any`,
		Action: p.action(takes, inputFiles, (*flagReader).needInput, (*job).advise)}
}

// gate is a finding on which a check fails, from a percentage of the window on.
type gate struct {
	id      string // "any" for all
	percent float64
	set     bool // a percentage was given
}

// adviseOptions are what only advise has.
type adviseOptions struct{ gates []gate }

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
		if ids := adviceIDs(); g.id != "any" && !slices.Contains(ids, g.id) {
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

// failOn ends with a verdict when one of the findings is one that was asked for.
func (j *job) failOn(findings []advise.Finding) {
	var failed []string
	for i := range j.opts.gates {
		failed = append(failed, j.opts.gates[i].fails(findings)...)
	}
	slices.Sort(failed)
	if failed = slices.Compact(failed); len(failed) > 0 {
		j.verdict = fmt.Errorf("%w: %s", errFound, strings.Join(failed, ", "))
	}
}

// advise prints what would make one run shorter, or a job of many ranks.
func (j *job) advise() error {
	f, err := findRanks(j.opts.inputs)
	if err != nil {
		return err
	}
	solved, err := j.solveOne(f, func() (string, error) { return j.adviseJob(f) })
	if solved == nil {
		return err
	}
	a := solved.Advise(report.Source{Name: inputName(j.opts.input), Version: version})
	if a.Advice != nil {
		j.failOn(a.Advice.Findings)
	}
	j.result = func(w io.Writer) error { return a.WriteText(w, j.textOptions(j.resultTo)) }
	if j.opts.json {
		j.result = a.WriteJSON
	}
	return nil
}

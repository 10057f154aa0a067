package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/inputs"
	"overlay/internal/outputs"
	"overlay/internal/overlay"
	"overlay/internal/pipeline"
	"overlay/internal/ranks/replay"
	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/whatif"
)

// changeFlags are a flag for each thing that a scenario can do.
func changeFlags() group {
	about := map[string]string{
		"scale":           "time of these activities is multiplied: `SELECTOR=FACTOR`, from 0 to 10",
		"set":             "each of these operations lasts so long: `SELECTOR=TIME`",
		"shrink":          "each of these slices takes so long with all that it encloses: `SELECTOR=TIME`",
		"remove":          "these operations vanish, with the gap before them: `SELECTOR`",
		"no-wait":         "these calls return without waiting: `SELECTOR`",
		"drop":            "these operations do not wait for other streams, or for the second ones only: `SELECTOR [for SELECTOR]`",
		"replace":         "the last of these operations does the work of all in so long: `SELECTOR=TIME`",
		"bandwidth":       "these collectives and copies move their bytes at so many 10^9 bytes a second: `SELECTOR=GB/s`",
		"buckets":         "several ranks: all-reduces of a step are put together until they have so many bytes: `SELECTOR=SIZE`, as in transfer=100MB",
		"unlimited-queue": "launches never wait for room in a stream's queue",
	}
	var flags []cli.Flag
	for _, v := range whatif.Verbs {
		if v.Usage == "" {
			flags = append(flags, &cli.BoolFlag{Name: v.Word, Category: changeGroup, Usage: about[v.Word]})
			continue
		}
		flags = append(flags, &cli.StringSliceFlag{Name: v.Word, Category: changeGroup, Usage: about[v.Word]})
	}
	return group{append(flags,
		&cli.StringSliceFlag{Name: "scenario", Category: changeGroup, Usage: "a further scenario beside that of the flags above: `TEXT`, as in 'half the copies := class:copy=0.5; no-wait *Synchronize'"},
		readsFile(&cli.StringFlag{Name: "scenarios", Category: changeGroup, Usage: "further scenarios from `FILE`, one a line; lines that begin with # are comments"}),
		&cli.StringFlag{Name: "each", Category: changeGroup, Usage: "several ranks: what each of these costs that has more work than the median of its peers: `rank|host|stage|step`"},
		&cli.BoolFlag{Name: "median", Category: changeGroup, Usage: "several ranks: all at the median of their peers"},
		&cli.IntFlag{Name: "best", Category: changeGroup, DefaultText: "none", Usage: "each of the first `N` hotspots at half its time and at none, what saves most first"}), readChanges}
}

func (p *program) whatifCommand() *cli.Command {
	takes := groups{inputFlags(), graphFlags(), outputFlags("default: nothing is written"), changeFlags(), jobFlags(), windowFlags(), jsonFlags(), pageFlags(), generalFlags()}
	return &cli.Command{Name: "whatif", Usage: "replay the run with something changed, and tell the gain", ArgsUsage: "[-i] FILE|FOLDER CHANGES [flags]", Flags: takes.flags(),
		Action: p.action(takes, inputFiles, checkWhatIf, (*job).whatif)}
}

// readChanges makes scenarios of what is to change.
func readChanges(r *flagReader, o *options) {
	var changes []string
	for _, v := range whatif.Verbs {
		if v.Usage == "" {
			if r.Bool(v.Word) {
				changes = append(changes, v.Word)
			}
			continue
		}
		for _, text := range r.StringSlice(v.Word) {
			if strings.Contains(text, ";") {
				r.problem("--%s %s: one change a flag; several, with ; between them, make a --scenario", v.Word, quote(text))
			}
			changes = append(changes, v.Word+" "+text)
		}
	}
	if len(changes) > 0 {
		o.questions.Scenarios = append(o.questions.Scenarios, strings.Join(changes, ";"))
	}
	o.questions.Scenarios = append(o.questions.Scenarios, r.StringSlice("scenario")...)
	o.scenarioFile = r.path("scenarios")
	o.median, o.each = r.Bool("median"), r.oneOf("each", replay.Parts...)
	if o.questions.Best = r.Int("best"); r.IsSet("best") && o.questions.Best < 1 {
		r.problem("--best %d is less than 1", o.questions.Best)
	}
}

// checkWhatIf completes and checks the options of `whatif`.
func checkWhatIf(r *flagReader, o *options) {
	r.needInput(o)
	if o.output != "" {
		o.questions.Draw = true
		r.readFormat(o, false)
	}
	if o.asked = len(o.questions.Scenarios) > 0 || o.questions.Best > 0 || o.scenarioFile != "" || o.median || o.each != ""; !o.asked {
		r.problem("nothing is asked: say what is to change, as in --scale 'aten::copy_=0.5', or --best 5")
	}
}

// whatif answers what-if questions about one trace, or about a job of many ranks.
func (j *job) whatif() error {
	q := j.opts.questions
	if j.opts.scenarioFile != "" {
		more, err := readScenarios(j.opts.scenarioFile)
		if err != nil {
			return err
		}
		q.Scenarios = append(q.Scenarios, more...)
	}
	var out *outputs.Output
	if q.Draw {
		var err error
		if out, err = j.createOutput(); err != nil {
			return err
		}
	}
	s, err := j.read(j.opts.inputs, j.pipeline(), q.Draw)
	if err != nil {
		return err
	}
	if s.job != nil {
		return j.whatifJob(s, q, out)
	}
	if j.html != nil {
		return j.opts.usage("--html shows the ranks of a job, and this is one trace: 'overlay open --page' has its page, with sliders")
	}
	answers, err := s.run.WhatIf(q, report.Source{Name: inputs.Name(s.name), Version: version})
	if err != nil {
		return fmt.Errorf("%s: %w", inputs.Name(s.name), err)
	}
	if q.Draw {
		if _, err := j.write(out, s.run.Draw(overlay.Options{Version: version})); err != nil {
			return err
		}
	}
	j.show(answers)
	return nil
}

// whatifJob answers what-if questions about a job of many ranks, and draws the strips of its ranks, recorded and then.
func (j *job) whatifJob(s *subject, q pipeline.Questions, out *outputs.Output) error {
	answers, err := report.NewJobWhatIf(s.job.source, report.JobQuestions{Scenarios: q.Scenarios, Median: j.opts.median, Each: j.opts.each, Draw: q.Draw})
	if err != nil {
		return fmt.Errorf("%s: %w", report.Plain(s.job.source.Name), err)
	}
	if q.Draw {
		p := &jobPicture{job: j, f: s.found, r: s.job, then: answers.Then}
		if err := compressed(out, j.opts, p.write); err != nil {
			return err
		}
	}
	return j.present(answers, func(w io.Writer) error { return page.WriteJobWhatIf(w, answers) })
}

// readScenarios reads a file of scenarios: one a line.
func readScenarios(name string) ([]string, error) {
	text, err := inputs.ReadFile(name)
	if err != nil {
		return nil, inputs.Error(name, err)
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: %w", name, errors.New("no scenario: write one a line, as in aten::copy_=0.5"))
	}
	return list, nil
}

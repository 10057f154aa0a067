package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/flame"
	"overlay/internal/inputs"
	"overlay/internal/kineto"
	"overlay/internal/pipeline"
	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/tables"
	"overlay/internal/whatif"
)

// checkDiff checks that there are two traces, or several runs of each side, or one trace of which two steps are compared.
func checkDiff(r *flagReader, o *options) {
	switch got := r.NArg(); {
	case got == 0:
		r.problem("no file given: two traces, or one whose steps are to be compared")
	case len(o.afters) > 0:
	case got > 2 && o.against == "":
		r.problem("argument %s is too many: of several runs those of the second side stand behind --against", quote(r.Args().Get(2)))
	case got >= 2 && o.against != "":
		r.problem("--against compares within one trace: leave out the second one")
	case got == 1 && o.method != "exact":
		r.problem("steps of one trace are compared on its exact path: leave out --method %s", o.method)
	case got == 1 && o.step != "" && o.step == o.against && strings.ContainsAny(o.step, "0123456789"):
		r.problem("step %s cannot be compared with itself", o.step)
	case got == 1 && o.annotation != "":
		r.problem("steps of one trace are compared: leave out --annotation")
	}
}

// diff compares two traces, or two jobs, analysed in the same way, or several runs a side, of which the first of the files are those before.
func (j *job) diff() error {
	before := 1
	if len(j.opts.afters) > 0 {
		before = len(j.files)
		j.files = append(j.files, j.opts.afters...)
	}
	if len(j.files) == 1 {
		return j.diffSteps()
	}
	if len(j.files) > 2 {
		return j.diffRuns(before)
	}
	pair, jobs, err := j.opts.sides(j.files)
	if err != nil {
		return err
	}
	if jobs {
		if done, err := j.diffJobs(pair); done || err != nil {
			return err
		}
	}
	err = j.diffRuns(before)
	if several := (*kineto.Several)(nil); errors.As(err, &several) && j.opts.process == "" {
		if done, err := j.diffJobs(pair); done || err != nil {
			return err
		}
	}
	return err
}

// diffRuns compares the runs of two sides. Each has to do the work of the first.
func (j *job) diffRuns(before int) error {
	sides, stacks := make([]*report.Report, len(j.files)), make([]*flame.Graph, len(j.files))
	var works [2]*whatif.Works
	var first, second *report.Done
	var same report.Comparable // of the first after, or of the first that is unlike
	var last *pipeline.Run
	unlike := 0
	solve := func(i int) (*pipeline.Run, error) {
		tr, err := j.in.Load(j.files[i])
		if err != nil {
			return nil, err
		}
		return j.solve(j.files[i], tr, j.pipeline(), false)
	}
	for i := range j.files {
		last = nil // one trace and its graph are held at a time
		r, err := solve(i)
		if err != nil {
			return err
		}
		if j.opts.html != "" || j.opts.flame != "" {
			stacks[i] = r.Flame()
		}
		sides[i], last = r.Report(j.opts.reportSource(j.files[i], math.MaxInt)), r // a hotspot of one side may be last on the other
		side := min(i/before, 1)
		works[side] = works[side].Add(r.Works())
		done := report.DoneIn(r.Trace)
		if i == 0 {
			first = done
			continue
		}
		if i == before {
			second = done
		}
		if c := report.CompareDone(first, done); unlike == 0 && (i == before || !c.Same) {
			if same = c; !c.Same {
				unlike = i
			}
		}
	}
	if unlike > 0 {
		return j.unlike(sides[unlike].Input.Name, same, j.files[0], j.files[unlike])
	}
	d := report.CompareRuns(sides[:before], sides[before:])
	d.Compared(first, second, same)
	if middle := slices.Index(sides, d.After); middle < len(j.files)-1 {
		var err error
		if last, err = solve(middle); err != nil {
			return err
		}
	}
	d.Explain(works[0], works[1], func(before, after *whatif.Works) whatif.Explanation { return last.Explain(before, after, same.ByPlace) })
	both := [2]*flame.Graph{stacks[slices.Index(sides, d.Before)], stacks[slices.Index(sides, d.After)]}
	if len(j.files) > 2 {
		return j.showTraces(d, both, "the runs before", "the runs after")
	}
	return j.showTraces(d, both, j.files[0], j.files[1])
}

// unlike ends a comparison of traces that do not do the same work.
func (j *job) unlike(after string, same report.Comparable, a, b string) error {
	if j.opts.markdown {
		if err := page.CommentUnlike(j.stdout, after, same); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %s and %s: %s; compare runs of one program", errUnlike, a, b, same.Why)
}

// diffSteps compares two steps of one trace.
func (j *job) diffSteps() error {
	o := j.pipeline()
	o.Link.Step = ""
	s, err := j.read(j.files, o, false)
	if err != nil {
		return err
	}
	if s.job != nil {
		return j.opts.usage("steps of one trace are compared, and %s holds the ranks of a job: name a second job", s.found.Shown)
	}
	d, both, err := s.run.CompareSteps(report.Source{Name: inputs.Name(s.name), Version: version, Top: math.MaxInt}, j.opts.step, j.opts.against)
	if err != nil {
		return fmt.Errorf("%s: %w", inputs.Name(s.name), err)
	}
	return j.showTraces(d, both, d.Steps.Before.Name, d.Steps.After.Name)
}

// difference is one of two traces or of two jobs.
type difference interface {
	Shown() *report.Compared
	Gate(limit float64) (report.Gate, string)
	WriteJSON(w io.Writer) error
	WriteText(w io.Writer, o report.TextOptions, top int) error
}

// showTraces shows the difference of traces, with their paths by stacks where these were made.
func (j *job) showTraces(d *report.Difference, both [2]*flame.Graph, before, after string) error {
	var stacks *flame.Graph
	if n := d.InSteps(); both[0] != nil {
		stacks = flame.Compare(flame.Side{Graph: both[0], Of: n[0]}, flame.Side{Graph: both[1], Of: n[1]}, whatif.WithoutLine)
	}
	if len(d.PerStep) > 0 {
		before, after = "one of "+before, "a step of "+after
	}
	return j.showDifference(d, longer(after, d.Slower, before), stacks)
}

// longer says how much longer something takes than something else.
func longer(what string, percent float64, than string) string {
	return fmt.Sprintf("%s takes %s longer than %s", what, tables.FormatPercent(percent), than)
}

// judge is how a comparison ends: with status 3 where what it says is surely beyond the limit or, if asked for, where that is open, for a reason.
// A gate that lets pass what is open says why.
func (o *options) judge(gate report.Gate, says string, limit float64, why string, note io.Writer) error {
	open := fmt.Errorf("%w: %s, and whether that is more than %s is open: %s", errUnsure, says, tables.GivenPercent(limit), why)
	switch {
	case gate == report.Beyond && limit == 0:
		return fmt.Errorf("%w: %s", errSlower, says)
	case gate == report.Beyond:
		return fmt.Errorf("%w: %s, more than %s", errSlower, says, tables.GivenPercent(limit))
	case gate == report.Unsure && o.failIfUnsure:
		return open
	case gate == report.Unsure && !o.quiet:
		fmt.Fprintln(note, "overlay:", report.Plain(open.Error()))
	}
	return nil
}

// showDifference prints a difference, or writes it where the flags say. It is judged by what it says of a limit.
func (j *job) showDifference(d difference, says string, stacks *flame.Graph) error {
	if limit := j.opts.failIfSlower; limit >= 0 {
		gate, why := d.Gate(limit)
		j.verdict = j.opts.judge(gate, says, limit, why, j.stderr)
	}
	if j.flame != nil && stacks == nil {
		return j.opts.usage("--flame shows the paths of two traces, and these are jobs: name a file of each")
	}
	if err := writeFlame(j.flame, stacks); err != nil {
		return err
	}
	if j.svg != nil {
		if err := page.DrawDifference(j.svg, d.Shown()); err != nil {
			return err
		}
	}
	switch {
	case j.html != nil:
		return page.WriteDifference(j.html, d.Shown(), stacks)
	case j.opts.json:
		j.result = d.WriteJSON
	case j.opts.markdown:
		j.result = func(w io.Writer) error { return page.CommentDifference(w, d.Shown(), changesListed) }
	default:
		j.result = func(w io.Writer) error { return d.WriteText(w, j.opts.textOptions(j.resultTo), changesListed) }
	}
	return nil
}

// changesListed is how many hotspots diff lists.
const changesListed = 10

func (p *program) diffCommand() *cli.Command {
	takes := groups{graphFlags(), methodFlags(), windowFlags(), againstFlags(), jsonFlags(), pageFlags(), diffFlags(), gateFlags("off"), flameFlags(), generalFlags()}
	return &cli.Command{Name: "diff", Usage: "compare two traces, or two steps of one", ArgsUsage: "BEFORE AFTER | BEFORE… --against AFTER… | FILE [flags]", Flags: takes.flags(),
		Action: p.action(takes, ownFiles, checkDiff, (*job).diff)}
}

// sides finds the traces of the two sides of a difference. It reports whether they are two jobs of many ranks; nothing is found where
// both are one trace.
func (o *options) sides(names []string) (sides [2]*inputs.Found, jobs bool, err error) {
	for i := range sides {
		f, err := inputs.FindRanks([]string{names[i]})
		if err != nil {
			return sides, false, err
		}
		sides[i] = f
	}
	a, b := sides[0].Many(o.maxExpand), sides[1].Many(o.maxExpand)
	switch {
	case a && b:
		return sides, true, nil
	case a != b && (len(sides[0].Files)+len(sides[0].Sets) > 1 || len(sides[1].Files)+len(sides[1].Sets) > 1):
		one := 0
		if a {
			one = 1
		}
		return sides, false, fmt.Errorf("%s is one trace, and %s holds %s: compare a trace with a trace, or a job with a job", report.Plain(names[one]), report.Plain(names[1-one]),
			tables.Counted(len(sides[1-one].Files)+len(sides[1-one].Sets), "trace"))
	}
	return sides, false, nil
}

// diffJobs compares two jobs. It reports false where both turn out to be single traces, which are the files to compare then.
func (j *job) diffJobs(sides [2]*inputs.Found) (done bool, err error) {
	var made [2]*report.JobReport
	for i, f := range sides {
		r, only, err := j.joinRanks(f)
		switch {
		case err != nil:
			return false, err
		case r == nil:
			j.files[i] = only
		default:
			made[i] = report.NewJob(r.source)
		}
	}
	for i := range made {
		if made[i] == nil && made[1-i] != nil {
			return false, fmt.Errorf("%s is one trace, and %s holds the ranks of a job: compare a trace with a trace, or a job with a job", report.Plain(j.files[i]), report.Plain(j.files[1-i]))
		}
	}
	if made[0] == nil {
		return false, nil
	}
	d := report.CompareJobs(made[0], made[1])
	if !d.Same.Same {
		return true, j.unlike(d.After.Name, *d.Same, j.files[0], j.files[1])
	}
	return true, j.showDifference(d, longer(j.files[1], d.Slower, j.files[0]), nil)
}

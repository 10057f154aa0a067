package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/fromxplane"
	"overlay/internal/inputs"
	"overlay/internal/kineto"
	"overlay/internal/perfetto"
	"overlay/internal/report"
	"overlay/internal/tables"
)

// check says what a file holds, or lists the ranks of a job. Of a file: a .pftrace by our own reader of that format, everything else as a Kineto trace.
func (j *job) check() error {
	f, err := inputs.Find(j.opts.inputs)
	if err != nil {
		return err
	}
	if f.Many(j.opts.maxExpand) {
		return j.checkJob(f)
	}
	if j.opts.capture > 1 {
		return &usageError{fmt.Sprintf("--capture %d of 1: this is one trace", j.opts.capture), j.opts.command}
	}
	name := f.Files[0].Path
	in, err := j.in.Open(name)
	if err != nil {
		return err
	}
	if kineto.IsPerfetto(in.Bytes) && !fromxplane.Is(in.Bytes) && j.opts.process == "" {
		err = j.checkPerfettoFile(inputs.Name(name), in)
	} else {
		err = j.checkKineto(name, in)
	}
	if f.Split(0, err) {
		return j.checkJob(f)
	}
	return err
}

func (j *job) checkPerfettoFile(name string, in *inputs.Input) error {
	if in.Cut {
		return j.checkBroken(name, in, errors.New("the compressed data is cut: this is no whole trace"))
	}
	j.stages.start("parsing")
	im, err := perfetto.Parse(in.Bytes)
	if err != nil {
		return j.checkBroken(name, in, err)
	}
	j.stages.start("checking")
	c := checkPerfetto(name, in.Size, im)
	if j.opts.strict && len(c.Problems) > 0 {
		first := sortedKeys(c.Problems)[0]
		return fmt.Errorf("%s: %s, the first is %s (%d times); run without --strict to see all",
			name, tables.Counted(len(c.Problems), "kind")+" of problems", first, c.Problems[first])
	}
	several := (*kineto.Several)(nil)
	if c.Profiler, err = profilerSurvey(j.in, name, in); inputs.IsTooMuch(err) || errors.As(err, &several) {
		return err
	} else if err != nil {
		c.Refused = strings.TrimPrefix(err.Error(), name+": ")
	}
	j.showCheck(c, c.writeText)
	return nil
}

// showCheck makes what was found the result: as JSON, or as text.
func (j *job) showCheck(found any, text func(w io.Writer) error) {
	j.result = text
	if j.opts.json {
		j.result = func(w io.Writer) error { return writeJSON(w, found) }
	}
}

// checkBroken says what can be used of a .pftrace that a viewer would not open: the end may be missing.
func (j *job) checkBroken(name string, in *inputs.Input, broken error) error {
	s, err := profilerSurvey(j.in, name, in)
	if err != nil || j.opts.strict {
		return fmt.Errorf("%s: %w", name, broken)
	}
	j.showCheck(kinetoCheck{"overlay-check/1", name, "perfetto", *s, nil}, func(w io.Writer) error {
		out := stickyWriter{w: w}
		fmt.Fprintf(&out, "%s: Perfetto trace, damaged: %s; of what can be used:\n", report.Plain(name), report.Plain(broken.Error()))
		writeSurvey(&out, s)
		return out.err
	})
	return nil
}

// profilerSurvey is what a .pftrace holds when it is read to be analysed.
func profilerSurvey(r *inputs.Reader, name string, in *inputs.Input) (*kineto.Survey, error) {
	tr, err := r.Profiled(name, in)
	if err != nil {
		return nil, err
	}
	s := kineto.Inspect(tr)
	return &s, nil
}

func (p *program) checkCommand() *cli.Command {
	takes := groups{inputFlag("the trace to look at, `FILE`, folder, archive (tar, zip) or - for standard input, also without the flag"), captureFlags(), jsonFlags(), generalFlags()}
	return &cli.Command{Name: "check", Usage: "say what a trace holds and what is wrong with it", ArgsUsage: "[-i] FILE|FOLDER… [flags]", Flags: takes.flags(),
		Description: `
Reads a trace of any kind and prints what is in it, what was repaired, and what the analysis will miss. Of a
folder, a quoted pattern, an archive (tar, zip) or several files it lists the ranks: how each is known, what it recorded
and when, and which ranks of the job have no trace.

Examples:
  overlay check trace.json.gz
  overlay check overlaid.pftrace --json
  overlay check traces/
  overlay check 'traces/rank*.json.gz'
  overlay check traces.tar.gz --json`,
		Action: p.action(takes, inputFiles, (*flagReader).needInput, (*job).check)}
}

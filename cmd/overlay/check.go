package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"overlay/internal/frompftrace"
	"overlay/internal/kineto"
	"overlay/internal/perfetto"
	"overlay/internal/report"
	"overlay/internal/tables"
)

// check says what a file holds, or lists the ranks of a job. Of a file: a .pftrace by our own reader of that format, everything else as a Kineto trace.
func (j *job) check() error {
	f, err := find(j.files)
	if err != nil {
		return err
	}
	if f.many(j.opts.maxExpand) {
		return j.checkJob(f)
	}
	if j.opts.capture > 1 {
		return &usageError{fmt.Sprintf("--capture %d of 1: this is one trace", j.opts.capture), j.opts.command}
	}
	name := f.traces[0].path
	in, o, err := j.open(name)
	if err != nil {
		return err
	}
	if kineto.IsPerfetto(in.bytes) {
		return j.checkPerfettoFile(inputName(name), in)
	}
	return j.checkKineto(name, in, o)
}

func (j *job) checkPerfettoFile(name string, in *input) error {
	if in.cut {
		return j.checkBroken(name, in, errors.New("the compressed data is cut: this is no whole trace"))
	}
	j.stages.start("parsing")
	im, err := perfetto.Parse(in.bytes)
	if err != nil {
		return j.checkBroken(name, in, err)
	}
	j.stages.start("checking")
	c := checkPerfetto(name, in.size, im)
	if j.opts.strict && len(c.Problems) > 0 {
		first := sortedKeys(c.Problems)[0]
		return fmt.Errorf("%s: %s, the first is %s (%d times); run without --strict to see all",
			name, tables.Counted(len(c.Problems), "kind")+" of problems", first, c.Problems[first])
	}
	c.Profiler = j.profilerSurvey(name, in)
	j.result = c.writeText
	if j.opts.json {
		j.result = func(w io.Writer) error { return writeJSON(w, c) }
	}
	return nil
}

// checkBroken says what can be used of a .pftrace that a viewer would not open: the end may be missing.
func (j *job) checkBroken(name string, in *input, broken error) error {
	s := j.profilerSurvey(name, in)
	if s == nil || j.opts.strict {
		return fmt.Errorf("%s: %w", name, broken)
	}
	if j.opts.json {
		j.result = func(w io.Writer) error { return writeJSON(w, kinetoCheck{"overlay-check/1", name, "perfetto", *s}) }
		return nil
	}
	j.result = func(w io.Writer) error {
		out := stickyWriter{w: w}
		fmt.Fprintf(&out, "%s: Perfetto trace, damaged: %s; of what can be used:\n", report.Plain(name), report.Plain(broken.Error()))
		writeSurvey(&out, s)
		return out.err
	}
	return nil
}

// profilerSurvey is what a .pftrace holds when it is read to be analysed; nil when it holds nothing of that.
func (j *job) profilerSurvey(name string, in *input) *kineto.Survey {
	text := newSpool(roomFor(j.memory))
	tr, err := frompftrace.Parse(in.bytes, name, kineto.Options{MaxExpand: j.opts.maxExpand, Cut: in.cut}, text)
	if err != nil {
		text.drop()
		return nil
	}
	s := kineto.Inspect(tr)
	return &s
}

// writeJSON writes an indented JSON document.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

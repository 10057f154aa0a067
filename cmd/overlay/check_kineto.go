package main

import (
	"fmt"
	"io"

	"overlay/internal/kineto"
	"overlay/internal/report"
)

// kinetoCheck is the JSON form of `check` for a profiler trace.
type kinetoCheck struct {
	Schema string `json:"schema"`
	File   string `json:"file"`
	Format string `json:"format"`
	kineto.Survey
}

// checkKineto says what a profiler trace holds.
func (j *job) checkKineto(name string, in *input, o kineto.Options) error {
	tr, err := j.parse(name, in, o)
	if err != nil {
		return err
	}
	j.stages.start("checking")
	s := kineto.Inspect(tr)
	if j.opts.json {
		j.result = func(w io.Writer) error { return writeJSON(w, kinetoCheck{"overlay-check/1", name, "kineto", s}) }
		return nil
	}
	j.result = func(w io.Writer) error {
		out := stickyWriter{w: w}
		fmt.Fprintf(&out, "%s: profiler trace\n", report.Plain(name))
		s.WriteText(func(format string, args ...any) { fmt.Fprintln(&out, report.Plain(fmt.Sprintf(format, args...))) })
		if len(s.Repairs) == 0 {
			fmt.Fprintf(&out, "mended      nothing\n")
		}
		return out.err
	}
	return nil
}

// stickyWriter keeps the first error, for text written by many calls.
type stickyWriter struct {
	w   io.Writer
	err error
}

func (s *stickyWriter) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	var n int
	n, s.err = s.w.Write(b)
	return n, s.err
}

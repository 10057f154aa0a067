package main

import (
	"io"

	"overlay/internal/inputs"
	"overlay/internal/report"
)

// subject is what a command looks into: one trace, or the ranks of a job.
type subject struct {
	found *inputs.Found
	job   *rankedJob // nil: one trace
	name  string     // of the one trace
}

// subject finds out what inputs are. The ranks of a job are read and put together.
func (j *job) subject(names []string) (*subject, error) {
	f, err := inputs.FindRanks(names)
	if err != nil {
		return nil, err
	}
	return j.subjectOf(f)
}

func (j *job) subjectOf(f *inputs.Found) (*subject, error) {
	s := &subject{found: f}
	if j.in.Many(f) {
		r, only, err := j.joinRanks(f)
		if s.job = r; err != nil || r != nil {
			return s, err
		}
		f.Only(only)
	}
	err := j.opts.oneRankFlags()
	if err == nil {
		s.name, err = f.One()
	}
	j.opts.input = s.name
	return s, err
}

// document is a result that has a form for people and one for programs.
type document interface {
	WriteText(w io.Writer, o report.TextOptions) error
	WriteJSON(w io.Writer) error
}

// show makes a document the result of a command.
func (j *job) show(d document) {
	j.result = func(w io.Writer) error { return d.WriteText(w, j.opts.textOptions(j.resultTo)) }
	if j.opts.json {
		j.result = d.WriteJSON
	}
}

package main

import (
	"cmp"
	"errors"
	"io"

	"overlay/internal/inputs"
	"overlay/internal/kineto"
	"overlay/internal/pipeline"
	"overlay/internal/report"
)

// subject is what a command looks into: one trace, or the ranks of a job.
type subject struct {
	found *inputs.Found
	job   *rankedJob    // nil: one trace
	name  string        // of the one trace
	run   *pipeline.Run // on the one trace
}

// read finds out what inputs are and analyses them: one trace as o says, or the ranks of a job, which are put together. draw says that
// it is going to be drawn.
func (j *job) read(names []string, o pipeline.Options, draw bool) (*subject, error) {
	f, err := inputs.FindRanks(names)
	if err != nil {
		return nil, err
	}
	s := &subject{found: f}
	if !f.Many(j.opts.maxExpand) {
		if err := j.readOne(s, o, draw); !f.Split(0, err) {
			return s, err
		}
	}
	only := ""
	if s.job, only, err = j.joinRanks(f); err != nil || s.job != nil {
		return s, err
	}
	f.Only(only)
	return s, j.readOne(s, o, draw)
}

// readOne reads the one trace of a subject. What is wrong with the flags is said first, unless the trace turns out to be several.
func (j *job) readOne(s *subject, o pipeline.Options, draw bool) error {
	s.name = s.found.Files[0].Path
	tr, err := j.in.Load(s.name)
	if several := (*kineto.Several)(nil); !errors.As(err, &several) {
		err = cmp.Or(j.opts.oneRankFlags(), err)
	}
	if err == nil {
		s.run, err = j.solve(s.name, tr, o, draw)
	}
	return err
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

// present shows a document, or writes its page where --html asks for one.
func (j *job) present(d document, page func(w io.Writer) error) error {
	if j.html != nil {
		return page(j.html)
	}
	j.show(d)
	return nil
}

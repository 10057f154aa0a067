package main

import "io"

// printReport prints the analysis of one trace.
func (j *job) printReport() error {
	a, err := j.analyse(j.opts.input)
	if err != nil {
		return err
	}
	if j.opts.json || j.opts.html != "" {
		return errNotYet
	}
	j.result = func(w io.Writer) error { return j.writeFindings(w, a, j.color(j.resultTo)) }
	return nil
}

func (j *job) diff() error { return errNotYet }

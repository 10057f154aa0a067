package main

import "io"

// printReport prints the analysis of one trace.
func (j *job) printReport() error {
	page, err := j.createReport(j.opts.html)
	if err != nil {
		return err
	}
	a, err := j.analyse(j.opts.input)
	if err != nil {
		return err
	}
	if page != nil {
		return j.writeReport(page, a)
	}
	if j.opts.json {
		return errNotYet
	}
	j.result = func(w io.Writer) error { return j.writeFindings(w, a, j.color(j.resultTo)) }
	return nil
}

// createReport prepares the file of a report; "" is none.
func (j *job) createReport(name string) (*output, error) {
	if name == "" {
		return nil, nil
	}
	return j.outs.create(name, j.opts.input)
}

// writeReport writes a report in the form that the name of its file asks for: JSON or a page.
func (j *job) writeReport(out *output, a analysis) error {
	if out == nil {
		return nil
	}
	return errNotYet
}

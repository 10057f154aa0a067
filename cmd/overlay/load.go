package main

import (
	"fmt"
	"io"
	"os"

	"overlay/internal/kineto"
)

// load reads a trace.
func (j *job) load(name string) (*kineto.Trace, error) {
	j.stages.start("reading")
	var r io.Reader = j.stdin
	shown := "standard input"
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, inputError(name, err)
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, fmt.Errorf("%s is a folder: give a trace file", name)
		}
		r, shown = f, name
	}
	return kineto.Read(r, shown, kineto.Options{Jobs: j.opts.jobs, Strict: j.opts.strict, MaxExpand: j.opts.maxExpand})
}

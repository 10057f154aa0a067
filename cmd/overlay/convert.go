package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"overlay/internal/pipeline"
	"overlay/internal/tables"
)

func checkConvert(r *flagReader, o *options) {
	r.needInput(o)
	if len(o.inputs) > 1 {
		r.problem("%d inputs are given, and convert takes one trace; an output is given with -o", len(o.inputs))
	}
	o.sums = true
	if o.output == "" {
		r.problem("no output: give one with -o, or -o - for standard output")
		return
	}
	r.readFormat(o, false)
}

// convert changes the format of a trace.
func (j *job) convert() error {
	out, err := j.createOutput()
	if err != nil {
		return err
	}
	tr, err := j.in.LoadAny(j.opts.input)
	if err != nil {
		return err
	}
	st, err := j.write(out, pipeline.Picture{Trace: tr})
	if err != nil {
		return err
	}
	if !j.opts.quiet {
		j.result = func(w io.Writer) error {
			return writeLines(w, fmt.Sprintf("wrote %s, %s bytes: %s", out.Name, tables.Grouped(out.Bytes), st.drawn), st.notes, repairLines(tr))
		}
	}
	return nil
}

func (p *program) convertCommand() *cli.Command {
	takes := groups{inputFlags(), outputFlags("required"), generalFlags()}
	return &cli.Command{Name: "convert", Usage: "change the format, draw nothing", ArgsUsage: "[-i] FILE -o FILE [flags]", Flags: takes.flags(),
		Action: p.action(takes, inputFiles, checkConvert, (*job).convert)}
}

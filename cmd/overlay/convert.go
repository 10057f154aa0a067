package main

import (
	"fmt"
	"io"

	"overlay/internal/kineto"
	"overlay/internal/overlay"
	"overlay/internal/pgzip"
)

func checkConvert(r *flagReader, o *options) {
	r.needInput(o)
	if o.output == "" {
		r.problem("no output: give one with -o, or -o - for standard output")
		return
	}
	r.readFormat(o)
}

// convert changes the format of a trace.
func (j *job) convert() error {
	out, err := j.createOutput()
	if err != nil {
		return err
	}
	tr, err := j.load(j.opts.input)
	if err != nil {
		return err
	}
	st, err := j.write(out, tr, nil)
	if err != nil {
		return err
	}
	if !j.opts.quiet {
		j.result = func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s: %s of %s, %s bytes\n", out.shown, st.drawn, count(len(tr.Events), "event"), group(out.n))
			return err
		}
	}
	return nil
}

// createOutput prepares the file of -o, or standard output; results then go to standard error.
func (j *job) createOutput() (*output, error) {
	if j.opts.output == "-" {
		j.resultTo = j.stderr
		return stream(j.stdout, "standard output"), nil
	}
	return j.outs.create(j.opts.output, j.opts.input)
}

// written is what the summary says of an output.
type written struct {
	drawn string // as in "1,234 slices, 56 flows"
}

// write writes a trace with what is drawn on it (nil for nothing) in the format of -o.
func (j *job) write(out *output, tr *kineto.Trace, ov *overlay.Overlay) (written, error) {
	j.stages.start("writing")
	var w io.Writer = out
	var z *pgzip.Writer
	if j.opts.compress {
		var err error
		if z, err = pgzip.NewWriter(out, gzipLevel, j.opts.jobs); err != nil {
			return written{}, err
		}
		w = z
	}
	st, err := j.writeFormat(w, tr, ov)
	if err == nil && z != nil {
		err = z.Close()
	}
	if err == nil && out.temp == "" {
		err = out.close() // nothing to rename: what is written is there
	}
	if out.err != nil {
		err = out.err // the writers wrap it, which says nothing more
	}
	return st, err
}

// gzipLevel trades size for time.
const gzipLevel = 6

func (j *job) writeFormat(w io.Writer, tr *kineto.Trace, ov *overlay.Overlay) (written, error) {
	if j.opts.chrome {
		return written{}, errNotYet
	}
	st, err := overlay.WritePerfetto(w, tr, ov, overlay.WriteOptions{Jobs: j.opts.jobs})
	return written{count(st.Slices, "slice") + ", " + count(st.Flows+st.Arrows, "flow")}, err
}

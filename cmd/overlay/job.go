package main

import (
	"io"
	"os"
	"runtime"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"overlay/internal/container"
	"overlay/internal/inputs"
	"overlay/internal/kineto"
	"overlay/internal/outputs"
	"overlay/internal/report"
)

// job is one run of a command that works on files.
type job struct {
	*program
	opts   *options
	files  []string // arguments that are no flags
	stages *stages

	in       *inputs.Reader
	captured *captures // the files of --capture

	html, flame, svg *outputs.Output // of the flags of these names; nil: not asked for
	// result is printed when everything else is done and all outputs are in place.
	result func(w io.Writer) error
	// resultTo is standard output, or standard error when standard output carries a trace.
	resultTo io.Writer
	// verdict is the error to end with after the result is printed: --fail-if-slower.
	verdict error
}

// action makes a command out of a function on a job, with the flags that it takes. nFiles is the number of file names that the command takes.
func (p *program) action(takes groups, nFiles int, check func(*flagReader, *options), body func(*job) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		o, err := readOptions(c, takes)
		r := &flagReader{Context: c, err: err}
		r.wantFiles(nFiles)
		if nFiles == inputFiles {
			o.addInputs(c.Args().Slice())
		}
		if check != nil {
			check(r, o)
		}
		if r.err == nil {
			r.checkPlaces(p.places(r, takes, o))
		}
		if r.err != nil {
			return r.err
		}
		runtime.GOMAXPROCS(min(o.jobs, runtime.NumCPU()))
		j := &job{program: p, opts: o, files: c.Args().Slice(), stages: newStages(p.stderr, o), resultTo: p.stdout}
		j.captured = &captures{job: j}
		j.in = inputs.NewReader(p.stdin, o.jobs, kineto.Options{Strict: o.strict, MaxExpand: o.maxExpand, Process: o.process})
		j.in.Memory, j.in.Stage = p.memory, j.stages.start
		j.in.Held = func(n int64) { container.LimitHeap(p.memory, n) }
		j.in.Sized = func(text, held int64) func(int) []byte {
			if lend := p.size.Told(p.memory, o.kind(), text, held); !o.many {
				return lend
			}
			return nil
		}
		j.in.Parsed = p.size.Parsed
		return j.do(body)
	}
}

func (j *job) do(body func(*job) error) error {
	stopProfiles, err := j.startProfiles(j.opts)
	if err != nil {
		return err
	}
	for _, b := range []struct {
		to   **outputs.Output
		name string
	}{{&j.html, j.opts.html}, {&j.flame, j.opts.flame}, {&j.svg, j.opts.svg}} {
		if *b.to, err = j.outs.CreateBeside(b.name); err != nil {
			return err
		}
	}
	err = inputs.Guard(j.opts.input, func() error { return body(j) })
	j.stages.finish()
	if e := stopProfiles(); err == nil {
		err = e
	}
	if err == nil {
		err = j.outs.Commit()
	}
	if err == nil && j.result != nil {
		name := outputs.StdoutName
		if j.resultTo == j.stderr {
			name = "standard error"
		}
		out := outputs.Stream(j.resultTo, name)
		shown := io.WriteCloser(out)
		if j.opts.json { // in a form that a terminal can be shown
			shown = report.PlainJSON(out)
		}
		if err = j.result(shown); err == nil && j.opts.json {
			err = shown.Close()
		}
		if err == nil {
			err = out.Close()
		}
	}
	if err == nil && j.opts.timing {
		j.stages.print()
	}
	if err == nil {
		err = j.verdict
	}
	return err
}

// Commands that take more than a fixed number of file names.
const (
	anyFiles   = -1 // one or more
	ownFiles   = -2 // the command checks them itself
	inputFiles = -3 // they are inputs like those of -i
)

// kind is what is done with a trace, as far as memory differs.
func (o *options) kind() container.Kind {
	switch {
	case !o.reports || o.many:
		return container.Other
	case len(o.analyses) > 0:
		return container.All
	case o.onlyCritical:
		return container.Slim
	}
	return container.Usual
}

// addInputs adds the inputs that were given without -i.
func (o *options) addInputs(names []string) {
	if o.inputs = append(o.inputs, names...); len(o.inputs) > 0 {
		o.input = o.inputs[0]
	}
}

// wantFiles checks the number of arguments that are no flags.
func (r *flagReader) wantFiles(n int) {
	if n == ownFiles || n == inputFiles {
		return
	}
	switch got := r.NArg(); {
	case n == anyFiles && got > 0:
	case got == 0 && (n == 1 || n == anyFiles):
		r.problem("no file given")
	case got > n:
		r.problem("argument %s is too many", quote(r.Args().Get(n)))
	}
}

// needInput checks that -i is there.
func (r *flagReader) needInput(o *options) {
	if o.input == "" {
		r.problem("no input: give a trace, or - for standard input")
	}
}

// color reports whether text for w may be coloured.
func (o *options) color(w io.Writer) bool {
	return !o.noColor && !noColorWanted() && isTerminal(w)
}

// print makes text the result of a command.
func (j *job) print(text string) error {
	j.result = func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
	return nil
}

// noColorWanted follows no-color.org: any value but the empty one.
func noColorWanted() bool { return os.Getenv("NO_COLOR") != "" }

// textOptions fits text to the terminal that w is, if it is one.
func (o *options) textOptions(w io.Writer) report.TextOptions {
	t := report.TextOptions{Color: o.color(w), Walk: o.segments, Short: o.pageOnly}
	if o.topSet {
		t.Top = o.top
	}
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			t.Width = max(width, 60)
		}
	}
	return t
}

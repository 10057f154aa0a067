package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"overlay/internal/inputs"
	"overlay/internal/outputs"
	"overlay/internal/report"
)

// place is a file that a command reads or writes, as far as it can be told from others before the work begins.
type place struct {
	shown string      // how messages call it
	info  fs.FileInfo // nil when nothing is there yet
	path  string      // then the folder, links resolved, and the name in it
}

// places are all inputs and all outputs of a command: what its flags of type pathFlag name, the arguments that are no flags, which
// are inputs, and the output of `run` that is named like its input.
func (p *program) places(r *flagReader, takes groups, o *options) (inputs, outputs []place) {
	written := r.pathsOf(takes, writes)
	if !slices.Contains(written, o.output) {
		written = append(written, o.output)
	}
	return p.placesOf(o, slices.Concat(r.pathsOf(takes, reads), r.Args().Slice()), written)
}

func (p *program) placesOf(o *options, read, written []string) (ins, outs []place) {
	for _, name := range read {
		switch {
		case name == "-":
			ins = append(ins, streamPlace(p.stdin, "standard input"))
		case name != "":
			ins = append(ins, placeOf(name))
			if f, err := inputs.Find([]string{name}); err == nil && f.Files[0].Path != name { // the files of a folder or a pattern
				for _, t := range f.Files {
					ins = append(ins, placeOf(t.Path))
				}
			}
		}
	}
	printed := p.prints(o)
	for _, name := range written {
		switch {
		case name == "":
		case outputs.IsStdout(name):
			outs = append(outs, streamPlace(p.stdout, "standard output"))
		default:
			outs = append(outs, placeOf(name))
		}
	}
	if printed {
		outs = append(outs, streamPlace(p.stdout, "standard output"))
	}
	return ins, outs
}

// prints reports whether a command prints its result to standard output besides what the flags send there.
func (p *program) prints(o *options) bool {
	return o.html == "" && !outputs.IsStdout(o.output) && !(o.quiet && o.sums)
}

func placeOf(name string) place {
	pl := place{shown: report.Plain(name)}
	if info, err := inputs.Disk.Stat(name); err == nil {
		pl.info = info
		return pl
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		dir = filepath.Dir(name) // does not exist either: opening it will say so
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	pl.path = filepath.Join(dir, filepath.Base(name))
	return pl
}

// streamPlace is a standard stream. One that is no file, as in tests, is like no other place.
func streamPlace(stream any, shown string) place {
	pl := place{shown: shown, path: shown} // no path of a file is relative
	if f, ok := stream.(*os.File); ok {
		if info, err := f.Stat(); err == nil {
			pl.info = info
		}
	}
	return pl
}

func (a place) same(b place) bool {
	if a.info != nil && b.info != nil {
		return os.SameFile(a.info, b.info)
	}
	return a.info == nil && b.info == nil && a.path == b.path
}

// harmless reports whether several may write to a place: what goes there is dropped.
func (a place) harmless() bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && a.info != nil && os.SameFile(a.info, null)
}

// keeps reports whether a place gives back what was written to it, so that writing would change what is read. A
// terminal and a socket are input and output at once and do not.
func (a place) keeps() bool {
	if a.info == nil {
		return true
	}
	m := a.info.Mode()
	return m.IsRegular() || m&fs.ModeNamedPipe != 0 || m&fs.ModeDevice != 0 && m&fs.ModeCharDevice == 0
}

// checkPlaces refuses a command line by which an output would be an input, or two outputs one file.
func (r *flagReader) checkPlaces(inputs, outputs []place) {
	for i, out := range outputs {
		for _, in := range inputs {
			if out.same(in) && out.keeps() {
				which := ""
				if in.shown != out.shown {
					which = " " + in.shown
				}
				r.problem("output %s is the input%s: choose another name", out.shown, which)
			}
		}
		for _, other := range outputs[:i] {
			switch {
			case !out.same(other) || out.harmless():
			case out.shown == other.shown:
				r.problem("%s is to be written twice: give the outputs different names", out.shown)
			default:
				r.problem("%s and %s are one file: give the outputs different names", other.shown, out.shown)
			}
		}
	}
}

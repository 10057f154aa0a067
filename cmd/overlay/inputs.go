package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// found is what the inputs of a command name: traces, and archives that hold some.
type found struct {
	shown  string        // the inputs as the user wrote them, for messages
	traces []traceFile   // in the order of the inputs, those of a folder by name
	sets   []exportedSet // summaries of ranks, instead of traces or beside them
	other  int           // files of folders that are no traces by their names
}

// traceFile is a trace, or an archive of traces.
type traceFile struct {
	path    string
	member  string // by which part of the path ranks are told apart
	archive archiveKind
}

// traceEnds are how names of traces end, as profilers give them. What a file is, its content decides.
var traceEnds = []string{".json", ".json.gz", ".json.zst", ".pftrace", ".pftrace.gz"}

// namesTrace reports whether a file of a folder or an archive is looked at. Our own outputs are left out, and hidden
// files: those that macOS adds to archives are named like the real ones.
func namesTrace(path string) bool {
	path = filepath.ToSlash(path)
	base := path[strings.LastIndexByte(path, '/')+1:]
	if strings.HasPrefix(base, ".") || strings.HasPrefix(path, "__MACOSX/") || strings.Contains(base, ".overlaid.") || strings.HasPrefix(base, "overlay-report") {
		return false
	}
	return strings.Contains(base, ".pt.trace.json") || slices.ContainsFunc(traceEnds, func(end string) bool { return strings.HasSuffix(base, end) })
}

// findRanks lists what inputs name, traces and summaries of them.
func findRanks(inputs []string) (*found, error) {
	sets, others := summarySets(inputs)
	if len(sets) == 0 {
		return find(inputs)
	}
	f := &found{}
	if len(others) > 0 {
		var err error
		if f, err = find(others); err != nil {
			return nil, err
		}
	}
	f.shown, f.sets = shownInputs(inputs), sets
	return f, nil
}

// many reports whether these are the ranks of a job, as far as that is known before any is read. An archive of one trace is that trace, and of
// one without any whoever reads it says so; of one that breaks off behind a trace the job uses that.
func (f *found) many(maxExpand int64) bool {
	if len(f.sets) > 0 || len(f.traces) > 1 || f.traces[0].archive == noArchive {
		return len(f.sets) > 0 || len(f.traces) > 1
	}
	n := 0
	err := f.traces[0].eachMember(cmp.Or(maxExpand, 64<<30), func(string, io.Reader, func() bool) error {
		if n++; n > 1 {
			return errStopped
		}
		return nil
	})
	return n > 1 || n == 1 && err != nil
}

// shownInputs is what messages call the inputs: of more than two the first one.
func shownInputs(inputs []string) string {
	if len(inputs) > 2 {
		return fmt.Sprintf("%s and %d more", report.Plain(inputs[0]), len(inputs)-1)
	}
	return report.Plain(strings.Join(inputs, " "))
}

// find lists what inputs name: files, folders, patterns, archives. A file that is named twice counts once.
func find(inputs []string) (*found, error) {
	f := &found{shown: shownInputs(inputs)}
	for _, name := range inputs {
		info, err := os.Stat(name)
		switch {
		case name == "-":
			f.traces = append(f.traces, traceFile{path: name, member: name})
			if len(inputs) > 1 {
				return nil, errors.New("standard input is one trace: it cannot be read together with other inputs")
			}
		case err == nil && info.IsDir():
			if err := f.folder(name); err != nil {
				return nil, err
			}
		case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(name, "*?["):
			if err := f.pattern(name); err != nil {
				return nil, err
			}
		case err != nil:
			return nil, inputError(name, err)
		default:
			if err := f.file(name, filepath.Base(name), info); err != nil {
				return nil, err
			}
		}
	}
	f.once()
	return f, nil
}

func (f *found) file(path, member string, info fs.FileInfo) error {
	t := traceFile{path: path, member: filepath.ToSlash(member)}
	if info.Mode().IsRegular() {
		var err error
		if t.archive, err = archiveOf(path); err != nil {
			return err
		}
	}
	f.traces = append(f.traces, t)
	return nil
}

// folder lists the traces right in a folder.
func (f *found) folder(name string) error {
	list, err := os.ReadDir(name)
	if err != nil {
		return inputError(name, err)
	}
	n := 0
	for _, e := range list {
		path := filepath.Join(name, e.Name())
		info, err := os.Stat(path) // a link may lead to a trace
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case err != nil:
			f.other++
		case info.IsDir():
		case info.Mode().IsRegular() && namesTrace(e.Name()):
			f.traces = append(f.traces, traceFile{path: path, member: e.Name()})
			n++
		default:
			f.other++
		}
	}
	if n > 0 {
		return nil
	}
	return noTraces(name)
}

// noTraces says of a folder without traces which of the folders below it have some. Of very many files not all are looked at.
func noTraces(name string) error {
	const most, mostSeen = 12, 100_000
	var with []string
	counts, seen := map[string]int{}, 0
	fs.WalkDir(os.DirFS(name), ".", func(file string, e fs.DirEntry, err error) error {
		if seen++; seen > mostSeen {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return nil // what cannot be read has none
		case e.IsDir() && strings.HasPrefix(e.Name(), ".") && file != ".":
			return fs.SkipDir
		case !e.IsDir() && namesTrace(e.Name()):
			dir := path.Dir(file)
			if counts[dir]++; counts[dir] == 1 {
				with = append(with, dir)
			}
		}
		return nil
	})
	for i, dir := range with {
		with[i] = fmt.Sprintf("%s (%d)", report.Plain(dir), counts[dir])
	}
	slash := strings.TrimRight(report.Plain(name), "/") + "/"
	if len(with) == 0 {
		return fmt.Errorf("%s: no traces (looked for *.json and *.pftrace, also .gz and .zst): give a folder that holds some", slash)
	}
	if len(with) > most {
		with = append(with[:most], fmt.Sprintf("and %d more", len(with)-most))
	}
	return fmt.Errorf("%s: no traces here, but in its folders %s: give one of them", slash, strings.Join(with, ", "))
}

// pattern lists the files that match a pattern, in shells' syntax: those that are named like traces, and archives. When
// none is, all of them.
func (f *found) pattern(pattern string) error {
	list, err := filepath.Glob(pattern)
	if err != nil {
		return fmt.Errorf("%s: a broken pattern: in it, [ needs its ]", report.Plain(pattern))
	}
	var named, others []traceFile
	for _, path := range list {
		info, err := os.Stat(path)
		base := filepath.Base(path)
		if err != nil || info.IsDir() || strings.HasPrefix(base, ".") || strings.Contains(base, ".overlaid.") {
			f.other++
			continue
		}
		var one found
		if err := one.file(path, path, info); err != nil {
			return err
		}
		if namesTrace(path) || one.traces[0].archive != noArchive {
			named = append(named, one.traces...)
		} else {
			others = append(others, one.traces...)
		}
	}
	switch {
	case len(named) > 0:
		f.traces, f.other = append(f.traces, named...), f.other+len(others)
	case len(others) > 0:
		f.traces = append(f.traces, others...)
	default:
		return fmt.Errorf("%s: no file matches", report.Plain(pattern))
	}
	return nil
}

// once drops files that are named again.
func (f *found) once() {
	seen := map[string]bool{}
	f.traces = slices.DeleteFunc(f.traces, func(t traceFile) bool {
		path, err := filepath.Abs(t.path)
		if err != nil || t.path == "-" {
			path = t.path
		}
		again := seen[path]
		seen[path] = true
		return again
	})
}

// one is the only trace of an input, for commands that take one.
func (f *found) one() (string, error) {
	if len(f.traces) == 1 {
		return f.traces[0].path, nil
	}
	word, ok := shellWord(f.traces[0].path)
	if !ok {
		word = "FILE"
	}
	return "", &severalError{fmt.Sprintf("%s holds %s, and this command takes one: give it by name, as in %s; 'overlay check' lists them, 'overlay report' and 'overlay run' take them all", f.shown, tables.Counted(len(f.traces), "trace"), word)}
}

// severalError is that there are several traces where one is wanted.
type severalError struct{ text string }

func (e *severalError) Error() string { return e.text }

// onlyTrace is the name of the trace that a folder or a pattern holds; any other name is that of a file.
func onlyTrace(name string) (string, error) {
	info, err := os.Stat(name)
	if name == "-" || !(err == nil && info.IsDir() || errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(name, "*?[")) {
		return name, nil
	}
	f, err := find([]string{name})
	if err != nil {
		return "", err
	}
	return f.one()
}

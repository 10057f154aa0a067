package inputs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// Found is what the inputs of a command name: traces, and archives that hold some.
type Found struct {
	Shown string // the inputs as the user wrote them, for messages
	Files []File // in the order of the inputs, those of a folder by name
	Sets  []Set  // summaries of ranks, instead of traces or beside them
	Other int    // files of folders that are no traces by their names
}

// File is a trace, or an archive of traces.
type File struct {
	Path    string
	member  string // by which part of the path ranks are told apart
	archive archiveKind
}

// traceEnds are how names of traces end, as profilers give them. What a file is, its content decides.
var traceEnds = []string{".json", ".json.gz", ".json.zst", ".pftrace", ".pftrace.gz", ".xplane.pb", ".sqlite"}

// IsTraceName reports whether a file of a folder or an archive is looked at. Our own outputs are left out, and hidden
// files: those that macOS adds to archives are named like the real ones.
func IsTraceName(path string) bool {
	path = filepath.ToSlash(path)
	base := path[strings.LastIndexByte(path, '/')+1:]
	if strings.HasPrefix(base, ".") || strings.HasPrefix(path, "__MACOSX/") || strings.Contains(base, ".overlaid.") || strings.HasPrefix(base, "overlay-report") {
		return false
	}
	return strings.Contains(base, ".pt.trace.json") || slices.ContainsFunc(traceEnds, func(end string) bool { return strings.HasSuffix(base, end) })
}

// FindRanks lists what inputs name, traces and summaries of them.
func FindRanks(inputs []string) (*Found, error) {
	sets, others := SummarySets(inputs)
	if len(sets) == 0 {
		return Find(inputs)
	}
	f := &Found{}
	if len(others) > 0 {
		var err error
		if f, err = Find(others); err != nil {
			return nil, err
		}
	}
	f.Shown, f.Sets = shownInputs(inputs), sets
	return f, nil
}

// Many reports whether these are the ranks of a job, as far as that is known before any is read. An archive of one trace is that trace, and of
// one without any whoever reads it says so; of one that breaks off behind a trace the job uses that.
func (f *Found) Many(maxExpand int64) bool {
	if len(f.Sets) > 0 || len(f.Files) > 1 || f.Files[0].archive == noArchive {
		return len(f.Sets) > 0 || len(f.Files) > 1
	}
	n := 0
	err := f.Files[0].eachMember(maxExpand, func(*archiveMember) error {
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

// Find lists what inputs name: files, folders, patterns, archives. A file that is named twice counts once.
func Find(inputs []string) (*Found, error) {
	f := &Found{Shown: shownInputs(inputs)}
	for _, name := range inputs {
		info, err := Disk.Stat(name)
		switch {
		case name == "-":
			f.Files = append(f.Files, File{Path: name, member: name})
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
			return nil, Error(name, err)
		default:
			if err := f.file(name, filepath.Base(name), info); err != nil {
				return nil, err
			}
		}
	}
	f.once()
	return f, nil
}

func (f *Found) file(path, member string, info fs.FileInfo) error {
	t := File{Path: path, member: filepath.ToSlash(member)}
	if info.Mode().IsRegular() {
		var err error
		if t.archive, err = archiveOf(path); err != nil {
			return err
		}
	}
	f.Files = append(f.Files, t)
	return nil
}

// folder lists the traces right in a folder.
func (f *Found) folder(name string) error {
	list, err := Disk.ReadDir(name)
	if err != nil {
		return Error(name, err)
	}
	n := 0
	for _, e := range list {
		path := filepath.Join(name, e.Name())
		info, err := Disk.Stat(path) // a link may lead to a trace
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case leadsOutside(err) && IsTraceName(e.Name()):
			return err
		case err != nil:
			f.Other++
		case info.IsDir():
		case info.Mode().IsRegular() && IsTraceName(e.Name()):
			f.Files = append(f.Files, File{Path: path, member: e.Name()})
			n++
		default:
			f.Other++
		}
	}
	switch {
	case n > 0:
		return nil
	case len(SetsIn(name)) > 0:
		return fmt.Errorf("%s/: tables that 'overlay export' wrote, no traces: ask them with 'overlay query'; 'overlay report' reads those of --tables summary", strings.TrimRight(report.Plain(name), "/"))
	}
	if dates, _ := Disk.Glob(filepath.Join(name, "plugins", "profile", "*")); len(dates) == 1 { // the folder that XLA's profiler was given
		return f.folder(dates[0])
	}
	return noTraces(name)
}

// noTraces says of a folder without traces which of the folders below it have some. Of very many files not all are looked at.
func noTraces(name string) error {
	const most, mostSeen = 12, 100_000
	var with, records, dumps []string
	counts := map[string]int{}
	err := Walk(Disk, name, mostSeen, func(file string, e fs.DirEntry) error {
		switch dir := path.Dir(file); {
		case e.IsDir():
		case dir == "." && slices.Contains([]string{".csv", ".parquet"}, path.Ext(file)):
			records = append(records, path.Join(filepath.ToSlash(name), file))
		case dir == "." && strings.Contains(file, dumpName):
			dumps = append(dumps, file)
		case dir != "." && IsTraceName(e.Name()): // what is named like a trace right here is none
			if counts[dir]++; counts[dir] == 1 {
				with = append(with, dir)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, dir := range with {
		with[i] = fmt.Sprintf("%s (%d)", report.Plain(dir), counts[dir])
	}
	slash := strings.TrimRight(report.Plain(name), "/") + "/"
	if len(records) > 0 {
		return fmt.Errorf("%s: no traces here; coarse records of a job are one file: give it by name, as %s", slash, report.Plain(records[0]))
	}
	if len(dumps) > 0 {
		return fmt.Errorf("%s: no traces here; %s may be a dump of a flight recorder: 'overlay report %s' says who did not arrive", slash, report.Plain(dumps[0]), slash)
	}
	if len(with) == 0 {
		return fmt.Errorf("%s: no traces (looked for *.json and *.pftrace, also .gz and .zst): give a folder that holds some", slash)
	}
	if len(with) > most {
		with = append(with[:most], fmt.Sprintf("and %d more", len(with)-most))
	}
	return fmt.Errorf("%s: no traces here, but in its folders %s: give one of them", slash, strings.Join(with, ", "))
}

// Walk calls use for the files below a folder, by their paths from there, and for folders of tables (run=…), which it does not enter. Hidden
// files and folders are passed over, and what cannot be read. It ends after so many names at most, or where use returns fs.SkipAll.
func Walk(files Files, dir string, most int, use func(path string, e fs.DirEntry) error) error {
	tree, err := files.Tree(dir)
	if err != nil {
		return Error(dir, err)
	}
	seen := 0
	return fs.WalkDir(tree, ".", func(path string, e fs.DirEntry, err error) error {
		seen++
		switch {
		case path == "." && err != nil:
			return Error(dir, err)
		case seen > most:
			return fs.SkipAll
		case err != nil || path == ".":
			return nil
		case strings.HasPrefix(e.Name(), ".") && e.IsDir():
			return fs.SkipDir
		case strings.HasPrefix(e.Name(), "."), e.IsDir() && !strings.HasPrefix(e.Name(), "run="):
			return nil
		case e.IsDir():
			return cmp.Or(use(path, e), fs.SkipDir)
		}
		return use(path, e)
	})
}

// pattern lists the files that match a pattern, in shells' syntax: those that are named like traces, and archives. When
// none is, all of them.
func (f *Found) pattern(pattern string) error {
	list, err := Disk.Glob(pattern)
	if err != nil {
		return fmt.Errorf("%s: a broken pattern: in it, [ needs its ]", report.Plain(pattern))
	}
	var named, others []File
	for _, path := range list {
		info, err := Disk.Stat(path)
		base := filepath.Base(path)
		if err != nil || info.IsDir() || strings.HasPrefix(base, ".") || strings.Contains(base, ".overlaid.") {
			f.Other++
			continue
		}
		var one Found
		if err := one.file(path, path, info); err != nil {
			return err
		}
		if IsTraceName(path) || one.Files[0].archive != noArchive {
			named = append(named, one.Files...)
		} else {
			others = append(others, one.Files...)
		}
	}
	switch {
	case len(named) > 0:
		f.Files, f.Other = append(f.Files, named...), f.Other+len(others)
	case len(others) > 0:
		f.Files = append(f.Files, others...)
	default:
		return fmt.Errorf("%s: no file matches", report.Plain(pattern))
	}
	return nil
}

// once drops files that are named again, and those that hold what another one holds: XLA's profiler writes HOST.trace.json.gz beside
// HOST.xplane.pb, of less, and JAX perfetto_trace.json.gz once more where it is asked to.
func (f *Found) once() {
	seen, again := map[string]bool{}, map[string]bool{}
	for _, t := range f.Files {
		if stem, ok := strings.CutSuffix(t.Path, ".xplane.pb"); ok {
			again[stem+".trace.json.gz"], again[filepath.Join(filepath.Dir(t.Path), "perfetto_trace.json.gz")] = true, true
		}
	}
	f.Files = slices.DeleteFunc(f.Files, func(t File) bool {
		if again[t.Path] {
			return true
		}
		path, err := filepath.Abs(t.Path)
		if err != nil || t.Path == "-" {
			path = t.Path
		}
		named := seen[path]
		seen[path] = true
		return named
	})
}

// one is the only trace of an input, for commands that take one.
func (f *Found) one() (string, error) {
	if len(f.Files) == 1 {
		return f.Files[0].Path, nil
	}
	word, ok := ShellWord(f.Files[0].Path)
	if !ok {
		word = "FILE"
	}
	return "", fmt.Errorf("%s holds %s, and this command takes one: give it by name, as in %s; 'overlay check' lists them, 'overlay report' and 'overlay run' take them all", f.Shown, tables.Counted(len(f.Files), "trace"), word)
}

// Only leaves the file of a name.
func (f *Found) Only(name string) { f.Files = []File{{Path: name, member: name}} }

// OnlyTrace is the name of the trace that a folder or a pattern holds; any other name is that of a file.
func OnlyTrace(name string) (string, error) {
	info, err := Disk.Stat(name)
	if name == "-" || !(err == nil && info.IsDir() || errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(name, "*?[")) {
		return name, nil
	}
	f, err := Find([]string{name})
	if err != nil {
		return "", err
	}
	return f.one()
}

// HasFile reports whether a name is that of an input that is no archive.
func (f *Found) HasFile(name string) bool {
	return slices.ContainsFunc(f.Files, func(t File) bool { return t.archive == noArchive && Name(t.Path) == name })
}

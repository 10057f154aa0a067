package inputs

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/ranks/parts"
	"overlay/internal/ranks/roster"
)

// SummarySets finds the summaries among inputs: folders that export has written with --tables summary, or folders of one run in them.
// The other inputs are traces.
func SummarySets(inputs []string) (sets []Set, others []string) {
	has := func(dir string) bool {
		_, err := Disk.Stat(filepath.Join(dir, parts.File.Name+".parquet"))
		return err == nil || leadsOutside(err)
	}
	for _, name := range inputs {
		list := SetsIn(name)
		run, _ := strings.CutPrefix(filepath.Base(filepath.Clean(name)), "run=")
		list = append(list, setsOfRun(name, run)...)
		list = slices.DeleteFunc(list, func(s Set) bool { return !has(s.Path) })
		if len(list) == 0 {
			others = append(others, name)
		}
		sets = append(sets, list...)
	}
	return sets, others
}

// Partition is the folder of a run and a rank, as engines read it: key=value, with what they do not take escaped.
func Partition(run string, rank int64) string {
	return filepath.Join("run="+escapePartition(run), "rank="+strconv.FormatInt(rank, 10))
}

func escapePartition(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"#%'*/:=?\{}[]^`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func unescapePartition(s string) string {
	if text, err := url.PathUnescape(s); err == nil {
		return text
	}
	return s
}

// Set is a folder of one rank in a folder that export has written, or a trace of which one is made.
type Set struct {
	Run  string
	Rank int64
	Path string
}

// Sets lists the sets of a folder that export has written; none of any other file or folder.
func SetsIn(dir string) []Set {
	var list []Set
	runs, _ := Disk.ReadDir(dir)
	for _, e := range runs {
		if run, ok := strings.CutPrefix(e.Name(), "run="); ok {
			list = append(list, setsOfRun(filepath.Join(dir, e.Name()), run)...)
		}
	}
	slices.SortFunc(list, func(a, b Set) int { return roster.CompareNames(a.Path, b.Path) })
	return list
}

// setsOfRun lists the sets of a folder of one run.
func setsOfRun(dir, run string) (list []Set) {
	ranks, err := Disk.ReadDir(dir)
	if leadsOutside(err) {
		return []Set{{run, 0, dir}} // whoever reads it says so
	}
	for _, e := range ranks {
		number, ok := strings.CutPrefix(e.Name(), "rank=")
		if rank, err := strconv.ParseInt(number, 10, 64); ok && err == nil {
			list = append(list, Set{unescapePartition(run), rank, filepath.Join(dir, e.Name())})
		}
	}
	return list
}

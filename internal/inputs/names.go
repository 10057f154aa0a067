package inputs

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"overlay/internal/ranks/roster"
)

// Sort puts files into the order of their names, as people read them.
func (f *Found) Sort() {
	slices.SortStableFunc(f.Files, func(a, b File) int { return roster.CompareNames(a.Path, b.Path) })
}

// Name finds the run and the rank of traces that were read, each in the file of its number: several traces of one run get the ranks of the
// run's report, and traces without any sign of a rank the free ones. Two traces of one rank are refused, but for copies: these are to be
// left out, as reports do, and get no rank (-1). A run other than "" and a rank of 0 or more
// replace what names and traces say.
func (f *Found) Name(entries []roster.Entry, file []int, run string, rank int64) ([]Set, error) {
	list := make([]Set, len(entries))
	runs := map[string][]int{}
	for i := range entries {
		list[i] = Set{cmp.Or(run, f.Files[file[i]].run()), rank, entries[i].Name}
		runs[list[i].Run] = append(runs[list[i].Run], i)
	}
	if rank >= 0 {
		if len(list) > 1 {
			return nil, fmt.Errorf("--rank %d is for one trace, and there are %d", rank, len(list))
		}
		return list, nil
	}
	for _, run := range slices.Sorted(maps.Keys(runs)) {
		if err := nameRun(list, entries, runs[run]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// nameRun finds the ranks of some traces of a list, which are of one run.
func nameRun(list []Set, entries []roster.Entry, of []int) error {
	var own []roster.Entry
	for _, i := range of {
		own = append(own, entries[i])
	}
	ranks, copies := roster.Ranks(own)
	for k, rank := range ranks {
		list[of[k]].Rank = rank
	}
	left := map[int]bool{}
	for _, k := range copies {
		list[of[k]].Rank, left[of[k]] = -1, true
	}
	slices.SortStableFunc(of, func(a, b int) int { return roster.CompareNames(list[a].Path, list[b].Path) })
	by := map[int64]*Set{}
	for _, i := range of {
		in := &list[i]
		if x := by[in.Rank]; x != nil && in.Rank >= 0 {
			return fmt.Errorf("%s and %s are both rank %d of run %s: give one of them by itself with --rank N, or another --run", x.Path, in.Path, in.Rank, in.Run)
		}
		by[in.Rank] = in
	}
	next := int64(0)
	for _, i := range of {
		if list[i].Rank >= 0 || left[i] {
			continue
		}
		for by[next] != nil {
			next++
		}
		list[i].Rank, by[next] = next, &list[i]
	}
	return nil
}

// run is what the job is called of which a file holds traces: an archive gives its name as a folder does.
func (t *File) run() string {
	if t.archive == noArchive {
		return folderName(t.Path)
	}
	run := filepath.Base(t.Path)
	for _, end := range []string{".gz", ".zst", ".tgz", ".tar", ".zip"} {
		run = strings.TrimSuffix(run, end)
	}
	return run
}

// folderName names the folder in which a file lies.
func folderName(file string) string {
	if abs, err := filepath.Abs(file); err == nil && file != "-" {
		if base := filepath.Base(filepath.Dir(abs)); base != string(filepath.Separator) && base != "." {
			return base
		}
	}
	return "run"
}

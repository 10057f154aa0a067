package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/columns"
	"overlay/internal/parquetfile"
	"overlay/internal/pipeline"
	"overlay/internal/ranks"
	"overlay/internal/ranks/parts"
	"overlay/internal/ranks/roster"
	"overlay/internal/report"
	"overlay/internal/trace"
)

// exportSummaries writes of each input what the other ranks of its job need to know.
func (j *job) exportSummaries(inputs []rankInput, out *outFolder) (written exportTotal, err error) {
	err = j.eachRun(inputs, func(i int, r *pipeline.Run) error {
		in := &inputs[i]
		s := r.Summary(filepath.Base(inputName(in.name)))
		s.Rank, s.RankBy = ranks.Rank(in.rank), "name"
		if r.Trace.Rank >= 0 {
			s.RankBy = "recorded"
		}
		dir, err := out.part(partition(in.run, in.rank))
		if err != nil {
			return err
		}
		return written.write(dir, parts.Tables(s), parquetfile.Options{Schema: parts.Schema, Version: version, Compat: j.opts.compat})
	})
	return written, err
}

// summarySets finds the summaries among inputs: folders that export has written with --tables summary, or folders of one run in them.
// The other inputs are traces.
func summarySets(inputs []string) (sets []exportedSet, others []string) {
	has := func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, parts.Rank+".parquet"))
		return err == nil
	}
	for _, name := range inputs {
		list := exportedSets(name)
		below, _ := filepath.Glob(filepath.Join(globEscape(name), "rank=*"))
		for _, path := range below {
			if rank, err := strconv.ParseInt(strings.TrimPrefix(filepath.Base(path), "rank="), 10, 64); err == nil {
				run, _ := strings.CutPrefix(filepath.Base(filepath.Clean(name)), "run=")
				list = append(list, exportedSet{unescapePartition(run), rank, path})
			}
		}
		list = slices.DeleteFunc(list, func(s exportedSet) bool { return !has(s.path) })
		if len(list) == 0 {
			others = append(others, name)
		}
		sets = append(sets, list...)
	}
	return sets, others
}

// readSummaries reads summaries as if they were what was made of traces.
func (j *job) readSummaries(sets []exportedSet) (*ranked[*ranks.Summary], *roster.Roster, error) {
	all, r := &ranked[*ranks.Summary]{}, &roster.Roster{}
	world, older := int64(0), []int64(nil)
	for _, set := range sets {
		if set.run != sets[0].run {
			return nil, nil, fmt.Errorf("%s and %s are of two runs: give the folder of one of them", report.Plain(sets[0].path), report.Plain(set.path))
		}
		s, err := readSummary(set.path)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", report.Plain(set.path), err)
		}
		if int64(s.Rank) != set.rank {
			return nil, nil, fmt.Errorf("%s holds rank %d: folders are not to be renamed", report.Plain(set.path), s.Rank)
		}
		world = max(world, int64(s.World), set.rank+1)
		if s.Older {
			older = append(older, set.rank)
		}
		r.Members = append(r.Members, roster.Member{Rank: set.rank, By: roster.Evidence(s.RankBy), Entry: len(all.Entries)})
		all.Entries, all.Of = append(all.Entries, roster.Entry{Name: s.Source}), append(all.Of, s)
	}
	r.World = world
	if len(older) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("older summaries (ranks %s) do not say what ranks are given to do: export them again", roster.List(older)))
	}
	return all, r, nil
}

func readSummary(dir string) (*ranks.Summary, error) {
	list := parts.Empty()
	for i := range list {
		t, err := readSummaryTable(filepath.Join(dir, list[i].Name+".parquet"), list[i])
		if errors.Is(err, fs.ErrNotExist) && list[i].Name == parts.Given { // the form before had none
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("no file %s.parquet: export it again", list[i].Name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s.parquet: %w", list[i].Name, err)
		}
		list[i] = t
	}
	return parts.Summary(list)
}

func readSummaryTable(name string, form columns.Table) (columns.Table, error) {
	f, err := os.Open(name)
	if err != nil {
		return columns.Table{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return columns.Table{}, err
	}
	return parquetfile.Read(f, info.Size(), form, parts.Schema)
}

// tracesBeside finds which ranks the traces are of that stand beside summaries, to be drawn with their events.
func (j *job) tracesBeside(f *found, made *rankedJob) error {
	type known struct {
		size   int64
		events int
	}
	all := eachTrace(j, f, func(_ string, tr *trace.Trace) (known, error) { return known{tr.Source.Size(), len(tr.Events)}, nil })
	made.beside = map[int32]string{}
	for i := range all.Entries {
		e := &all.Entries[i]
		if e.Fault != "" {
			return errors.New(e.Fault)
		}
		rank := max(e.Recorded, e.Said)
		m := slices.IndexFunc(made.job.Members, func(x ranks.Member) bool {
			if rank >= 0 {
				return int64(x.Rank) == rank
			}
			return x.Source == filepath.Base(e.Name)
		})
		switch {
		case m < 0:
			return fmt.Errorf("%s: none of the summaries is of this trace", report.Plain(e.Name))
		case made.job.Members[m].Bytes != all.Of[i].size || made.job.Members[m].Events != all.Of[i].events:
			return fmt.Errorf("%s is not the trace of which the summary of rank %d was made", report.Plain(e.Name), made.job.Members[m].Rank)
		case made.beside[int32(m)] != "":
			return fmt.Errorf("%s and %s are both of rank %d", report.Plain(made.beside[int32(m)]), report.Plain(e.Name), made.job.Members[m].Rank)
		}
		made.beside[int32(m)] = e.Name
	}
	return nil
}

package main

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/anonymize"
	"overlay/internal/inputs"
	"overlay/internal/pipeline"
	"overlay/internal/ranks"
	"overlay/internal/ranks/parts"
	"overlay/internal/ranks/replay"
	"overlay/internal/ranks/roster"
	"overlay/internal/report"
	"overlay/internal/tables"
)

// manyRanks is from how many ranks on it is worth a moment to give memory back to the system as soon as it is free.
const manyRanks = 256

// manyPercent is by how much the heap may grow then, once all summaries are there: what comes after leaves little behind that is garbage.
const manyPercent = 5

// rankedJob is a job of which each rank left a trace, put together.
type rankedJob struct {
	job     *ranks.Job
	verdict *ranks.Verdict
	source  report.JobSource
	beside  map[int32]string // of a job that was put together from summaries: the traces beside them, by member; nil for one that was read
}

// sourceOf is the trace of a member, "" without one.
func (r *rankedJob) sourceOf(m int32) string {
	if r.beside != nil {
		return r.beside[m]
	}
	return r.job.Members[m].Source
}

// joinRanks reads the traces of a job and puts them together. Where there is one rank only it returns the name of its trace
// instead.
func (j *job) joinRanks(f *inputs.Found) (made *rankedJob, only string, err error) {
	step, err := j.opts.stepNumber(j.opts.step)
	if err != nil {
		return nil, "", err
	}
	if err := j.opts.jobFlags(); err != nil {
		return nil, "", err
	}
	hosts, err := readHosts(j.opts.hosts)
	if err != nil {
		return nil, "", err
	}
	j.stages.start("reading ranks")
	all, r, only, err := j.readRanks(f)
	if err != nil || r == nil {
		return nil, only, err
	}
	list, err := j.opts.members(all, r, hosts)
	if err != nil {
		return nil, "", err
	}
	j.stages.start("joining")
	o := ranks.Options{Step: int32(min(step, math.MaxInt32)), Trust: j.opts.trustClocks}
	if len(list) >= manyRanks {
		o.Release = debug.FreeOSMemory
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(manyPercent)
		}
	}
	job, err := ranks.Join(list, o)
	switch {
	case errors.Is(err, ranks.ErrNoStep):
		return nil, "", j.opts.usage("step %s: %v", j.opts.step, err)
	case err != nil:
		return nil, "", err
	}
	if o.Release != nil {
		o.Release()
	}
	made = &rankedJob{job: job, verdict: replay.Judge(job, j.opts.expect)}
	if len(f.Sets) > 0 {
		if err := made.addTraces(j.in, f); err != nil {
			return nil, "", err
		}
	}
	src := report.JobSource{Name: f.Shown, Version: version, Job: job, Verdict: made.verdict, Captures: r.Captures, Notes: r.Notes, Segments: j.opts.segments}
	for _, l := range r.Left {
		name := all.Entries[l.Entry].Name
		src.Ignored = append(src.Ignored, report.Ignored{Source: name, Why: strings.TrimPrefix(l.Why, name+": ")})
	}
	if f.Other > 0 {
		src.Notes = append(src.Notes, tables.Counted(f.Other, "other file")+" ignored")
	}
	if j.opts.anonymize {
		job.Rename(made.verdict, anonymize.Text)
		src.Name, src.Notes, src.Unnamed = "traces", nil, true
		for i := range src.Ignored {
			src.Ignored[i] = report.Ignored{Source: fmt.Sprintf("input %d", i+1), Why: "no rank of the job"}
		}
	}
	made.source = src
	return made, "", nil
}

// readRanks summarizes the traces of a job, or reads their summaries. Where there is one rank only it returns the name of its trace
// instead.
func (j *job) readRanks(f *inputs.Found) (all *inputs.Made[*ranks.Summary], r *roster.Roster, only string, err error) {
	if len(f.Sets) > 0 {
		all, r, err = readSummaries(f.Sets)
		return all, r, "", err
	}
	o := ofRank(j.pipeline())
	o.Events = true
	all = inputs.Each(j.in, f, inputs.How{}, func(x *inputs.Item) (*ranks.Summary, error) {
		run, err := pipeline.Solve(x.Trace, o, false)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.Name, err)
		}
		return run.Summary(x.Name), nil
	})
	r, err = roster.Make(all.Entries, roster.Options{Capture: j.opts.capture, Strict: j.opts.strict})
	if choice := (*roster.ChoiceError)(nil); errors.As(err, &choice) {
		return nil, nil, "", j.opts.usage("%s", choice.Error())
	}
	if err != nil {
		return nil, nil, "", err
	}
	if len(r.Members) == 1 && f.HasFile(all.Entries[r.Members[0].Entry].Name) {
		for _, l := range r.Left {
			if name := all.Entries[l.Entry].Name; !j.opts.quiet {
				fmt.Fprintf(j.stderr, "overlay: left out %s: %s\n", report.Plain(name), report.Plain(strings.TrimPrefix(l.Why, name+": ")))
			}
		}
		j.opts.capture = 0 // it is chosen
		return nil, nil, all.Entries[r.Members[0].Entry].Name, nil
	}
	if len(all.Entries) == 1 && len(f.Files) == 1 { // an archive of one trace
		return nil, nil, f.Files[0].Path, nil
	}
	return all, r, "", nil
}

// members are the summaries of the ranks of the job.
func (o *options) members(all *inputs.Made[*ranks.Summary], r *roster.Roster, hosts map[int64]string) ([]*ranks.Summary, error) {
	var list []*ranks.Summary
	for _, m := range r.Members {
		s := all.Of[m.Entry]
		s.Rank, s.RankBy, s.World = ranks.Rank(m.Rank), string(m.By), int32(r.World)
		if host, ok := hosts[m.Rank]; ok {
			s.Host = host
		}
		list = append(list, s)
	}
	for rank := range hosts {
		if rank >= r.World {
			return nil, o.usage("--hosts %s names rank %d, and the job has ranks 0 to %d", quote(o.hosts), rank, r.World-1)
		}
	}
	return list, nil
}

// readHosts reads the file of --hosts: a rank and a host a line.
func readHosts(name string) (map[int64]string, error) {
	if name == "" {
		return nil, nil
	}
	file, err := inputs.Disk.Open(name)
	if err != nil {
		return nil, inputs.Error(name, err)
	}
	defer file.Close()
	hosts := map[int64]string{}
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		rank, err := strconv.ParseInt(words[0], 10, 32)
		if len(words) != 2 || err != nil || rank < 0 {
			return nil, fmt.Errorf("%s: line %d: expected a rank and a host, as in 3 node-1", name, n)
		}
		hosts[rank] = words[1]
	}
	if err := lines.Err(); err != nil {
		return nil, inputs.Error(name, err)
	}
	return hosts, nil
}

// readSummaries reads summaries as if they were what was made of traces.
func readSummaries(sets []inputs.Set) (*inputs.Made[*ranks.Summary], *roster.Roster, error) {
	all, r := &inputs.Made[*ranks.Summary]{}, &roster.Roster{}
	world := int64(0)
	for _, set := range sets {
		if set.Run != sets[0].Run {
			return nil, nil, fmt.Errorf("%s and %s are of two runs: give the folder of one of them", report.Plain(sets[0].Path), report.Plain(set.Path))
		}
		s, err := readSummary(set.Path)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", report.Plain(set.Path), err)
		}
		if int64(s.Rank) != set.Rank {
			return nil, nil, fmt.Errorf("%s holds rank %d: folders are not to be renamed", report.Plain(set.Path), s.Rank)
		}
		world = max(world, int64(s.World), set.Rank+1)
		r.Members = append(r.Members, roster.Member{Rank: set.Rank, By: roster.Evidence(s.RankBy), Entry: len(all.Entries)})
		all.Entries, all.Of = append(all.Entries, roster.Entry{Name: s.Source}), append(all.Of, s)
	}
	r.World = world
	return all, r, nil
}

// readSummary reads the summary of a rank.
func readSummary(dir string) (*ranks.Summary, error) {
	t, err := readTable(filepath.Join(dir, parts.File.Name+".parquet"), parts.File, parts.Schema)
	var s *ranks.Summary
	if err == nil {
		s, err = parts.Summary(t)
	}
	if err != nil {
		return nil, fmt.Errorf("%s.parquet: %w", parts.File.Name, err)
	}
	return s, nil
}

// addTraces finds which ranks the traces are of that stand beside summaries, to be drawn with their events.
func (made *rankedJob) addTraces(in *inputs.Reader, f *inputs.Found) error {
	type known struct {
		size   int64
		events int
	}
	all := inputs.Each(in, f, inputs.How{}, func(x *inputs.Item) (known, error) { return known{x.Trace.Source.Size(), len(x.Trace.Events)}, nil })
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

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"overlay/internal/anonymize"
	"overlay/internal/pipeline"
	"overlay/internal/ranks"
	"overlay/internal/ranks/roster"
	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// manyRanks is from how many ranks on it is worth a moment to give memory back to the system as soon as it is free.
const manyRanks = 256

// rankedJob is a job of which each rank left a trace, put together.
type rankedJob struct {
	all     *ranked[*ranks.Summary]
	roster  *roster.Roster
	job     *ranks.Job
	verdict *ranks.Verdict
	source  report.JobSource
	beside  map[int32]string // of a job that was put together from summaries: the traces beside them, by member; nil for one that was read
}

// reportJob prints the analysis of a job of which each rank left a trace. It returns the name of the trace where it
// turns out that there is one rank only: that is reported as ever.
func (j *job) reportJob(f *found, html *output) (only string, err error) {
	r, only, err := j.joinRanks(f)
	if r == nil {
		return only, err
	}
	made := report.NewJob(r.source)
	if html != nil {
		return "", page.WriteJob(html, made, r.source)
	}
	j.result = func(w io.Writer) error { return made.WriteText(w, j.textOptions(j.resultTo)) }
	if j.opts.json {
		j.result = made.WriteJSON
	}
	return "", nil
}

// joinRanks reads the traces of a job and puts them together. Where there is one rank only it returns the name of its trace
// instead.
func (j *job) joinRanks(f *found) (made *rankedJob, only string, err error) {
	if err := j.jobFlags(); err != nil {
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
	list, err := j.members(all, r, hosts)
	if err != nil {
		return nil, "", err
	}
	j.stages.start("joining")
	o := ranks.Options{Step: int32(min(j.opts.step, math.MaxInt32)), Trust: j.opts.trustClocks}
	if len(list) >= manyRanks {
		o.Release = debug.FreeOSMemory
	}
	job, err := ranks.Join(list, o)
	switch {
	case errors.Is(err, ranks.ErrNoStep):
		return nil, "", j.usage("step %d: %v", j.opts.step, err)
	case err != nil:
		return nil, "", err
	}
	made = &rankedJob{all: all, roster: r, job: job, verdict: ranks.Judge(job, j.opts.expect)}
	src := report.JobSource{Name: f.shown, Version: version, Job: job, Verdict: made.verdict, Captures: r.Captures, Notes: r.Notes, Segments: j.opts.segments}
	for _, l := range r.Left {
		name := all.Entries[l.Entry].Name
		src.Ignored = append(src.Ignored, report.Ignored{Source: name, Why: strings.TrimPrefix(l.Why, name+": ")})
	}
	if f.other > 0 {
		src.Notes = append(src.Notes, tables.Counted(f.other, "other file")+" ignored")
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
func (j *job) readRanks(f *found) (all *ranked[*ranks.Summary], r *roster.Roster, only string, err error) {
	if len(f.sets) > 0 {
		all, r, err = j.readSummaries(f.sets)
		return all, r, "", err
	}
	o := j.rankPipeline()
	o.Events = true
	all = eachTrace(j, f, func(name string, tr *trace.Trace) (*ranks.Summary, error) {
		run, err := pipeline.Solve(tr, o, false)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return run.Summary(name), nil
	})
	r, err = roster.Make(all.Entries, roster.Options{Capture: j.opts.capture, Strict: j.opts.strict})
	if choice := (*roster.ChoiceError)(nil); errors.As(err, &choice) {
		return nil, nil, "", j.usage("%s", choice.Error())
	}
	if err != nil {
		return nil, nil, "", err
	}
	if len(r.Members) == 1 && f.hasFile(all.Entries[r.Members[0].Entry].Name) {
		for _, l := range r.Left {
			if name := all.Entries[l.Entry].Name; !j.opts.quiet {
				fmt.Fprintf(j.stderr, "overlay: left out %s: %s\n", report.Plain(name), report.Plain(strings.TrimPrefix(l.Why, name+": ")))
			}
		}
		return nil, nil, all.Entries[r.Members[0].Entry].Name, nil
	}
	if len(all.Entries) == 1 && len(f.traces) == 1 { // an archive of one trace
		return nil, nil, f.traces[0].path, nil
	}
	return all, r, "", nil
}

// rankPipeline is how each rank of a job is analysed: as a whole, whatever the window of the job.
func (j *job) rankPipeline() pipeline.Options {
	o := j.pipeline()
	o.Link.Step, o.Stage = "", nil
	return o
}

// usage is a wrong command line.
func (j *job) usage(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), j.opts.command}
}

// jobFlags refuses what means nothing over several ranks.
func (j *job) jobFlags() error {
	o := j.opts
	switch {
	case o.methodSet && o.method != "exact":
		return j.usage("--method %s has no meaning over several ranks; leave it out, or give one trace", o.method)
	case o.annotation != "":
		return j.usage("--annotation is for one trace; over several ranks the window is the whole job or --step N")
	case len(o.analyses) > 0 && !o.pageOnly:
		return j.usage("--analysis is for one trace; give that of one rank")
	case o.topSet:
		return j.usage("--top is for one trace; over several ranks --json lists everything")
	}
	return nil
}

// oneRankFlags refuses what means nothing for one trace.
func (j *job) oneRankFlags() error {
	o := j.opts
	for name, set := range map[string]bool{"hosts": o.hosts != "", "trust-clocks": o.trustClocks, "expect": o.expect != ranks.Expected{}, "ranks": o.ranks != ""} {
		if set {
			return j.usage("--%s needs the traces of several ranks", name)
		}
	}
	if o.capture > 1 {
		return j.usage("--capture %d of 1: this is one trace", o.capture)
	}
	return nil
}

// hasFile reports whether a name is that of an input that is no archive.
func (f *found) hasFile(name string) bool {
	for i := range f.traces {
		if f.traces[i].archive == noArchive && inputName(f.traces[i].path) == name {
			return true
		}
	}
	return false
}

// members are the summaries of the ranks of the job.
func (j *job) members(all *ranked[*ranks.Summary], r *roster.Roster, hosts map[int64]string) ([]*ranks.Summary, error) {
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
			return nil, j.usage("--hosts %s names rank %d, and the job has ranks 0 to %d", quote(j.opts.hosts), rank, r.World-1)
		}
	}
	return list, nil
}

// readHosts reads the file of --hosts: a rank and a host a line.
func readHosts(name string) (map[int64]string, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, inputError(name, err)
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
		return nil, inputError(name, err)
	}
	return hosts, nil
}

// readExpect reads the values of --expect: intra=300, inter=45.
func (r *flagReader) readExpect(list []string) (e ranks.Expected) {
	for _, s := range list {
		name, value, _ := strings.Cut(s, "=")
		rate, err := strconv.ParseFloat(value, 64)
		if err != nil || !(rate > 0) || math.IsInf(rate, 0) {
			r.problem("--expect %s is no bandwidth in GB/s such as intra=300", quote(s))
		}
		switch name {
		case "intra":
			e.Intra = rate
		case "inter":
			e.Inter = rate
		default:
			r.problem("--expect %s: the links are intra (within a host) and inter (between hosts)", quote(s))
		}
	}
	return e
}

//go:build !quick

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"overlay/internal/columns"
	"overlay/internal/history"
	"overlay/internal/inputs"
	"overlay/internal/par"
	"overlay/internal/parquetfile"
	"overlay/internal/ranks/parts"
	"overlay/internal/ranks/roster"
	"overlay/internal/report"
	"overlay/internal/tables"
)

func (p *program) historyCommand() *cli.Command {
	takes := groups{jsonFlags(), pageFlags(), generalFlags()}
	return &cli.Command{Name: "history", Usage: "say what changed over many runs, and when", ArgsUsage: "DIR [flags]", Flags: takes.flags(),
		Action: p.action(takes, 1, nil, (*job).showHistory)}
}

func (p *program) gateCommand() *cli.Command {
	takes := groups{historyFlags(), setFlags(), jsonFlags(), gateFlags("0"), generalFlags()}
	return &cli.Command{Name: "gate", Usage: "compare a run with its own past", ArgsUsage: "--history DIR FILE|DIR [FILE|DIR …] [flags]", Flags: takes.flags(),
		Action: p.action(takes, anyFiles, checkGate, (*job).gate)}
}

func historyFlags() group {
	return group{[]cli.Flag{readsFile(&cli.StringFlag{Name: "history", Category: filesGroup, Usage: "the folder `DIR` with the summaries of the runs"})},
		func(r *flagReader, o *options) { o.history = r.path("history") }}
}

func checkGate(r *flagReader, o *options) {
	if o.history == "" {
		r.problem("no past: name the folder of summaries with --history")
	}
}

func (j *job) showHistory() error {
	runs, bytes, err := readHistory(j.files[0], nil)
	if err != nil {
		return err
	}
	j.stages.start("searching")
	r := history.Analyse(runs, history.Sort(runs, roster.CompareNames))
	r.Bytes = bytes
	return j.present(r, r.WritePage)
}

// gate compares a run with those before it.
func (j *job) gate() error {
	runs, _, err := readHistory(j.opts.history, nil)
	if err != nil {
		return err
	}
	run, err := j.runOf()
	if err != nil {
		return err
	}
	v := judge(runs, run)
	limit := max(j.opts.failIfSlower, 0)
	switch gate, why, of := v.Gate(limit); {
	case v.Unlike:
		j.verdict = fmt.Errorf("%w: %s and the runs in %s", errUnlike, report.Plain(run.Name), report.Plain(j.opts.history))
	case gate == report.Unsure && j.opts.failIfSlower < 0: // nobody asked, and the result says it
	case of == nil:
		j.verdict = j.opts.judge(gate, "it is not known how much longer a step of "+run.Name+" takes than before", limit, why, j.stderr)
	default:
		j.verdict = j.opts.judge(gate, longer(of.Words()+" of "+run.Name, of.Percent, "in the "+tables.Counted(of.Runs, "run")+" before it"), limit, why, j.stderr)
	}
	j.show(v)
	return nil
}

// judge compares a run with those of a history that began before it.
func judge(runs []*history.Run, run *history.Run) *history.Verdict {
	past := slices.DeleteFunc(slices.Clone(runs), func(r *history.Run) bool { return r.Name == run.Name })
	dated := history.Sort(past, roster.CompareNames)
	past = slices.DeleteFunc(past, func(r *history.Run) bool { return dated && run.Dated() && r.Start >= run.Start })
	return history.Judge(past, run)
}

// runOf makes of the traces that were given, or of their summaries, what a history keeps of a run.
func (j *job) runOf() (*history.Run, error) {
	sets, others := inputs.SummarySets(j.files)
	if len(sets) > 0 && len(others) == 0 {
		all, _, err := readSummaries(sets)
		if err != nil {
			return nil, err
		}
		run := history.Of(sets[0].Run, all.Of)
		return &run, nil
	}
	f, err := inputs.Find(j.files)
	if err != nil {
		return nil, err
	}
	named, made, err := summarize(j, f, false)
	if err != nil {
		return nil, err
	}
	for i := range named {
		if named[i].Run != named[0].Run {
			return nil, fmt.Errorf("%s and %s are of two runs: give those of one, or call them one with --run", named[0].Path, named[i].Path)
		}
	}
	run := history.Of(named[0].Run, made)
	return &run, nil
}

// readHistory reads the runs of a folder of summaries, and how large those are, but for those that are known. What a run boils down to is kept
// beside its summaries, and made again when one has come or was replaced.
func readHistory(dir string, known map[string]*history.Run) ([]*history.Run, int64, error) {
	sets := inputs.SetsIn(dir)
	if len(sets) == 0 {
		if _, err := inputs.Disk.ReadDir(dir); err != nil {
			return nil, 0, inputs.Error(dir, err)
		}
		return nil, 0, fmt.Errorf("%s: no summaries of runs: add some with 'overlay export --tables summary -o %s'", report.Plain(dir), report.Plain(dir))
	}
	var of [][]inputs.Set
	for i := range sets {
		if i == 0 || sets[i].Run != sets[i-1].Run {
			of = append(of, nil)
		}
		of[len(of)-1] = append(of[len(of)-1], sets[i])
	}
	runs, sizes, errs := make([]*history.Run, len(of)), make([]int64, len(of)), make([]error, len(of))
	par.Each(len(of), func(i int) {
		if runs[i] = known[of[i][0].Run]; runs[i] == nil || runs[i].Ranks != len(of[i]) {
			runs[i], sizes[i], errs[i] = readRun(of[i])
		}
	})
	bytes := int64(0)
	for i := range runs {
		if errs[i] != nil {
			return nil, 0, errs[i]
		}
		bytes += sizes[i]
	}
	return runs, bytes, nil
}

// readRun reads a run of a history.
func readRun(sets []inputs.Set) (run *history.Run, bytes int64, err error) {
	files := make([]history.File, len(sets))
	for i, x := range sets {
		info, err := inputs.Disk.Stat(filepath.Join(x.Path, parts.File.Name+".parquet"))
		if err != nil {
			return nil, 0, fmt.Errorf("%s: no summary of this form: export it again", report.Plain(x.Path))
		}
		files[i] = history.File{Rank: x.Rank, Bytes: info.Size(), Modified: info.ModTime().UnixNano()}
		bytes += info.Size()
	}
	kept := filepath.Join(filepath.Dir(sets[0].Path), history.Form.Name+".parquet")
	if t, err := readTable(kept, history.Form, history.Schema); err == nil {
		if run, of, err := history.FromTable(sets[0].Run, t); err == nil && slices.Equal(of, files) {
			return &run, bytes, nil
		}
	}
	all, _, err := readSummaries(sets)
	if err != nil {
		return nil, 0, err
	}
	made := history.Of(sets[0].Run, all.Of)
	t := history.Table(&made, files)
	keep(kept, &t)
	return &made, bytes, nil
}

// keep writes a table that can be made again: where the folder cannot be written, it is made again.
func keep(name string, t *columns.Table) {
	f, err := os.CreateTemp(filepath.Dir(name), ".overlay.tmp*")
	if err != nil {
		return
	}
	defer os.Remove(f.Name())
	err = parquetfile.Write(f, t, parquetfile.Options{Schema: history.Schema, Version: version})
	if closed := f.Close(); err == nil && closed == nil {
		os.Rename(f.Name(), name)
	}
}

// historySets are the tables of the runs of a history, for SQL. They are of no rank.
func historySets(dirs []string) (sets []columns.Set, err error) {
	for _, dir := range dirs {
		runs, _, err := readHistory(dir, nil)
		if err != nil {
			return nil, err
		}
		history.Sort(runs, roster.CompareNames)
		for _, r := range runs {
			sets = append(sets, columns.Set{Run: r.Name, Rank: -1, Tables: []columns.Table{history.Table(r, nil)}})
		}
	}
	return sets, nil
}

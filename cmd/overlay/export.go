//go:build !quick

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/columns"
	"overlay/internal/inputs"
	"overlay/internal/outputs"
	"overlay/internal/par"
	"overlay/internal/parquetfile"
	"overlay/internal/pipeline"
	"overlay/internal/ranks"
	"overlay/internal/ranks/parts"
	"overlay/internal/relations"
	"overlay/internal/report"
	"overlay/internal/tables"
)

func (p *program) exportCommand() *cli.Command {
	takes := groups{inputFlag("the traces to read, `FILE`, folder, archive (tar, zip) or - for standard input, also without the flag"),
		{[]cli.Flag{writesFile(&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: filesGroup,
			Usage: "write below the folder `DIR`, one folder run=NAME/rank=N for each trace; others that are there stay"})}, readOutput},
		setFlags(), graphFlags(),
		{[]cli.Flag{&cli.StringFlag{Name: "tables", Category: filesGroup, Value: "trace",
			Usage: "write `trace|summary`: every event and what is made from them, or the small summary by which overlay report and overlay run put the ranks of a job together"}},
			func(r *flagReader, o *options) { o.tables = r.oneOf("tables", "trace", "summary") }},
		argsFlags(),
		{[]cli.Flag{&cli.BoolFlag{Name: "compat", Category: filesGroup, Usage: "for old readers: plain encodings and snappy instead of differences and zstd"}},
			func(r *flagReader, o *options) { o.compat = r.Bool("compat") }},
		methodFlags(), windowFlags(), generalFlags()}
	return &cli.Command{Name: "export", Usage: "write tables as Parquet for DuckDB, Spark, pandas, …", ArgsUsage: "[-i] FILE|DIR [FILE|DIR …] -o DIR [flags]", Flags: takes.flags(),
		Action: p.action(takes, inputFiles, checkExport, (*job).export)}
}

func checkExport(r *flagReader, o *options) {
	for _, flag := range []string{"args", "method", "step", "annotation"} {
		if o.tables == "summary" && r.IsSet(flag) {
			r.problem("--%s does not go with --tables summary, which is of the whole trace", flag)
		}
	}
	r.needInput(o)
	switch {
	case o.output == "":
		r.problem("no output: give a folder with -o")
	case outputs.IsStdout(o.output):
		r.problem("-o %s: tables go to a folder; give its name", report.Plain(o.output))
	case strings.HasSuffix(o.output, ".parquet"):
		r.problem("-o %s: tables go to a folder; give its name", quote(o.output))
	}
}

// export writes the tables of all inputs. Nothing is in its place before all are written.
func (j *job) export() error {
	f, err := inputs.Find(j.opts.inputs)
	if err != nil {
		return err
	}
	out, err := j.outs.CreateFolder(j.opts.output, ownTable)
	if err != nil {
		return err
	}
	written := exported{job: j, f: f, out: out}
	dir, shown := inputs.ShellWord(j.opts.output)
	if !shown {
		dir = "DIR"
	}
	write, noun, next := written.tables, "trace", "overlay query 'select rank, bound_by, window_ns / 1e6 as ms from runs' "+dir
	if j.opts.tables == "summary" {
		write, noun, next = written.summaries, "rank", "overlay report -i "+dir
	}
	n, err := write()
	if err != nil || j.opts.quiet {
		return err
	}
	each, what := "", "the summaries of "+tables.Counted(n, noun)+", "
	if written.steps > 0 {
		each = ", " + tables.Grouped(written.bytes/written.steps) + " a rank and step,"
	}
	if j.opts.tables != "summary" {
		what = tables.Grouped(written.files) + " tables of " + tables.Counted(n, noun) + ", " + tables.Grouped(written.rows) + " rows, "
	}
	j.result = func(w io.Writer) error {
		return writeLines(w, "wrote "+what+tables.Grouped(written.bytes)+" bytes"+each+" to "+j.opts.output, []string{"next  " + next})
	}
	return nil
}

// ownTable reports whether a file is a table that an earlier run has written: only such a one may be replaced.
func ownTable(name string, f io.ReaderAt, size int64) bool {
	called := func(t columns.Table) bool { return t.Name+".parquet" == name }
	return (slices.ContainsFunc(relations.Empty(), called) || slices.ContainsFunc(parts.Empty(), called) || called(parts.File)) && parquetfile.Own(f, size)
}

// tables writes the tables of each trace; of which rank they are is known when all are written.
func (e *exported) tables() (int, error) {
	named, drafts, err := eachSet(e.job, e.f, inputs.How{InTurn: true}, func(x *inputs.Item, r *pipeline.Run) (string, error) {
		dir, err := e.out.Draft()
		if err != nil {
			return "", err
		}
		return dir, e.write(dir, r.Tables(e.opts.source(x, nil)), parquetfile.Options{Schema: relations.Schema, Version: version, Compat: e.opts.compat})
	})
	for i := 0; i < len(named) && err == nil; i++ {
		part := inputs.Partition(named[i].Run, named[i].Rank)
		if err = e.checkOther(filepath.Join(e.opts.output, part), named[i].Path); err == nil {
			err = e.out.Part(part, drafts[i])
		}
	}
	return len(named), err
}

// summaries writes of each trace what the other ranks of its job need to know.
func (e *exported) summaries() (int, error) {
	named, made, err := summarize(e.job, e.f, false)
	for i := 0; i < len(named) && err == nil; i++ {
		e.steps += int64(len(made[i].Steps))
		err = e.add(&named[i], made[i])
	}
	return len(named), err
}

// add writes the summary of a rank.
func (e *exported) add(of *inputs.Set, s *ranks.Summary) error {
	dir, err := e.out.Draft()
	if err == nil {
		err = e.write(dir, []columns.Table{parts.Cells(s)}, parquetfile.Options{Schema: parts.Schema, Version: version, Compat: e.opts.compat})
	}
	if err == nil {
		err = e.out.Part(inputs.Partition(of.Run, of.Rank), dir)
	}
	return err
}

// summarize makes summaries of traces. One that was cut is an error where they have to be whole.
func summarize(j *job, f *inputs.Found, whole bool) ([]inputs.Set, []*ranks.Summary, error) {
	named, made, err := eachSet(j, f, inputs.How{InTurn: true}, func(x *inputs.Item, r *pipeline.Run) (*ranks.Summary, error) {
		if whole && r.Trace.Truncated {
			return nil, fmt.Errorf("%s: the trace ends early: it was cut, or is still being written", x.Name)
		}
		s := r.Summary(filepath.Base(x.Name))
		if s.RankBy = "name"; r.Trace.Rank >= 0 {
			s.RankBy = "recorded"
		}
		return s, nil
	})
	for i := range named {
		made[i].Rank = ranks.Rank(named[i].Rank)
	}
	return named, made, err
}

// eachSet solves traces one after the other, makes something of each, and finds out of which run and which rank each is. Copies are left out.
func eachSet[T any](j *job, f *inputs.Found, how inputs.How, use func(x *inputs.Item, r *pipeline.Run) (T, error)) ([]inputs.Set, []T, error) {
	f.Sort()
	made := inputs.Each(j.in, f, how, func(x *inputs.Item) (of T, err error) {
		tr, err := inputs.Analysable(x.Name, x.Trace)
		if err != nil {
			return of, err
		}
		r, err := pipeline.Solve(tr, j.pipeline(), false)
		if err != nil {
			return of, fmt.Errorf("%s: %w", x.Name, err)
		}
		return use(x, r)
	})
	if made.Err != nil {
		return nil, nil, made.Err
	}
	named, err := f.Name(made.Entries, made.File, j.opts.runName, j.opts.rank)
	list, of := named[:0], made.Of[:0]
	for i := range named {
		if named[i].Rank < 0 {
			j.opts.say(j.stderr, "left out %s: a copy of another input", named[i].Path)
			continue
		}
		list, of = append(list, named[i]), append(of, made.Of[i])
	}
	return list, of, err
}

// source is what the tables of a trace are made of.
func (o *options) source(x *inputs.Item, want func(string) bool) relations.Source {
	return relations.Source{Args: o.args, Want: want, File: filepath.Base(x.Name), Format: x.Format, Version: version}
}

// checkOther refuses to replace the tables of another trace: two that do not say their rank would take each other's place.
func (e *exported) checkOther(dir, name string) error {
	for _, form := range relations.Empty() {
		if form.Name != "runs" {
			continue
		}
		t, err := readTable(filepath.Join(dir, "runs.parquet"), form, relations.Schema)
		if err != nil || t.Rows == 0 {
			return nil // nothing is there, or nothing that can be read
		}
		for i := range t.Cols {
			if t.Cols[i].Name != "file" {
				continue
			}
			if file, _ := t.Data[i].Text(0); file != filepath.Base(name) {
				return fmt.Errorf("%s holds the tables of %s: remove it, or give %s another --rank or --run", dir, file, name)
			}
		}
	}
	return nil
}

// exported is what an export reads, where it writes, and how much that was.
type exported struct {
	*job
	f   *inputs.Found
	out *outputs.Folder

	files, rows, bytes int64
	steps              int64 // of all ranks, where summaries are written
}

// write writes tables to a folder, a file each.
func (x *exported) write(dir string, list []columns.Table, o parquetfile.Options) error {
	errs, sizes := make([]error, len(list)), make([]int64, len(list))
	par.Each(len(list), func(i int) { sizes[i], errs[i] = writeTable(filepath.Join(dir, list[i].Name+".parquet"), &list[i], o) })
	for i := range list {
		if errs[i] != nil {
			return errs[i]
		}
		x.files++
		x.rows += int64(list[i].Rows)
		x.bytes += sizes[i]
	}
	return nil
}

func writeTable(name string, t *columns.Table, o parquetfile.Options) (int64, error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, outputs.Error(name, err)
	}
	defer f.Close()
	if err := parquetfile.Write(f, t, o); err != nil {
		return 0, outputs.Error(name, err)
	}
	n, err := f.Seek(0, io.SeekCurrent)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return 0, outputs.Error(name, err)
	}
	return n, nil
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"overlay/internal/columns"
	"overlay/internal/par"
	"overlay/internal/parquetfile"
	"overlay/internal/pipeline"
	"overlay/internal/relations"
	"overlay/internal/report"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

func (p *program) exportCommand() *cli.Command {
	takes := groups{inputFlag("the traces to read, `FILE`, folder, archive (tar, zip) or - for standard input, also without the flag"),
		{[]cli.Flag{&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: filesGroup,
			Usage: "write below the folder `DIR`, one folder run=NAME/rank=N for each trace; others that are there stay"}}, readOutput},
		setFlags(),
		{[]cli.Flag{&cli.StringFlag{Name: "tables", Category: filesGroup, Value: "trace",
			Usage: "write `trace|summary`: every event and what is made from them, or the small summary by which overlay report and overlay run put the ranks of a job together"}},
			func(r *flagReader, o *options) { o.tables = r.oneOf("tables", "trace", "summary") }},
		argsFlags(),
		{[]cli.Flag{&cli.BoolFlag{Name: "compat", Category: filesGroup, Usage: "for old readers: plain encodings and snappy instead of differences and zstd"}},
			func(r *flagReader, o *options) { o.compat = r.Bool("compat") }},
		methodFlags(), windowFlags(), generalFlags()}
	return &cli.Command{Name: "export", Usage: "write tables as Parquet for DuckDB, Spark, pandas, …", ArgsUsage: "[-i] FILE|DIR [FILE|DIR …] -o DIR [flags]", Flags: takes.flags(),
		Description: `
Writes every event, the path, the dependencies and what is made from them as tables: one small folder for each trace,
which engines read together. Running it again replaces that folder; a run that fails leaves nothing. Columns and recipes
for many machines are in docs/export.md.

Examples:
  overlay export -i trace.json.gz -o tables
  overlay export -i traces/ -o tables --run job-4711
  overlay export -i traces/ -o parts --tables summary && overlay report -i parts
  find traces -name '*.json.gz' -print0 | xargs -0 -P 8 -n 1 overlay export -o tables --quiet -i
  duckdb -c "select name, sum(critical_ns) from 'tables/*/*/events.parquet' group by 1 order by 2 desc limit 10"`,
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
	case isStdout(o.output):
		r.problem("-o %s: tables go to a folder; give its name", report.Plain(o.output))
	case strings.HasSuffix(o.output, ".parquet"):
		r.problem("-o %s: tables go to a folder; give its name", quote(o.output))
	}
}

// export writes the tables of all inputs. Nothing is in its place before all are written.
func (j *job) export() error {
	inputs, err := rankInputs(j.opts.inputs, j.opts.runName, j.opts.rank, j.opts.maxExpand)
	if err != nil {
		return err
	}
	out, err := j.outs.createFolder(j.opts.output)
	if err != nil {
		return err
	}
	var written exportTotal
	if j.opts.tables == "summary" {
		if written, err = j.exportSummaries(inputs, out); err != nil || j.opts.quiet {
			return err
		}
		j.result = func(w io.Writer) error {
			return writeLines(w, fmt.Sprintf("wrote the summaries of %s, %s bytes to %s", tables.Counted(len(inputs), "rank"), tables.Grouped(written.bytes), j.opts.output), []string{reportOf(j.opts.output)})
		}
		return nil
	}
	err = j.eachTables(inputs, relations.Source{Args: j.opts.args}, func(i int, list []columns.Table) error {
		part := partition(inputs[i].run, inputs[i].rank)
		if err := j.checkOther(filepath.Join(j.opts.output, part), inputs[i]); err != nil {
			return err
		}
		dir, err := out.part(part)
		if err != nil {
			return err
		}
		return written.write(dir, list, parquetfile.Options{Schema: relations.Schema, Version: version, Compat: j.opts.compat})
	})
	if err != nil || j.opts.quiet {
		return err
	}
	j.result = func(w io.Writer) error {
		return writeLines(w, fmt.Sprintf("wrote %s tables of %s, %s rows, %s bytes to %s", tables.Grouped(written.files), tables.Counted(len(inputs), "trace"),
			tables.Grouped(written.rows), tables.Grouped(written.bytes), j.opts.output), []string{nextOf(j.opts.output)})
	}
	return nil
}

// checkOther refuses to replace the tables of another trace: two that do not say their rank would take each other's place.
func (j *job) checkOther(dir string, in rankInput) error {
	for _, form := range relations.Empty() {
		if form.Name != "runs" {
			continue
		}
		t, err := readTable(filepath.Join(dir, "runs.parquet"), form)
		if err != nil || t.Rows == 0 {
			return nil // nothing is there, or nothing that can be read
		}
		for i := range t.Cols {
			if t.Cols[i].Name != "file" {
				continue
			}
			if file, _ := t.Data[i].Text(0); file != filepath.Base(inputName(in.name)) {
				return fmt.Errorf("%s holds the tables of %s: remove it, or give %s another --rank or --run", dir, file, in.name)
			}
		}
	}
	return nil
}

// nextOf says what to do with exported tables.
func nextOf(dir string) string {
	word, ok := shellWord(dir)
	if !ok {
		return "next  ask it with 'overlay query'"
	}
	return "next  overlay query 'select rank, bound_by, window_ns / 1e6 as ms from runs' " + word
}

// reportOf says what to do with summaries.
func reportOf(dir string) string {
	word, ok := shellWord(dir)
	if !ok {
		word = "DIR"
	}
	return "next  overlay report -i " + word
}

// eachTables solves the inputs one after another and hands the tables of each to use.
func (j *job) eachTables(inputs []rankInput, s relations.Source, use func(i int, list []columns.Table) error) error {
	return j.eachRun(inputs, func(i int, r *pipeline.Run) error {
		s := s
		s.File, s.Format, s.Version = filepath.Base(inputName(inputs[i].name)), inputs[i].format, version
		return use(i, r.Tables(s))
	})
}

// eachRun solves the inputs one after another. The rank of a trace that says it elsewhere than at its start is known then.
func (j *job) eachRun(inputs []rankInput, use func(i int, r *pipeline.Run) error) error {
	packed := &archives{j: j}
	defer packed.close()
	load := func(i int) (tr *trace.Trace, err error) {
		in := &inputs[i]
		if in.archive != nil {
			tr, err = packed.load(in)
		} else {
			tr, err = j.load(in.name)
		}
		if err == nil && j.opts.rank < 0 && tr.Rank >= 0 && tr.Rank != in.rank {
			in.rank = tr.Rank
			err = refuseTwice(inputs[:i+1])
		}
		return tr, err
	}
	err := pipeline.Each(len(inputs), j.pipeline(), load, use)
	if side := (*pipeline.Error)(nil); errors.As(err, &side) {
		return fmt.Errorf("%s: %w", inputs[side.Index].name, err)
	}
	return err
}

// exportTotal counts what was written.
type exportTotal struct{ files, rows, bytes int64 }

// write writes tables to a folder, a file each.
func (x *exportTotal) write(dir string, list []columns.Table, o parquetfile.Options) error {
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
		return 0, outputError(name, err)
	}
	defer f.Close()
	if err := parquetfile.Write(f, t, o); err != nil {
		return 0, outputError(name, err)
	}
	n, err := f.Seek(0, io.SeekCurrent)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return 0, outputError(name, err)
	}
	return n, nil
}

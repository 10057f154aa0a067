package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"overlay/internal/columns"
	"overlay/internal/parquetfile"
	"overlay/internal/relations"
	"overlay/internal/sqlquery"
)

// queryDuckDB has the program duckdb answer a query: over folders that export has written, and over traces, whose tables
// go to a temporary folder.
func (j *job) queryDuckDB(sql string, inputs []string) error {
	program, err := exec.LookPath("duckdb")
	if err != nil {
		return errNoDuckDB
	}
	one, err := sqlquery.OneSelect(sql)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	var dirs, traces []string
	for _, name := range inputs {
		if len(exportedSets(name)) > 0 {
			dirs = append(dirs, name)
		} else {
			traces = append(traces, name)
		}
	}
	if len(traces) > 0 {
		dir, err := j.outs.createScratch()
		if err != nil {
			return err
		}
		if err := j.exportTo(dir, traces); err != nil {
			return err
		}
		dirs = append(dirs, dir)
	}
	j.stages.start("query")
	views, err := duckViews(dirs)
	if err != nil {
		return err
	}
	mode := map[string]string{"table": "-box", "csv": "-csv", "json": "-json", "jsonl": "-jsonlines"}[j.opts.sqlFormat]
	cmd := exec.Command(program, "-batch", "-bail", mode, ":memory:")
	cmd.Stdin = strings.NewReader(views + "select * from (" + one + "\n);\n")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if msg := strings.TrimSpace(errs.String()); msg != "" {
			return errors.New("duckdb: " + strings.Join(strings.Fields(msg), " "))
		}
		return fmt.Errorf("duckdb: %w", err)
	}
	return j.print(j.shown(out.String()))
}

// exportTo writes the tables of traces to a folder.
func (j *job) exportTo(dir string, traces []string) error {
	inputs, err := rankInputs(traces, j.opts.runName, j.opts.rank, j.opts.maxExpand)
	if err != nil {
		return err
	}
	var written exportTotal
	return j.eachTables(inputs, relations.Source{Args: j.opts.args}, func(i int, list []columns.Table) error {
		part := filepath.Join(dir, partition(inputs[i].run, inputs[i].rank))
		if err := j.outs.makeFolder(part); err != nil {
			return outputError(dir, err)
		}
		return written.write(part, list, parquetfile.Options{Schema: relations.Schema, Version: version})
	})
}

// duckViews is SQL that makes the tables of some folders known to DuckDB, run and rank first.
func duckViews(dirs []string) (string, error) {
	var b strings.Builder
	for _, t := range relations.Empty() {
		var files []string
		for _, dir := range dirs {
			abs, err := filepath.Abs(dir)
			if err != nil {
				return "", inputError(dir, err)
			}
			files = append(files, "'"+strings.ReplaceAll(filepath.Join(abs, "run=*", "rank=*", t.Name+".parquet"), "'", "''")+"'")
		}
		fmt.Fprintf(&b, "create view %s as select run, rank, * exclude (run, rank) from read_parquet([%s], hive_partitioning = true, hive_types = {'run': varchar, 'rank': bigint}, union_by_name = true);\n",
			t.Name, strings.Join(files, ", "))
	}
	return b.String() + relations.Views + "\n", nil
}

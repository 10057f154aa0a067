//go:build unix

package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// needDuckDB puts a program duckdb on PATH: the installed one, or one made of the package @duckdb/node-api in the folder that
// OVERLAY_DUCKDB names. Without either the test is skipped.
func needDuckDB(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("duckdb"); err == nil {
		return
	}
	dir := os.Getenv("OVERLAY_DUCKDB")
	node, err := exec.LookPath("node")
	if dir == "" || err != nil {
		t.Skip("no duckdb: install it, or run 'npm install @duckdb/node-api' in a folder and set OVERLAY_DUCKDB to that folder")
	}
	script, err := filepath.Abs("testdata/duckdb.mjs")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "duckdb"), fmt.Appendf(nil, "#!/bin/sh\nexec %s %s \"$@\"\n", node, script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// TestQuestionsInDuckDB asks DuckDB the questions of docs/queries.md, over exported tables, and wants what SQLite answers.
func TestQuestionsInDuckDB(t *testing.T) {
	needDuckDB(t)
	_, list := readQuestions(t)
	dir := t.TempDir()
	one, many := filepath.Join(dir, "one"), filepath.Join(dir, "it's many")
	overlayOutput(t, "export", "-i", "../../testdata/demo.json.gz", "-o", one, "--run", "demo", "--quiet")
	demoRanks(t, many)
	for _, q := range list {
		tables := one
		if q.ranks {
			tables = many
		}
		want := overlayOutput(t, "query", q.sql, tables, "--format", "csv")
		got := overlayOutput(t, "query", q.sql, tables, "--format", "csv", "--engine", "duckdb")
		if diff := differentRows(t, want, got); diff != "" {
			t.Errorf("%s: %s\nSQLite\n%s\nDuckDB\n%s", q.title, diff, want, got)
		}
	}
	for _, view := range []string{"overlay_critical", "overlay_segment", "slice", "thread_track", "thread", "process"} {
		sql := "select count(*) as n from " + view
		if a, b := overlayOutput(t, "query", sql, many, "--format", "csv"), overlayOutput(t, "query", sql, many, "--format", "csv", "--engine", "duckdb"); a != b {
			t.Errorf("%s: %q and %q", view, a, b)
		}
	}
}

// TestDuckDBReadsOnly: a query cannot leave its place, and traces are exported for it and nothing of that is left.
func TestDuckDBReadsOnly(t *testing.T) {
	needDuckDB(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	got := overlayOutput(t, "query", "select run, rank, bound_by from runs", "../../testdata/demo.json.gz", "--run", "a=b", "--engine", "duckdb", "--format", "csv")
	if got != "run,rank,bound_by\na=b,0,gpu_compute\n" {
		t.Errorf("%q", got)
	}
	file := filepath.Join(temp, "x.csv")
	for _, sql := range []string{"copy runs to '" + file + "'", "select 1; copy runs to '" + file + "'", "select 1) x; copy runs to '" + file + "'; select * from (select 1", "attach '" + file + "' as x", "create table t(x int)"} {
		var out, errs bytes.Buffer
		if status := run([]string{"overlay", "query", sql, "../../testdata/demo.json.gz", "--engine", "duckdb"}, nil, &out, &errs); status != exitFailed || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s: status %d: %s", sql, status, errs.String())
		}
	}
	if left := folder(t, temp); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// differentRows compares results as CSV: numbers by value, truth values as SQLite has them.
func differentRows(t *testing.T, want, got string) string {
	t.Helper()
	read := func(s string) [][]string {
		rows, err := csv.NewReader(strings.NewReader(s)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	a, b := read(want), read(got)
	if len(a) != len(b) {
		return fmt.Sprintf("%d rows and %d", len(a), len(b))
	}
	for i := range a {
		for k := range a[i] {
			x, errX := strconv.ParseFloat(a[i][k], 64)
			y, errY := strconv.ParseFloat(b[i][k], 64)
			same := a[i][k] == b[i][k] || errX == nil && errY == nil && math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
			if !same {
				return fmt.Sprintf("row %d, %s: %q and %q", i, a[0][k], a[i][k], b[i][k])
			}
		}
	}
	return ""
}

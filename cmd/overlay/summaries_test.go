//go:build !quick

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overlay/internal/parquetfile"
	"overlay/internal/ranks/parts"
	"overlay/internal/testtrace"
)

// TestOlderSummaries writes summaries as programs before this one have, a file for each table and some tables not at all: what they hold is told
// as before, and what they lack is said.
func TestOlderSummaries(t *testing.T) {
	dir := t.TempDir()
	traces, folder := filepath.Join(dir, "job"), filepath.Join(dir, "parts")
	sim := testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Cause: "gpu", World: 4, PerHost: 2, Steps: 4, Seed: 3, Noise: 1})
	if err := os.Mkdir(traces, 0o777); err != nil {
		t.Fatal(err)
	}
	for r := range sim.Ranks {
		if err := os.WriteFile(filepath.Join(traces, sim.Ranks[r].File), sim.JSON(int32(r)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	say := func(args ...string) (string, int) {
		var out, errs bytes.Buffer
		status := run(append([]string{"overlay"}, args...), nil, &out, &errs)
		return out.String() + errs.String(), status
	}
	if text, status := say("export", "-i", traces, "-o", folder, "--tables", "summary", "--run", "job", "--quiet"); status != 0 {
		t.Fatal(text)
	}
	want, _ := say("report", folder)
	sets, _ := filepath.Glob(filepath.Join(folder, "run=job", "rank=*"))
	if len(sets) != 4 {
		t.Fatal(sets)
	}
	for _, set := range sets {
		list, err := summaryTables(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range list {
			if _, err := writeTable(filepath.Join(set, table.Name+".parquet"), &table, parquetfile.Options{Schema: "overlay-summary/2"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(filepath.Join(set, parts.File.Name+".parquet")); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := say("report", folder); got != want {
		t.Errorf("from a file for each table\n%s\nwant\n%s", got, want)
	}
	for _, x := range []struct {
		lacks   []string
		command []string
		says    string
	}{
		{[]string{parts.Given}, []string{"report", folder}, "older summaries (ranks 1) do not say what ranks are given to do: export them again"},
		{[]string{parts.Chains, parts.Parts}, []string{"whatif", folder, "--scale", "transfer=0.5"}, "nothing says what the collectives of rank 1 followed from"},
		{[]string{"summary_runs"}, []string{"report", folder}, "no file summary_runs.parquet: export it again"},
	} {
		for _, table := range x.lacks {
			if err := os.Remove(filepath.Join(folder, "run=job", "rank=1", table+".parquet")); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := say(x.command...); !strings.Contains(got, x.says) {
			t.Errorf("without %v: %s\nwant %q", x.lacks, got, x.says)
		}
	}
}

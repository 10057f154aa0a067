//go:build !quick

package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"overlay/internal/history"
	"overlay/internal/inputs"
	"overlay/internal/parquetfile"
	"overlay/internal/ranks/parts"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobjudge"
)

// writeHistory writes summaries of a job of 4 ranks, recorded once a night: from one night on the device of host 1 takes 6 % longer, and with it
// each step.
func writeHistory(dir string, nights, slowFrom int) error {
	rng := rand.New(rand.NewPCG(45, 1))
	for night := range nights {
		list, err := jobjudge.Summaries(testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Cause: "gpu", World: 4, PerHost: 2, Steps: 4, Seed: 3, Noise: 1}))
		if err != nil {
			return err
		}
		common := math.Exp(0.004 * rng.NormFloat64())
		for _, s := range list {
			by := time.Date(2026, 9, 1+night, 2, 0, 0, 0, time.UTC).UnixNano() - s.Window[0]
			s.Host = fmt.Sprint("node-", s.Rank/2)
			s.Window[0], s.Window[1] = s.Window[0]+by, s.Window[1]+by
			for i := range s.Ops {
				o := &s.Ops[i]
				o.Start, o.End, o.Launch = o.Start+by, o.End+by, o.Launch+by
			}
			for i := range s.Steps {
				x := &s.Steps[i]
				length, device := common*float64(x.End-x.Start), common*math.Exp(0.005*rng.NormFloat64())*float64(x.BusyGPU)
				if night >= slowFrom {
					if length *= 1.04; s.Rank >= 2 {
						device *= 1.06
					}
				}
				x.Start += by
				x.End, x.BusyGPU = x.Start+int64(length), int64(device)
			}
			set := filepath.Join(dir, inputs.Partition(fmt.Sprintf("nightly-%d", night+1), int64(s.Rank)))
			if err := os.MkdirAll(set, 0o777); err != nil {
				return err
			}
			cells := parts.Cells(s)
			if _, err := writeTable(filepath.Join(set, parts.File.Name+".parquet"), &cells, parquetfile.Options{Schema: parts.Schema}); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestHistoryIsKept: what a run boils down to is read where it is kept, and made again when a summary is replaced or a rank comes.
func TestHistoryIsKept(t *testing.T) {
	dir := t.TempDir()
	if err := writeHistory(dir, 2, 9); err != nil {
		t.Fatal(err)
	}
	read := func() *history.Run {
		runs, bytes, err := readHistory(dir, nil)
		if err != nil || len(runs) != 2 || bytes == 0 {
			t.Fatal(err, len(runs), bytes)
		}
		return runs[0]
	}
	first := read()
	kept := filepath.Join(dir, "run=nightly-1", "history.parquet")
	made := history.Run{Name: "nightly-1", Start: 77, Ranks: 4}
	form, err := readTable(kept, history.Form, history.Schema)
	if err != nil {
		t.Fatal(err)
	}
	_, files, err := history.FromTable("nightly-1", form)
	if err != nil || len(files) != 4 {
		t.Fatal(err, files)
	}
	table := history.Table(&made, files)
	keep(kept, &table)
	if read().Start != 77 {
		t.Error("what was kept was not read")
	}
	summary := filepath.Join(dir, "run=nightly-1", "rank=3", "summary.parquet")
	if err := os.Chtimes(summary, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if again := read(); again.Start != first.Start || len(again.Points) != len(first.Points) {
		t.Error("a replaced summary was not noticed")
	}
	if err := os.RemoveAll(filepath.Dir(summary)); err != nil {
		t.Fatal(err)
	}
	if read().Ranks != 3 {
		t.Error("a missing rank was not noticed")
	}
	if err := os.WriteFile(kept, []byte("PAR1 broken"), 0o666); err != nil {
		t.Fatal(err)
	}
	if read().Ranks != 3 {
		t.Error("a broken table was not made again")
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*", ".overlay*"))
	if len(left) > 0 {
		t.Error(left)
	}
}

// BenchmarkHistory reads and searches 1,000 runs of 64 ranks that were boiled down before.
func BenchmarkHistory(b *testing.B) {
	dir := b.TempDir()
	rng := rand.New(rand.NewPCG(1, 1))
	for run := range 1000 {
		r := history.Run{Name: fmt.Sprint("run", run), Start: 1_700_000_000e9 + int64(run)*3600e9, Ranks: 64, Hosts: 8, Steps: 640}
		add := func(s history.Scope, name, what string) {
			r.Points = append(r.Points, history.Point{Series: history.Series{Scope: s, Name: name, What: what}, NS: int64(1e8 * (1 + 0.01*rng.NormFloat64()))})
		}
		for _, what := range []string{history.Step, history.Device, history.Threads} {
			add(history.Job, "", what)
			for h := range 8 {
				add(history.Host, fmt.Sprint("node-", h), what)
			}
			for k := range 64 {
				add(history.Rank, fmt.Sprint(k), what)
			}
		}
		for k := range 60 {
			add(history.Work, fmt.Sprint("void some_kernel_of_a_library<float, ", k, ">"), history.Busy)
		}
		for k := range 30 {
			add(history.Link, fmt.Sprint("all_reduce of ", k, " MB, ranks 0-63"), history.Transfer)
		}
		var files []history.File
		for k := range 64 {
			set := filepath.Join(dir, inputs.Partition(r.Name, int64(k)))
			if err := os.MkdirAll(set, 0o777); err != nil {
				b.Fatal(err)
			}
			name := filepath.Join(set, parts.File.Name+".parquet")
			if err := os.WriteFile(name, nil, 0o666); err != nil {
				b.Fatal(err)
			}
			info, err := os.Stat(name)
			if err != nil {
				b.Fatal(err)
			}
			files = append(files, history.File{Rank: int64(k), Modified: info.ModTime().UnixNano()})
		}
		t := history.Table(&r, files)
		keep(filepath.Join(dir, "run="+r.Name, "history.parquet"), &t)
	}
	for b.Loop() {
		var out, errs bytes.Buffer
		if status := run([]string{"overlay", "history", dir}, nil, &out, &errs); status != 0 || !strings.HasPrefix(out.String(), "1,000 runs") {
			b.Fatal(status, out.String(), errs.String())
		}
	}
}

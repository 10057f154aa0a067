package validation

import (
	"bytes"
	"flag"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"overlay/internal/testtrace/corpus"
)

var update = flag.Bool("update", false, "rewrite the tables in docs/accuracy.md")

// real are the rows of the traces of the project, made once for all tests.
func real(t *testing.T) (*Manifest, []Row) {
	t.Helper()
	corpus.Heavy(t)
	made.Do(func() {
		dir := filepath.Join(corpus.Root(t), "testdata", "real")
		if made.m, made.err = Read(dir); made.err == nil {
			made.rows, made.err = Judge(dir, made.m)
		}
	})
	if made.err != nil {
		t.Fatal(made.err)
	}
	if len(made.m.Pairs) < 5 || len(made.rows) < 2*len(made.m.Pairs) {
		t.Fatalf("%d pairs, %d rows", len(made.m.Pairs), len(made.rows))
	}
	return made.m, made.rows
}

var made struct {
	sync.Once
	m    *Manifest
	rows []Row
	err  error
}

// explained are pairs with a prediction that may be off by more than 15 %, for a reason that docs/accuracy.md states.
var explained = map[string]float64{"bf16": 0.35}

// TestReal holds predictions, stragglers and clocks against what is true of the recorded loops.
func TestReal(t *testing.T) {
	m, rows := real(t)
	var off []float64
	right, late := 0, 0
	for i := range rows {
		r := &rows[i]
		if r.Told != 0 {
			off = append(off, math.Abs(r.Promised()))
			if limit := max(0.15, explained[r.Pair.Name]); off[len(off)-1] > limit {
				t.Errorf("%s, %v: the prediction is off by %.3f of what was measured, which nothing explains", r.Pair.Name, r.Form, r.Promised())
			}
		}
		if r.Pair.Rule == "data-no-workers" && r.Advice == "" {
			t.Errorf("%s, %v: no advice on the loader", r.Pair.Name, r.Form)
		}
		if r.Job == nil {
			continue
		}
		if r.Job.Collectives == 0 || 20*r.Job.Unmatched > r.Job.Collectives {
			t.Errorf("%s, %v: %d of %d collectives have no partner", r.Pair.Name, r.Form, r.Job.Unmatched, r.Job.Collectives)
		}
		if r.Job.Largest > r.Job.Error || r.Job.Violations > 0 {
			t.Errorf("%s, %v: clocks of one machine are corrected by %d ns, with an error of %d ns; %d collectives end before they begin", r.Pair.Name, r.Form, r.Job.Largest, r.Job.Error, r.Job.Violations)
		}
		if want := r.Pair.Truth.Straggler; want != nil {
			late++
			if r.Job.Worst() == *want {
				right++
			}
		} else if len(r.Job.Named) > 0 {
			t.Errorf("%s, %v: nobody is slow, and %v are blamed", r.Pair.Name, r.Form, r.Job.Named)
		}
	}
	slices.Sort(off)
	if len(off) < 8 || off[len(off)/2] > 0.07 {
		t.Errorf("predictions are off by %.3f", off)
	}
	if late < 8 || right < late {
		t.Errorf("of %d ranks that are late %d are named", late, right)
	}
	if m.Torch.Torch == "" {
		t.Error("no version of torch")
	}
}

// TestFiles: the manifest lists what is there, and it is not too much.
func TestFiles(t *testing.T) {
	dir := filepath.Join(corpus.Root(t), "testdata", "real")
	m, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int64{}
	sum := int64(0)
	for _, p := range m.Pairs {
		for _, f := range append(slices.Clone(p.Before.Traces), p.After.Traces...) {
			listed[f.Name] = f.Bytes
			if sum += f.Bytes; f.Bytes > 3<<20 {
				t.Errorf("%s has %d bytes", f.Name, f.Bytes)
			}
		}
		if len(p.Before.StepSeconds) < 20 || len(p.After.StepSeconds) < 20 {
			t.Errorf("%s: too few steps were timed", p.Name)
		}
	}
	if sum > 20<<20 {
		t.Errorf("%d bytes in all", sum)
	}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Dir(name) == dir {
			return err
		}
		at, _ := filepath.Rel(dir, name)
		at = filepath.ToSlash(at)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if want, ok := listed[at]; !ok || info.Size() != want {
			t.Errorf("%s has %d bytes, the manifest says %d", at, info.Size(), want)
		}
		delete(listed, at)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range listed {
		t.Errorf("%s is missing", name)
	}
}

const (
	tablesBegin = "<!-- The tables: go test ./internal/testtrace/validation -run Documented -update -->\n"
	tablesEnd   = "<!-- end of the tables -->\n"
)

// TestDocumented: the tables of docs/accuracy.md are those that the traces give.
func TestDocumented(t *testing.T) {
	_, rows := real(t)
	name := filepath.Join(corpus.Root(t), "docs", "accuracy.md")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), tablesBegin)
	_, after, ok2 := strings.Cut(rest, tablesEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the tables", name)
	}
	var tables bytes.Buffer
	WriteTables(&tables, rows)
	want := before + tablesBegin + tables.String() + tablesEnd + after
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(b) != want {
		t.Errorf("%s: the tables are not those of the traces: run with -update, read the difference, and mend the text around them", name)
	}
}

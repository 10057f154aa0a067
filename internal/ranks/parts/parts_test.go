package parts_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"overlay/internal/columns"
	"overlay/internal/parquetfile"
	"overlay/internal/ranks"
	"overlay/internal/ranks/parts"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobjudge"
	"overlay/internal/trace"
)

// TestRoundTrip writes the summaries of jobs as Parquet and reads them back: they are the same.
func TestRoundTrip(t *testing.T) {
	for i, o := range []testtrace.JobOptions{{Kind: "3d", Cause: "gpu"}, {Kind: "pp_dp", Trouble: []string{"windows", "lost"}}, {Kind: "dp", Trouble: []string{"old"}}} {
		o.World, o.PerHost, o.Steps, o.Seed, o.Noise = 8, 4, 3, uint64(i), 1
		list, err := jobjudge.Summaries(testtrace.NewJob(o))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if len(s.Steps) > 1 {
				s.Steps[0].Type, s.Steps[1].Type = trace.Prefill, trace.Decode
			}
			var buf bytes.Buffer
			cells := parts.Cells(s)
			if err := parquetfile.Write(&buf, &cells, parquetfile.Options{Schema: parts.Schema, Compat: i == 1}); err != nil {
				t.Fatal(err)
			}
			back, err := parquetfile.Read(bytes.NewReader(buf.Bytes()), int64(buf.Len()), parts.File, parts.Schema)
			if err != nil {
				t.Fatal(err)
			}
			got, err := parts.Summary(back)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(s, got, cmpopts.EquateEmpty(), cmp.AllowUnexported(ranks.Chains{})); d != "" {
				t.Fatalf("rank %d (-written +read):\n%s", s.Rank, d)
			}
		}
	}
}

// TestSize holds a summary to its aim: 3 kB a rank and step.
func TestSize(t *testing.T) {
	list, err := jobjudge.Summaries(testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Cause: "gpu", World: 8, PerHost: 4, Steps: 10, Seed: 3, Noise: 1}))
	if err != nil {
		t.Fatal(err)
	}
	size, steps := 0, 0
	for _, s := range list {
		var buf bytes.Buffer
		cells := parts.Cells(s)
		if err := parquetfile.Write(&buf, &cells, parquetfile.Options{Schema: parts.Schema}); err != nil {
			t.Fatal(err)
		}
		size, steps = size+buf.Len(), steps+len(s.Steps)
	}
	t.Logf("%d bytes a rank and step", size/steps)
	if size > 3000*steps {
		t.Errorf("%d bytes for %d steps of ranks: more than 3 kB each", size, steps)
	}
}

// TestOlder: a summary of an older form, whose numbers mean something else, is refused with what to do.
func TestOlder(t *testing.T) {
	list, err := jobjudge.Summaries(testtrace.NewJob(testtrace.JobOptions{Kind: "dp", World: 2, Steps: 1}))
	if err != nil {
		t.Fatal(err)
	}
	cells := parts.Cells(list[0])
	cells.Cols = slices.Clone(cells.Cols)
	cells.Cols[2].Name = "value"
	var buf bytes.Buffer
	if err := parquetfile.Write(&buf, &cells, parquetfile.Options{Schema: "overlay-summary/3"}); err != nil {
		t.Fatal(err)
	}
	const want = "no column more: the file is of schema overlay-summary/3, this is overlay-summary/4; export the trace again"
	if _, err := parquetfile.Read(bytes.NewReader(buf.Bytes()), int64(buf.Len()), parts.File, parts.Schema); err == nil || err.Error() != want {
		t.Errorf("%v, wanted %s", err, want)
	}
}

// TestTorn leaves out, repeats and shortens columns of the table: errors that name them.
func TestTorn(t *testing.T) {
	list, err := jobjudge.Summaries(testtrace.NewJob(testtrace.JobOptions{Kind: "dp", World: 8, PerHost: 4, Steps: 3, Seed: 1, Noise: 1}))
	if err != nil {
		t.Fatal(err)
	}
	of := func(change func(rows []int) []int) error {
		cells := parts.Cells(list[0])
		rows := make([]int, cells.Rows)
		for i := range rows {
			rows[i] = i
		}
		rows = change(rows)
		torn := cells
		torn.Rows, torn.Data = len(rows), nil
		for _, d := range cells.Data {
			if d.Sym != nil {
				torn.Data = append(torn.Data, columns.Data{Syms: d.Syms, Sym: func(row int) (uint32, bool) { return d.Sym(rows[row]) }})
			} else {
				torn.Data = append(torn.Data, columns.Data{Int: func(row int) (int64, bool) { return d.Int(rows[row]) }})
			}
		}
		_, err := parts.Summary(torn)
		return err
	}
	if err := of(func(rows []int) []int {
		return slices.DeleteFunc(rows, func(r int) bool { f, _ := parts.Cells(list[0]).Data[1].Text(r); return f == "type" })
	}); err != nil {
		t.Errorf("a summary of before steps had types: %v", err)
	}
	for want, change := range map[string]func([]int) []int{
		"part spent: column": func(rows []int) []int {
			return slices.DeleteFunc(rows, func(r int) bool { f, _ := parts.Cells(list[0]).Data[1].Text(r); return f == "calls" })
		},
		"stands there twice":         func(rows []int) []int { return append(rows, rows[0]) },
		"summary_rank: expected one": func(rows []int) []int { return nil },
	} {
		if err := of(change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := of(func(rows []int) []int { return rows }); err != nil {
		t.Error(err)
	}
}

// TestBroken changes a value in each column: what does not hold together is an error that names the table, and never a panic.
func TestBroken(t *testing.T) {
	list, err := jobjudge.Summaries(testtrace.NewJob(testtrace.JobOptions{Kind: "dp", World: 8, PerHost: 4, Steps: 3, Seed: 1, Noise: 1}))
	if err != nil {
		t.Fatal(err)
	}
	failed, cells, fields := 0, parts.Cells(list[0]), 0
	at := func(row int) (part, field string) {
		part, _ = cells.Data[0].Text(row)
		field, _ = cells.Data[1].Text(row)
		return part, field
	}
	for first := range cells.Rows {
		part, field := at(first)
		if first > 0 {
			if p, f := at(first - 1); p == part && f == field {
				continue
			}
		}
		fields++
		for _, v := range []int64{-2, 1 << 40, -1 << 62} {
			broken := cells
			broken.Data = slices.Clone(cells.Data)
			broken.Data[2] = columns.Data{Int: func(row int) (int64, bool) {
				if row == first {
					return v, true
				}
				return cells.Data[2].Int(row)
			}}
			broken.Data[3] = columns.Data{Str: func(row int) (string, bool) {
				if row == first {
					return "5-3,x", true
				}
				return cells.Data[3].Text(row)
			}}
			s, err := parts.Summary(broken)
			if err != nil {
				failed++
				if !strings.HasPrefix(err.Error(), "summary_") && !strings.HasPrefix(err.Error(), "ranks: ") {
					t.Errorf("part %s, column %s: %v", part, field, err)
				}
				continue
			}
			all := slices.Clone(list)
			all[0] = s
			if j, err := ranks.Join(all, ranks.Options{Step: -1}); err == nil {
				replay.Judge(j, ranks.Expected{})
			}
		}
	}
	t.Logf("%d of %d changes are errors", failed, 3*fields)
	if failed < 60 {
		t.Errorf("only %d of the changes are errors", failed)
	}
}

// TestChainSize: what collectives followed from makes a summary at most twice as large.
func TestChainSize(t *testing.T) {
	for _, kind := range testtrace.JobKinds {
		list, err := jobjudge.Summaries(testtrace.NewJob(testtrace.JobOptions{Kind: kind, Seed: 5, World: 8, Steps: 6}))
		if err != nil {
			t.Fatal(err)
		}
		s := *list[1]
		size := func() int {
			var buf bytes.Buffer
			cells := parts.Cells(&s)
			if err := parquetfile.Write(&buf, &cells, parquetfile.Options{Schema: parts.Schema}); err != nil {
				t.Fatal(err)
			}
			return buf.Len()
		}
		with := size()
		s.Chains = ranks.Chains{}
		without := size()
		t.Logf("%s: %d operations, %d bytes, %d without chains", kind, len(s.Ops), with, without)
		if with > 2*without {
			t.Errorf("%s: %d bytes, %d without chains", kind, with, without)
		}
	}
}

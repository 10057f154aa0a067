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
			tables, err := parts.FromCells(back)
			if err != nil {
				t.Fatal(err)
			}
			got, err := parts.Summary(tables)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(s, got, cmpopts.EquateEmpty()); d != "" {
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
		tables, err := parts.FromCells(torn)
		if err == nil {
			_, err = parts.Summary(tables)
		}
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
	failed := 0
	for k, form := range parts.Empty() {
		for c := range form.Cols {
			for _, v := range []int64{-2, 1 << 40, -1 << 62} {
				tables, err := parts.FromCells(parts.Cells(list[0]))
				if err != nil {
					t.Fatal(err)
				}
				data := slices.Clone(tables[k].Data)
				old := data[c]
				if form.Cols[c].Type == columns.Text {
					data[c] = columns.Data{Str: func(row int) (string, bool) {
						if row == 0 {
							return "5-3,x", true
						}
						return old.Text(row)
					}}
				} else {
					data[c] = columns.Data{Int: func(row int) (int64, bool) {
						if row == 0 {
							return v, true
						}
						return old.Int(row)
					}}
				}
				tables[k].Data = data
				s, err := parts.Summary(tables)
				if err != nil {
					failed++
					if !strings.HasPrefix(err.Error(), "summary_") && !strings.HasPrefix(err.Error(), "ranks: ") {
						t.Errorf("%s, column %s: %v", form.Name, form.Cols[c].Name, err)
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
	}
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
		with, chains := size(), len(s.Chains)
		s.ChainFirst, s.Chains, s.Parts = nil, nil, nil
		without := size()
		t.Logf("%s: %d operations, %d chains, %d bytes, %d without them", kind, len(s.Ops), chains, with, without)
		if with > 2*without {
			t.Errorf("%s: %d bytes, %d without chains", kind, with, without)
		}
	}
}

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
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobjudge"
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
			var tables []columns.Table
			for k, table := range parts.Tables(s) {
				var buf bytes.Buffer
				if err := parquetfile.Write(&buf, &table, parquetfile.Options{Schema: parts.Schema, Compat: i == 1}); err != nil {
					t.Fatal(err)
				}
				back, err := parquetfile.Read(bytes.NewReader(buf.Bytes()), int64(buf.Len()), parts.Empty()[k], parts.Schema)
				if err != nil {
					t.Fatal(err)
				}
				tables = append(tables, back)
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
				tables := parts.Tables(list[0])
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
					ranks.Judge(j, ranks.Expected{})
				}
			}
		}
	}
	if failed < 60 {
		t.Errorf("only %d of the changes are errors", failed)
	}
}

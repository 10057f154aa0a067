package ranks_test

import (
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobjudge"
)

// TestGiven: what operators are given follows from the shapes of their inputs alone, on ranks that lost records too; without shapes from the grids of kernels.
// A summary keeps it of few operators.
func TestGiven(t *testing.T) {
	const rows, width = 8192, 512
	for _, c := range []struct {
		o    testtrace.JobOptions
		name string
		unit ranks.Unit
		each int64 // of one call
	}{
		{testtrace.JobOptions{Kind: "dp"}, "aten::linear", ranks.Elements, rows*width + width*width + width},
		{testtrace.JobOptions{Kind: "dp", Trouble: []string{"lost"}, Cause: "gpu"}, "aten::linear", ranks.Elements, rows*width + width*width + width},
		{testtrace.JobOptions{Kind: "fsdp"}, "aten::_fused_adamw_", ranks.Threads, 8 * 544},
		{testtrace.JobOptions{Kind: "fsdp", NoShapes: true}, "aten::linear", ranks.Threads, rows / 16 * 544},
		{testtrace.JobOptions{Kind: "dp", CPU: true}, "aten::addmm", ranks.Flops, 2 * rows * width * width},
		{testtrace.JobOptions{Kind: "dp", CPU: true, Cause: "cpu"}, "aten::addcdiv_", ranks.Bytes, 4 * width * width * 4},
	} {
		c.o.World, c.o.Steps, c.o.Seed = 4, 4, 21
		list, err := jobjudge.Summaries(testtrace.NewJob(c.o))
		if err != nil {
			t.Fatal(err)
		}
		first, found := int64(0), 0
		for _, s := range list {
			perStep := map[int32]int{}
			for i, g := range s.Given {
				perStep[g.Step]++
				if g.Busy <= 0 || i > 0 && (g.Step < s.Given[i-1].Step || g.Step == s.Given[i-1].Step && g.Busy > s.Given[i-1].Busy) {
					t.Fatalf("%+v: row %d: %+v", c.o, i, g)
				}
				if s.Names[g.Name] != c.name {
					continue
				}
				found++
				if first == 0 {
					first = g.Amount
				}
				if g.Unit != c.unit || g.Amount != first || c.each > 0 && g.Amount%c.each != 0 {
					t.Errorf("%+v: rank %d: %s %+v, on the first rank %d", c.o, s.Rank, c.name, g, first)
				}
			}
			for step, n := range perStep {
				if n > 12 {
					t.Errorf("%+v: %d rows of step %d", c.o, n, step)
				}
			}
		}
		if found < 12 {
			t.Errorf("%+v: %s stands in %d steps", c.o, c.name, found)
		}
	}
}

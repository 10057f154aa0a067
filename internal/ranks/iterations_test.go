package ranks_test

import (
	"bytes"
	"fmt"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/ranks"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestIterationsOfRanks: iterations that a server does not number are the steps of a job where all ranks have the same ones and launch the same
// collectives in them. Ranks that have more, others, or began one later, have no steps.
func TestIterationsOfRanks(t *testing.T) {
	const extend, decode = "step[EXTEND bs=2 toks=512]", "step[DECODE bs=4]"
	for name, c := range map[string]struct {
		names [2][4]string // of the steps of each rank, "" for none
		want  int
	}{
		"the same":   {[2][4]string{{extend, decode, decode, decode}, {extend, decode, decode, decode}}, 4},
		"one less":   {[2][4]string{{extend, decode, decode, decode}, {extend, decode, decode, ""}}, 0},
		"others":     {[2][4]string{{extend, decode, decode, decode}, {extend, decode, extend, decode}}, 0},
		"one later":  {[2][4]string{{decode, decode, decode, ""}, {"", decode, decode, decode}}, 0},
		"none there": {[2][4]string{{decode, decode, decode, decode}, {"", "", "", ""}}, 0},
	} {
		sim := testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Seed: 3, World: 2, Steps: 4})
		var list []*ranks.Summary
		for r := range int32(2) {
			data := sim.JSON(r)
			for i := range 40 {
				old := fmt.Appendf(nil, "\"ProfilerStep#%d\"", i)
				if !bytes.Contains(data, old) {
					continue
				}
				first := i
				for bytes.Contains(sim.JSON(r), fmt.Appendf(nil, "\"ProfilerStep#%d\"", first-1)) {
					first--
				}
				named := c.names[r][i-first]
				if named == "" {
					named = "left out"
				}
				data = bytes.ReplaceAll(data, old, fmt.Appendf(nil, "%q", named))
			}
			tr, err := kineto.Parse(data, sim.Ranks[r].File, kineto.Options{})
			if err != nil {
				t.Fatal(err)
			}
			g, err := graph.Build(tr, cdg.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p, err := critpath.Exact(g)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, ranks.Summarize(g, p, ranks.Identity{Source: sim.Ranks[r].File, Rank: ranks.Rank(r)}))
		}
		job, err := ranks.Join(list, ranks.Options{Step: -1})
		if err != nil {
			t.Fatal(err)
		}
		verdict := ranks.Judge(job, ranks.Expected{})
		if len(verdict.Steps) != c.want || c.want > 0 && (verdict.Steps[0].Type != trace.Prefill || verdict.Steps[3].Type != trace.Decode || verdict.Steps[3].Number != 3 || verdict.Judged < 2) {
			t.Errorf("%s: %d steps, want %d: %+v", name, len(verdict.Steps), c.want, verdict.Steps)
		}
		in := 0
		for i := range job.Instances {
			if job.Instances[i].Step >= 0 {
				in++
			}
		}
		if in > 0 != (c.want > 0) {
			t.Errorf("%s: %d collectives in steps", name, in)
		}
		if len(list[0].Steps) == 0 || list[0].Steps[0].Number >= 0 {
			t.Errorf("%s: the summary was changed: %+v", name, list[0].Steps)
		}
	}
}

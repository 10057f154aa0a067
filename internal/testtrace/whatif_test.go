package testtrace

import (
	"bytes"
	"overlay/internal/testtrace/corpus"
	"strings"
	"testing"
)

// TestWhatIfTruth: predictions of replays against programs that are run again with changed durations. The limits are
// a little wider than what large samples give (docs/what-if.md).
func TestWhatIfTruth(t *testing.T) {
	n, mean, within := 125, 0.004, 0.985
	if testing.Short() {
		n, mean, within = 25, 0.012, 0.96
	}
	all := AskPrograms(n, 30001, Classes)
	var list []*Question
	for i := range all {
		if all[i].Err != nil {
			t.Errorf("%s %d: %v", all[i].Class, all[i].Seed, all[i].Err)
		}
		for k := range all[i].Questions {
			list = append(list, &all[i].Questions[k])
		}
	}
	e := SumErrors(list)
	t.Logf("%d questions: mean %.4f, p95 %.4f, worst %.3f, within 5 %%: %.4f; the share of the path: mean %.4f, within 5 %%: %.4f",
		e.Questions, e.Mean, e.P95, e.Worst, e.Within, e.ShareMean, e.ShareWithin)
	if e.Questions < 12*n || e.Mean > mean || e.Within < within {
		t.Errorf("%+v", e)
	}
	if e.ShareMean < 3*e.Mean || e.NoChange < 0.1 {
		t.Errorf("the questions are too easy: %+v", e)
	}
	var b bytes.Buffer
	WriteWhatIf(&b, all, 2)
	if text := b.String(); !strings.Contains(text, "with records of sync") || !strings.Contains(text, "class loader") || strings.Count(text, ": recorded ") != 2 {
		t.Errorf("the table lacks something:\n%s", text)
	}
}

// The same of programs as they run in production. Where a server hands results over by a thread of its own, whatever is asked is answered.
func TestWhatIfProduction(t *testing.T) {
	n := corpus.Rounds(55, 110)
	var list, decode []*Question
	for _, a := range AskPrograms(n, 9001, Production) {
		if a.Err != nil {
			t.Errorf("%s %d: %v", a.Class, a.Seed, a.Err)
		}
		for k := range a.Questions {
			list = append(list, &a.Questions[k])
			if a.Class == "decode" {
				decode = append(decode, &a.Questions[k])
			}
		}
	}
	if e, d := SumErrors(list), SumErrors(decode); e.Questions < 12*n || e.Mean > 0.003 || e.Within < 0.99 || d.Worst > 0.05 {
		t.Errorf("%+v; of servers %+v", e, d)
	}
}

// TestScaledProgram: a program with nothing scaled runs as before, and one with everything scaled to nothing is faster.
func TestScaledProgram(t *testing.T) {
	for _, class := range Classes {
		var j Judge
		p := Random(class, 3)
		if _, err := j.AskAll(p, 3); err != nil {
			t.Fatal(err)
		}
		keys := map[int32]bool{}
		for key, at := range j.pos {
			if at >= 0 {
				keys[int32(key)] = true
			}
		}
		j.scratch.Simulate(j.scaled(keys, 1, 1))
		if j.scratch.End != j.run.End {
			t.Errorf("%s: the same program takes %d, not %d", class, j.scratch.End, j.run.End)
		}
		j.scratch.Simulate(j.scaled(keys, 1, 100))
		if j.scratch.End >= j.run.End {
			t.Errorf("%s: a program of nothing takes %d of %d", class, j.scratch.End, j.run.End)
		}
	}
}

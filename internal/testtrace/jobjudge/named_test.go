package jobjudge

import (
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// TestWhoIsSlow: jobs in which something else than what was planted looks much like it.
func TestWhoIsSlow(t *testing.T) {
	for what, c := range map[string]struct {
		job  *testtrace.Job
		want Finding
		kind ranks.StragglerKind
		unit string
	}{
		"one of two ranks of a stage": {testtrace.NewJob(testtrace.JobOptions{Kind: "pp_dp", Cause: "gpu", Seed: 21, World: 8, Noise: 5}), Named, ranks.Persistent, "rank"},
		"a stage of two ranks":        {testtrace.NewJob(testtrace.JobOptions{Kind: "pp_dp", Cause: "stage", Seed: 22, World: 8}), Named, ranks.Persistent, "stage"},
		"inputs, mostly of one rank":  {testtrace.RandomJob(7730019), Named, ranks.Alternating, "rank"},
		"lost records, and a jump":    {testtrace.RandomJob(7710165), Quiet, "", ""},
		"a stage, in two whole steps": {testtrace.RandomJob(880032), Small, "", ""},
		"windows that end apart":      {testtrace.RandomJob(7710200), Named, "", ""},
	} {
		s := Judge(c.job)
		if s.Err != nil {
			t.Fatal(what, s.Err)
		}
		if s.Found != c.want || (len(s.Stragglers) > 0) != (c.kind != "") {
			t.Errorf("%s: %v %v, %+v", what, s.Found, s.short(), s.Stragglers)
			continue
		}
		for i := range s.Stragglers {
			if x := &s.Stragglers[i]; x.Kind != c.kind || x.Unit != c.unit {
				t.Errorf("%s: %s %s", what, x.Kind, x.Unit)
			}
		}
	}
}

// TestSeveral: of several causes at one time, equal or not, from a step on or until one, each that costs much is named with what it is and from when on, and nobody else is. In jobs
// in which nobody is to blame nobody is named, be their windows cut and their steps said to be whole.
func TestSeveral(t *testing.T) {
	n, seeds := corpus.Rounds(2, 30), []uint64{800_010, 900_000}
	right, wrong := 0, 0
	for _, from := range seeds {
		for _, s := range JudgeAll(n, from, "set") {
			switch {
			case s.Err != nil:
				t.Errorf("seed %d: %v", s.Options.Seed, s.Err)
			case s.Found == Named:
				right++
			case s.Found != Small:
				wrong++
				t.Logf("seed %d: %v: %s", s.Options.Seed, s.Found, s.Wrong)
			}
		}
		for _, s := range JudgeAll(n, from, "balanced") {
			if s.Found != Quiet {
				t.Errorf("seed %d: %v", s.Options.Seed, s.short())
			}
		}
	}
	if right < n || 20*wrong > right+wrong {
		t.Errorf("%d are right, and %d wrong", right, wrong)
	}
}

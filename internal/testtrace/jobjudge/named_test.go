package jobjudge

import (
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/testtrace"
)

// TestWhoIsSlow: jobs in which something else than what was planted looks much like it.
func TestWhoIsSlow(t *testing.T) {
	for what, c := range map[string]struct {
		job  *testtrace.Job
		want Finding
		kind ranks.StragglerKind
		unit string
	}{
		"one of two ranks of a stage":    {testtrace.NewJob(testtrace.JobOptions{Kind: "pp_dp", Cause: "gpu", Seed: 21, World: 8, Noise: 5}), Named, ranks.Persistent, "rank"},
		"a stage of two ranks":           {testtrace.NewJob(testtrace.JobOptions{Kind: "pp_dp", Cause: "stage", Seed: 22, World: 8}), Named, ranks.Persistent, "stage"},
		"inputs, mostly of one rank":     {testtrace.RandomJob(7730019), Named, ranks.Alternating, "rank"},
		"lost records, and a jump":       {testtrace.RandomJob(7710165), Quiet, "", ""},
		"a stage, in two steps of three": {testtrace.RandomJob(880032), Missed, ranks.OneOff, "rank"},
		"windows that end apart":         {testtrace.RandomJob(7710200), Named, "", ""},
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

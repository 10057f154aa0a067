package jobjudge

import (
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// TestBest: what the ends of a job without noise hold is where its clocks are, and with noise what is found comes close to what they hold.
func TestBest(t *testing.T) {
	for _, o := range []testtrace.JobOptions{{Kind: "dp", Noise: 5}, {Kind: "pp_dp", Noise: 5, Trouble: []string{"drift"}}, {Kind: "tp_dp", Noise: 2, Trouble: []string{"bad_clock"}}} {
		o.Seed, o.World, o.PerHost, o.Steps = 21, 8, 4, 5
		s := Judge(testtrace.NewJob(o))
		if s.Err != nil || s.Best < 200 || s.Clock > 2*s.Best+1000 {
			t.Errorf("%s: off by %d, and the best estimate by %d: %v", o.Kind, s.Clock, s.Best, s.Err)
		}
		o.Noise = 1e-9
		sim := testtrace.NewJob(o)
		list, err := Summaries(sim)
		if err != nil {
			t.Fatal(err)
		}
		j, err := ranks.Join(list, ranks.Options{Step: -1})
		if err != nil {
			t.Fatal(err)
		}
		if best := (&truth{sim: sim, job: j, score: &Score{}}).best(); best > 10 {
			t.Errorf("%s without noise: the best estimate is off by %d", o.Kind, best)
		}
	}
}

// TestHardClocks holds jobs of which clocks were taken for what they are not: where steps were matched wrongly, because nobody names groups; where clocks
// drift.
func TestHardClocks(t *testing.T) {
	type hard struct {
		seed  uint64
		limit int64 // of the error; 0 where nobody can tell
	}
	list := []hard{{4550014, 5000}, {6100187, 5000}, {7300109, 25_000}}
	if corpus.Long() {
		list = append(list, []hard{{220637, 5000}, {220731, 0}, {4550023, 0}, {6100041, 4500}}...)
	}
	for _, c := range list {
		s := Judge(testtrace.RandomJob(c.seed))
		if s.Err != nil || !s.Promised || c.limit > 0 && s.Clock > c.limit {
			t.Errorf("seed %d: promised %v: %v %v", c.seed, s.Promised, s.Err, s.short())
		}
	}
}

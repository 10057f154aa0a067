package replay_test

import (
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
)

// waited is how long the strips of a run say that ranks wait. Pieces come one after the other, and the last ends with the run.
func waited(t *testing.T, r replay.Run) (sum int64) {
	t.Helper()
	last := int64(0)
	for m, s := range r.Strips {
		at := int64(0)
		for _, x := range s {
			if x.Start < at || x.End <= x.Start {
				t.Fatalf("rank %d: a piece from %d to %d after one to %d", m, x.Start, x.End, at)
			}
			if at = x.End; x.Part == ranks.InWait {
				if sum += x.End - x.Start; x.Whom == int32(m) {
					t.Errorf("rank %d waits for itself", m)
				}
			}
		}
		last = max(last, at)
	}
	return sum
}

// TestReplayed: a replay of nothing shows the waits that were recorded; without the slow rank nearly nobody waits, and all strips end by so much earlier.
func TestReplayed(t *testing.T) {
	sim, m := made(t, testtrace.JobOptions{Kind: "dp", Cause: "gpu", Seed: 3, World: 8, Steps: 4})
	was := m.Replayed(replay.Scenario{Name: "nothing", Ask: replay.Changes(nil)})
	if w := waited(t, was); was.Saved != 0 || w*20 < 19*m.Job.Waits.Total || w > m.Job.Waits.Total {
		t.Errorf("%d saved, %d of %d waited", was.Saved, w, m.Job.Waits.Total)
	}
	all, err := m.Median()
	if err != nil {
		t.Fatal(err)
	}
	then := m.Replayed(all[0])
	if w := waited(t, then); then.Saved <= 0 || 4*w > waited(t, was) {
		t.Errorf("%d saved, %d waited where it was %d", then.Saved, w, waited(t, was))
	}
	last := int64(0)
	for _, s := range then.Strips {
		last = max(last, s[len(s)-1].End)
	}
	if d := m.Job.Window[0] + then.Window - last; d < 0 || d > (sim.End-sim.Start)/100 {
		t.Errorf("strips end %d before the job", d)
	}
}

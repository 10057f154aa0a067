package ranks_test

import (
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobjudge"
)

// slowJob is a job in which one GPU is slow, or one step of it.
func slowJob(t *testing.T, o testtrace.JobOptions, step int32) *ranks.Job {
	t.Helper()
	list, err := jobjudge.Summaries(testtrace.NewJob(o))
	if err != nil {
		t.Fatal(err)
	}
	j, err := ranks.Join(list, ranks.Options{Step: step})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestSooner: with nothing less nothing is gained, with all of it no more than the window, and with more less not less. Who nobody waits for costs nothing, but for
// his own end.
func TestSooner(t *testing.T) {
	for _, kind := range testtrace.JobKinds {
		j := slowJob(t, testtrace.JobOptions{Kind: kind, Cause: "gpu", Seed: 7, World: 8, Steps: 4}, -1)
		part := func(share int64) ranks.Less {
			return func(_ int32, _ *ranks.Run, from, to int64) int64 { return (to - from) * share / 4 }
		}
		last := int64(-1)
		for share := range int64(5) {
			got := j.Sooner(part(share), nil)
			if share == 0 && got != 0 || got < last || got > j.Window[1]-j.Window[0] {
				t.Errorf("%s: %d ns earlier with %d quarters less, %d with a quarter more", kind, got, share, last)
			}
			last = got
		}
		if last < (j.Window[1]-j.Window[0])/4 {
			t.Errorf("%s: without work, in collectives alone, the job of %d ns ends %d ns earlier", kind, j.Window[1]-j.Window[0], last)
		}
		var all []int32
		for m := range j.Members {
			all = append(all, int32(m))
		}
		if got := j.Sooner(part(0), all); got != 0 {
			t.Errorf("%s: %d ns earlier where all are as late as they are", kind, got)
		}
		v := ranks.Judge(j, ranks.Expected{})
		for i := range v.Stragglers {
			s := &v.Stragglers[i]
			if gain, without := j.Gain(s), j.Sooner(part(0), s.Members); s.Kind == ranks.Persistent && (gain <= 0 || without <= 0) {
				t.Errorf("%s: %d ns without the slow rank's excess, %d when nobody waits for it", kind, gain, without)
			}
		}
	}
}

// TestGainOfStep: what single steps gain is in sum about what the job does.
func TestGainOfStep(t *testing.T) {
	o := testtrace.JobOptions{Kind: "fsdp", Cause: "gpu", Seed: 9, World: 8, Steps: 5}
	gain := func(step int32) (sum int64) {
		j := slowJob(t, o, step)
		v := ranks.Judge(j, ranks.Expected{})
		for i := range v.Stragglers {
			sum += j.Gain(&v.Stragglers[i])
		}
		return sum
	}
	whole, sum := gain(-1), int64(0)
	for step := range int32(o.Steps) {
		n := gain(10 + step)
		if n <= 0 || n > whole/2 {
			t.Errorf("step %d: %d of %d ns", 10+step, n, whole)
		}
		sum += n
	}
	if sum < whole*3/4 || sum > whole*5/4 {
		t.Errorf("the steps gain %d ns, the job %d", sum, whole)
	}
}

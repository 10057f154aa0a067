package ranks_test

import (
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobjudge"
	"overlay/internal/trace"
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
			if gain, without := s.Gain, j.Sooner(part(0), s.Members); s.Kind == ranks.Persistent && (gain <= 0 || without <= 0) {
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
			sum += v.Stragglers[i].Gain
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

// inTurns is a job of two ranks that come last by turns, 0.5 ms after the other, into a collective a step of 1 ms, rank 1 into the odd ones. It is over so many ns after
// the step begins.
func inTurns(t *testing.T, step int32, over int64, root bool) *ranks.Job {
	t.Helper()
	const steps = 6
	var list []*ranks.Summary
	for r := range 2 {
		s := &ranks.Summary{Source: "r", Rank: ranks.Rank(r), RankBy: "recorded", World: 2, Device: -1, Names: []string{"", "gemm"}, Window: [2]int64{0, steps*1_000_000 + 1_000_000},
			Groups: []ranks.Group{{Name: "0", Ranks: []ranks.Rank{0, 1}, Size: 2, By: "args"}}}
		for _, c := range []ranks.Coll{ranks.AllReduce, ranks.Broadcast} {
			s.Kinds = append(s.Kinds, ranks.Kind{Stream: 20, Coll: c, Dtype: "Float", In: 1 << 20, Out: 1 << 20, Peer: ranks.NoRank, Token: 1 + uint64(c)})
		}
		ready, stub := int64(0), ranks.MakeStub(critpath.AtStart, -1)
		add := func(start int64) {
			s.Stubs, s.First = append(s.Stubs, stub), append(s.First, int32(len(s.Runs)))
			s.Runs = append(s.Runs, ranks.Run{Dur: start - ready, Event: trace.NoEvent, Name: 1, Kind: critpath.Compute})
			stub = ranks.MakeStub(critpath.AtOperation, int32(len(s.Ops)))
		}
		for k := range int64(steps) {
			at := k * 1_000_000
			op := ranks.Op{Start: at + 300_000, End: at + over, Seq: int32(k), Step: int32(k)}
			if k%2 == int64(r) {
				op.Start = at + 800_000
			}
			if root && k == steps-1 {
				if op.Kind = 1; r == 0 {
					op.End = at + 400_000
				}
			}
			op.Launch = op.Start - 9000
			add(op.Start)
			s.Ops, ready = append(s.Ops, op), op.End
			s.Steps = append(s.Steps, ranks.Step{Number: int32(k), Start: at, End: at + 1_000_000, BusyGPU: 1})
		}
		if r == 1 {
			s.Window[1] -= 100_000
		}
		add(s.Window[1])
		s.First = append(s.First, int32(len(s.Runs)))
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	j, err := ranks.Join(list, ranks.Options{Step: step})
	if err != nil {
		t.Fatal(err)
	}
	if j.Matching.Complete != steps {
		t.Fatalf("%+v", j.Matching)
	}
	return j
}

// TestSoonerExactly: where a step ends inside of a transfer, what the last one saves that came into it is saved, also by the others; where it ends in work, what is saved
// until then; and a root that left before another
// rank came gains nothing of what that one saves.
func TestSoonerExactly(t *testing.T) {
	half := func(member int32, _ *ranks.Run, from, to int64) int64 { return int64(member) * (to - from) / 2 }
	for name, c := range map[string]struct {
		step int32
		over int64
		root bool
		want int64
	}{
		"a step whose last is rank 1":     {3, 1_200_000, false, 300_000},
		"a step whose last is rank 0":     {4, 1_200_000, false, 0},
		"a step that ends while it works": {4, 900_000, false, 50_000},
		"the job":                         {-1, 1_200_000, false, 900_000},
		"a root that leaves early":        {-1, 1_200_000, true, 600_000},
	} {
		if got := inTurns(t, c.step, c.over, c.root).Sooner(half, nil); got < c.want-50 || got > c.want+50 {
			t.Errorf("%s: %d ns sooner, wanted %d", name, got, c.want)
		}
	}
}

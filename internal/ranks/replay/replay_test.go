package replay_test

import (
	"math"
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/jobjudge"
)

// made is a simulated job, and the model of it by what its traces say.
func made(t testing.TB, o testtrace.JobOptions) (*testtrace.Job, *replay.Model) {
	t.Helper()
	sim := testtrace.NewJob(o)
	list, err := jobjudge.Summaries(sim)
	if err != nil {
		t.Fatal(err)
	}
	return sim, modelOf(t, list)
}

func modelOf(t testing.TB, list []*ranks.Summary) *replay.Model {
	t.Helper()
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := replay.New(j)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// question is one that a simulated job can be run again with.
type question struct {
	name   string
	rank   int32 // -1: of all
	device int64 // in percent
	thread int64
	moved  int64
}

func (q *question) factor(rank int32, k testtrace.JobWorkKind) float64 {
	if q.rank >= 0 && rank != q.rank {
		return 1
	}
	return float64([...]int64{q.device, q.thread, q.moved, q.moved}[k]) / 100
}

func (q *question) changes() replay.Question {
	const percent = replay.Whole / 100
	var of func(*ranks.Member) bool
	if q.rank >= 0 {
		of = func(x *ranks.Member) bool { return int32(x.Rank) == q.rank }
	}
	return replay.Changes([]replay.Change{
		{Factor: q.device * percent, Ranks: of, Work: func(_ string, w ranks.Work) bool { return !w.Host() }},
		{Factor: q.thread * percent, Ranks: of, Work: func(_ string, w ranks.Work) bool { return w.Host() }},
		{Factor: q.moved * percent, Ranks: of, Transfers: func(*ranks.JobGroup) bool { return true }},
	})
}

var questions = []question{
	{"kernels of all", -1, 70, 100, 100}, {"threads of all", -1, 100, 50, 100}, {"kernels and threads of all", -1, 70, 70, 100}, {"kernels of one", 1, 70, 100, 100}, {"threads of one", 2, 100, 50, 100},
	{"slower kernels of all", -1, 130, 100, 100}, {"slower kernels of one", 1, 130, 100, 100}, {"slower threads of one", 2, 100, 200, 100}, {"slower threads of all", -1, 100, 150, 100},
	{"faster transfers", -1, 100, 100, 50}, {"slower transfers", -1, 100, 100, 200}, {"no transfers", -1, 100, 100, 0}, {"faster kernels, slower transfers", -1, 70, 100, 150},
}

// offs is how far answers are off, in shares of the job.
type offs struct {
	n, within   int // within 1 %
	sum, worst  float64
	mean, share float64
}

func (x *offs) add(off float64) {
	x.n++
	if x.sum += off; off <= 0.01 {
		x.within++
	}
	x.worst = max(x.worst, off)
	x.mean, x.share = x.sum/float64(x.n), float64(x.within)/float64(x.n)
}

// TestRunAgain holds predictions against what the same job does when it is run again with the change: of all questions, and of those that make work longer or change
// transfers, which find out what operations would wait for though it never held them up.
func TestRunAgain(t *testing.T) {
	var all, longer, transfers offs
	var effect float64
	for _, o := range again[corpus.Rounds(8, 0):] {
		sim, m := made(t, o)
		var list []replay.Question
		for i := range questions {
			list = append(list, questions[i].changes())
		}
		for i, a := range m.Ask(list) {
			q := &questions[i]
			truth := sim.Again(q.factor)
			off := math.Abs(float64(a.Saved-truth)) / float64(m.Recorded())
			effect += math.Abs(float64(truth)) / float64(m.Recorded())
			all.add(off)
			switch {
			case q.moved != 100:
				transfers.add(off)
			case q.device > 100 || q.thread > 100:
				longer.add(off)
			}
			if off > 0.01 {
				t.Logf("%s %s %d %s: %.2f ms saved, truly %.2f, of %.2f: %.2f %%", o.Kind, o.Cause, o.Seed, q.name, float64(a.Saved)/1e6, float64(truth)/1e6, float64(m.Recorded())/1e6, 100*off)
			}
		}
	}
	for name, x := range map[string]*offs{"all": &all, "longer work": &longer, "transfers": &transfers} {
		t.Logf("%s: %d questions, off by %.3f %% of the job in the mean, within 1 %% %.1f %%, worst %.2f %%", name, x.n, 100*x.mean, 100*x.share, 100*x.worst)
		if x.mean > 0.001 || x.worst > 0.02 {
			t.Errorf("%s: that was better before", name)
		}
	}
	if all.mean > 0.0006 || all.share < 0.985 || effect < 0.1*float64(all.n) {
		t.Errorf("%+v, mean effect %.3f", all, effect/float64(all.n))
	}
}

// again are the jobs.
var again = []testtrace.JobOptions{
	{Kind: "dp", Seed: 1, World: 8, Steps: 4}, {Kind: "dp", Cause: "gpu", Seed: 2, World: 8, Steps: 4},
	{Kind: "fsdp", Seed: 3, World: 8, Steps: 4}, {Kind: "fsdp", Cause: "cpu", Seed: 4, World: 8, Steps: 4},
	{Kind: "tp_dp", Cause: "data", Seed: 5, World: 8, Steps: 4}, {Kind: "pp_dp", Cause: "stage", Seed: 6, World: 8, Steps: 4},
	{Kind: "3d", Cause: "host", Seed: 7, World: 16, Steps: 4}, {Kind: "moe", Seed: 8, World: 8, Steps: 4},
	{Kind: "mixed", Cause: "gpu", Seed: 51, World: 8, Steps: 5}, {Kind: "dp", Cause: "rows", Seed: 52, World: 12, PerHost: 4, Steps: 3},
	{Kind: "fsdp", Cause: "link", Seed: 53, World: 16, PerHost: 4, Steps: 3}, {Kind: "pp_dp", Seed: 54, World: 16, PerHost: 8, Steps: 3},
	{Kind: "tp_dp", Seed: 55, World: 16, PerHost: 2, Steps: 3, Noise: 2}, {Kind: "3d", Seed: 56, World: 8, Steps: 5}, {Kind: "moe", Cause: "pauses", Seed: 57, World: 8, Steps: 6},
	{Kind: "dp", Cause: "cpu", Seed: 58, World: 8, Steps: 6, Noise: 2}, {Kind: "mixed", Seed: 59, World: 16, Steps: 4}, {Kind: "fsdp", Cause: "gpu", Seed: 60, World: 8, Steps: 6},
}

package replay_test

import (
	"strings"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobjudge"
	"overlay/internal/trace"
)

// judged is a simulated job, or one step of it, and what is wrong with it.
func judged(t *testing.T, o testtrace.JobOptions, step int32) (*ranks.Job, *ranks.Verdict) {
	t.Helper()
	list, err := jobjudge.Summaries(testtrace.NewJob(o))
	if err != nil {
		t.Fatal(err)
	}
	j, err := ranks.Join(list, ranks.Options{Step: step})
	if err != nil {
		t.Fatal(err)
	}
	return j, replay.Judge(j, ranks.Expected{})
}

// TestGainOfStep: what single steps gain is in sum about what the job does, and a replay of nothing is the recorded step.
func TestGainOfStep(t *testing.T) {
	o := testtrace.JobOptions{Kind: "fsdp", Cause: "gpu", Seed: 9, World: 8, Steps: 5}
	gain := func(step int32) (sum int64) {
		j, v := judged(t, o, step)
		for i := range v.Stragglers {
			sum += v.Stragglers[i].Gain
		}
		m, err := replay.New(j)
		if err != nil {
			t.Fatal(err)
		}
		if a := m.Ask([]replay.Question{nothing})[0]; a.Saved != 0 || a.Window != m.Recorded() {
			t.Errorf("step %d: a replay of nothing takes %d ns, recorded %d", step, a.Window, m.Recorded())
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

// TestSameNumber: what is said to be gained without a rank is about what the same question gets when it is asked of each rank, of whom all excess goes, not that of one side alone; of a job whose summaries do not say what
// collectives followed from it is a bound.
func TestSameNumber(t *testing.T) {
	for _, o := range []testtrace.JobOptions{{Kind: "dp", Cause: "gpu", Seed: 9, World: 8, Steps: 5}, {Kind: "tp_dp", Cause: "cpu", Seed: 9, World: 8, Steps: 5}, {Kind: "fsdp", Cause: "data", Seed: 9, World: 8, Steps: 5}} {
		j, v := judged(t, o, -1)
		if len(v.Stragglers) != 1 || v.Stragglers[0].Unit != "rank" {
			t.Fatalf("%s: %+v", o.Cause, v.Stragglers)
		}
		m, err := replay.New(j)
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := m.Each("rank")
		if err != nil {
			t.Fatal(err)
		}
		if s := &v.Stragglers[0]; list[0].Name != j.Who(s) || list[0].Saved < s.Gain || list[0].Saved-s.Gain > s.Gain/1000 || s.Gain <= 0 || s.Bound {
			t.Errorf("%s: %s gains %d ns, asked of each rank %s %d", o.Cause, j.Who(s), s.Gain, list[0].Name, list[0].Saved)
		}
		exact := v.Stragglers[0].Gain
		for i := range j.Members {
			j.Members[i].Chains = ranks.Chains{}
		}
		v = replay.Judge(j, ranks.Expected{})
		if s := &v.Stragglers[0]; !s.Bound || s.Gain < exact*9/10 || s.Gain > s.Excess {
			t.Errorf("%s: at most %d ns (bound: %v) of %d, and %d by a replay", o.Cause, s.Gain, s.Bound, s.Excess, exact)
		}
	}
}

// TestOneSide: of a rank whose batches come late, and for which nobody waits, a step that its window cuts holds more of its device than of its peers'. The loader's repair does not mend
// the device, so the rank is a note.
func TestOneSide(t *testing.T) {
	list, err := jobjudge.Summaries(testtrace.RandomJobSet(5510125))
	if err != nil {
		t.Fatal(err)
	}
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	v := replay.Judge(j, ranks.Expected{})
	if len(v.Stragglers) > 0 || len(v.Idle) != 1 || v.Idle[0].Cause.What != ranks.DataLoading || v.Idle[0].Worth() > 0 || v.Idle[0].Members[0] != 1 {
		t.Errorf("%+v, notes %+v", v.Stragglers, v.Idle)
	}
}

// TestPair: of two ranks that are as slow one alone gains nothing, and both together what one would.
func TestPair(t *testing.T) {
	o := testtrace.JobOptions{Kind: "dp", Seed: 9, World: 8, Steps: 6, Set: []testtrace.JobPlant{{Cause: "gpu", Rank: 2, Factor: 1.5, To: 6}, {Cause: "gpu", Rank: 5, Factor: 1.5, To: 6}}}
	j, v := judged(t, o, -1)
	if len(v.Stragglers) != 2 {
		t.Fatalf("%+v", v.Stragglers)
	}
	for i := range v.Stragglers {
		s := &v.Stragglers[i]
		if s.With != 1-i || s.Both < 5*max(s.Gain, 1) || s.Both < (j.Window[1]-j.Window[0])/20 {
			t.Errorf("%s gains %d ns, and %d with %d", j.Who(s), s.Gain, s.Both, s.With)
		}
	}
}

// TestCostsBySteps: what each rank costs sums over the steps, to the ns, and arises in those in which it is slow.
func TestCostsBySteps(t *testing.T) {
	j, _ := judged(t, testtrace.JobOptions{Kind: "dp", Seed: 9, World: 8, Steps: 8, Set: []testtrace.JobPlant{{Cause: "gpu", Rank: 2, Factor: 1.5, From: 3, To: 5}}}, -1)
	m, err := replay.New(j)
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := m.Each("rank")
	if err != nil {
		t.Fatal(err)
	}
	if j.Members[2].Rank != 2 || !strings.HasPrefix(list[0].Name, "rank 2") || list[0].Costs < m.Recorded()/50 {
		t.Fatalf("%+v", list[0])
	}
	for _, p := range list {
		sum, slow := int64(0), int64(0)
		for i, s := range p.Steps {
			if sum += s.NS; i == 3 || i == 4 {
				slow += s.NS
			}
		}
		if len(p.Steps) != 8 || sum != p.Costs || p.Steps[0].Step != 10 {
			t.Errorf("%s costs %d ns, by steps %+v", p.Name, p.Costs, p.Steps)
		}
		if p.Name == list[0].Name && (slow < sum*95/100 || p.Steps[3].NS < sum/4 || p.Steps[4].NS < sum/4) {
			t.Errorf("%s costs %d ns of %d in the two slow steps: %+v", p.Name, slow, sum, p.Steps)
		}
	}
}

// inTurns is a job of two ranks that come last by turns, 0.5 ms after the other, into a collective a step of 1 ms, rank 1 into the odd ones. It is over so many ns after
// the step begins.
func inTurns(t *testing.T, step int32, over int64, root bool) *replay.Model {
	t.Helper()
	const steps = 6
	var list []*ranks.Summary
	for r := range 2 {
		s := &ranks.Summary{Source: "r", Rank: ranks.Rank(r), RankBy: "recorded", World: 2, Device: -1, Names: []string{"", "gemm"}, Window: [2]int64{0, steps*1_000_000 + 1_000_000},
			Groups: []ranks.Group{{Name: "0", Ranks: []ranks.Rank{0, 1}, Size: 2, By: "args"}}}
		for _, c := range []ranks.Coll{ranks.AllReduce, ranks.Broadcast} {
			s.Kinds = append(s.Kinds, ranks.Kind{Stream: 20, Coll: c, Dtype: "Float", In: 1 << 20, Out: 1 << 20, Peer: ranks.NoRank, Token: 1 + uint64(c)})
		}
		ready, stub, chains := int64(0), ranks.MakeStub(critpath.AtStart, -1), []ranks.Chain{}
		add := func(start int64) {
			s.Stubs, s.First = append(s.Stubs, stub), append(s.First, int32(len(s.Runs)))
			chains = append(chains, ranks.Chain{From: int32(len(s.Ops)) - 1, Parts: []ranks.Part{{NS: start - ready}}})
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
		s.SetChains([]ranks.PartOf{{Name: 1, Work: ranks.OnDevice}}, func(op int) []ranks.Chain { return chains[op : op+1] })
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
	m, err := replay.New(j)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestStepExactly: where a step ends inside of a transfer, what the last one saves that came into it is saved, also by the others; where it ends in work, it ends no sooner
// than for the one that works as it did; and a root that left before another rank came gains nothing of what that one saves.
func TestStepExactly(t *testing.T) {
	half := replay.Changes([]replay.Change{{Factor: 50 * percent, Work: device, Ranks: func(x *ranks.Member) bool { return x.Rank == 1 }}})
	for name, c := range map[string]struct {
		step int32
		over int64
		root bool
		want int64
	}{
		"a step whose last is rank 1":     {3, 1_200_000, false, 300_000},
		"a step whose last is rank 0":     {4, 1_200_000, false, 0},
		"a step that ends while it works": {4, 900_000, false, 0},
		"the job":                         {-1, 1_200_000, false, 900_000},
		"a root that leaves early":        {-1, 1_200_000, true, 600_000},
	} {
		if got := inTurns(t, c.step, c.over, c.root).Ask([]replay.Question{half})[0].Saved; got < c.want-50 || got > c.want+50 {
			t.Errorf("%s: %d ns sooner, wanted %d", name, got, c.want)
		}
	}
}

// TestStage: what is said to be gained without a stage is what the same question gets when it is asked of each stage, or for that stage by its number.
func TestStage(t *testing.T) {
	j, v := judged(t, testtrace.JobOptions{Kind: "pp_dp", Cause: "stage", Seed: 6, World: 8, Steps: 4}, -1)
	if len(v.Stragglers) == 0 || v.Stragglers[0].Unit != "stage" {
		t.Fatalf("%+v", v.Stragglers)
	}
	m, err := replay.New(j)
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := m.Each("stage")
	if err != nil {
		t.Fatal(err)
	}
	if s := &v.Stragglers[0]; list[0].Name != s.Name || list[0].Saved < s.Gain || list[0].Saved-s.Gain > s.Gain/1000 || s.Gain < m.Recorded()/50 {
		t.Errorf("%s gains %d ns, asked of each stage %+v", s.Name, s.Gain, list[0])
	}
	parse := replay.Parser{Model: m}
	var saved []int64
	for _, text := range []string{"class:compute in stage:0=0.5", "class:compute in stage:1=0.5", "class:compute=0.5"} {
		q, err := parse.Scenario(text)
		if err != nil {
			t.Fatal(err)
		}
		saved = append(saved, m.Ask([]replay.Question{q.Ask})[0].Saved)
	}
	if saved[0] == saved[1] || max(saved[0], saved[1]) > saved[2] || min(saved[0], saved[1]) < 0 {
		t.Errorf("%d ns saved by either stage and all", saved)
	}
	for _, text := range []string{"class:compute in stage:x=0.5", "class:compute in stage:77=0.5"} {
		if _, err := parse.Scenario(text); err == nil {
			t.Errorf("%s is a question", text)
		}
	}
}

// TestRebalanced: a pipeline of which one stage has more work, run again with all stages at their mean, takes what the question says.
func TestRebalanced(t *testing.T) {
	for _, o := range []testtrace.JobOptions{{Kind: "pp_dp", Cause: "stage", Seed: 6, World: 8, Steps: 4}, {Kind: "3d", Cause: "stage", Seed: 61, World: 16, Steps: 4}, {Kind: "pp_dp", Cause: "stage", Seed: 62, World: 16, Steps: 5}} {
		sim, m := made(t, o)
		of, count, sum := map[int32]float64{}, map[int32]float64{}, 0.0
		for i := range m.Job.Members {
			x := &m.Job.Members[i]
			for k := range x.Steps {
				of[sim.Ranks[x.Rank].Stage] += float64(x.Steps[k].BusyGPU)
			}
			count[sim.Ranks[x.Rank].Stage]++
		}
		for st := range of {
			of[st] /= count[st]
			sum += of[st]
		}
		truth := sim.Again(func(rank int32, k testtrace.JobWorkKind) float64 {
			if k != testtrace.OfDevice {
				return 1
			}
			return sum / float64(len(of)) / of[sim.Ranks[rank].Stage]
		})
		list, err := m.Median()
		if err != nil {
			t.Fatal(err)
		}
		saved := m.Ask([]replay.Question{list[len(list)-1].Ask})[0].Saved
		off := float64(saved-truth) / float64(m.Recorded())
		t.Logf("%s %d: %d ns saved, truly %d, off by %.2f %% of the job", o.Kind, o.Seed, saved, truth, 100*off)
		if truth < m.Recorded()/100 || off > 0.002 || off < -0.002 {
			t.Errorf("%s %d: %d ns saved, truly %d, of %d", o.Kind, o.Seed, saved, truth, m.Recorded())
		}
	}
}

package jobjudge

import (
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
)

// verdictOf puts a job together of the summaries of its ranks.
func verdictOf(t *testing.T, list []*ranks.Summary) *ranks.Verdict {
	t.Helper()
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	return replay.Judge(j, ranks.Expected{})
}

// causeIn is the cause of the only straggler of some ranks.
func causeIn(t *testing.T, list []*ranks.Summary) ranks.Cause {
	t.Helper()
	v := verdictOf(t, list)
	if len(v.Stragglers) != 1 {
		t.Fatalf("%d stragglers", len(v.Stragglers))
	}
	return v.Stragglers[0].Cause
}

// TestRows: a rank that is given more rows is said to have more to do, by shapes and where these are not recorded by grids, with a device and without; lost records
// do not hide it.
func TestRows(t *testing.T) {
	for i, o := range []testtrace.JobOptions{
		{Kind: "dp"}, {Kind: "fsdp", NoShapes: true}, {Kind: "tp_dp", Trouble: []string{"lost"}}, {Kind: "pp_dp", Noise: 5}, {Kind: "moe", Noise: 2, Trouble: []string{"old"}},
		{Kind: "dp", CPU: true},
	} {
		o.Cause, o.World, o.Steps, o.Seed = "rows", 8, 5, 300+uint64(i)
		s := Judge(testtrace.NewJob(o))
		if s.Err != nil || s.Found != Named || !s.Cause {
			t.Errorf("%+v: %v %v %v: %+v", o, s.Found, s.Err, s.short(), s.Stragglers)
			continue
		}
		x := &s.Stragglers[0].Cause
		if x.Load.Shapes == o.NoShapes || x.Load.Times < 1.1 || x.Load.Most <= 1.1 || x.Load.Name == "" {
			t.Errorf("%+v: %+v", o, x.Load)
		}
		if whole(s) && (s.Gain < 0.85 || s.Gain > 1.25) {
			t.Errorf("%+v: gains %.2f of the truth", o, s.Gain)
		}
	}
}

// TestAsMuch: who takes longer for as much is slow, and what the shapes say then is that it is as much.
func TestAsMuch(t *testing.T) {
	for i, o := range []testtrace.JobOptions{{Kind: "dp", Cause: "gpu"}, {Kind: "moe", Cause: "gpu", Trouble: []string{"lost"}}, {Kind: "tp_dp", Cause: "host"}, {Kind: "dp", Cause: "cpu", CPU: true}} {
		o.World, o.PerHost, o.Steps, o.Seed = 8, 2, 5, 330+uint64(i)
		s := Judge(testtrace.NewJob(o))
		if s.Found != Named || !s.Cause || !s.Stragglers[0].Cause.Load.Equal() {
			t.Errorf("%+v: %v, %+v", o, s.Found, s.Stragglers)
		}
	}
}

// TestOtherSide: what a device was given says nothing of threads that are slow.
func TestOtherSide(t *testing.T) {
	list, err := Summaries(testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Cause: "cpu", Seed: 340, World: 8, Steps: 5}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		for i := range s.Given {
			s.Given[i].Busy *= 20 // most of what threads work
		}
	}
	if c := causeIn(t, list); c.What != ranks.SlowCPU || c.Load.Times > 0 {
		t.Errorf("%s: %+v", c.What, c.Load)
	}
}

// TestNotTheInputs: kernels that take longer by turns, or by another factor in each step, are not because of inputs that are recorded and as large as those of the others.
// Where only some of the time is explained by what a rank is given, it is slow all the same, and summaries that say nothing change nothing.
func TestNotTheInputs(t *testing.T) {
	change := func(list []*ranks.Summary, with func(g *ranks.Given, rank int)) []*ranks.Summary {
		out := make([]*ranks.Summary, len(list))
		for r, s := range list {
			c := *s
			c.Given = append([]ranks.Given{}, s.Given...)
			for i := range c.Given {
				with(&c.Given[i], r)
			}
			out[r] = &c
		}
		return out
	}
	turns, err := Summaries(testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Cause: "input", Seed: 507, World: 8, Steps: 5}))
	if err != nil {
		t.Fatal(err)
	}
	sim := testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Cause: "gpu", Seed: 331, World: 8, Steps: 5})
	slow, err := Summaries(sim)
	if err != nil {
		t.Fatal(err)
	}
	bad := int(sim.Culprits.Ranks[0])
	factor := causeIn(t, slow).Factor
	more := func(share float64) func(g *ranks.Given, rank int) {
		return func(g *ranks.Given, rank int) {
			if rank == bad {
				g.Amount = int64(float64(g.Amount) * (1 + share*(factor-1)))
			}
		}
	}
	equal := func(g *ranks.Given, _ int) { g.Amount = 1 << 20 }
	for name, c := range map[string]struct {
		list  []*ranks.Summary
		want  ranks.CauseKind
		times bool // it is known what they are given
	}{
		"by turns, with larger inputs": {turns, ranks.InputSizes, true},
		"by turns, with equal inputs":  {change(turns, equal), ranks.SlowGPU, true},
		"by turns, by equal grids":     {change(turns, func(g *ranks.Given, _ int) { g.Amount, g.Unit = 1<<20, ranks.Threads }), ranks.InputSizes, true},
		"slow":                         {slow, ranks.SlowGPU, true},
		"slow, and given a bit more":   {change(slow, more(0.3)), ranks.SlowGPU, true},
		"given most of it":             {change(slow, more(0.8)), ranks.MoreData, true},
		"given much of what takes no longer": {change(slow, func(g *ranks.Given, rank int) {
			if rank == bad && g.Name == slow[rank].Given[0].Name {
				g.Amount, g.Busy = 10*g.Amount, g.Busy/2
			}
		}), ranks.SlowGPU, true},
		"given less": {change(slow, more(-0.8)), ranks.SlowGPU, true},
		"counts other things": {change(slow, func(g *ranks.Given, rank int) {
			if more(1)(g, rank); rank == bad {
				g.Unit = ranks.Threads
			}
		}), ranks.SlowGPU, false},
		"most peers say nothing": {func() []*ranks.Summary {
			list := change(slow, more(1))
			for r := range list {
				if r != bad && r%2 == 0 || r == (bad+1)%8 {
					list[r].Given = nil
				}
			}
			return list
		}(), ranks.SlowGPU, false},
	} {
		if got := causeIn(t, c.list); got.What != c.want || got.Load.Times > 0 != c.times {
			t.Errorf("%s: %s, %+v", name, got.What, got.Load)
		}
	}
}

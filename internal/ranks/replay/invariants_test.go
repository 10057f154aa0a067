package replay_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/kineto"
	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/jobjudge"
	"overlay/internal/whatif"
)

const percent = replay.Whole / 100

func device(_ string, w ranks.Work) bool { return !w.Host() }
func thread(_ string, w ranks.Work) bool { return w.Host() }
func everyGroup(*ranks.JobGroup) bool    { return true }

// nothing multiplies all there is with 1.
var nothing = replay.Changes([]replay.Change{
	{Factor: replay.Whole, Work: device}, {Factor: replay.Whole, Work: thread}, {Factor: replay.Whole, Transfers: everyGroup},
})

// real are the summaries of the recorded job of eight ranks, none where it is not at hand.
func real(t testing.TB) (list []*ranks.Summary) {
	t.Helper()
	worker := regexp.MustCompile(`worker(\d+)_`)
	for _, file := range corpus.Find(t, "param__dlrm8__worker*.json.gz") {
		n, _ := strconv.Atoi(worker.FindStringSubmatch(file)[1])
		tr := testtrace.Read(t, file)
		g, p := testtrace.Exact(t, tr)
		s := ranks.Summarize(g, p, ranks.Identity{Source: filepath.Base(file), Rank: ranks.Rank(n), By: "name"})
		replay.AddChains(s, g, nil)
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// TestNothing: a replay of nothing is the recorded job to the ns, whatever is wrong with its records, and the first chain of each operation is as long as it was.
func TestNothing(t *testing.T) {
	jobs := map[string]*replay.Model{}
	for i, trouble := range append([]string{""}, testtrace.JobTroubles...) {
		if testing.Short() && i%4 != 0 {
			continue // each takes seconds under the race detector
		}
		o := testtrace.JobOptions{Kind: testtrace.JobKinds[i%len(testtrace.JobKinds)], Cause: "gpu", Seed: uint64(i), World: 8, Steps: 3}
		if trouble != "" {
			o.Trouble = []string{trouble}
		}
		_, jobs[o.Kind+" "+trouble] = made(t, o)
	}
	if list := real(t); len(list) > 0 {
		jobs["dlrm"] = modelOf(t, list)
	}
	for name, m := range jobs {
		for _, q := range []replay.Question{nothing, replay.Changes(nil)} {
			if a := m.Ask([]replay.Question{q})[0]; a.Saved != 0 || a.Window != m.Recorded() {
				t.Errorf("%s: a replay of nothing takes %d ns, recorded %d", name, a.Window, m.Recorded())
			}
		}
		if m.Crossed > 0 {
			t.Errorf("%s: %d collectives matched crosswise", name, m.Crossed)
		}
		chains, ports := 0, 0
		for i := range m.Job.Members {
			x := &m.Job.Members[i]
			ports += len(x.Stubs)
			c := ranks.ChainReader{}
			for o := range int32(len(x.Stubs)) {
				at := x.Window[1]
				if int(o) < len(x.Ops) {
					at = x.Ops[o].Start
				}
				if c.Read(x.Summary, o, 0); !c.Next() {
					t.Errorf("%s: rank %d, operation %d has no chain", name, x.Rank, o)
				} else if end := x.ChainFrom(c.From) + c.Len(); end != at {
					t.Errorf("%s: rank %d, operation %d: the chain ends at %d, %d before the start", name, x.Rank, o, end, at-end)
				}
				for chains++; c.Next(); {
					chains++
				}
			}
		}
		t.Logf("%-20s %d ports, %.1f chains each", name, ports, float64(chains)/float64(ports))
	}
}

// TestShape: more of anything never ends the job sooner, a factor between two others takes no longer than the mean of these, two changes at once save no less than the
// larger of both, and no rank's clock matters, nor the order of the ranks.
func TestShape(t *testing.T) {
	for i, kind := range testtrace.JobKinds {
		if testing.Short() && i > 0 {
			break
		}
		o := testtrace.JobOptions{Kind: kind, Cause: "gpu", Seed: uint64(20 + i), World: 8, Steps: 3}
		_, m := made(t, o)
		one := func(x *ranks.Member) bool { return x.Rank == 1 }
		var last int64
		for name, c := range map[string]replay.Change{"device": {Work: device}, "threads": {Work: thread}, "device of one": {Work: device, Ranks: one}, "threads of one": {Work: thread, Ranks: one},
			"transfers": {Transfers: everyGroup}} {
			var list []replay.Question
			for _, f := range []int64{0, 50, 100, 150, 200, 250, 300} {
				c.Factor = f * percent
				list = append(list, replay.Changes([]replay.Change{c}))
			}
			answers := m.Ask(list)
			for k := 1; k < len(answers); k++ {
				if last = answers[k].Window; last < answers[k-1].Window {
					t.Errorf("%s, %s: %d ns, with less of it %d", kind, name, last, answers[k-1].Window)
				}
				if k+1 < len(answers) && 2*last > answers[k-1].Window+answers[k+1].Window+2000 {
					t.Errorf("%s, %s: %d, %d, %d ns: not convex", kind, name, answers[k-1].Window, last, answers[k+1].Window)
				}
			}
		}
		half := func(c ...replay.Change) replay.Question {
			for k := range c {
				c[k].Factor = 50 * percent
			}
			return replay.Changes(c)
		}
		questions := []replay.Question{half(replay.Change{Work: device}), half(replay.Change{Transfers: everyGroup}), half(replay.Change{Work: device}, replay.Change{Transfers: everyGroup})}
		a := m.Ask(questions)
		if a[2].Saved < max(a[0].Saved, a[1].Saved) {
			t.Errorf("%s: %d ns saved by two changes, %d and %d by each", kind, a[2].Saved, a[0].Saved, a[1].Saved)
		}
		list, err := jobjudge.Summaries(testtrace.NewJob(o))
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(list)
		shift(list[2], 5_000_000_000)
		if b := modelOf(t, list).Ask(questions); !slices.Equal(a, b) {
			t.Errorf("%s: %+v, with another clock and order %+v", kind, a, b)
		}
	}
}

// shift sets the clock of a rank.
func shift(s *ranks.Summary, ns int64) {
	s.Window[0] += ns
	s.Window[1] += ns
	for i := range s.Ops {
		s.Ops[i].Start += ns
		s.Ops[i].End += ns
		s.Ops[i].Launch += ns
	}
	for i := range s.Steps {
		s.Steps[i].Start += ns
		s.Steps[i].End += ns
	}
}

// TestBound: no question saves more than it takes away from the recorded path over the ranks, as far as that is of one kind.
func TestBound(t *testing.T) {
	some := false
	for i, kind := range testtrace.JobKinds {
		if testing.Short() && some {
			break
		}
		_, m := made(t, testtrace.JobOptions{Kind: kind, Seed: uint64(40 + i), World: 8, Steps: 3})
		bound := int64(0)
		for k := range m.Job.Path {
			if s := &m.Job.Path[k]; s.Kind.Class() == critpath.ClassCompute || s.Kind.Class() == critpath.ClassCopy {
				bound += (s.End - s.Start) / 2
			}
		}
		a := m.Ask([]replay.Question{replay.Changes([]replay.Change{{Factor: 50 * percent, Work: device}})})[0]
		if a.Saved > bound {
			t.Errorf("%s: %d ns saved, at most %d", kind, a.Saved, bound)
		}
		some = some || a.Saved > m.Recorded()/20
	}
	if !some {
		t.Error("nothing is saved anywhere")
	}
}

// byHand is a job of ranks whose operations and instances are given: of each rank starts and ends, and of each operation its chains.
func byHand(t *testing.T, ops [][][2]int64, chains [][][]ranks.Chain, end int64, instances ...[]ranks.Ref) *replay.Model {
	t.Helper()
	j := &ranks.Job{Window: [2]int64{0, end}, Step: -1}
	for r := range ops {
		s := &ranks.Summary{Rank: ranks.Rank(r), Window: [2]int64{0, end}, Names: []string{""}, Kinds: []ranks.Kind{{}}}
		x := ranks.Member{Summary: s, End: end}
		for _, o := range ops[r] {
			s.Ops, x.In = append(s.Ops, ranks.Op{Start: o[0], End: o[1]}), append(x.In, -1)
		}
		s.Stubs = make([]ranks.Stub, len(s.Ops)+1)
		s.SetChains([]ranks.PartOf{{Work: ranks.OnThread}}, func(op int) (list []ranks.Chain) {
			for _, c := range chains[r][op] { // Fixed is time of threads, if it is above 0
				if c.Fixed > 0 {
					c.Parts, c.Fixed = []ranks.Part{{NS: c.Fixed}}, 0
				}
				list = append(list, c)
			}
			return list
		})
		j.Members = append(j.Members, x)
	}
	for i, refs := range instances {
		j.Instances = append(j.Instances, ranks.Instance{First: int32(len(j.Of)), N: int32(len(refs)), Solved: true})
		j.Of = append(j.Of, refs...)
		for _, r := range refs {
			j.Members[r.Member].In[r.Op] = int32(i)
		}
	}
	m, err := replay.New(j)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestByHand: rank 1 comes 500 ns after rank 0 into a transfer of 100, and both work for 400 after it.
func TestByHand(t *testing.T) {
	chains := func(before int64) [][]ranks.Chain {
		return [][]ranks.Chain{{{From: -1, Fixed: before}}, {{From: 0, Fixed: 400}}}
	}
	m := byHand(t, [][][2]int64{{{300, 900}}, {{800, 900}}}, [][][]ranks.Chain{chains(300), chains(800)}, 1300, []ranks.Ref{{Member: 0, Op: 0}, {Member: 1, Op: 0}})
	for _, c := range []struct {
		rank   ranks.Rank
		factor int64
		want   int64
	}{
		{0, 0, 0}, {0, 200, -400}, {0, 300, -900}, // rank 0 has slack before, and work after
		{1, 50, 400}, {1, 0, 500}, // rank 0 ends the job then
		{-1, 50, 600}, {-1, 0, 1200}, {-1, 200, -1200},
	} {
		a := m.Ask([]replay.Question{replay.Changes([]replay.Change{{Factor: c.factor * percent, Work: thread, Ranks: func(x *ranks.Member) bool { return c.rank < 0 || x.Rank == c.rank }}})})[0]
		if a.Saved != c.want {
			t.Errorf("rank %d times %d %%: %d ns saved, wanted %d", c.rank, c.factor, a.Saved, c.want)
		}
	}
}

// TestEarly: who left before the last one came does not wait for that one, as the root of a broadcast.
func TestEarly(t *testing.T) {
	chains := func(before, behind int64) [][]ranks.Chain {
		return [][]ranks.Chain{{{From: -1, Fixed: before}}, {{From: 0, Fixed: behind}}}
	}
	m := byHand(t, [][][2]int64{{{300, 500}}, {{800, 900}}}, [][][]ranks.Chain{chains(300, 800), chains(800, 400)}, 1300, []ranks.Ref{{Member: 1, Op: 0}, {Member: 0, Op: 0}})
	a := m.Ask([]replay.Question{replay.Changes([]replay.Change{{Factor: 0, Work: thread, Ranks: func(x *ranks.Member) bool { return x.Rank == 1 }}})})[0]
	if a.Window != 1300 || a.Last != 0 { // rank 0 goes on for 800 after 500
		t.Errorf("%+v", a)
	}
}

// TestReceivers: of a broadcast one receiver does not wait for another, which came when the data was on its way. Rank 0 is the root, rank 2 comes last.
func TestReceivers(t *testing.T) {
	chains := func(before int64) [][]ranks.Chain {
		return [][]ranks.Chain{{{From: -1, Fixed: before}}, {{From: 0, Fixed: 100}}}
	}
	m := byHand(t, [][][2]int64{{{200, 500}}, {{100, 500}}, {{400, 700}}}, [][][]ranks.Chain{chains(200), chains(100), chains(400)}, 800, []ranks.Ref{{Member: 1, Op: 0}, {Member: 0, Op: 0}, {Member: 2, Op: 0}})
	m.Job.Instances[0].Coll = ranks.Broadcast
	m, err := replay.New(m.Job)
	if err != nil {
		t.Fatal(err)
	}
	slow := func(rank ranks.Rank) replay.Answer {
		return m.Ask([]replay.Question{replay.Changes([]replay.Change{{Factor: 200 * percent, Work: thread, Ranks: func(x *ranks.Member) bool { return x.Rank == rank }}})})[0]
	}
	if a := slow(2); a.Window != 1300 || a.Last != 2 {
		t.Errorf("a receiver twice as slow: %+v", a)
	}
	if a := slow(0); a.Window != 1100 || a.Last != 0 { // it comes 200 later, and works for 100 more behind it
		t.Errorf("the root twice as slow: %+v", a)
	}
}

// TestAlone: a rank that takes part in nothing moves nobody else, and does not end the job before it is as late as the others.
func TestAlone(t *testing.T) {
	together := func(before int64) [][]ranks.Chain {
		return [][]ranks.Chain{{{From: -1, Fixed: before}}, {{From: 0, Fixed: 400}}}
	}
	m := byHand(t, [][][2]int64{{{300, 900}}, {{800, 900}}, {{100, 200}}}, [][][]ranks.Chain{together(300), together(800), {{{From: -1, Fixed: 100}}, {{From: 0, Fixed: 50}}}}, 1300,
		[]ranks.Ref{{Member: 0, Op: 0}, {Member: 1, Op: 0}})
	for _, c := range []struct{ factor, want int64 }{{0, 0}, {100, 0}, {200, -150}, {300, -300}} {
		a := m.Ask([]replay.Question{replay.Changes([]replay.Change{{Factor: c.factor * percent, Work: thread, Ranks: func(x *ranks.Member) bool { return x.Rank == 2 }}})})[0]
		if a.Saved != c.want {
			t.Errorf("times %d %%: %+v, wanted %d saved", c.factor, a, c.want)
		}
	}
}

// TestWhole: of one rank, chains never promise a later end than its whole graph, and the same under the settings under which they were found.
func TestWhole(t *testing.T) {
	found := []struct{ device, thread int64 }{{100, 100}, {50, 100}, {5, 100}, {100, 50}, {100, 5}, {200, 100}, {100, 300}}
	for i, kind := range testtrace.JobKinds {
		if testing.Short() && i%3 != 0 {
			continue
		}
		sim := testtrace.NewJob(testtrace.JobOptions{Kind: kind, Seed: uint64(70 + i), World: 8, Steps: 3})
		tr, err := kineto.Parse(sim.JSON(1), sim.Ranks[1].File, kineto.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g, p := testtrace.Exact(t, tr)
		s := ranks.Summarize(g, p, ranks.Identity{Source: "rank1", Rank: 1, By: "name"})
		replay.AddChains(s, g, nil)
		m, whole := modelOf(t, []*ranks.Summary{s}), whatif.New(g)
		devices, threads := whole.NewSet(), whole.NewSet()
		for a, c := range whole.Classes() {
			switch c {
			case whatif.CommClass:
			case whatif.ComputeClass, whatif.CopyClass:
				devices.Add(cdg.ActID(a))
			default:
				threads.Add(cdg.ActID(a))
			}
		}
		rounding := int64(len(g.Acts)) // each activity is rounded to the ns by itself
		ask := func(deviceBy, threadBy int64) (chains, graph int64) {
			a := m.Ask([]replay.Question{replay.Changes([]replay.Change{{Factor: deviceBy * percent, Work: device}, {Factor: threadBy * percent, Work: thread}})})[0]
			return a.Window, whole.Window(&whatif.Scenario{Changes: []whatif.Change{{Verb: whatif.Scale, On: devices, Num: deviceBy, Den: 100}, {Verb: whatif.Scale, On: threads, Num: threadBy, Den: 100}}})
		}
		for _, x := range found {
			if a, b := ask(x.device, x.thread); max(a-b, b-a) > rounding {
				t.Errorf("%s, device %d %%, threads %d %%: %d ns by chains, %d by the graph", kind, x.device, x.thread, a, b)
			}
		}
		for _, x := range [][2]int64{{70, 70}, {20, 20}, {150, 150}, {300, 100}, {100, 200}, {0, 100}, {100, 0}, {60, 130}} {
			if a, b := ask(x[0], x[1]); a > b+rounding {
				t.Errorf("%s, device %d %%, threads %d %%: %d ns by chains, only %d by the graph", kind, x[0], x[1], a, b)
			}
		}
	}
}

// TestLonger: a job in which everything takes so many times as long answers so many times as much, also where somebody waits for seconds.
func TestLonger(t *testing.T) {
	chains := func(k, before int64) [][]ranks.Chain {
		return [][]ranks.Chain{{{From: -1, Fixed: k * before}}, {{From: 0, Fixed: k * 200}, {From: -1, Fixed: k * (before + 250)}}, {{From: 1, Fixed: k * 300}}}
	}
	longer := []int64{1, 2, 10_000_000}
	answers := make([][]replay.Answer, len(longer))
	for i, k := range longer {
		ops := [][][2]int64{{{300, 900}, {1100, 1400}}, {{800, 900}, {1100, 1400}}}
		for r := range ops {
			for o := range ops[r] {
				ops[r][o] = [2]int64{k * ops[r][o][0], k * ops[r][o][1]}
			}
		}
		m := byHand(t, ops, [][][]ranks.Chain{chains(k, 300), chains(k, 800)}, k*1700, []ranks.Ref{{Member: 0, Op: 0}, {Member: 1, Op: 0}}, []ranks.Ref{{Member: 0, Op: 1}, {Member: 1, Op: 1}})
		var list []replay.Question
		for rank := range ranks.Rank(2) {
			for _, f := range []int64{0, 50, 150, 400} {
				list = append(list, replay.Changes([]replay.Change{{Factor: f * percent, Work: thread, Ranks: func(x *ranks.Member) bool { return x.Rank == rank }}}))
			}
		}
		answers[i] = m.Ask(list)
	}
	for i, a := range answers[0] {
		for n, k := range longer {
			if b := answers[n][i]; b.Window != k*a.Window || b.Saved != k*a.Saved || b.Last != a.Last {
				t.Errorf("question %d: %+v, of %d times as much %+v", i, a, k, b)
			}
		}
	}
}

// TestCrossed: collectives that were matched crosswise lead in a circle, which is opened.
func TestCrossed(t *testing.T) {
	m := byHand(t, [][][2]int64{{{0, 25}, {26, 30}}, {{0, 27}, {20, 30}}},
		[][][]ranks.Chain{{{{From: -1}}, {{From: 0, Fixed: 1}}, {{From: 1, Fixed: 10}}}, {{{From: -1}}, {{From: 0, Fixed: -7}}, {{From: 1, Fixed: 10}}}}, 40,
		[]ranks.Ref{{Member: 0, Op: 0}, {Member: 1, Op: 1}}, []ranks.Ref{{Member: 0, Op: 1}, {Member: 1, Op: 0}})
	if a := m.Ask([]replay.Question{replay.Changes(nil)})[0]; a.Saved != 0 || m.Crossed != 1 {
		t.Errorf("%+v, %d crossed", a, m.Crossed)
	}
}

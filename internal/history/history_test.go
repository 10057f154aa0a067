package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"overlay/internal/ranks"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// heavy draws from Student's distribution with three degrees of freedom, scaled to a standard deviation of one.
func heavy(rng *rand.Rand) float64 {
	s := 0.
	for range 3 {
		z := rng.NormFloat64()
		s += z * z
	}
	return rng.NormFloat64() / math.Sqrt(s/3) / math.Sqrt(3)
}

// noisy is noise as repeats of one run show it: what a machine is like wanders from day to day, and single runs lie far out.
type noisy struct {
	rng           *rand.Rand
	alike, far    float64
	wanders, base float64
}

func newNoisy(rng *rand.Rand, alike, far, base float64) *noisy {
	return &noisy{rng, alike, far, rng.NormFloat64(), base}
}

func (n *noisy) next() float64 {
	n.wanders = n.alike*n.wanders + math.Sqrt(1-n.alike*n.alike)*n.rng.NormFloat64()
	return n.base * math.Exp(n.far*math.Sqrt(0.5)*(n.wanders+heavy(n.rng)))
}

const hosts, perHost, names, links = 4, 8, 12, 6

// simulated is a history: a run a day of a job of 32 ranks on 4 hosts. plant changes a run before it is kept.
func simulated(seed uint64, days int, plant func(day int, p *Point)) []*Run {
	rng := rand.New(rand.NewPCG(seed, 45))
	all := newNoisy(rng, 0.8, 0.006, 1)
	type source struct {
		Series
		*noisy
	}
	var list []source
	add := func(s Series, far, base float64) { list = append(list, source{s, newNoisy(rng, 0.7, far, base)}) }
	add(Series{Job, "", Step}, 0.003, 100e6)
	add(Series{Job, "", Device}, 0.003, 80e6)
	add(Series{Job, "", Communication}, 0.02, 9e6)
	for h := range hosts {
		offset := 1 + 0.02*rng.NormFloat64()
		add(Series{Host, fmt.Sprint("node-", h), Device}, 0.003, 80e6*offset)
		add(Series{Host, fmt.Sprint("node-", h), Threads}, 0.01, 30e6*offset)
		for r := range perHost {
			add(Series{Rank, fmt.Sprint(h*perHost + r), Device}, 0.008, 80e6*offset)
			add(Series{Rank, fmt.Sprint(h*perHost + r), Threads}, 0.02, 30e6*offset)
		}
	}
	for k := range names {
		add(Series{Work, fmt.Sprint("kernel", k), Busy}, 0.01, 12e6/float64(k+1))
	}
	for k := range links {
		add(Series{Link, fmt.Sprint("allreduce, ranks ", k), Transfer}, 0.02, 1e6)
	}
	var runs []*Run
	for day := range days {
		common := all.next()
		r := &Run{Name: fmt.Sprintf("nightly-%d", day), Start: int64(1_790_000_000+86400*day) * 1e9, Ranks: hosts * perHost, Hosts: hosts, Steps: 4}
		for _, s := range list {
			p := Point{s.Series, int64(common * s.next())}
			if plant != nil {
				plant(day, &p)
			}
			r.Points = append(r.Points, p)
		}
		slices.SortFunc(r.Points, func(a, b Point) int { return compareSeries(a.Series, b.Series) })
		runs = append(runs, r)
	}
	return runs
}

// notInTheRaceRun skips what counts how often something is right, which takes ten times as long there and shows nothing more.
func notInTheRaceRun(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: histories are counted without the race detector")
	}
}

// TestQuiet: nothing is said to have changed in many histories of which nothing did, whether they are long or short.
func TestQuiet(t *testing.T) {
	notInTheRaceRun(t)
	for seed := range uint64(corpus.Rounds(32, 100)) {
		runs := simulated(seed, []int{60, 120, 25, 12}[seed%4], nil)
		for _, e := range Analyse(runs, true).Events {
			t.Errorf("history %d: %s at %d of %d", seed, e.Changes[0].Words(), e.Run, len(runs))
			for _, c := range e.Changes {
				t.Logf("   %s %+.2f %% ± %.2f, %.2g", c.Words(), 100*c.Size, 100*c.Noise, c.Tail)
			}
		}
	}
}

// planted are changes of one part of a job each, as small as they are to be found.
var planted = []struct {
	what string
	by   float64
	of   func(p *Point) bool
}{
	{"host node-2: work of the device", 0.04, func(p *Point) bool {
		rank := 0
		fmt.Sscan(p.Name, &rank)
		return p.What == Device && (p.Name == "node-2" || p.Scope == Rank && rank/perHost == 2)
	}},
	{"kernel3: ", 0.08, func(p *Point) bool { return p.Name == "kernel3" }},
	{"a step", 0.05, func(p *Point) bool { return p.What == Step || p.What == Device }},
	{"allreduce, ranks 4: ", 0.15, func(p *Point) bool { return p.Name == "allreduce, ranks 4" }},
	{"rank 11: work of threads", 0.15, func(p *Point) bool { return p.Scope == Rank && p.Name == "11" && p.What == Threads }},
}

// TestPlanted: a change is found, named, dated to the day, and nothing else is; its size lies within what is said of its noise.
func TestPlanted(t *testing.T) {
	notInTheRaceRun(t)
	right, within, other := 0, 0, 0
	histories := corpus.Rounds(40, 60)
	for seed := range uint64(histories) {
		c := planted[seed%uint64(len(planted))]
		day := 10 + int(seed*7)%40
		factor := 1 + c.by
		if seed%4 == 3 {
			factor = 1 - c.by
		}
		runs := simulated(1000+seed, 60, func(d int, p *Point) {
			if d >= day && c.of(p) {
				p.NS = int64(float64(p.NS) * factor)
			}
		})
		r := Analyse(runs, true)
		found, first := false, Found{}
		for _, e := range r.Events {
			if first = e.Changes[0]; e.Run == day && strings.Contains(first.Words(), c.what) {
				if found = true; math.Abs(first.Size-(factor-1)) < first.Noise {
					within++
				}
			} else {
				other++
			}
		}
		if found {
			right++
			continue
		}
		t.Logf("history %d: %s on day %d, and found were %d", seed, c.what, day, len(r.Events))
		for _, e := range r.Events {
			for _, f := range e.Changes {
				t.Logf("   day %d: %s %+.2f %% ± %.2f, %.2g", e.Run, f.Words(), 100*f.Size, 100*f.Noise, f.Tail)
			}
		}
	}
	t.Logf("right in %d of %d, size within its noise in %d, %d others", right, histories, within, other)
	if right < histories*19/20 || within < right*9/10 || other > histories/20 {
		t.Errorf("the right day in %d of %d, size within its noise in %d, and %d that are none", right, histories, within, other)
	}
}

// TestTakenBack: a change that another takes back is two, and both days are named.
func TestTakenBack(t *testing.T) {
	runs := simulated(3, 90, func(d int, p *Point) {
		if d >= 40 && d < 55 && p.Name == "node-1" && p.What == Device {
			p.NS = p.NS * 106 / 100
		}
	})
	var days []int
	for _, e := range Analyse(runs, true).Events {
		days = append(days, e.Run)
	}
	if !slices.Equal(days, []int{40, 55}) {
		t.Errorf("days %d", days)
	}
}

// TestJudge: the next run is as those before it, a slower one is not, nor is one of another program. What was before a change does not count.
func TestJudge(t *testing.T) {
	notInTheRaceRun(t)
	alarms, found, histories := 0, 0, 100
	for seed := range uint64(histories) {
		runs := simulated(2000+seed, 41, func(d int, p *Point) {
			if d >= 15 {
				p.NS = p.NS * 12 / 10
			}
		})
		next := runs[40]
		if v := Judge(runs[:40], next); v.Slower() != nil || v.Unlike {
			alarms++
		}
		for i := range next.Points {
			if p := &next.Points[i]; p.What == Step || p.What == Device {
				p.NS = p.NS * 106 / 100
			}
		}
		if v := Judge(runs[:40], next); v.Slower() != nil {
			found++
			if v.Slower().Runs > 30 {
				t.Errorf("history %d: compared with %d runs, also those before it changed", seed, v.Slower().Runs)
			}
		}
	}
	t.Logf("%d false alarms, 6 %% found in %d of %d", alarms, found, histories)
	if 50*alarms > histories || 10*found < 9*histories {
		t.Errorf("%d false alarms, found in %d of %d", alarms, found, histories)
	}
	runs := simulated(7, 30, nil)
	for i := range runs[29].Points {
		if p := &runs[29].Points[i]; p.Scope == Work {
			p.Name = "other" + p.Name
		}
	}
	if !Judge(runs[:29], runs[29]).Unlike {
		t.Error("another program was not told")
	}
}

// TestOrder: runs are in the order of time; where one has no date, of names.
func TestOrder(t *testing.T) {
	a, b := &Run{Name: "b", Start: 2e18}, &Run{Name: "a", Start: 3e18}
	runs := []*Run{b, a}
	if !Sort(runs, strings.Compare) || runs[0] != a {
		t.Error("not by time")
	}
	b.Start = int64(time.Second)
	if Sort(runs, strings.Compare) || runs[0] != b {
		t.Error("not by name")
	}
}

// TestTable: a run comes back from its table as it was.
func TestTable(t *testing.T) {
	r := simulated(1, 1, nil)[0]
	files := []File{{0, 100, 5}, {7, 200, 6}}
	kept := Table(r, files)
	got, back, err := FromTable(r.Name, kept)
	if err != nil || !slices.Equal(files, back) || got.Start != r.Start || got.Ranks != r.Ranks || got.Hosts != r.Hosts || got.Steps != r.Steps || !slices.Equal(got.Points, r.Points) {
		t.Errorf("%v %v %+v", err, back, got)
	}
	kept.Data[2].Syms[0] = "older" // without its form
	if _, _, err = FromTable(r.Name, kept); err == nil {
		t.Error("a table of another form was taken")
	}
}

// TestTypesOfSteps: iterations of a server are followed by type: a run with more of the long ones is no slower, and one whose decodes are longer is.
func TestTypesOfSteps(t *testing.T) {
	serve := func(day, prefills, decodes int, decode int64) *Run {
		s := &ranks.Summary{Window: [2]int64{int64(1_790_000_000+86400*day) * 1e9}}
		at := s.Window[0]
		for i := range prefills + decodes {
			x := ranks.Step{Number: int32(i), Type: trace.Prefill, Start: at, End: at + 80e6 + int64(day%3)*1e5}
			if i >= prefills {
				x.Type, x.End = trace.Decode, at+decode+int64(day*7%5)*1e4
			}
			s.Steps, at = append(s.Steps, x), x.End
		}
		r := Of(fmt.Sprint("run-", day), []*ranks.Summary{s})
		return &r
	}
	var past []*Run
	for day := range 8 {
		past = append(past, serve(day, 2, 10, 20e6))
	}
	v := Judge(past, serve(8, 10, 2, 20e6))
	if v.Slower() != nil || len(v.Steps) != 2 || v.Steps[0].Words() != "a decode step" || v.Steps[1].Words() != "a prefill step" {
		t.Errorf("more prefills: %s, %+v", v.Line(), v.Steps)
	}
	v = Judge(past, serve(8, 2, 10, 21e6))
	if v.Slower() == nil || v.Slower().Words() != "a decode step" || v.Slower().Now < 21e6 {
		t.Errorf("longer decodes: %s", v.Line())
	}
	if got, _, err := FromTable("run-0", Table(past[0], nil)); err != nil || !slices.Equal(got.Points, past[0].Points) {
		t.Errorf("%v, %+v", err, got)
	}
}

// TestWorkByType: the time of a name is that of a step of one type, so that another mix of types changes nothing.
func TestWorkByType(t *testing.T) {
	s := &ranks.Summary{Window: [2]int64{1_790_000_000e9}, Names: []string{"", "gemm", "sample"}}
	for i, kind := range []trace.IterationType{trace.Prefill, trace.Decode, trace.Decode, trace.Decode} {
		s.Steps = append(s.Steps, ranks.Step{Number: int32(i), Type: kind, Start: int64(i) * 1e8, End: int64(i)*1e8 + 2e7})
		busy := int64(1e7)
		if kind == trace.Decode {
			busy = 3e6
		}
		s.Spent = append(s.Spent, ranks.Spent{Step: int32(i), Name: 1, Busy: busy})
		if i == 1 { // in one decode of three
			s.Spent = append(s.Spent, ranks.Spent{Step: int32(i), Name: 2, Host: true, Busy: busy})
		}
	}
	var got []string
	r := Of("run", []*ranks.Summary{s})
	for _, p := range r.Points {
		if p.Scope == Work {
			got = append(got, fmt.Sprint(p.Words(), " ", p.NS))
		}
	}
	if want := []string{"gemm: its time a decode step 3000000", "gemm: its time a prefill step 10000000"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestSends: what ranks send to each other is followed by the two of them, whether a recording names the other by its rank or by its place in the group.
func TestSends(t *testing.T) {
	for _, c := range []struct {
		group []ranks.Rank
		peers [2]ranks.Rank // as the first and the second name each other
		want  []string
	}{
		{[]ranks.Rank{4, 8}, [2]ranks.Rank{8, 4}, []string{"send of 4.00 MB, rank 4 → 8: a transfer 700000"}},
		{[]ranks.Rank{4, 8}, [2]ranks.Rank{1, 0}, []string{"send of 4.00 MB, rank 4 → 8: a transfer 700000"}},
		{[]ranks.Rank{1, 2}, [2]ranks.Rank{1, 0}, []string{"send of 4.00 MB, rank 1 → 2: a transfer 700000"}},
		{[]ranks.Rank{1, 2}, [2]ranks.Rank{2, 7}, nil}, // nobody's
	} {
		var list []*ranks.Summary
		for i := range 2 {
			s := &ranks.Summary{Rank: c.group[i], Window: [2]int64{1_790_000_000e9}, Groups: []ranks.Group{{Ranks: c.group}}, Names: []string{""}}
			s.Kinds = []ranks.Kind{{Coll: ranks.SendRecv, Dtype: "Float", In: 1_000_000, Out: 1_000_000, Peer: c.peers[i], Sends: i == 0}}
			for step := range int32(3) {
				at := int64(step) * 1e7
				s.Steps = append(s.Steps, ranks.Step{Number: step, Start: at, End: at + 1e7})
				s.Ops = append(s.Ops, ranks.Op{Start: at, End: at + []int64{9e5, 7e5}[i], Step: step})
			}
			list = append(list, s)
		}
		var got []string
		r := Of("run", list)
		for _, p := range r.Points {
			if p.Scope == Link {
				got = append(got, fmt.Sprint(p.Words(), " ", p.NS))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("group %d: %q, want %q", c.group, got, c.want)
		}
	}
}

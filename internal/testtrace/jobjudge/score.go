// Package jobjudge compares what package ranks finds out about simulated jobs with what is true of them.
package jobjudge

import (
	"fmt"
	"math/rand/v2"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobcheck"
	"overlay/internal/trace"
)

// Score is how well one job was understood. Pairs of numbers are what was right, and what there was.
type Score struct {
	Options testtrace.JobOptions
	Planted testtrace.JobCulprits
	Err     error // the job could not be put together, or does not hold together

	Clock      int64 // largest error of a clock of the main component over the window, ns
	Best       int64 // of the best of all estimates
	Promised   bool  // no error is larger than the job says
	Components int

	Precision, Recall [2]int // pairs of operations that are one collective
	Last              [2]int // collectives whose last to arrive is right, or within 2 µs of the last
	Wait              [2]int64
	Near              [2]int64 // ns of the path that somebody works, of it within 5 µs of mattering
	Same              [2]int64 // ns of the path that are on the true path's rank
	On, Off           [2]int   // shortened on the path: the job ends earlier; off it: it does not

	Judged     int // steps
	Stragglers []ranks.Straggler
	Links      []ranks.Link
	Found      Finding
	Wrong      string  // what is wrong about one of several causes
	Cause      bool    // what was named is so for the reason that was planted
	Gain       float64 // of that, what it is said to gain at most, as a share of what the job gains without it; 0 where that is little, and where records are missing
}

// Finding is what became of what was planted.
type Finding uint8

// The findings.
const (
	Quiet  Finding = iota // nothing was planted that costs much, and nothing was found
	False                 // nothing was planted, and somebody is blamed
	Named                 // what was planted was found: kind and ranks
	Missed                // it was not
	Small                 // it costs too little to be asked for, or there are too few steps to tell
)

var findings = [...]string{"quiet", "false", "named", "missed", "small"}

func (f Finding) String() string { return findings[f] }

// Summaries makes the summaries of the ranks of a simulated job.
func Summaries(sim *testtrace.Job) ([]*ranks.Summary, error) {
	var list []*ranks.Summary
	for r := range sim.Ranks {
		if !sim.Ranks[r].Recorded {
			continue
		}
		s, err := summary(sim, int32(r))
		if err != nil {
			return nil, fmt.Errorf("rank %d: %w", r, err)
		}
		list = append(list, s)
	}
	return list, nil
}

func summary(sim *testtrace.Job, r int32) (*ranks.Summary, error) {
	tr, err := kineto.Parse(sim.JSON(r), sim.Ranks[r].File, kineto.Options{})
	if err != nil {
		return nil, err
	}
	g, err := graph.Build(tr, cdg.Options{})
	if err != nil {
		return nil, err
	}
	p, err := critpath.Exact(g)
	if err != nil {
		return nil, err
	}
	s := ranks.Summarize(g, p, ranks.Identity{Source: sim.Ranks[r].File, Rank: ranks.Rank(tr.Rank), By: "recorded"})
	replay.AddChains(s, g, nil)
	return s, s.Check()
}

// Judge puts a simulated job together and scores the result.
func Judge(sim *testtrace.Job) *Score {
	s := &Score{Options: sim.JobOptions, Planted: sim.Culprits}
	list, err := Summaries(sim)
	if err != nil {
		s.Err = err
		return s
	}
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err == nil {
		err = jobcheck.Check(j)
	}
	if err != nil {
		s.Err = err
		return s
	}
	t := &truth{sim: sim, job: j, score: s}
	t.clocks()
	s.Best = t.best()
	t.matching()
	t.path()
	t.effects()
	v := replay.Judge(j, ranks.Expected{})
	s.Judged, s.Stragglers, s.Links = v.Judged, v.Stragglers, v.Links
	s.Found = t.finding(v)
	t.reason(v)
	return s
}

// truth holds both sides.
type truth struct {
	sim   *testtrace.Job
	job   *ranks.Job
	score *Score
}

// clock is the true clock of a member.
func (t *truth) clock(member int32) *testtrace.JobClock {
	return &t.sim.Ranks[t.job.Members[member].Rank].Clock
}

// main is the first member of the largest component: the others have no time in common with it.
func (t *truth) main() int32 {
	count := map[int32]int{}
	first := map[int32]int32{}
	best := int32(-1)
	for m := range t.job.Members {
		c := t.job.Members[m].Clock.Component
		if count[c]++; count[c] == 1 {
			first[c] = int32(m)
		}
		if best < 0 || count[c] > count[best] {
			best = c
		}
	}
	return first[best]
}

// real is the true time of a time of the job, by the clock of the lowest rank of a component.
func (t *truth) real(ref int32, at int64) int64 {
	c := &t.job.Members[ref].Clock
	return t.clock(ref).True(local(c, at))
}

// local is the time of a rank at a time of the job.
func local(c *ranks.Clock, at int64) int64 {
	l := at + c.Offset
	for range 4 {
		l += at - c.Global(l)
	}
	return l
}

// clocks compares clocks at 21 moments of each window.
func (t *truth) clocks() {
	s, ref := t.score, t.main()
	s.Promised = true
	seen := map[int32]bool{}
	base := &t.job.Members[ref]
	for m := range t.job.Members {
		x := &t.job.Members[m]
		seen[x.Clock.Component] = true
		if x.Clock.Component != base.Clock.Component {
			continue
		}
		window := t.sim.Ranks[x.Rank].Window
		for k := range int64(21) {
			at := window[0] + (window[1]-window[0])*k/20
			mine, its := t.clock(int32(m)).Local(at), t.clock(ref).Local(at)
			d := x.Clock.Global(mine) - base.Clock.Global(its)
			d = max(d, -d)
			s.Promised = s.Promised && d <= x.Clock.Error+base.Clock.Error
			s.Clock = max(s.Clock, d)
		}
	}
	s.Components = len(seen)
}

// key is an operation: rank and event.
type key struct {
	rank  ranks.Rank
	event trace.EventID
}

// matching compares which operations are one collective, who came last, and who waited for how long.
func (t *truth) matching() {
	s := t.score
	of := map[key]int32{}
	for i := range t.sim.Instances {
		n := 0
		for _, m := range t.sim.Instances[i].Members {
			if t.sim.Ranks[m.Rank].Recorded && m.Event != trace.NoEvent {
				of[key{ranks.Rank(m.Rank), m.Event}] = int32(i)
				n++
			}
		}
		s.Recall[1] += n * (n - 1) / 2
	}
	for i := range t.job.Instances {
		in := &t.job.Instances[i]
		count := map[int32]int{}
		for _, r := range t.job.Of[in.First : in.First+in.N] {
			m := &t.job.Members[r.Member]
			if id, ok := of[key{m.Rank, m.Ops[r.Op].Event}]; ok {
				count[id]++
			}
		}
		s.Precision[1] += int(in.N) * int(in.N-1) / 2
		for id, n := range count {
			s.Precision[0] += n * (n - 1) / 2
			if n == int(in.N) {
				t.arrival(in, &t.sim.Instances[id])
			}
		}
	}
	s.Recall[0] = s.Precision[0]
}

// arrival scores a collective that was matched right, if all its members have records.
func (t *truth) arrival(in *ranks.Instance, x *testtrace.JobInstance) {
	s := t.score
	started := map[int32]int64{}
	for _, m := range x.Members {
		if !t.sim.Ranks[m.Rank].Recorded || m.Event == trace.NoEvent {
			return
		}
		started[m.Rank] = m.Start
	}
	if x.Coll == "broadcast" { // receivers wait for the root alone
		return
	}
	s.Last[1]++
	if x.Arrive-started[int32(t.job.Members[in.Last].Rank)] <= 2000 {
		s.Last[0]++
	}
	want := int64(0)
	for _, at := range started {
		want += x.Arrive - at
	}
	d := in.Wait - want
	s.Wait[0] += max(d, -d)
	s.Wait[1] += want
}

// path compares the path with the true one, and with what truly matters.
func (t *truth) path() {
	s, ref, k := t.score, t.main(), 0
	for i := range t.job.Path {
		seg := &t.job.Path[i]
		x := &t.job.Members[seg.Member]
		if x.Clock.Component != t.job.Members[ref].Clock.Component {
			continue
		}
		from, to := t.real(ref, seg.Start), t.real(ref, seg.End)
		for ; k < len(t.sim.Path) && t.sim.Path[k].End <= from; k++ {
		}
		for p := k; p < len(t.sim.Path) && t.sim.Path[p].Start < to; p++ {
			piece := &t.sim.Path[p]
			n := min(to, piece.End) - max(from, piece.Start)
			s.Same[1] += n
			if piece.Rank == int32(x.Rank) || piece.Instance >= 0 && seg.Instance >= 0 { // of a transfer all ranks take part
				s.Same[0] += n
			}
		}
		t.near(int32(x.Rank), seg, from, to)
	}
}

// near counts how much of a segment truly mattered, as far as somebody works in it.
func (t *truth) near(rank int32, seg *ranks.Segment, from, to int64) {
	s := t.score
	act := t.sim.ActOf(rank, seg.Event)
	if act < 0 || seg.Kind == critpath.MissingRank || seg.Kind == critpath.Unrecorded {
		return
	}
	whole := int64(0)
	for _, w := range t.sim.Work(act) {
		n := min(to, w.End) - max(from, w.Start)
		if n <= 0 {
			continue
		}
		whole += n
		if w.Slack <= 5000 {
			s.Near[0] += n
		}
	}
	if t.sim.Operation(act) { // time in which an operation only waits is no work of anybody
		start, end := t.sim.Bounds(act)
		whole = max(whole, min(to, end)-max(from, start))
	}
	s.Near[1] += whole
}

// effects shortens some work on the path, and some that is not on it.
func (t *truth) effects() {
	s := t.score
	rng := rand.New(rand.NewPCG(t.sim.Seed, 0x6566))
	on := map[int32]bool{}
	var segs []int
	for i := range t.job.Path {
		seg := &t.job.Path[i]
		if act := t.sim.ActOf(int32(t.job.Members[seg.Member].Rank), seg.Event); act >= 0 {
			on[act] = true
			segs = append(segs, i)
		}
	}
	ref := t.main()
	const tries = 6
	for n := 0; n < tries && len(segs) > 0; n++ {
		seg := &t.job.Path[segs[rng.IntN(len(segs))]]
		act := t.sim.ActOf(int32(t.job.Members[seg.Member].Rank), seg.Event)
		middle := t.real(ref, (seg.Start+seg.End)/2)
		for _, w := range t.sim.Work(act) {
			if w.Start <= middle && middle < w.End && w.End-w.Start >= 8000 {
				s.On[1]++
				if t.sim.Shorten(w, min((w.End-w.Start)/4, 20_000)) > 0 {
					s.On[0]++
				}
			}
		}
	}
	for n := 0; n < 20*tries && s.Off[1] < tries; n++ {
		act := int32(rng.IntN(t.sim.Acts()))
		if !t.sim.Shown(act) || on[act] {
			continue
		}
		if list := t.sim.Work(act); len(list) > 0 && list[0].End-list[0].Start >= 8000 {
			s.Off[1]++
			if t.sim.Shorten(list[0], min((list[0].End-list[0].Start)/4, 20_000)) == 0 {
				s.Off[0]++
			}
		}
	}
}

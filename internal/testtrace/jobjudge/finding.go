package jobjudge

import (
	"fmt"
	"slices"

	"overlay/internal/ranks"
	"overlay/internal/testtrace"
)

// asked is the share of the window that a cause has to cost before it has to be found.
const asked = 0.03

// finding compares who is blamed with who is to blame.
func (t *truth) finding(v *ranks.Verdict) Finding {
	c := &t.sim.Culprits
	blamed := len(v.Stragglers) > 0
	switch c.Kind {
	case "", "start": // a profiler that starts late is nobody's slowness
		if blamed {
			return False
		}
		return Quiet
	case "link":
		return t.link(v)
	case "set":
		return t.set(v)
	}
	shown := v.Judged >= 3
	if c.Kind == "persistent" {
		shown = v.Judged >= 2
		for _, r := range c.Ranks {
			shown = shown && t.sim.Ranks[r].Recorded
		}
	}
	right := false
	for i := range v.Stragglers {
		right = right || t.names(&v.Stragglers[i])
	}
	switch {
	case right:
		return Named
	case shown && c.Gain >= asked:
		return Missed
	case blamed && !shown:
		return False
	}
	return Small
}

// Shares of the window of several causes: from the first on one has to be named, below the second it must not be.
const (
	setAsked = 0.03
	setLeast = 0.002
)

// set compares several causes with those who are blamed: each that costs much is named, with what it is and from which step on, and nobody else is.
func (t *truth) set(v *ranks.Verdict) Finding {
	wrong := func(f Finding, format string, args ...any) Finding {
		t.score.Wrong = fmt.Sprintf(format, args...)
		return f
	}
	matter := false
	for i := range t.sim.Culprits.Set {
		p := &t.sim.Culprits.Set[i]
		first, last, n := int32(-1), int32(-1), 0
		for k := range v.Steps {
			if s := v.Steps[k].Number - testtrace.JobFirstStep; v.Steps[k].Whole && s >= p.From && s < p.To {
				n++
				last = s
				if first < 0 {
					first = s
				}
			}
		}
		if n < 2 || v.Judged < 3 || max(p.Alone, p.Stays) < setAsked {
			continue
		}
		matter = true
		var x *ranks.Straggler
		for k := range v.Stragglers {
			s := &v.Stragglers[k]
			for _, m := range s.Members {
				if s.Kind == ranks.Persistent && t.job.Members[m].Rank == ranks.Rank(p.Rank) && (x == nil || s.Cause.What == causes[p.Cause]) {
					x = s
				}
			}
		}
		switch {
		case x == nil:
			return wrong(Missed, "%+v in %d steps: not named", *p, n)
		case x.Cause.What != causes[p.Cause]:
			return wrong(Missed, "%+v: %s ×%.2f %+v", *p, x.Cause.What, x.Cause.Factor, x.Cause.Load)
		case x.Steps[0]-testtrace.JobFirstStep != first || x.Steps[len(x.Steps)-1]-testtrace.JobFirstStep != last:
			return wrong(Missed, "%+v: in steps %v", *p, x.Steps)
		}
	}
	for k := range v.Stragglers {
		for _, m := range v.Stragglers[k].Members {
			r := int32(t.job.Members[m].Rank)
			i := slices.IndexFunc(t.sim.Culprits.Set, func(p testtrace.JobPlanted) bool { return p.Rank == r })
			if i < 0 || max(t.sim.Culprits.Set[i].Alone, t.sim.Culprits.Set[i].Stays) < setLeast {
				return wrong(False, "rank %d: %s %s in %v, gains %v", r, v.Stragglers[k].Kind, v.Stragglers[k].Cause.What, v.Stragglers[k].Steps, i)
			}
		}
	}
	if !matter {
		return Small
	}
	return Named
}

// causes is what package ranks calls what was planted.
var causes = map[string]ranks.CauseKind{"gpu": ranks.SlowGPU, "host": ranks.SlowGPU, "cpu": ranks.SlowCPU, "data": ranks.DataLoading, "pauses": ranks.Pause,
	"input": ranks.InputSizes, "rows": ranks.MoreData, "stage": ranks.MoreWork}

// reason compares the cause of what was named, and what it is said to cost at most.
func (t *truth) reason(v *ranks.Verdict) {
	for i := range v.Stragglers {
		x := &v.Stragglers[i]
		if t.score.Found != Named || !t.names(x) {
			continue
		}
		t.score.Cause = x.Cause.What == causes[t.sim.Cause]
		if t.sim.Culprits.Gain >= asked && whole(t.score) {
			t.score.Gain = float64(x.Gain) / (t.sim.Culprits.Gain * float64(t.sim.End-t.sim.Start))
		}
	}
}

// names reports whether a straggler is what was planted.
func (t *truth) names(x *ranks.Straggler) bool {
	c := &t.sim.Culprits
	var members []int32
	for _, m := range x.Members {
		members = append(members, int32(t.job.Members[m].Rank))
	}
	slices.Sort(members)
	if c.Kind == "alternating" {
		return x.Kind == ranks.Alternating && (t.sim.Cause == "input" || !slices.ContainsFunc(members, func(r int32) bool { return !slices.Contains(c.Ranks, r) }))
	}
	return x.Kind == ranks.Persistent && slices.Equal(members, slices.Sorted(slices.Values(c.Ranks)))
}

// link: a slow link is found among sisters, and no rank is blamed for it.
func (t *truth) link(v *ranks.Verdict) Finding {
	if len(v.Stragglers) > 0 {
		return False
	}
	g := t.sim.Groups[t.sim.Culprits.Group]
	for i := range v.Links {
		if found := &t.job.Groups[v.Links[i].Group]; found.Name == g.Name || found.By == "times" && t.sameRanks(found.Ranks, g.Ranks) {
			return Named
		}
	}
	if len(v.Links) > 0 {
		return False
	}
	if t.linkShows() {
		return Missed
	}
	return Small
}

// sameRanks reports whether a group that was found by its times, as traces name none, is one of the job, as far as its ranks have traces.
func (t *truth) sameRanks(found []ranks.Rank, of []int32) bool {
	n := 0
	for _, r := range of {
		if t.sim.Ranks[r].Recorded {
			if n >= len(found) || found[n] != ranks.Rank(r) {
				return false
			}
			n++
		}
	}
	return n == len(found)
}

// linkShows reports whether the traces show the slow group and a sister of it three times each, complete.
func (t *truth) linkShows() bool {
	type class struct {
		coll  string
		elems int64
		size  int
		hosts bool
	}
	slow, others := map[class]int{}, map[class]int{}
	transfer := map[class]int64{}
	for i := range t.sim.Instances {
		in := &t.sim.Instances[i]
		c := class{in.Coll, in.Elems, len(in.Members), false}
		whole := true
		for _, m := range in.Members {
			whole = whole && t.sim.Ranks[m.Rank].Recorded && m.Event >= 0
			c.hosts = c.hosts || t.sim.Ranks[m.Rank].Host != t.sim.Ranks[in.Members[0].Rank].Host
		}
		switch {
		case !whole:
		case in.Group == t.sim.Culprits.Group:
			slow[c]++
			transfer[c] = max(transfer[c], in.Transfer)
		default:
			others[c]++
		}
	}
	for c, n := range slow {
		if n >= 4 && others[c] >= 4 && transfer[c] > 40_000 {
			return true
		}
	}
	return false
}

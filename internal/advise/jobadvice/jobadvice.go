// Package jobadvice says what would make a job of many ranks shorter: which rank, host, stage or link the others wait for, why, and by
// how much the job gets shorter at most. It finds nothing by itself: causes are those of replay.Judge, and time is that of the path
// over the ranks and of what was charged along it. What is wrong inside of a rank is what package advise finds in its trace.
//
// What stragglers cost package replay says. Times are int64 ns of the job's clock.
package jobadvice

import (
	"cmp"
	"slices"

	"overlay/internal/advise"
	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/tables"
)

// Advice is what was found over all ranks of a job.
type Advice struct {
	Window   int64            `json:"window_ns" unit:"ns"`
	Rules    int              `json:"rule_count" unit:"count" about:"how many were tried"`
	Findings []advise.Finding `json:"findings" about:"what the ranks wait for, most gain first, then transfers, then what the traces lack"`
	Below    []advise.Below   `json:"below" about:"what was found and gains too little to be listed"`

	worst Worst
}

// Worst is the rank to look into: the one that the largest finding blames, else the one with most time of the path.
func (a *Advice) Worst() Worst { return a.worst }

// Worst is the rank whose own trace says most about the job, with the reason.
type Worst struct {
	Member int32
	Why    string
}

// rule is one cause. What it says in general is data; find looks for it, once or several times, in a job.
type rule struct {
	id       string
	group    advise.Group
	kind     advise.Kind
	level    advise.Level
	blames   bool // its members are what the others wait for
	why      string
	title    string
	cause    string
	scenario string
	action   []string
	verify   string
	find     func(*look) []found
}

// found is one place in which a rule holds.
type found struct {
	members []int32
	gain    int64
	bound   bool // the gain is one, whatever the rule says
	unsure  bool // records are missing that the gain rests on
	do, saw string
	numbers []advise.Number
}

// minShare is the share of the window below which a finding is not listed, as for one trace.
const minShare = 0.01

// rules are all rules, in the order in which they are tried. They are made when asked for: a program without jobs leaves them out.
func rules() []rule { return slices.Concat(stragglerRules(), pathRules, noteRules) }

// IDs are the names of all rules.
func IDs() []string {
	var ids []string
	for _, r := range rules() {
		ids = append(ids, r.id)
	}
	return ids
}

// New lists what makes a job longer than it has to be; readable makes the names of kernels short.
func New(j *ranks.Job, v *ranks.Verdict, readable func(string) string) *Advice {
	l := &look{Job: j, verdict: v, readable: readable, window: j.Window[1] - j.Window[0]}
	rules := rules()
	a := &Advice{Window: l.window, Rules: len(rules), Findings: []advise.Finding{}, Below: []advise.Below{}}
	most := int64(0)
	for i := range rules {
		r := &rules[i]
		for _, f := range r.find(l) {
			share := tables.ShareOf(f.gain, l.window)
			if r.kind != advise.None && share < minShare {
				a.Below = append(a.Below, advise.Below{ID: r.id, Title: r.title, Share: share})
				continue
			}
			a.Findings = append(a.Findings, l.finding(r, &f))
			if r.blames && f.gain > most {
				most = f.gain
				a.worst = Worst{f.members[0], "the largest finding above names it"}
			}
		}
	}
	slices.SortStableFunc(a.Findings, func(x, y advise.Finding) int {
		return cmp.Or(cmp.Compare(order[x.Group], order[y.Group]), cmp.Compare(y.Gain, x.Gain))
	})
	if most == 0 {
		a.worst = l.busiest()
	}
	return a
}

// order is that of the groups in the list.
var order = map[advise.Group]int{advise.Specific: 0, advise.General: 1, advise.Note: 2}

// finding puts together what a rule says in general and what it found.
func (l *look) finding(r *rule, f *found) advise.Finding {
	out := advise.Finding{ID: r.id, Group: r.group, Title: r.title, Cause: r.cause, Kind: r.kind, Gain: f.gain, Alone: f.gain, Share: tables.ShareOf(f.gain, l.window),
		Confidence: r.level, Why: r.why, Do: f.do, Saw: f.saw, Action: r.action, Scenario: r.scenario, Verify: r.verify, Numbers: f.numbers,
		Events: []int{}, Examples: []advise.Example{}, Lines: []advise.Line{}}
	if f.bound {
		out.Kind, out.Scenario = advise.AtMost, boundScenario
	}
	if f.unsure {
		out.Confidence, out.Why = advise.Low, out.Why+"; records are missing, so that the job may gain more than that"
	}
	for _, m := range f.members {
		out.Ranks = append(out.Ranks, int(l.Members[m].Rank))
	}
	return out
}

// look is a job as the rules see it.
type look struct {
	*ranks.Job
	verdict  *ranks.Verdict
	readable func(string) string
	window   int64
}

// lacks reports whether records are missing without which a replay of the job takes waits for work: of kernels, or of collectives on some of their ranks.
func (l *look) lacks() bool {
	for m := range l.Members {
		if l.Lossy(int32(m)) {
			return true
		}
	}
	return float64(l.Matching.Complete) < (1-lackShare)*float64(l.Matching.Instances)
}

// arrivals are the collectives into which the path led on one of some members because that came last. Those that only show when
// recording began say nothing.
func (l *look) arrivals(members []int32) (list []int32) {
	for i := range l.Instances {
		in := &l.Instances[i]
		if in.Solved && !in.Skewed && in.Arrive > l.Window[0] && in.Arrive <= l.Window[1] && slices.Contains(members, in.Last) && l.onPath(in.Last, in.Arrive) {
			list = append(list, int32(i))
		}
	}
	return list
}

// onPath reports whether the path runs on a member at a time.
func (l *look) onPath(member int32, at int64) bool {
	i, _ := slices.BinarySearchFunc(l.Stays, at, func(s ranks.Stay, at int64) int { return cmp.Compare(s.End, at) })
	for ; i < len(l.Stays) && l.Stays[i].Start < at; i++ {
		if l.Stays[i].Member == member {
			return true
		}
	}
	return false
}

// pathTime is the recorded time of the path on some members, transfers apart.
func (l *look) pathTime(members []int32) (ns int64) {
	for i := range l.Path {
		s := &l.Path[i]
		if slices.Contains(members, s.Member) && s.Kind != critpath.Comm && s.Kind != critpath.Unrecorded && s.Kind != critpath.MissingRank {
			ns += s.End - s.Start
		}
	}
	return ns
}

// busiest is the member with most time of the path; where the ranks share nothing, that with the longest window.
func (l *look) busiest() Worst {
	if l.Matching.Instances == 0 {
		longest := 0
		for m := range l.Members {
			if l.Members[m].End-l.Members[m].Start > l.Members[longest].End-l.Members[longest].Start {
				longest = m
			}
		}
		return Worst{int32(longest), "it was recorded longest"}
	}
	best, most := int32(0), int64(-1)
	for m := range l.Members {
		if ns := l.pathTime([]int32{int32(m)}); ns > most {
			best, most = int32(m), ns
		}
	}
	return Worst{best, "most of the path runs on it"}
}

package report

import (
	"cmp"
	"math"
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// JobSource is what the report of a job is made of.
type JobSource struct {
	Name     string // of what was read
	Version  string
	Job      *ranks.Job
	Verdict  *ranks.Verdict
	Captures int
	Ignored  []Ignored
	Notes    []string
	Segments bool // with the walk, and each collective
	Unnamed  bool // without the names of files
}

// NewJob makes the report of a job.
func NewJob(s JobSource) *JobReport {
	b := &jobBuilder{JobSource: s, j: s.Job}
	r := &JobReport{Schema: JobSchema, Tool: Tool{"overlay", s.Version}, Method: "exact", name: s.Name, threads: s.Job.Members[0].Threads, judged: s.Verdict.Judged, done: doneInJob(s.Job)}
	j := b.j
	for m := range j.Members {
		if j.Members[m].Threads != r.threads {
			r.threads = "gil and explicit"
		}
	}
	for i := range s.Verdict.Idle {
		s.Notes = append(s.Notes, b.j.Note(&s.Verdict.Idle[i]))
	}
	if n := b.j.Matching.Undone; n > 0 {
		s.Notes = append(s.Notes, tables.Counted(n, "matched collective")+" taken apart: somebody left before the last one came, by more than clocks may be off")
	}
	r.Headline = b.j.Headline(s.Verdict)
	r.Job = Job{World: j.World, Ranks: b.ranks(), Missing: make([]int, 0, len(j.Missing)), Ignored: append([]Ignored{}, s.Ignored...), Notes: append([]string{}, s.Notes...),
		Captures: max(s.Captures, 1), Window: windowOf(j), Groups: b.groups(), Matching: b.matching(),
		Clock: b.clock(), Path: b.path(), Waits: b.waits(), Steps: b.steps(), Stragglers: b.stragglers(), Links: b.links(), Bandwidth: b.bandwidth()}
	for _, m := range j.Missing {
		r.Job.Missing = append(r.Job.Missing, int(m))
	}
	b.collectives(&r.Job)
	return r
}

func windowOf(j *ranks.Job) JobWindow {
	w := JobWindow{j.Window[0], j.Window[1], j.Window[1] - j.Window[0], nil}
	if j.Step >= 0 {
		n := int(j.Step)
		w.Step = &n
	}
	return w
}

func (b *jobBuilder) ranks() []Rank {
	j := b.j
	out := make([]Rank, len(j.Members))
	for m := range j.Members {
		x := &j.Members[m]
		c := &x.Clock
		out[m] = Rank{Rank: int(x.Rank), RankBy: x.RankBy, Source: x.Source, Host: x.Host, Device: int(x.Device), Events: x.Events,
			Window: Span{x.Start, x.End}, Wait: j.Waits.ByMember[m].Waited, Caused: j.Waits.ByMember[m].Caused, ByClass: map[string]int64{},
			Clock: RankClock{Mid: c.Mid, Offset: c.Offset, Drift: int64(math.Round(c.Drift * 1_000_000_000)), Error: c.Error, Observations: c.Observations, Component: int(c.Component)}}
		if b.Unnamed {
			out[m].Source = "rank " + tables.Plain(int64(x.Rank))
		}
		if j.Matching.Instances == 0 {
			own := j.Own(int32(m))
			out[m].OwnByClass = classes(&own)
		}
	}
	for i := range j.Path {
		s := &j.Path[i]
		out[s.Member].Path += s.End - s.Start
		out[s.Member].ByClass[s.Kind.Class().String()] += s.End - s.Start
	}
	for i := range j.Jumps {
		out[j.Jumps[i].From].Ceiling += j.Jumps[i].Exclusive
	}
	return out
}

func (b *jobBuilder) groups() []JobGroup {
	out := []JobGroup{}
	for i := range b.j.Groups {
		g := &b.j.Groups[i]
		x := JobGroup{ID: i, Name: g.Name, Desc: g.Desc, Ranks: make([]int, 0, len(g.Ranks)), By: g.By, Count: g.Ops}
		for _, r := range g.Ranks {
			x.Ranks = append(x.Ranks, int(r))
		}
		out = append(out, x)
	}
	return out
}

func (b *jobBuilder) matching() Matching {
	m := &b.j.Matching
	out := Matching{Instances: m.Instances, Complete: m.Complete, Partial: m.Instances - m.Complete, Unmatched: m.Unmatched,
		By: map[string]int{}, Tokens: m.Tokens}
	for by, n := range m.By {
		if n > 0 {
			out.By[ranks.MatchBy(by).String()] = n
		}
	}
	return out
}

func (b *jobBuilder) clock() JobClock {
	c := &b.j.Clocks
	out := JobClock{P50: c.P50, P90: c.P90, Violations: c.Violations, Components: c.Components, Largest: c.Largest, Trusted: c.Trusted}
	for m := range b.j.Members {
		out.Error = max(out.Error, b.j.Members[m].Clock.Error)
	}
	return out
}

func (b *jobBuilder) path() JobPath {
	j := b.j
	out := JobPath{Duration: j.Window[1] - j.Window[0], ByClass: map[string]int64{}, JumpCount: len(j.Jumps), Edges: []JobEdge{}}
	var class [critpath.NumClasses]int64
	by := make([]int64, len(j.Members))
	for i := range j.Path {
		s := &j.Path[i]
		ns := s.End - s.Start
		class[s.Kind.Class()] += ns
		switch s.Kind {
		case critpath.Unrecorded:
			out.Unrecorded += ns
		case critpath.MissingRank:
			out.Missing += ns
		}
		by[s.Member] += ns
		st := Stay{b.rank(s.Member), s.Start, s.End, s.Kind == critpath.Unrecorded || s.Kind == critpath.MissingRank}
		if n := len(out.Stays); n > 0 && out.Stays[n-1].Rank == st.Rank && out.Stays[n-1].Unknown == st.Unknown {
			out.Stays[n-1].End = st.End
		} else {
			out.Stays = append(out.Stays, st)
		}
		if b.Segments {
			seg := JobSegment{Rank: b.rank(s.Member), Start: s.Start, End: s.End, Kind: s.Kind.String(), Name: j.Members[s.Member].Names[s.Name]}
			if s.Event != trace.NoEvent {
				e := int32(s.Event)
				seg.Event = &e
			}
			if s.Instance >= 0 {
				n := s.Instance
				seg.Instance = &n
			}
			out.Segments = append(out.Segments, seg)
		}
	}
	known := class // of what is not recorded nothing can be said
	known[critpath.ClassUntraced] -= out.Unrecorded + out.Missing
	out.BoundBy = critpath.BoundBy(&known).String()
	out.ByClass = classes(&class)
	out.ByRank = make([]RankTime, 0, len(by))
	for m, ns := range by {
		if ns > 0 {
			out.ByRank = append(out.ByRank, RankTime{b.rank(int32(m)), ns})
		}
	}
	slices.SortStableFunc(out.ByRank, func(x, y RankTime) int { return cmp.Compare(y.NS, x.NS) })
	for _, x := range j.Jumps {
		out.Edges = append(out.Edges, JobEdge{int(x.Instance), b.rank(x.From), b.rank(x.To), j.Instances[x.Instance].Arrive, x.Exclusive})
	}
	return out
}

func (b *jobBuilder) waits() JobWaits {
	w := &b.j.Waits
	out := JobWaits{Total: w.Total, Once: w.Once, Ratio: tables.ShareOf(w.Once, w.Time), Charged: []Charge{}, Transfer: w.Transfer, Unrecorded: w.Unrec, Missing: w.Missing, Artefacts: w.Skewed}
	for _, c := range w.Charged {
		out.Charged = append(out.Charged, Charge{b.rank(c.Member), c.Class.String(), b.j.Members[c.Member].Names[c.Name], c.NS})
	}
	return out
}

// manyRanks is from how many ranks on matrices are given for whole steps only.
const manyRanks = 1024

func (b *jobBuilder) steps() []JobStep {
	out := []JobStep{}
	for i := range b.Verdict.Steps {
		s := &b.Verdict.Steps[i]
		x := JobStep{Number: int(s.Number), Type: s.Type.String(), Start: s.Start, Duration: s.Duration, Whole: s.Whole, Bad: s.Bad, ByRank: StepRanks{s.Own, s.Wait, s.Excess, s.Caused}}
		if !s.Whole && len(s.Own) > manyRanks {
			x.ByRank = StepRanks{[]int64{}, []int64{}, []int64{}, []int64{}}
		}
		out = append(out, x)
	}
	return out
}

func (b *jobBuilder) stragglers() []Straggler {
	out := []Straggler{}
	for i := range b.Verdict.Stragglers {
		s := &b.Verdict.Stragglers[i]
		x := Straggler{Kind: string(s.Kind), Unit: s.Unit, Name: s.Name, Excess: s.Excess, Share: s.Share, Cause: string(s.Cause.What), Factor: s.Cause.Factor,
			Load: s.Cause.Load.Times, LoadBy: s.Cause.Load.By(), Ranks: []int{}, Steps: []int{}, Names: []NameExcess{}}
		x.Gain, x.Stays, x.Bound, x.Both, x.Gains = s.Gain, s.Stays, s.Bound, s.Both, b.j.GainWords(b.Verdict, i)
		if s.With >= 0 {
			x.With = b.j.Who(&b.Verdict.Stragglers[s.With])
		}
		x.StepGain, x.StepShare = s.PerStep(s.Worth())
		if from := int(s.From); from >= 0 {
			x.From = &from
		}
		if until := int(s.Until); until >= 0 {
			x.Until = &until
		}
		for _, m := range s.Members {
			x.Ranks = append(x.Ranks, b.rank(m))
		}
		for _, n := range s.Steps {
			x.Steps = append(x.Steps, int(n))
		}
		for _, n := range s.Names {
			x.Names = append(x.Names, NameExcess{n.Name, n.NS})
		}
		out = append(out, x)
	}
	return out
}

func (b *jobBuilder) links() []Link {
	out := []Link{}
	for _, l := range b.Verdict.Links {
		name := l.Coll.String()
		if l.Bytes > 0 {
			name += " " + tables.FormatBytes(l.Bytes)
		}
		out = append(out, Link{name, int(l.Group), l.Topology, l.Median, l.Best, float64(l.Median) / float64(max(l.Best, 1))})
	}
	return out
}

func (b *jobBuilder) bandwidth() []Bandwidth {
	out := []Bandwidth{}
	for _, x := range b.Verdict.Bandwidth {
		out = append(out, Bandwidth{x.Coll.String(), x.Topology, x.Size, x.Bytes, x.Count, x.Median, x.Best, x.Expected})
	}
	return out
}

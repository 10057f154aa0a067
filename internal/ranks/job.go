package ranks

import (
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/trace"
)

// Gathered is the ranks of a job side by side, and which of their groups are one: what is known before anything is matched.
type Gathered struct {
	Members []Member // by rank
	World   int      // ranks of the job, with or without a trace; 0 when not known
	Missing []Rank   // of those, the ones without a trace
	Groups  []JobGroup
}

// Matched is a job of which it is known which operations are one collective, and the clock of each rank.
type Matched struct {
	Gathered
	Instances []Instance // by group, then by order in it
	Of        []Ref      // CSR: who takes part in instance i is Of[Instances[i].First:][:Instances[i].N], by rank
	Matching  Matching
	Clocks    ClockQuality
}

// Clocked is a job on one clock: of each collective it is known who came when, and who waited how long.
type Clocked struct {
	Matched
}

// Job is all ranks of a job on one clock, with the path through them in a window.
type Job struct {
	Clocked
	Window [2]int64 // analysed: of the job, or of the step
	Step   int32    // the step, -1 for the whole job
	Path   []Segment
	Jumps  []Jump // of the path from one rank to another, in order of time
	Stays  []Stay // the path cut at its jumps, in order of time
	Waits  Waits
}

// Member is one rank with a trace.
type Member struct {
	*Summary
	Clock Clock
	Start int64   // of the rank's window on the job's clock
	End   int64   // of it
	In    []int32 // per operation: its instance, -1
	group []int32 // per group of the summary: the group of the job
}

// Where is where a rank runs, in brackets behind its name: the host, and the number of its device there; empty where the host is not known.
func Where(host string, device int) string {
	switch {
	case host == "":
		return ""
	case device < 0:
		return " (" + host + ")"
	}
	return " (" + host + ", GPU " + itoa(device) + ")"
}

// Where is where the rank runs.
func (m *Member) Where() string { return Where(m.Host, int(m.Device)) }

// GroupOf is the group of the job that a kind of operations of the rank is of.
func (m *Member) GroupOf(kind int32) int32 { return m.group[m.Kinds[kind].Group] }

// JobGroup is a communicator of the job.
type JobGroup struct {
	Name, Desc string
	Ranks      []Rank // ascending; those seen when they are not recorded
	Size       int    // with ranks that are not seen
	Known      bool   // all members are known, seen or not
	By         string // how: args, config, stride, or times
	Ops        int
}

// Ref is an operation of a member.
type Ref struct{ Member, Op int32 }

// MatchBy says how the operations of an instance were found to be one.
type MatchBy uint8

// The ways.
const (
	BySeq   MatchBy = iota // their numbers were recorded
	ByOrder                // step, kind and order, confirmed by when they end
	ByTimes                // by when they end alone
	numMatchBy
)

var matchNames = [numMatchBy]string{"seq", "order", "times"}

func (b MatchBy) String() string { return matchNames[b] }

// Instance is one collective: operations of two or more ranks. Times are on the job's clock.
type Instance struct {
	Group   int32
	First   int32 // into Job.Of
	N       int32
	Missing int32 // members without an operation: no trace, other window, lost record
	Kind    int32 // of the first member, index into its Kinds
	Step    int32 // the step of most members, -1
	Coll    Coll
	By      MatchBy
	Solved  bool // clocks of all members are solved: they belong to one component
	Skewed  bool // a quarter of what was waited for here was not recorded: it says when recording began, and nothing of the job

	Last     int32 // member that started last
	Arrive   int64 // when it did
	Second   int64 // when the one before it did
	Transfer int64 // from Arrive to the first end
	Wait     int64 // sum of the members' waits
}

// Matching counts what became of the operations.
type Matching struct {
	Instances int // of two or more members
	Complete  int // of those: no member is missing
	Unmatched int // operations in no instance
	Undone    int // instances that could not be one collective, and were taken apart
	By        [numMatchBy]int
	Tokens    int // instances whose members disagree about what they did
}

// Clock turns times of a rank into times of the job: t - Offset - Drift·(t - Mid). Mid is local; Offset is whole ns, so that a clock that is set
// differently gives the same job to the ns.
type Clock struct {
	Mid, Offset  int64
	Drift        float64
	Error        int64 // ns, that the solution may be off by
	Observations int
	Component    int32 // ranks that share collectives, directly or through others, are in one
}

// ClockQuality is what the solution of all clocks is worth.
type ClockQuality struct {
	P50, P90   int64 // of the residuals, ns
	Violations int   // instances that somebody left before the last one came
	Components int
	Largest    int64 // correction, ns
	Trusted    bool  // clocks were taken as they are
}

// Segment is a piece of the path on the job's clock. Event is a position in the rank's trace.
type Segment struct {
	Start, End int64
	Member     int32
	Instance   int32 // of a transfer or a wait for a missing rank, -1
	Event      trace.EventID
	Name       Name
	Kind       critpath.SegmentKind
}

// Jump is a step of the path from the rank that waited in a collective to the one that it waited for.
type Jump struct {
	Instance  int32
	From, To  int32 // members, in order of time: the path comes From the last to arrive and goes on To the other
	At        int64
	Exclusive int64 // by which From came later than the second to last: the most that it alone can gain here
}

// Stay is a stretch of the path on one rank. It is a part of the walk back from the start of one of its operations, the last to
// arrive in the collective in which the path leaves the rank, or from the end of its window.
type Stay struct {
	Start, End int64
	Member     int32
	Op         int32 // len(Ops) for the end of the window
}

// Waits is for what ranks waited in collectives, in rank-time.
type Waits struct {
	Total    int64
	Once     int64 // the same where a rank that waits in several collectives at once counts once
	Time     int64 // of all ranks in the window, the whole of which Once is a part
	Charged  []Charge
	Transfer int64 // waited while another collective was transferring
	Unrec    int64 // waited while a rank worked before its trace began
	Missing  int64 // waited for ranks without a trace
	ByMember []MemberWait
	ByStep   map[int32][]int64 // by the number of the step: what others waited for each member
	Skewed   int64             // of Total: in collectives that show how recording began
}

// Charge is rank-time that others waited for work of one name on one rank.
type Charge struct {
	Member int32
	Name   Name
	Class  critpath.Class
	NS     int64
}

// MemberWait is what a rank waited, and what others waited for it.
type MemberWait struct{ Waited, Caused int64 }

// Global is a time of the rank on the job's clock.
func (c *Clock) Global(t int64) int64 {
	g := t - c.Offset
	if c.Drift != 0 {
		g -= int64(c.Drift * float64(t-c.Mid))
	}
	return g
}

// refs are the operations of an instance.
func (j *Matched) refs(i int) []Ref {
	in := &j.Instances[i]
	return j.Of[in.First : in.First+in.N]
}

// device reports whether the rank has a device.
func (m *Member) device() bool {
	return slices.ContainsFunc(m.Steps, func(s Step) bool { return s.BusyGPU > 0 })
}

// lostShare is the share of the kernels of a rank from which on it counts that they have no record.
const lostShare = 0.01

// Lossy reports whether the trace of a member lacks a part of its kernels.
func (j *Gathered) Lossy(member int32) bool {
	x := &j.Members[member]
	kernels := 0
	for i := range x.Spent {
		if !x.Spent[i].Host {
			kernels += int(x.Spent[i].Calls)
		}
	}
	return float64(x.Quality[lostKernels]) > lostShare*float64(kernels)
}

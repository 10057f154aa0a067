package ranks

import (
	"overlay/internal/trace"
)

// Verdict is what is wrong with a job.
type Verdict struct {
	Steps      []JobStep   // by start
	Judged     int         // steps that are whole on every rank
	Stragglers []Straggler // what costs most first
	Idle       []Straggler // slower than their peers, and nobody waits for them
	Links      []Link
	Bandwidth  []Bandwidth
}

// JobStep is a step over all ranks. The lists have one entry a member: own work, waits in collectives, and work beyond
// that of its peers.
type JobStep struct {
	Number          int32
	Type            trace.IterationType // of the iterations of a server
	Start, Duration int64
	Whole           bool // every rank recorded all of it
	Bad             bool // much longer than the others
	Own, Wait       []int64
	Caused          []int64 // of each member, what others waited for it in collectives of the step, in rank-time
	Excess          []int64

	gpu, host []int64            // of Excess
	over      [numWheres][]int64 // of the work of a member on a side what its peers do not do, wherever its path is
	more      [2][]int64         // of the device and of threads, what a member did more than its peers, or less: below 0
	longest   int64              // of the ranks' own steps; more than Duration where threads run ahead of the device
}

// Blame is how much of a step each other rank waited for some members, on the average.
func (s *JobStep) Blame(members ...int32) float64 {
	sum := int64(0)
	for _, m := range members {
		sum += s.Caused[m]
	}
	return float64(sum) / float64(max(s.Duration, 1)) / float64(max(len(s.Caused)-1, 1))
}

// StragglerKind says when a straggler is slow.
type StragglerKind string

// The kinds.
const (
	Persistent  StragglerKind = "persistent"  // in most steps the same one
	Alternating StragglerKind = "alternating" // by turns
	OneOff      StragglerKind = "one_off"
)

// Straggler is a rank, or several that belong together, with more work than its peers that also shows on its own path. The peers of a stage are the other stages.
type Straggler struct {
	Kind    StragglerKind
	Unit    string // rank, host, group, stage
	Name    string // of the unit, "" for ranks
	Members []int32
	Steps   []int32 // in which it hits; of a persistent one all from the first to the last
	Who     []int32 // of Steps: the member with most; nil of a stage
	From    int32   // the first of Steps where the ones before were judged too, else -1
	Until   int32   // the last of Steps where later ones were judged too, else -1
	Excess  int64   // sum over those steps
	Share   float64 // of their durations
	Cause   Cause
	Names   []NameExcess

	// What Weigh finds.
	Gain   int64 // by how much the job ends earlier without it alone
	Stays  int64 // by how much less earlier without all others than without all: what it costs if it alone stays
	Both   int64 // where Gain is little, by how much without it and With, if that is much
	With   int   // place of that one in the list, -1 for none
	Spared int64 // of one whose work others would have to do: Gain if nobody had to
	Bound  bool  // nothing was replayed: Gain and Stays are no more than this

	Count int   // steps over which these spread, those among them that are not whole
	step  int64 // how long one of Steps is, on the average
	plain bool  // nothing says where it is slow
}

// Worth is what a straggler costs the job: where another one is as slow, it gains nothing to mend it alone.
func (s *Straggler) Worth() int64 { return max(s.Gain, s.Stays) }

// PerStep is an amount of the job for each step in which a straggler hits, and as a share of such a step.
func (s *Straggler) PerStep(ns int64) (int64, float64) {
	each := ns / int64(max(s.Count, 1))
	return each, float64(each) / float64(max(s.step, 1))
}

// NameExcess is what one name took beyond what it takes the peers.
type NameExcess struct {
	Name string
	NS   int64
}

// Expected are bus bandwidths that are known, GB/s: of links within a host and between hosts; 0 when not.
type Expected struct{ Intra, Inter float64 }

// Link is a class of collectives in which one group takes longer than its sisters.
type Link struct {
	Coll     Coll
	Bytes    int64
	Topology string
	Group    int32
	Median   int64 // ns
	Best     int64 // of its sisters: the median of the medians of groups with as many instances
	Count    int
}

// Bandwidth is what collectives of about one size reach. Rates are bus bandwidths: what each link carries, whatever the
// number of ranks.
type Bandwidth struct {
	Coll     Coll
	Topology string // intra (one host), inter (several), unknown
	Size     int    // ranks
	Bytes    int64  // the power of two up to which
	Count    int
	Median   float64 // GB/s
	Best     float64
	Expected float64 // as given, else the best median of the topology in this job
}

// Cause is a reason with what it rests on.
type Cause struct {
	What   CauseKind
	OnHost bool    // work of threads, else of the device
	Factor float64 // by which work takes longer than that of the peers
	Load   Load
}

// vague reports whether a cause says nothing of who has it by turns: all that threads do takes longer, or many things do, each time other ones.
func (c *Cause) vague() bool { return c.What == SlowCPU || c.What == MoreWork && c.OnHost }

// CauseKind is why somebody has more work than its peers.
type CauseKind string

// The causes.
const (
	SlowGPU     CauseKind = "gpu_slow"     // kernels take longer by one factor
	SlowCPU     CauseKind = "cpu_slow"     // host work does
	DataLoading CauseKind = "data_loading" // batches come late
	Pause       CauseKind = "pause"        // one thing on the host takes long once, as with garbage collection
	InputSizes  CauseKind = "input_sizes"  // kernels take longer by another factor in each step, or inputs say that there is more to do by turns
	MoreData    CauseKind = "more_data"    // inputs say that there is more to do
	MoreWork    CauseKind = "more_work"    // nothing of these
)

// Load compares what a straggler was given to do with what its peers were, by what decides how much it is and not by how long it took.
type Load struct {
	Times  float64 // that of the peer in the middle, each operator as it weighs there; 0 where nothing tells
	Shapes bool    // shapes of inputs tell; else the grids of kernels do
	Name   string  // of the operator that adds most
	Most   float64 // times what the peer in the middle was given of that
	Unit   Unit    // in which Most counts

	explains bool // most of what takes longer takes longer because of that
}

// Shares of a load.
const (
	evenLoad  = 0.02 // by which loads may differ and still be about equal
	toldShare = 0.5  // of what takes longer, that has to be told before it is said why
)

// Equal reports whether inputs say that the straggler was given as much as its peers.
func (l *Load) Equal() bool {
	return l.Times > 0 && l.Shapes && l.Times-1 < evenLoad && 1-l.Times < evenLoad
}

// By is what tells: shapes, grids or nothing.
func (l *Load) By() string {
	switch {
	case l.Times == 0:
		return ""
	case l.Shapes:
		return "shapes"
	}
	return "grids"
}

// where says where a rank has more work than its peers.
type where uint8

const (
	onDevice where = iota
	onThreads
	onBoth // together, where neither alone is much
	numWheres
)

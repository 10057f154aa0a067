// Package coarse says who slows a job of which only coarse records are kept: one for each operation of a rank in a step, such as a
// forward pass of a micro-batch, a send, an all-reduce. It knows no format.
//
// # The model
//
// Each step is replayed by itself. An operation starts when all operations of its rank that had ended before it have ended; of those
// that overlap none waits for the other. Operations that meet, the two ends of a transfer in a pipeline or the members of a collective,
// end a transfer after the last of them that had started by then. With the time that was recorded between the records of a rank
// the replay gives every recorded start and end, to the ns; without it, only the work, the transfers and the waiting remain. All
// questions are asked of the latter.
//
// # The questions
//
// An even operation takes the mean of its kind where it is work of a rank, so that all the work is still done, and the median where it
// is a transfer, over all steps, ranks and stages. The slowdown of a job is the time of its steps over their time with even operations; that of
// a stage, a replica or a kind has only its own operations as recorded. These are the definitions of "Understanding Stragglers in Large Model Training Using What-if Analysis"
// (OSDI '25), whose published results for real jobs are a test. Of a rank it is the smaller one of its stage and its replica.
package coarse

import (
	"cmp"
	"slices"
	"strings"
)

// Record is an operation of a rank in a step. Times are ns on a clock that all ranks of a step share.
type Record struct {
	Start, Duration      int64
	Step                 int64
	Rank, Stage, Replica int32 // Replica is its place among the ranks of a stage, -1 where the records do not say
	Kind                 int32 // in Job.Kinds
}

// Job is the records of a job, in any order.
type Job struct {
	Records []Record
	Kinds   []string
}

// meeting says which ranks the operations of a kind meet, in order: the first one of each, the second one of each, ….
type meeting uint8

const (
	alone   meeting = iota
	inStage         // the replicas of a stage
	inChain         // the stages of a replica
	everyone
	forward // across the border between two stages, whichever side it is; backward has its own transfers there
	backward
)

// kind is what is known of operations by their name.
type kind struct {
	meets    meeting
	below    bool // it crosses the border to the stage before its own
	transfer bool // it is work otherwise
}

// kindOf knows a kind by its name in Megatron-LM's schedule of a pipeline. Gradients of embeddings belong to the first and the last stage, which alone
// have records of them; those of layer norms are summed within the tensor-parallel group, which is one rank here; clipping needs the norm of all gradients.
// A collective that is not listed is one of data parallelism.
func kindOf(name string) kind {
	switch name {
	case "forward-send", "forward-recv":
		return kind{forward, name == "forward-recv", true}
	case "backward-send", "backward-recv":
		return kind{backward, name == "backward-send", true}
	case "embedding-grads-all-reduce":
		return kind{inChain, false, true}
	case "layernorm-grads-all-reduce":
		return kind{alone, false, true}
	case "optimizer-clip-main-grad":
		return kind{everyone, false, true}
	}
	for _, word := range [...]string{"all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "barrier"} {
		if strings.Contains(name, word) {
			return kind{inStage, false, true}
		}
	}
	return kind{}
}

// place numbers replicas where the records do not: by rank, within a stage.
func (j *Job) place() {
	if !slices.ContainsFunc(j.Records, func(r Record) bool { return r.Replica < 0 }) {
		return
	}
	type at struct{ stage, rank int32 }
	of := map[at]int32{}
	for i := range j.Records {
		of[at{j.Records[i].Stage, j.Records[i].Rank}] = 0
	}
	list := make([]at, 0, len(of))
	for a := range of {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b at) int { return cmp.Or(cmp.Compare(a.stage, b.stage), cmp.Compare(a.rank, b.rank)) })
	for i, n := range list {
		if i > 0 && list[i-1].stage == n.stage {
			of[n] = of[list[i-1]] + 1
		}
	}
	for i := range j.Records {
		j.Records[i].Replica = of[at{j.Records[i].Stage, j.Records[i].Rank}]
	}
}

// steps are the steps of a job in order, each ready to be replayed.
func (j *Job) steps(kinds []kind) []*step {
	j.place()
	slices.SortStableFunc(j.Records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Duration, b.Duration),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Replica, b.Replica))
	})
	var last int32
	for i := range j.Records {
		last = max(last, j.Records[i].Stage)
	}
	var list []*step
	for rest := j.Records; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Step == rest[0].Step {
			n++
		}
		list = append(list, newStep(rest[:n], kinds, last))
		rest = rest[n:]
	}
	return list
}

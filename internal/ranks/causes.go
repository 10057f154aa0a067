package ranks

import (
	"overlay/internal/tables"
)

// Reason is a cause in words, for the text, the page, the picture and the advice.
type Reason struct {
	Kind     CauseKind
	When     StragglerKind // only of this kind; of all where it is empty
	Stage    bool          // only of stages of a pipeline
	Rule     string        // of the advice
	Words    string        // what it is called
	Times    bool          // with the factor behind the words
	In       bool          // with the name that takes most behind the words
	Given    bool          // what its members are given to do speaks for or against it
	Even     bool          // somebody has to do the work: what dealing it out gains
	Title    string
	What     string   // what it is, a sentence without an end
	Evidence string   // by what it is known
	Do       []string // the first thing first
	Verify   string
}

// Reasons are those of all causes. The first that fits a straggler holds.
var Reasons = []Reason{
	{Kind: MoreWork, Stage: true, Rule: "stage-more-work", Words: "more GPU work than the other stages", Title: "a stage of the pipeline has more work than the others",
		What: "a pipeline is as fast as its slowest stage", Evidence: "the GPUs of the stage are busy longer than those of the other stages",
		Do: []string{"move layers to other stages; the first and the last have the embeddings and the loss"}, Verify: "the GPUs of all stages are busy for about as long"},
	{Kind: SlowGPU, Rule: "rank-gpu-slow", Words: "GPU slow", Times: true, Given: true, Title: "a GPU is slower than the others",
		What: "all its kernels take longer by one factor, and in each collective the others wait for it", Evidence: "most kernels of the rank take longer by one factor",
		Do: []string{"on its host: nvidia-smi -q -d CLOCK,PERFORMANCE,TEMPERATURE, or rocm-smi --showclocks; look for another job on the card",
			"swap its card with another rank's: does the slowness move with it?"}, Verify: "its kernels take as long as those of the other ranks"},
	{Kind: SlowCPU, Rule: "rank-cpu-slow", Words: "CPU slow", Times: true, Given: true, Title: "the CPU of a rank is slower than the others",
		What: "all its host work takes longer, and in each collective the others wait for it", Evidence: "most host work of the rank takes longer by one factor",
		Do: []string{"on its host: look for other load on its cores, for its frequency governor, and for cores on the other socket (numactl --cpunodebind)",
			"fewer workers of the data loader than cores"}, Verify: "its operators take as long as those of the other ranks"},
	{Kind: DataLoading, Rule: "rank-data-late", Words: "data loading", Title: "batches of a rank come late",
		What: "it waits for its data loader, and in the next collective all others wait for it", Evidence: "most of its additional work is the data loader's",
		Do: []string{"look at its files, its disk and its network: are its shards larger, or farther away?", "more num_workers or prefetch_factor"}, Verify: "the data loader takes as long as on the other ranks"},
	{Kind: Pause, When: Persistent, Rule: "rank-stops", Words: "pause", In: true, Title: "a rank stops in each step, at the same place",
		What: "it stops there in each step, and in the next collective the others wait for it", Evidence: "one thing on the host takes long in each step, and not on the others",
		Do:     []string{"look at what it does there alone: a checkpoint, logging, metrics, a lock or a sleep on one rank", "do that on a thread of its own, or every N steps"},
		Verify: "the slice takes as long as on the other ranks"},
	{Kind: Pause, Rule: "rank-pauses", Words: "pause", In: true, Title: "ranks stop for a while, each at another time",
		What: "while one stops all wait; with many ranks somebody always does", Evidence: "one thing on the host takes long once in a step, and not on the others",
		Do:     []string{"gc.disable() after warm-up, and gc.collect() every N steps on all ranks in the same step", "look for paging, checkpoints and logging on one rank at a time"},
		Verify: "no slice of the host takes long on one rank alone"},
	{Kind: InputSizes, Rule: "rank-inputs-uneven", Words: "unequal inputs", Given: true, Even: true, Title: "ranks get unequal inputs",
		What: "the kernels of the rank with the largest batch take longest, and the others wait for it", Evidence: "the factor by which kernels take longer changes from step to step, or the shapes of inputs do",
		Do:     []string{"sort samples into batches of about one length, so that all ranks have about as many tokens in a step", "pad or pack to one size"},
		Verify: "compute of a step takes about as long on each rank"},
	{Kind: MoreData, Rule: "rank-more-data", Words: "given more", Given: true, Even: true, Title: "a rank is given more than the others",
		What: "its inputs are larger, so it takes longer, and in each collective the others wait for it", Evidence: "its operators are given more, and that is most of what they take longer",
		Do: []string{"give each rank as many rows or tokens in a step: DistributedSampler with drop_last=True, or a batch sampler that sorts by length and counts tokens",
			"uneven shards of embeddings or experts: move tables, or set a capacity for experts", "pad or pack to one size"}, Verify: "the shapes of inputs are about the same on each rank"},
	{Kind: MoreWork, Rule: "rank-more-work", Words: "more work than its peers", Title: "a rank does more than its peers",
		What: "in each collective the others wait for it", Evidence: "its work is more than that of its peers, and no simpler cause fits",
		Do: []string{"look at what takes longer on it: is it work that one rank does for all, or an uneven share?",
			"what is more in ProfilerStep is in no operator: profile(with_stack=True) shows which code it is"}, Verify: "its work is about that of its peers"},
}

// ReasonOf is the cause of a straggler in words.
func ReasonOf(what CauseKind, when StragglerKind, unit string) *Reason {
	for i := range Reasons {
		if r := &Reasons[i]; r.Kind == what && (r.When == "" || r.When == when) && (!r.Stage || unit == "stage") {
			return r
		}
	}
	return &Reasons[len(Reasons)-1]
}

// With is what the cause is called, with the factor by which work takes longer, that of what is given, or the name that takes longest.
func (r *Reason) With(factor, load float64, name string) string {
	switch {
	case r.Times:
		return r.Words + " ×" + tables.Fixed(factor, 2)
	case r.Kind == MoreData:
		return r.Words + " ×" + tables.Fixed(load, 2)
	case r.In && name != "":
		return r.Words + " in " + name
	case r.Rule == "rank-more-work" && name == stepName:
		return "time outside operators"
	}
	return r.Words
}

// Reason is the cause in words.
func (s *Straggler) Reason() *Reason { return ReasonOf(s.Cause.What, s.Kind, s.Unit) }

package cdg

import (
	"overlay/internal/par"
	"overlay/internal/trace"
)

// builder applies the rules to facts. It holds what they find, and what later rules read of it.
type builder struct {
	*facts
	found []foundDep

	graphWait map[ActID]ActID      // operations that wait for another of a graph
	streamIDs map[streamKey]LaneID // where the device recorded what streams waited for: streams by device and number; nil elsewhere
	behind    map[ActID]ActID      // operations that came after work without a record, and what is known to have come before that; NoAct: nothing

	blocking []bool    // per symbol: names of slices in which a thread waits for another; nil unless threads are explicit
	lonely   bool      // at most one thread blocks: whom it waits for is not recorded as such
	enders   [][]ender // per thread lane: the threads that hand results on to it
	pool     *pool
	hostLane []bool    // per lane: threads that do collectives and nothing else that others wait for; nil without any
	inside   []Inside  // points inside pieces of threads that something comes from
	lags     []samples // of ranges of operations
}

// dep is a dependency that a rule found.
type dep struct {
	From     ActID
	Rule     Rule
	Evidence Evidence
}

type foundDep struct {
	to ActID
	dep
}

func (b *builder) add(to, from ActID, r Rule, e Evidence) {
	if !b.o.without(r) {
		b.found = append(b.found, foundDep{to, dep{from, r, e}})
	}
}

// rule is a way to find what activities waited for: a value in a file of its own. What each is worth stands in
// lab/amendments.tsv, and of a rule that no recorded trace at hand needs the documented behaviour that it stands on.
type rule struct {
	name string
	find func(*builder)
}

// apply applies rules in order.
func (b *builder) apply(rules ...rule) {
	for _, r := range rules {
		if b.uses(r) {
			r.find(b)
		}
	}
}

// uses reports whether a rule is applied: tests leave one out to see what it is worth.
func (b *builder) uses(r rule) bool { return b.o.leaveOut != r.name }

// beside applies a rule that reads no results of others on a goroutine of its own. The returned function waits for it, and adds what it
// found.
func (b *builder) beside(rule func(*builder)) (add func()) {
	x := *b
	x.found = nil
	wait := par.Beside(func() { rule(&x) })
	return func() {
		wait()
		b.found = append(b.found, x.found...)
	}
}

// recall puts recorded delays in the place of measured ones.
func (b *builder) recall() {
	if b.o.Recorded != nil {
		b.d.Delays = b.o.Recorded.Delays
	}
}

// pool is what is known of threads that are given work by others: servers run several that do the same in rounds.
type pool struct {
	rounds  map[roundKey]bool     // annotations and calls with which threads of a pool begin a round
	askedBy map[ActID]threadPiece // of rounds: who waits for the end of the round meanwhile
	answers map[int]ActID         // by the piece in which a thread waits for rounds: the last of them to end
}

type roundKey struct {
	proc trace.ProcID
	name trace.Sym
}

// ender is a thread that ends waits of another at a place, with results of the GPU that it takes and hands on.
type ender struct {
	lane    LaneID
	place   place
	results []result // by launch
	ahead   int      // results launched before a wait of which the first is waited for
	usual   int64    // ns from the end of its work until the other thread goes on, median
}

// place is where a thread waits, time and again: in a gap, in an annotation or in a frame, before an op of one name, or before any annotation.
type place struct {
	marker bool // an annotation or a frame
	frame  bool
	before trace.Sym
}

// threadBinder chooses what threads waited for.
type threadBinder struct {
	*builder
	turns  *turns                         // the threads of the process at hand; nil when it has one only
	own    map[LaneID]map[trace.Sym]int64 // what slices take of their own as a rule, by thread and name; of threads that were asked for
	givers map[LaneID]giver               // of threads, the last that was asked for
}

// callWait is a call with the operation that it may have waited for.
type callWait struct {
	call, op ActID
	by       Evidence
}

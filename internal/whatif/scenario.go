package whatif

import (
	"math/bits"
	"sync/atomic"

	"overlay/internal/cdg"
)

// Scenario is a question: what if all of these changes were made at once?
type Scenario struct {
	Name    string // as it is shown
	Changes []Change
}

// Verb is what a change does.
type Verb uint8

// The verbs.
const (
	Scale     Verb = iota // own time of On times Num/Den
	SetTime               // each operation of On lasts NS; each slice has NS of own time
	Shrink                // each slice of On with all that it encloses on its thread takes NS of own time, in proportion
	Remove                // the operations of On vanish with the gap before them; slices of On take no time
	NoWait                // the calls of On return without waiting
	Drop                  // no operation of On waits for one of For; with an empty For, for none of another stream
	Replace               // the last operation of On stays and lasts NS, the others are removed
	NoQueue               // launches never wait for room in a queue
	Bandwidth             // the operations of On move their bytes at Num/Den bytes a ns; those whose bytes are not known stay
	Delay                 // delays of the classes Kinds times Num/Den: what stands between activities
	prepared              // several changes, which Model.Prepared has worked out
)

// Change is one change of a scenario.
type Change struct {
	Verb     Verb
	On       Set
	For      Set   // of Drop
	Num, Den int64 // of Scale and Delay: Num >= 0, Den > 0; of Bandwidth: Num > 0, Den > 0
	NS       int64 // of SetTime, Shrink, Replace: >= 0
	Kinds    []DelayClass
	plan     *plan // of several
}

// DelayClass is a class of the path that is made of delays, not of anybody's work.
type DelayClass uint8

// The classes of delays.
const (
	LaunchDelays  DelayClass = DelayClass(launchDelay)
	SyncDelays    DelayClass = DelayClass(syncDelay)
	HandoffDelays DelayClass = DelayClass(handoffDelay)
	UnknownDelays DelayClass = DelayClass(unknownDelay) // unexplained starts
	Untraced      DelayClass = DelayClass(gapDelay)     // gaps in which nothing was recorded
)

// Set is a set of activities of a graph: a bit each.
type Set []uint64

// Sets makes sets of the activities of a graph that has so many.
type Sets int

// NewSet returns the empty set.
func (n Sets) NewSet() Set { return make(Set, (n+63)/64) }

// NewSet returns the empty set of activities of a model's graph.
func (m *Model) NewSet() Set { return Sets(len(m.g.Acts)).NewSet() }

// SetOf returns the set of the given activities.
func (n Sets) SetOf(acts ...cdg.ActID) Set {
	s := n.NewSet()
	for _, a := range acts {
		s.Add(a)
	}
	return s
}

// Add puts an activity into the set.
func (s Set) Add(a cdg.ActID) { s[a>>6] |= 1 << (a & 63) }

// addShared is Add for several goroutines at once.
func (s Set) addShared(a cdg.ActID) {
	if word, bit := &s[a>>6], uint64(1)<<(a&63); atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
}

// Has reports whether an activity is in the set; nothing is in a nil set.
func (s Set) Has(a cdg.ActID) bool { return s != nil && s[a>>6]&(1<<(a&63)) != 0 }

// Len is how many activities are in the set.
func (s Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Each calls visit for each activity of the set, ascending.
func (s Set) Each(visit func(cdg.ActID)) { s.eachFrom(0, visit) }

// eachFrom is Each for the activities from one on.
func (s Set) eachFrom(first cdg.ActID, visit func(cdg.ActID)) {
	for i := int(first >> 6); i < len(s); i++ {
		w := s[i]
		if i == int(first>>6) {
			w &^= 1<<(first&63) - 1
		}
		for ; w != 0; w &= w - 1 {
			visit(cdg.ActID(i<<6 + bits.TrailingZeros64(w)))
		}
	}
}

// any reports whether one of the activities from first on and before limit is in the set; nothing is in a nil set.
func (s Set) any(first, limit cdg.ActID) bool {
	for a := first; s != nil && a < limit; a = (a>>6 + 1) << 6 {
		w := s[a>>6] &^ (1<<(a&63) - 1)
		if last := (a>>6 + 1) << 6; last > limit {
			w &= 1<<(limit&63) - 1
		}
		if w != 0 {
			return true
		}
	}
	return false
}

// And returns what is in both sets.
func (s Set) And(t Set) Set {
	out := make(Set, len(s))
	for i := range s {
		out[i] = s[i] & t[i]
	}
	return out
}

// ratio is by how much time is scaled.
type ratio struct{ num, den int64 }

// of returns ns times the ratio, rounded down.
func (r ratio) of(ns int64) int64 {
	if r.num == 0 {
		return 0
	}
	if uint64(ns|r.num)>>31 == 0 {
		return ns * r.num / r.den
	}
	hi, lo := bits.Mul64(uint64(ns), uint64(r.num))
	if hi >= uint64(r.den) {
		return 1<<62 - 1 // longer than any trace
	}
	q, _ := bits.Div64(hi, lo, uint64(r.den))
	return int64(min(q, 1<<62-1))
}

// times multiplies two ratios.
func (r ratio) times(s ratio) ratio {
	a, b := gcd(r.num, s.den), gcd(s.num, r.den)
	return ratio{r.num / a * (s.num / b), r.den / b * (s.den / a)}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, 1)
}

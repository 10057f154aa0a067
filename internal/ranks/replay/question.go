package replay

import (
	"cmp"
	"math"
	"slices"

	"overlay/internal/ranks"
)

// Question says by which factors a member changes.
type Question func(m *Model, member int32) factors

// factors are those of one member, in millionths. The first index is the place of a step in the summary and 1, 0 for what is in no step.
type factors struct {
	x         *ranks.Member
	slots     map[int32]int32
	work      [][]int64 // then the place of a key; nil: nothing changes
	transfers [][]int64 // then the kind of the operation: of what the bytes take; nil: nothing changes
	latencies [][]int64 // the same of what any message takes
	before    int64     // of what the rank did since the job began and before its own trace does
}

// factors makes room for factors of a member.
func (m *Model) factors(member int32) factors {
	return factors{x: &m.Job.Members[member], slots: m.slots[member], before: Whole}
}

// table is a list of factors for each step, all Whole.
func table(steps, n int) [][]int64 {
	t := make([][]int64, steps+1)
	for i := range t {
		t[i] = make([]int64, n)
		for k := range t[i] {
			t[i][k] = Whole
		}
	}
	return t
}

// Change multiplies own time, or transfers.
type Change struct {
	Factor    int64
	Ranks     func(x *ranks.Member) bool           // nil: of all
	Steps     map[int32]bool                       // by number; nil: of all, and of none
	Work      func(name string, w ranks.Work) bool // own time; nil: no own time
	Transfers func(group *ranks.JobGroup) bool     // of collectives in these groups; nil: no transfers
	Of        TransferPart
}

// TransferPart is what of transfers changes.
type TransferPart uint8

// The parts.
const (
	WholeTransfer TransferPart = iota
	Latency                    // what a message takes that has no bytes
	Bytes                      // the rest
)

// Changes makes all of these changes at once. What two of them change is multiplied by both.
func Changes(list []Change) Question {
	return func(m *Model, member int32) factors {
		f := m.factors(member)
		for i := range list {
			c := &list[i]
			if c.Ranks != nil && !c.Ranks(f.x) {
				continue
			}
			if c.Work != nil {
				f.scaleWork(m, member, c)
			}
			if c.Transfers != nil {
				f.scaleTransfers(m, c)
			}
		}
		return f
	}
}

// eachSlot calls visit for the places of the steps that a change is about. Of a job of which a step is looked at nothing else changes.
func (f *factors) eachSlot(m *Model, c *Change, visit func(slot int)) {
	if c.Steps == nil && m.Job.Step < 0 {
		visit(0)
	}
	for i := range f.x.Steps {
		if n := f.x.Steps[i].Number; (c.Steps == nil || c.Steps[n]) && (m.Job.Step < 0 || m.Job.Step == n) {
			visit(i + 1)
		}
	}
}

func (f *factors) scaleWork(m *Model, member int32, c *Change) {
	keys := m.keys[member]
	for k := range keys {
		if !c.Work(keys[k].Name, keys[k].Work) {
			continue
		}
		if f.work == nil {
			f.work = table(len(f.x.Steps), len(keys))
		}
		f.eachSlot(m, c, func(slot int) { f.work[slot][k] = times(f.work[slot][k], c.Factor) })
	}
}

func (f *factors) scaleTransfers(m *Model, c *Change) {
	for k := range f.x.Kinds {
		if !c.Transfers(&m.Job.Groups[f.x.GroupOf(int32(k))]) {
			continue
		}
		if f.transfers == nil {
			f.transfers, f.latencies = table(len(f.x.Steps), len(f.x.Kinds)), table(len(f.x.Steps), len(f.x.Kinds))
		}
		f.eachSlot(m, c, func(slot int) {
			if c.Of != Latency {
				f.transfers[slot][k] = times(f.transfers[slot][k], c.Factor)
			}
			if c.Of != Bytes {
				f.latencies[slot][k] = times(f.latencies[slot][k], c.Factor)
			}
		})
	}
}

// AtMedian makes questions that take from members what they worked more than the median of their peers, where of says so by the place in the list.
func AtMedian(list []ranks.Excess) func(of func(i int) bool) Question {
	by := map[int32][]int{}
	for i := range list {
		by[list[i].Member] = append(by[list[i].Member], i)
	}
	return func(of func(i int) bool) Question {
		return func(m *Model, member int32) factors {
			f := m.factors(member)
			for _, i := range by[member] {
				if of(i) && (m.Job.Step < 0 || m.Job.Step == list[i].Step) {
					f.atMedian(&list[i], m.keys[member])
				}
			}
			return f
		}
	}
}

// atMedian takes away what is one excess. What no name explains is taken from names that are in no list. Of what chains hold of many names with a little each, as much goes as of
// the name in the middle.
func (f *factors) atMedian(e *ranks.Excess, keys []key) {
	if f.work == nil {
		f.work = table(len(f.x.Steps), len(keys))
	}
	rest, busy := e.NS, e.Busy
	for name, own := range e.Own {
		rest -= e.Names[name]
		busy -= own
	}
	row, other, middle := f.work[f.slots[e.Step]], part(busy, rest), middle(e, part(busy, rest), busy)
	if e.Step == ranks.Beside { // it was as slow before
		f.before = min(f.before, middle)
	}
	for k, key := range keys {
		if key.Work.Host() != e.Host {
			continue
		}
		if own, ok := e.Own[key.Name]; ok {
			row[k] = part(own, e.Names[key.Name])
		} else if key.Name == "" {
			row[k] = middle
		} else {
			row[k] = other
		}
	}
}

// middle is the factor above and below which half of the time is.
func middle(e *ranks.Excess, other, unlisted int64) int64 {
	type share struct{ factor, ns int64 }
	list, sum := []share{{other, max(unlisted, 0)}}, max(unlisted, 0)
	for name, own := range e.Own {
		list = append(list, share{part(own, e.Names[name]), own})
		sum += own
	}
	slices.SortFunc(list, func(a, b share) int { return cmp.Compare(a.factor, b.factor) })
	for _, x := range list {
		if sum -= 2 * x.ns; sum <= 0 {
			return x.factor
		}
	}
	return Whole
}

// part is the factor by which own time becomes less by some ns.
func part(own, less int64) int64 {
	if own <= 0 {
		return Whole
	}
	return min(max(int64(math.Round(float64(own-less)/float64(own)*Whole)), 0), Whole)
}

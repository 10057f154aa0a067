package phases

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// external is an op by its External id.
type external struct {
	ext int64
	id  trace.EventID
}

// externals gives calls without an op around them the phase of the op that their External id names: the thread of such a
// call may be wrong (Kineto maps pthread ids to threads once). The op must cover the call in time; of several the first
// in the file counts.
func (p *phaser) externals() {
	if !p.rules.on(byExternalID) {
		return
	}
	var lost []cdg.ActID
	first, last := int64(math.MaxInt64), int64(math.MinInt64) // External ids that are asked for
	inside := make([]bool, len(p.d.Acts))                     // an op encloses the activity
	for a, up := range p.d.Parent {
		id := p.d.Acts[a].Event
		inside[a] = up != cdg.NoAct && (inside[up] || p.trait[up]&isOp != 0) // what encloses comes first
		if p.trait[a]&isCall == 0 || inside[a] {
			continue
		}
		e := &p.t.Events[id]
		if r := p.by[id]; e.Flags&trace.HasExt != 0 && (r == noRule || r >= byCommThread && r < firstNameRule) {
			lost = append(lost, cdg.ActID(a))
			ext := p.t.ExternalID(id)
			first, last = min(first, ext), max(last, ext)
		}
	}
	if len(lost) == 0 {
		return
	}
	var ops []external
	for a := range p.d.Acts {
		id := p.d.Acts[a].Event
		if e := &p.t.Events[id]; p.trait[a]&isOp != 0 && e.Flags&trace.HasExt != 0 {
			if ext := p.t.ExternalID(id); ext >= first && ext <= last {
				ops = append(ops, external{ext, id})
			}
		}
	}
	order := func(x, y external) int { return cmp.Or(cmp.Compare(x.ext, y.ext), cmp.Compare(x.id, y.id)) }
	if !slices.IsSortedFunc(ops, order) { // one thread counts up
		slices.SortFunc(ops, order)
	}
	for _, a := range lost {
		id := p.d.Acts[a].Event
		ext := p.t.ExternalID(id)
		from := sort.Search(len(ops), func(i int) bool { return ops[i].ext >= ext })
		for i := from; i < min(len(ops), from+crowd) && ops[i].ext == ext; i++ {
			if p.covers(ops[i].id, id) {
				p.phase[id], p.by[id] = p.phase[ops[i].id], byExternalID
				break
			}
		}
	}
}

// crowd is the number of ops of one External id that are tried.
const crowd = 16

func (p *phaser) covers(op, call trace.EventID) bool {
	o, c := &p.t.Events[op], &p.t.Events[call]
	return o.Start <= c.Start && p.t.End(c) <= p.t.End(o) && p.by[op] != noRule
}

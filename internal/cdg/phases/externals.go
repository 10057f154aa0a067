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
	crowded := map[int64][]trace.EventID{} // External id of very many ops -> the calls
	for _, a := range lost {
		id := p.d.Acts[a].Event
		ext := p.t.ExternalID(id)
		from := sort.Search(len(ops), func(i int) bool { return ops[i].ext >= ext })
		if from+crowd < len(ops) && ops[from+crowd].ext == ext {
			crowded[ext] = append(crowded[ext], id)
			continue
		}
		for i := from; i < len(ops) && ops[i].ext == ext; i++ {
			if p.covers(ops[i].id, id) {
				p.phase[id], p.by[id] = p.phase[ops[i].id], byExternalID
				break
			}
		}
	}
	for ext, calls := range crowded {
		from := sort.Search(len(ops), func(i int) bool { return ops[i].ext >= ext })
		to := sort.Search(len(ops), func(i int) bool { return ops[i].ext > ext })
		p.crowdedExternal(ops[from:to], calls)
	}
}

// crowd is the number of ops of one External id that are tried one after the other.
const crowd = 16

func (p *phaser) covers(op, call trace.EventID) bool {
	o, c := &p.t.Events[op], &p.t.Events[call]
	return o.Start <= c.Start && p.t.End(c) <= p.t.End(o) && p.by[op] != noRule
}

// crowdedExternal finds the ops of calls in one pass over time: an op is entered when it starts, under its end, and a
// call asks for the first in the file of those entered that end no earlier than the call. The ends form a Fenwick tree
// that counts from the latest.
func (p *phaser) crowdedExternal(ops []external, calls []trace.EventID) {
	events := p.t.Events
	var entered []trace.EventID // by start
	var ends []int64            // latest first
	for _, o := range ops {
		if p.by[o.id] != noRule {
			entered, ends = append(entered, o.id), append(ends, p.t.End(&events[o.id]))
		}
	}
	byStart := func(x, y trace.EventID) int { return cmp.Compare(events[x].Start, events[y].Start) }
	slices.SortFunc(entered, byStart)
	slices.SortFunc(calls, byStart)
	slices.SortFunc(ends, func(x, y int64) int { return cmp.Compare(y, x) })
	least := make([]trace.EventID, len(ends)+1) // of the tree: the first op in the file
	for i := range least {
		least[i] = math.MaxInt32
	}
	next := 0
	for _, call := range calls {
		for ; next < len(entered) && events[entered[next]].Start <= events[call].Start; next++ {
			op := entered[next]
			end := p.t.End(&events[op])
			for i := 1 + sort.Search(len(ends), func(i int) bool { return ends[i] <= end }); i < len(least); i += i & -i {
				least[i] = min(least[i], op)
			}
		}
		end, found := p.t.End(&events[call]), trace.EventID(math.MaxInt32)
		for i := sort.Search(len(ends), func(i int) bool { return ends[i] < end }); i > 0; i -= i & -i {
			found = min(found, least[i])
		}
		if found != math.MaxInt32 {
			p.phase[call], p.by[call] = p.phase[found], byExternalID
		}
	}
}

package trace

import (
	"cmp"
	"slices"
	"sort"
)

// call is a runtime or driver call with its correlation.
type call struct {
	corr int64
	id   EventID
	more int32 // calls behind it that share its correlation and may be preferred to it
}

// LinkLaunches joins device operations with the calls that launched them, by args.correlation. Where a
// runtime and a driver call share one (XPU), the runtime call counts; of several of a kind (ROCm) the last that does not start after the
// operation, else the first.
func (t *Trace) LinkLaunches() {
	calls, sorted := t.calls()
	for i := range t.Events {
		e := &t.Events[i]
		if !e.Kind.Device() || e.Flags&HasCorr == 0 || e.Ph != 'X' {
			continue
		}
		if sorted != nil {
			if k := t.Corr(e) - sorted.low; k >= 0 && k < int64(len(sorted.first)) {
				t.SetLaunch(EventID(i), t.choose(calls[sorted.first[k]:], e))
			}
			continue
		}
		k, _ := slices.BinarySearchFunc(calls, t.Corr(e), func(c call, v int64) int { return cmp.Compare(c.corr, v) })
		t.SetLaunch(EventID(i), t.choose(calls[k:], e))
	}
}

// dense finds the first call of a correlation without a search; correlations are consecutive numbers as a rule.
type dense struct {
	low   int64
	first []int32 // per correlation - low: index into calls
}

func (t *Trace) calls() ([]call, *dense) {
	n, low, high := 0, int64(1<<63-1), int64(-1<<63)
	inOrder, last := true, int64(-1<<63)
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind.Call() && e.Flags&HasCorr != 0 {
			n++
			corr := t.Corr(e)
			low, high = min(low, corr), max(high, corr)
			inOrder = inOrder && corr >= last
			last = corr
		}
	}
	calls := make([]call, 0, n)
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind.Call() && e.Flags&HasCorr != 0 {
			calls = append(calls, call{corr: t.Corr(e), id: EventID(i)})
		}
	}
	if !inOrder {
		slices.SortStableFunc(calls, func(a, b call) int { return cmp.Compare(a.corr, b.corr) })
	}
	calls = t.rank(calls)
	if n == 0 || high-low < 0 || high-low > 8*int64(n)+1024 {
		return calls, nil
	}
	d := &dense{low: low, first: make([]int32, high-low+1)}
	for i := range d.first {
		d.first[i] = int32(len(calls))
	}
	for i := len(calls) - 1; i >= 0; i-- {
		d.first[calls[i].corr-low] = int32(i)
	}
	return calls, d
}

// rank keeps of the calls of one correlation those that an operation may choose: the first of the preferred kind in
// the file, and behind it, by start, those that start after it, of each start the first.
func (t *Trace) rank(calls []call) []call {
	out := calls[:0]
	for from := 0; from < len(calls); {
		to := from + 1
		for to < len(calls) && calls[to].corr == calls[from].corr {
			to++
		}
		group := calls[from:to]
		from = to
		if len(group) > 1 {
			group = t.rankGroup(group)
		}
		out = append(out, group...)
	}
	return out
}

func (t *Trace) rankGroup(group []call) []call {
	if slices.ContainsFunc(group, func(c call) bool { return t.Events[c.id].Kind == Runtime }) {
		group = slices.DeleteFunc(group, func(c call) bool { return t.Events[c.id].Kind != Runtime })
	}
	start := func(c call) int64 { return t.Events[c.id].Start }
	first := start(group[0])
	later := slices.DeleteFunc(group[1:], func(c call) bool { return start(c) <= first })
	slices.SortStableFunc(later, func(a, b call) int { return cmp.Compare(start(a), start(b)) })
	later = slices.CompactFunc(later, func(a, b call) bool { return start(a) == start(b) })
	group = group[:1+len(later)]
	group[0].more = int32(len(later))
	return group
}

// choose picks the call of an operation; its correlation, if there is a call of it, comes first in calls.
func (t *Trace) choose(calls []call, op *Event) EventID {
	if len(calls) == 0 || calls[0].corr != t.Corr(op) {
		return NoEvent
	}
	later := calls[1 : 1+calls[0].more]
	n := sort.Search(len(later), func(i int) bool { return t.Events[later[i].id].Start > op.Start })
	return calls[n].id
}

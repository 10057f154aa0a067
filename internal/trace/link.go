package trace

import (
	"cmp"
	"slices"
)

// call is a runtime or driver call with its correlation.
type call struct {
	corr int64
	id   EventID
}

// LinkLaunches fills Launch: it joins device operations with the calls that launched them, by args.correlation. Where a runtime and a driver
// call share one (XPU), the runtime call counts; of several of a kind (ROCm) the last that does not start after the
// operation, else the first.
func (t *Trace) LinkLaunches() {
	t.Launch = make([]EventID, len(t.Events))
	calls, sorted := t.calls()
	for i := range t.Events {
		t.Launch[i] = NoEvent
		e := &t.Events[i]
		if !e.Kind.Device() || e.Flags&HasCorr == 0 || e.Ph != 'X' {
			continue
		}
		if sorted != nil {
			if k := e.Corr - sorted.low; k >= 0 && k < int64(len(sorted.first)) {
				t.Launch[i] = t.choose(calls, int(sorted.first[k]), e)
			}
			continue
		}
		k, _ := slices.BinarySearchFunc(calls, e.Corr, func(c call, v int64) int { return cmp.Compare(c.corr, v) })
		t.Launch[i] = t.choose(calls, k, e)
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
			low, high = min(low, e.Corr), max(high, e.Corr)
			inOrder = inOrder && e.Corr >= last
			last = e.Corr
		}
	}
	calls := make([]call, 0, n)
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind.Call() && e.Flags&HasCorr != 0 {
			calls = append(calls, call{e.Corr, EventID(i)})
		}
	}
	if !inOrder {
		slices.SortStableFunc(calls, func(a, b call) int { return cmp.Compare(a.corr, b.corr) })
	}
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

// choose picks among the calls from k on that have the operation's correlation.
func (t *Trace) choose(calls []call, k int, op *Event) EventID {
	best := NoEvent
	for ; k < len(calls) && calls[k].corr == op.Corr; k++ {
		c := &t.Events[calls[k].id]
		if best == NoEvent {
			best = calls[k].id
			continue
		}
		b := &t.Events[best]
		switch {
		case b.Kind == Driver && c.Kind == Runtime:
			best = calls[k].id
		case b.Kind == c.Kind && c.Start > b.Start && c.Start <= op.Start:
			best = calls[k].id
		}
	}
	return best
}

package trace_test

import (
	"math"
	"testing"
	"unsafe"

	"overlay/internal/trace"
)

// TestEventSize: a trace has millions of events.
func TestEventSize(t *testing.T) {
	if n := unsafe.Sizeof(trace.Event{}); n != 32 {
		t.Errorf("an event takes %d bytes", n)
	}
}

// TestWide: numbers that do not fit into 32 bits come back as they were, also when others took their place and when the
// traces of several pieces are joined.
func TestWide(t *testing.T) {
	ids := []int64{0, -1, 7, math.MaxInt32, math.MaxInt32 + 1, math.MinInt32, math.MinInt32 - 1, math.MaxInt64, math.MinInt64}
	durs := []int64{0, 1, math.MaxInt32, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64}
	type piece struct {
		wide   trace.Wide
		events []trace.Event
		exts   []int32
	}
	var pieces [3]piece
	for k := range pieces {
		p := &pieces[k]
		for i := range ids {
			var e trace.Event
			p.wide.SetDur(&e, math.MaxInt64) // replaced
			p.wide.SetCorr(&e, math.MinInt64)
			p.wide.SetExt(&e, math.MinInt64)
			p.wide.SetDur(&e, durs[(i+k)%len(durs)])
			p.wide.SetCorr(&e, ids[(i+k)%len(ids)])
			p.exts = append(p.exts, p.wide.SetExt(&e, ids[(i+2*k)%len(ids)]))
			p.events = append(p.events, e)
		}
	}
	var none trace.Wide
	if none.SetDur(new(trace.Event), math.MaxUint32); len(none) > 0 {
		t.Error("a duration that fits takes a place")
	}
	var all trace.Trace
	for k := range pieces {
		p := &pieces[k]
		base := all.Wide.Join(p.wide)
		for i := range p.events {
			p.events[i].Renumber(base, &p.exts[i])
		}
		all.Events, all.Ext = append(all.Events, p.events...), append(all.Ext, p.exts...)
	}
	for n := range all.Events {
		e, k, i := &all.Events[n], n/len(ids), n%len(ids)
		if got, want := all.Dur(e), durs[(i+k)%len(durs)]; got != want {
			t.Errorf("event %d: dur %d, want %d", n, got, want)
		}
		if got, want := all.End(e), e.Start+durs[(i+k)%len(durs)]; got != want {
			t.Errorf("event %d: end %d, want %d", n, got, want)
		}
		if e.Flags&trace.HasExt == 0 {
			t.Errorf("event %d has no external id", n)
		}
		if got, want := all.Corr(e), ids[(i+k)%len(ids)]; got != want {
			t.Errorf("event %d: correlation %d, want %d", n, got, want)
		}
		if got, want := all.ExternalID(trace.EventID(n)), ids[(i+2*k)%len(ids)]; got != want {
			t.Errorf("event %d: external id %d, want %d", n, got, want)
		}
	}
}

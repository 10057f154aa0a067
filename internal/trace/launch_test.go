package trace_test

import (
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/trace"
)

// An operation keeps its correlation whatever launched it, and its launch whatever its correlation: the same as that of the call,
// another one, one that needs room in Wide, or none.
func TestLaunch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		corr := rapid.SampledFrom([]int64{-1, 0, 1, 2, 1 << 40, 1<<40 + 1})
		tr, want, launch := &trace.Trace{}, []int64{}, []trace.EventID{}
		for i := range rapid.IntRange(2, 12).Draw(t, "events") {
			e := trace.Event{Ph: 'X', Kind: trace.Runtime, Start: int64(i)}
			if i%2 == 1 {
				e.Kind = trace.Kernel
			}
			want, launch = append(want, corr.Draw(t, "corr")), append(launch, trace.NoEvent)
			tr.SetCorr(&e, want[i])
			tr.Events = append(tr.Events, e)
		}
		n := len(tr.Events)
		for range rapid.IntRange(0, 2*n).Draw(t, "launches") {
			op, call := 2*rapid.IntRange(0, n/2-1).Draw(t, "op")+1, trace.EventID(2*rapid.IntRange(-1, (n-1)/2).Draw(t, "call"))
			if call < 0 {
				call = trace.NoEvent
			}
			launch[op] = call
			tr.SetLaunch(trace.EventID(op), call)
		}
		other, launched := &trace.Trace{Wide: tr.Wide}, 0
		for i := range tr.Events {
			if got := tr.Corr(&tr.Events[i]); got != want[i] {
				t.Fatalf("event %d: correlation %d, want %d", i, got, want[i])
			}
			if got := tr.Launch(trace.EventID(i)); got != launch[i] {
				t.Fatalf("event %d: launched by %d, want %d", i, got, launch[i])
			}
			if launch[i] != trace.NoEvent {
				launched++
			}
			other.Events = append(other.Events, other.Unlaunched(tr, trace.EventID(i)))
		}
		for op, call := range tr.Launches() {
			if launched--; launch[op] != call {
				t.Fatalf("event %d: launched by %d, want %d", op, call, launch[op])
			}
		}
		if launched != 0 {
			t.Fatalf("%d launches were not visited", launched)
		}
		for i := range other.Events {
			if got := other.Corr(&other.Events[i]); got != want[i] || other.Launch(trace.EventID(i)) != trace.NoEvent {
				t.Fatalf("event %d taken over: correlation %d, want %d, launched by %d", i, got, want[i], other.Launch(trace.EventID(i)))
			}
		}
	})
}

package analyses

import (
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/trace"
)

// op is one operation of a hand-made set: device 0.
type op struct {
	stream, start, end, launch int64 // launch < 0: none
	typ                        Type
}

func handSet(ops ...op) *Set {
	s := &Set{Trace: &trace.Trace{Syms: []string{""}}, End: 1 << 40}
	for i, o := range ops {
		x := Op{Stream: o.stream, Start: o.start, End: o.end, Event: trace.EventID(2*i + 1), Launch: trace.NoEvent, Type: o.typ}
		if o.launch >= 0 {
			x.Launch, x.LaunchStart, x.LaunchEnd = trace.EventID(2*i), o.launch, o.launch+1000
		}
		s.Ops = append(s.Ops, x)
	}
	s.index()
	return s
}

func randomSet(t *rapid.T) *Set {
	var ops []op
	for range rapid.IntRange(1, 40).Draw(t, "n") {
		start := rapid.Int64Range(0, 200_000).Draw(t, "start")
		ops = append(ops, op{stream: rapid.Int64Range(0, 3).Draw(t, "stream"), start: start, end: start + rapid.Int64Range(0, 30_000).Draw(t, "dur"),
			launch: start - rapid.Int64Range(0, 50_000).Draw(t, "before"), typ: Type(rapid.IntRange(0, 3).Draw(t, "type"))})
	}
	return handSet(ops...)
}

// slowTime counts ns by asking at every ns, in steps of 1,000 where nothing changes in between.
func covers(s *Set, t int64, types ...Type) bool {
	return slices.ContainsFunc(s.Ops, func(o Op) bool { return o.Start <= t && t < o.End && slices.Contains(types, o.Type) })
}

// borders are the times at which anything changes.
func borders(s *Set) []int64 {
	var b []int64
	for _, o := range s.Ops {
		b = append(b, o.Start, o.End)
	}
	slices.Sort(b)
	return slices.Compact(b)
}

func TestTemporalAndOverlapAgainstCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomSet(t)
		got, over := temporal(s, Options{})[0], overlap(s, Options{})[0]
		var want DeviceTime
		var comm, hidden int64
		b := borders(s)
		for i := 0; i+1 < len(b); i++ {
			d := b[i+1] - b[i]
			c, m := covers(s, b[i], Computation), covers(s, b[i], CommunicationType)
			switch {
			case c:
				want.Computation += d
			case m:
				want.Communication += d
			case covers(s, b[i], Memory, OtherType):
				want.Copies += d
			default:
				want.Idle += d
			}
			if m {
				comm += d
			}
			if m && c {
				hidden += d
			}
		}
		want.Span = b[len(b)-1] - b[0]
		if got != want {
			t.Fatalf("temporal %+v, counted %+v", got, want)
		}
		if sum := got.Computation + got.Communication + got.Copies + got.Idle; sum != got.Span {
			t.Fatalf("parts sum to %d, the span is %d", sum, got.Span)
		}
		if over.Communication != comm || over.Hidden != hidden || over.Exposed != comm-hidden {
			t.Fatalf("overlap %+v, counted %d and %d", over, comm, hidden)
		}
	})
}

func TestQueuesAreNeverNegative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, q := range queue(randomSet(t), Options{}) {
			for _, list := range [][]change{q.waiting, q.outstanding} {
				for _, c := range list {
					if c.n < 0 {
						t.Fatalf("stream %d: a queue of %d", q.Stream, c.n)
					}
				}
				if last := list[len(list)-1]; last.n != 0 {
					t.Fatalf("stream %d ends with %d in its queue", q.Stream, last.n)
				}
			}
		}
	})
}

func TestQueueCountsCallsThatFoundItFull(t *testing.T) {
	s := handSet(op{1, 10_000, 50_000, 0, Computation}, op{1, 50_000, 60_000, 1_000, Computation}, op{1, 60_000, 70_000, 2_000, Computation}, op{1, 70_000, 80_000, 55_000, Computation})
	q := queue(s, Options{QueueLimit: 2})[0]
	if q.Blocked != 2 || q.Outstanding.Max != 3 {
		t.Errorf("%d blocked at a maximum of %g", q.Blocked, q.Outstanding.Max)
	}
	if q.AtLimit != 70_000-1_000 {
		t.Errorf("%d ns at the limit", q.AtLimit)
	}
}

func TestIdleCauses(t *testing.T) {
	s := handSet(op{1, 0, 10_000, -1, Computation},
		op{1, 12_000, 20_000, 5_000, Computation},    // queued, short gap
		op{1, 90_000, 95_000, 25_000, Computation},   // launched after the end before it
		op{1, 130_000, 140_000, 30_000, Computation}, // queued, long gap
		op{1, 135_000, 138_000, 30_000, Computation}, // overlaps: no gap
		op{1, 141_000, 142_000, -1, Computation})     // no launch known, short gap
	stream := idle(s, Options{})[0]
	want := map[string]int64{"host_wait": 70_000, "kernel_wait": 2_000 + 1_000, "other": 35_000}
	for _, c := range stream.Causes {
		if c.NS != want[c.Cause] {
			t.Errorf("%s: %d ns, want %d", c.Cause, c.NS, want[c.Cause])
		}
	}
	if stream.Idle != 108_000 || len(stream.gaps) != 4 {
		t.Errorf("%d ns idle in %d gaps", stream.Idle, len(stream.gaps))
	}
	if o := idle(s, Options{IdleThreshold: 40_000})[0]; o.Causes[OtherWait].NS != 0 {
		t.Error("the threshold does nothing")
	}
}

func TestIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []Interval {
			var v []Interval
			for range rapid.IntRange(0, 8).Draw(t, name) {
				a := rapid.Int64Range(0, 60).Draw(t, "a")
				v = append(v, Interval{a, a + rapid.Int64Range(0, 20).Draw(t, "n")})
			}
			return mergeAll(v)
		}
		a, b := draw("as"), draw("bs")
		in := func(v []Interval, x int64) bool {
			return slices.ContainsFunc(v, func(i Interval) bool { return i.Start <= x && x < i.End })
		}
		both, rest, cut := intersect(a, b), subtract(a, b), clip(a, 10, 50)
		for x := int64(0); x < 100; x++ {
			if in(both, x) != (in(a, x) && in(b, x)) || in(rest, x) != (in(a, x) && !in(b, x)) || in(cut, x) != (in(a, x) && x >= 10 && x < 50) {
				t.Fatalf("at %d: %v %v: both %v, rest %v, cut %v", x, a, b, both, rest, cut)
			}
		}
	})
}

func TestDescribe(t *testing.T) {
	v := []int64{4, 1, 3, 2}
	s := Describe(v)
	if s.Count != 4 || s.Mean != 2.5 || s.P25 != 1.75 || s.P50 != 2.5 || s.P75 != 3.25 || s.Min != 1 || s.Max != 4 || s.Std < 1.29 || s.Std > 1.30 {
		t.Errorf("%+v", s)
	}
	if z := Describe([]int64{7}); z.Std != 0 || z.P75 != 7 {
		t.Errorf("%+v", z)
	}
}

func TestHistogramKeepsEveryValue(t *testing.T) {
	var values []int64
	for range 1000 {
		values = append(values, rand.Int63n(1<<uint(1+rand.Intn(40))))
	}
	n := 0
	for _, b := range histogram(values) {
		n += b.Count
		for _, v := range values {
			if b.Count == 0 && v >= b.From && v < 2*b.From {
				t.Fatalf("%d is in no bucket", v)
			}
		}
	}
	if n != len(values) {
		t.Errorf("%d of %d values", n, len(values))
	}
}

package whatif_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/testtrace"
	"overlay/internal/whatif"
)

// random is a random set of activities of a model.
func random(m *whatif.Model, n int, rng *rand.Rand) whatif.Set {
	s, every := m.NewSet(), 1+rng.IntN(6)
	for a := range n {
		if rng.IntN(every) == 0 {
			s.Add(cdg.ActID(a))
		}
	}
	return s
}

// Making anything faster never makes the window longer: neither own time nor delays, of whatever activities.
func TestMonotone(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	for c, class := range testtrace.Classes {
		for round := range rounds {
			rng := rand.New(rand.NewPCG(uint64(c), uint64(round)))
			g := simulated(t, class, uint64(round))
			m := whatif.New(g)
			on := random(m, len(g.Acts), rng)
			low, high := rng.Int64N(1500), rng.Int64N(3000)
			low, high = min(low, high), max(low, high)
			scale := func(num int64) *whatif.Result {
				return m.Replay(&whatif.Scenario{Changes: []whatif.Change{{Verb: whatif.Scale, On: on, Num: num, Den: 1000}}})
			}
			if fast, slow := scale(low), scale(high); fast.Window > slow.Window {
				t.Errorf("%s %d: %d ns at %d/1000, %d at %d/1000", class, round, fast.Window, low, slow.Window, high)
			}
			delay := func(num int64) *whatif.Result {
				return m.Replay(&whatif.Scenario{Changes: []whatif.Change{{Verb: whatif.Delay, Num: num, Den: 1000, Kinds: []whatif.DelayClass{whatif.LaunchDelays, whatif.SyncDelays}}}})
			}
			if fast, slow := delay(low), delay(high); fast.Window > slow.Window {
				t.Errorf("%s %d, delays: %d ns at %d/1000, %d at %d/1000", class, round, fast.Window, low, slow.Window, high)
			}
		}
	}
}

// A factor of 1 changes nothing, two changes of one scenario multiply, and taking things away never takes longer.
func TestAlgebra(t *testing.T) {
	for c, class := range testtrace.Classes {
		rng := rand.New(rand.NewPCG(uint64(c), 99))
		g := simulated(t, class, uint64(c))
		m := whatif.New(g)
		on, of := random(m, len(g.Acts), rng), random(m, len(g.Acts), rng)
		window := func(changes ...whatif.Change) int64 { return m.Replay(&whatif.Scenario{Changes: changes}).Window }
		scale := func(s whatif.Set, num, den int64) whatif.Change {
			return whatif.Change{Verb: whatif.Scale, On: s, Num: num, Den: den}
		}
		recorded := window()
		if recorded != g.Window.End-g.Window.Start || window(scale(on, 1, 1)) != recorded || window(scale(on, 1000, 1000), scale(of, 7, 7)) != recorded {
			t.Errorf("%s: a factor of 1 changes something", class)
		}
		if a, b := window(scale(on, 1, 2), scale(on, 1, 2)), window(scale(on, 1, 4)); a != b {
			t.Errorf("%s: half of a half is %d, a quarter %d", class, a, b)
		}
		if a, b := window(scale(on, 1, 2), scale(of, 1, 3)), window(scale(of, 1, 3), scale(on, 1, 2)); a != b {
			t.Errorf("%s: the order of changes matters: %d and %d", class, a, b)
		}
		for _, change := range []whatif.Change{{Verb: whatif.Remove, On: on}, {Verb: whatif.NoWait, On: on}, {Verb: whatif.Drop, On: on}, {Verb: whatif.NoQueue}, {Verb: whatif.Shrink, On: on}} {
			if w := window(change); w > recorded {
				t.Errorf("%s: verb %d makes %d ns of %d", class, change.Verb, w, recorded)
			}
		}
	}
}

// TestReplayAll: what is asked side by side gets the answers that it gets alone, each at its place, while others ask for windows and ceilings.
func TestReplayAll(t *testing.T) {
	m := whatif.New(simulated(t, "streams", 3))
	list := questions(t, m)
	var want []int64
	for i := range list {
		want = append(want, m.Replay(&list[i]).Window)
	}
	classes := []whatif.Change{m.OfClass(critpath.ClassCPU), m.OfClass(critpath.ClassCompute), m.OfClass(critpath.ClassLaunch)}
	ceilings := m.Ceilings(classes)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i, r := range m.ReplayAll(list) {
				if r.Scenario != &list[i] || r.Window != want[i] || m.Window(&list[i]) != want[i] {
					t.Errorf("%s: %d ns, alone %d", list[i].Name, r.Window, want[i])
				}
			}
			if got := m.Ceilings(classes); !slices.Equal(got, ceilings) {
				t.Errorf("ceilings %+v, alone %+v", got, ceilings)
			}
		})
	}
	group.Wait()
}

// Changes that were worked out before give what they give from the start, whatever comes behind them, and leave nothing in the room of
// replays that do without them.
func TestPrepared(t *testing.T) {
	for c, class := range testtrace.Classes {
		rng := rand.New(rand.NewPCG(uint64(c), 7))
		g := simulated(t, class, uint64(c))
		m := whatif.New(g)
		n := len(g.Acts)
		base := []whatif.Change{{Verb: whatif.Scale, On: random(m, n, rng), Num: 2, Den: 3}, {Verb: whatif.Scale, On: random(m, n, rng), Num: 49, Den: 50},
			{Verb: whatif.Delay, Num: 1, Den: 2, Kinds: []whatif.DelayClass{whatif.Untraced, whatif.LaunchDelays}}}
		ready := m.Prepared(base)
		if len(ready) != 1 {
			t.Fatalf("%s: %d changes are left", class, len(ready))
		}
		later := [][]whatif.Change{nil, {{Verb: whatif.Scale, On: random(m, n, rng), Num: 1, Den: 5}}, {{Verb: whatif.Shrink, On: random(m, n, rng), NS: 900}},
			{{Verb: whatif.SetTime, On: random(m, n, rng), NS: 70}}, {{Verb: whatif.Remove, On: random(m, n, rng)}}, {{Verb: whatif.NoWait, On: random(m, n, rng)}},
			{{Verb: whatif.Replace, On: random(m, n, rng), NS: 1200}},
			{{Verb: whatif.Delay, Num: 0, Den: 1, Kinds: []whatif.DelayClass{whatif.Untraced}}}, {{Verb: whatif.NoQueue}, {Verb: whatif.Scale, On: random(m, n, rng), Num: 0, Den: 1}}}
		for i, changes := range later {
			window := func(first ...whatif.Change) int64 {
				return m.Window(&whatif.Scenario{Changes: append(first, changes...)})
			}
			alone := m.Replay(&whatif.Scenario{Changes: changes}).Window
			want := m.Replay(&whatif.Scenario{Changes: slices.Concat(base, changes)}).Window
			if got := window(ready...); got != want {
				t.Errorf("%s %d: %d ns, %d from the start", class, i, got, want)
			}
			m.Window(&whatif.Scenario{Changes: ready})
			if got := window(); got != alone {
				t.Errorf("%s %d: %d ns in the room of another, %d alone", class, i, got, alone)
			}
		}
	}
}

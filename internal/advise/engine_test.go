package advise

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
	"overlay/internal/whatif"
)

// TestGeneralAddsToWhatIsListed: where a general finding that gains much alone turns out to add too little, the next one adds to
// what is listed, without it.
func TestGeneralAddsToWhatIsListed(t *testing.T) {
	tr := testtrace.Simulated(testtrace.Plant("", 1).With).Parse(t)
	g, p := testtrace.Exact(t, tr)
	m := whatif.New(g)
	host, device := m.NewSet(), m.NewSet()
	for a := range g.Acts {
		if g.Lanes[g.Acts[a].Lane].Stream {
			device.Add(cdg.ActID(a))
		} else {
			host.Add(cdg.ActID(a))
		}
	}
	times := func(on whatif.Set, num, den int64) []whatif.Change {
		return []whatif.Change{{Verb: whatif.Scale, On: on, Num: num, Den: den}}
	}
	window := func(changes ...[]whatif.Change) int64 {
		return m.Window(&whatif.Scenario{Changes: slices.Concat(changes...)})
	}
	nearly, little, rest := times(device, 1, 30), times(device, 0, 1), times(host, 0, 1)
	e := &engine{run: newRun(g, p), model: m, all: nearly, a: &Advice{}}
	e.a.Base = window(nearly) // shares are of that
	list := []Finding{{ID: "comm-exposed", changes: little, Alone: e.window}, {ID: hostBound.id, changes: rest, Alone: e.window}}
	e.asked = map[Group]*answers{General: {findings: list}}
	e.general()
	both := window(nearly, rest)
	if both == window(nearly, little, rest) {
		t.Fatal("the finding that adds little adds nothing")
	}
	if len(e.a.Below) != 1 || e.a.Below[0].ID != list[0].ID || e.a.Below[0].Share != signed(window(nearly)-window(nearly, little), e.a.Base) {
		t.Errorf("below %v", e.a.Below)
	}
	if f := e.a.find(hostBound.id); f == nil || f.Gain != window(nearly)-both || e.a.Together != both {
		t.Errorf("together %d, want %d: %+v", e.a.Together, both, f)
	}
}

// TestPartOf compares findings that take time of the same activities with sums by hand.
func TestPartOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type taking struct {
			act cdg.ActID
			ns  int64
		}
		list := make([]Finding, rapid.IntRange(1, 6).Draw(t, "findings"))
		takes := make([][][]taking, len(list))
		for i := range list {
			list[i].ID = fmt.Sprint("finding-", (i*5)%7)
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				var change []taking
				for range rapid.IntRange(0, 6).Draw(t, "activities") {
					change = append(change, taking{cdg.ActID(rapid.IntRange(0, 7).Draw(t, "activity")), rapid.Int64Range(1, 4).Draw(t, "ns")})
				}
				takes[i] = append(takes[i], change)
				list[i].taken = append(list[i].taken, func(yield func(cdg.ActID, int64) bool) {
					for _, x := range change {
						if !yield(x.act, x.ns) {
							return
						}
					}
				})
			}
		}
		owner, owned := map[cdg.ActID]string{}, map[cdg.ActID]int64{}
		var claimed []claim
		for i := range list {
			mine := map[cdg.ActID]int64{}
			for _, change := range takes[i] {
				for _, x := range change {
					mine[x.act] = max(mine[x.act], x.ns)
				}
			}
			whole, shared, by := int64(0), int64(0), map[string]int64{}
			for a, ns := range mine {
				whole += ns
				shared += min(ns, owned[a])
				by[owner[a]] += min(ns, owned[a])
			}
			want := ""
			if float64(shared) > overlap*float64(whole) {
				for id, ns := range by {
					if ns > by[want] || ns == by[want] && ns > 0 && (want == "" || id < want) {
						want = id
					}
				}
			} else {
				for a, ns := range mine {
					if ns > owned[a] {
						owner[a], owned[a] = list[i].ID, ns
					}
				}
			}
			var got string
			if got, claimed = partOf(list, i, claimed); got != want {
				t.Fatalf("finding %d is part of %q, want %q", i, got, want)
			}
			if len(claimed) != len(owned) {
				t.Fatalf("%d activities are claimed, want %d", len(claimed), len(owned))
			}
			for k, c := range claimed {
				if k > 0 && claimed[k-1].act >= c.act || c.ns != owned[c.act] || list[c.by].ID != owner[c.act] {
					t.Fatalf("claims %v, want %v of %v", claimed, owned, owner)
				}
			}
		}
	})
}

package whatif_test

import (
	"testing"

	"overlay/internal/whatif"
)

// A run against itself differs in nothing; against one in which a name took other time, that name explains it all. Of several the effects make the whole.
func TestExplain(t *testing.T) {
	m := whatif.New(simulated(t, "hidden", 7))
	works := m.Works()
	if x := m.Explain(works, m.Works(), false); x.Explained != 0 || len(x.Changes) != 0 {
		t.Errorf("against itself: %+v", x)
	}
	sc, err := whatif.NewSelector(m, nil).Scenario("gemm_f16=0.5")
	if err != nil {
		t.Fatal(err)
	}
	saved := m.Replay(&sc).Saved()
	w := whatif.Work{Name: "gemm_f16", Device: true}
	was := works.ByName[w]
	if was.NS == 0 || saved == 0 {
		t.Fatal("the program has no such kernels, or they do not matter")
	}
	works.ByName[w] = whatif.Done{NS: was.NS / 2, Events: was.Events}
	x := m.Explain(works, m.Works(), false)
	if off := x.Explained - saved; len(x.Changes) != 1 || off > 20 || off < -20 || x.Changes[0].Effect != x.Explained || x.Others != 0 {
		t.Errorf("%+v", x)
	}
	if x.Changes[0].Work != w || x.Changes[0].After != was || x.Calls != 0 {
		t.Errorf("%+v", x)
	}
	// Of several runs of a side it is their sum that counts.
	if y := m.Explain(works.Add(works), m.Works().Add(m.Works()), false); y.Explained != x.Explained {
		t.Errorf("of two runs a side: %+v, of one %+v", y, x)
	}
	for _, byPlace := range []bool{false, true} {
		half := m.Works()
		half.Units = 2 // the earlier run did in two steps what this one does in one
		x = m.Explain(half, m.Works(), byPlace)
		sum := x.Others
		for _, c := range x.Changes {
			sum += c.Effect
		}
		if x.Explained <= 0 || sum != x.Explained || len(x.Changes) < 2 || x.Calls != x.Explained { // a call takes as long
			t.Errorf("by place %v: effects make %d of %d, %+v", byPlace, sum, x.Explained, x)
		}
	}
}

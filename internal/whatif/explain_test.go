package whatif_test

import (
	"testing"

	"overlay/internal/whatif"
)

// A run against itself differs in nothing; against one in which a name took other time, that name explains it all.
func TestExplain(t *testing.T) {
	m := whatif.New(simulated(t, "hidden", 7))
	works := m.Works()
	window := m.Replay(&whatif.Scenario{}).Window
	if x := m.Explain(works, window); x.Measured != 0 || x.Explained != 0 || len(x.Changes) != 0 {
		t.Errorf("against itself: %+v", x)
	}
	sc, err := whatif.NewSelector(m, nil).Scenario("gemm_f16=0.5")
	if err != nil {
		t.Fatal(err)
	}
	faster := m.Replay(&sc)
	w := whatif.Work{Name: "gemm_f16", Device: true}
	was := works[w]
	if was.NS == 0 || faster.Saved() == 0 {
		t.Fatal("the program has no such kernels, or they do not matter")
	}
	works[w] = whatif.Done{NS: was.NS / 2, Events: was.Events}
	x := m.Explain(works, faster.Window)
	if off := x.Explained - x.Measured; len(x.Changes) != 1 || off > 20 || off < -20 || x.Changes[0].Effect != x.Explained {
		t.Errorf("%+v", x)
	}
	if x.Changes[0].Work != w || x.Changes[0].After != was {
		t.Errorf("%+v", x.Changes[0])
	}
}

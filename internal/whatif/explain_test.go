package whatif_test

import (
	"maps"
	"testing"

	"overlay/internal/testtrace"
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

// TestPlaces: a place is the innermost operator behind the innermost module, also of what the operator launched; without both it is a name without its line.
func TestPlaces(t *testing.T) {
	m := modelOf(t, testtrace.Lines(t, `
frame 1 nn.Module:~Net_0 0 500
frame 1 nn.Module:~Linear_1 10 200
op 1 aten::linear 20 180
op 1 aten::mm 40 100
call 1 cudaLaunchKernel 50 10 1
op 1 nn.Module:~of~an~operator 300 50
frame 1 train.py(12):~step 600 50
op 1 aten::add 700 50
call 1 cudaLaunchKernel 710 10 2
kernel 7 gemm 800 90 1
kernel 7 lost 900 90
kernel 7 other 1000 90 2
`))
	want := map[whatif.Work]whatif.Done{
		{Name: "Net_0"}: {NS: 250_000, Events: 1}, {Name: "Linear_1"}: {NS: 20_000, Events: 1}, {Name: "Linear_1 / aten::linear"}: {NS: 80_000, Events: 1}, {Name: "Linear_1 / aten::mm"}: {NS: 100_000, Events: 2},
		{Name: "Linear_1 / aten::mm", Device: true}: {NS: 90_000, Events: 1}, {Name: "Net_0 / nn.Module: of an operator"}: {NS: 50_000, Events: 1}, {Name: "train.py: step"}: {NS: 50_000, Events: 1},
		{Name: "aten::add"}: {NS: 50_000, Events: 2}, {Name: "aten::add", Device: true}: {NS: 90_000, Events: 1}, {Name: "lost", Device: true}: {NS: 90_000, Events: 1},
	}
	if got := m.Works().ByPlace; !maps.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

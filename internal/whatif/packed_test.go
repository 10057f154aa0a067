package whatif_test

import (
	"fmt"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/testtrace"
	"overlay/internal/whatif"
)

// answer is all that a replay says.
func answer(t *testing.T, r *whatif.Result) string {
	t.Helper()
	_, p, err := r.Path()
	if err != nil {
		t.Fatal(err)
	}
	low, high := r.Range()
	return fmt.Sprint(r.Window, r.EndOfAll, low, high, r.Confidence(), r.Classes(), r.Limits(&critpath.Totals{}), p.Segments.List(), p.Edges.List())
}

// Times that have room in 32 bits and times that have none give the same answers.
func TestSmallTimes(t *testing.T) {
	for _, class := range testtrace.Classes {
		g := simulated(t, class, 3)
		m := whatif.New(g)
		if costs, parts, _ := m.Escaped(); costs+parts > 0 {
			t.Errorf("%s: %d costs and %d parts of a short trace have no room", class, costs, parts)
		}
		asked := questions(t, m)
		var want []string
		for i := range asked {
			want = append(want, answer(t, m.Replay(&asked[i])))
		}
		back := whatif.SmallTimes(700)
		small := whatif.New(g)
		if costs, parts, lags := small.Escaped(); costs == 0 || parts == 0 || lags == 0 {
			t.Errorf("%s: %d costs, %d parts, %d delays without room", class, costs, parts, lags)
		}
		for i := range asked {
			if got := answer(t, small.Replay(&asked[i])); got != want[i] {
				t.Errorf("%s, %s: another answer", class, asked[i].Name)
			}
			if got := small.Window(&asked[i]); got != m.Window(&asked[i]) {
				t.Errorf("%s, %s: a window of %d ns", class, asked[i].Name, got)
			}
		}
		back()
	}
}

// A trace that begins behind 2^53 ns, with work, operations and delays of more than 2^32 ns each: every ns counts.
func TestLongTimes(t *testing.T) {
	const t0 = 1<<53 + 1
	b := testtrace.New()
	main, stream := b.Thread(1, 1, ""), b.Stream(0, 7)
	main.Op("aten::work", t0, 9_000_000_001) // more than a signed and an unsigned number of 32 bits hold
	main.Launch("cudaLaunchKernel", t0+9_000_000_001, 5_000, 1)
	stream.Kernel("k", t0+15_000_000_008, 6_000_000_003, 1) // 6 s after its launch
	main.Call("cudaStreamSynchronize", t0+9_000_006_001, 11_999_997_010, 2)
	main.Op("aten::rest", t0+21_000_003_011, 2_200_000_000) // more than 31 bits hold
	g := testtrace.Graph(t, b.Parse(t))
	m := whatif.New(g)
	if costs, parts, lags := m.Escaped(); costs == 0 || parts < 2 || lags == 0 {
		t.Errorf("%d costs, %d parts, %d delays without room", costs, parts, lags)
	}
	if err := sameTimes(m.Replay(&whatif.Scenario{}), g); err != nil {
		t.Error(err)
	}
	window := g.Window.End - g.Window.Start
	for text, want := range map[string]int64{"aten::work=0": 9_000_000_001, "k=0": 6_000_000_003, "aten::rest=0.5": 1_100_000_000,
		"aten::work=0.5; k=0; aten::rest=0": 4_500_000_001 + 6_000_000_003 + 2_200_000_000, "aten::work=2": -9_000_000_001} {
		if got := saved(t, m, text); got != want {
			t.Errorf("%s saves %d of %d ns, want %d", text, got, window, want)
		}
	}
}

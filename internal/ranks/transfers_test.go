package ranks

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestClearPairs: pairs are taken from the best on, and are doubted where others would do about as well.
func TestClearPairs(t *testing.T) {
	for name, c := range map[string]struct {
		fits        map[[2]int]float64
		pairs, rest [][2]int
	}{
		"clear":                  {map[[2]int]float64{{0, 2}: 1, {1, 3}: 1, {0, 3}: 2, {1, 2}: 2}, [][2]int{{0, 2}, {1, 3}}, nil},
		"the other way round":    {map[[2]int]float64{{0, 2}: 1, {1, 3}: 1, {0, 3}: 1.1, {1, 2}: 1.1}, nil, [][2]int{{0, 2}, {1, 3}}},
		"one good, one bad":      {map[[2]int]float64{{0, 2}: 0.5, {1, 3}: 3, {0, 3}: 2, {1, 2}: 2}, nil, [][2]int{{0, 2}, {1, 3}}},
		"a side without another": {map[[2]int]float64{{0, 2}: 1, {1, 2}: 1.8}, nil, [][2]int{{0, 2}}},
		"far from it":            {map[[2]int]float64{{0, 2}: 1, {1, 2}: 2.1}, [][2]int{{0, 2}}, nil},
		"worse than the others":  {map[[2]int]float64{{0, 1}: 1, {2, 3}: 1, {4, 5}: 1, {6, 7}: 3.5}, [][2]int{{0, 1}, {2, 3}, {4, 5}}, [][2]int{{6, 7}}},
		"nothing fits":           {nil, nil, nil},
	} {
		var list []pairing
		for at, fit := range c.fits {
			list = append(list, pairing{at[0], at[1], fit, 40})
		}
		slices.SortFunc(list, func(x, y pairing) int { return cmp.Or(cmp.Compare(x.fit, y.fit), x.a-y.a, x.b-y.b) })
		pairs, rest := clearPairs(list, 8)
		if !slices.Equal(ends(pairs), c.pairs) || !slices.Equal(ends(rest), c.rest) {
			t.Errorf("%s: pairs %v, in doubt %v", name, ends(pairs), ends(rest))
		}
	}
}

func ends(list []pairing) (out [][2]int) {
	for _, x := range list {
		out = append(out, [2]int{x.a, x.b})
	}
	slices.SortFunc(out, func(a, b [2]int) int { return a[0] - b[0] })
	return out
}

// TestTransferFit: the two sides of transfers fit, whichever comes later; those of two that run side by side fit worse.
func TestTransferFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const n, took = 60, 40_000
	noise := func() int64 { return int64(1000 * rng.NormFloat64()) }
	var a, b, beside []item
	for i := range int64(n) {
		add := func(list *[]item, start, end, apart int64) {
			*list = append(*list, item{end: end + apart, dur: shortened(end - start), token: uint64(SendRecv) << 56, steps: steps(i / 10), seq: -1})
		}
		at := i*1_000_000 + rng.Int64N(300_000)
		one, other, its := at+rng.Int64N(100_000), at+rng.Int64N(100_000), at+rng.Int64N(100_000)
		done := max(one, other) + took
		add(&a, one, done+noise(), 0)
		add(&b, other, done+noise(), 5_000_000)
		add(&beside, its, max(at+100_000, its)+took+noise(), 5_000_000)
	}
	pair, m := transferFit(a, b)
	wrong, _ := transferFit(a, beside)
	if m != n || pair > 2 || wrong < 4*pair {
		t.Errorf("%d of %d aligned; the two sides fit at %.2f, others at %.2f", m, n, pair, wrong)
	}
	if back, _ := transferFit(b, a); back < pair*0.8 || back > pair*1.2 {
		t.Errorf("%.2f from the one side, %.2f from the other", pair, back)
	}
	if fit, _ := transferFit(a[:3], b[:3]); fit < 1e9 {
		t.Errorf("three transfers are enough: %.2f", fit)
	}
}

// TestPlaces: both sides of a transfer say the same places and the same direction.
func TestPlaces(t *testing.T) {
	for name, want := range map[string]struct {
		between string
		up      bool
	}{"send 3->5": {"3 5", true}, "recv 5<-3": {"3 5", true}, "send 5->3": {"3 5", false}, "recv 3<-5": {"3 5", false}, "send": {}, "recv 3": {}, "all_to_all": {}, "send x->1": {}} {
		if between, up := places(name); between != want.between || up != want.up {
			t.Errorf("%s: %q, up %v", name, between, up)
		}
	}
}

package whatif

import (
	"slices"
	"sort"
	"testing"

	"overlay/internal/cdg"
	"pgregory.net/rapid"
)

// TestLookUp wants what a search finds, wherever the look-up before ended.
func TestLookUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOfN(rapid.IntRange(0, 50), 0, 40).Draw(rt, "list")
		slices.Sort(list)
		hint := int32(rapid.IntRange(0, 45).Draw(rt, "hint"))
		for range 5 {
			x := rapid.IntRange(-1, 51).Draw(rt, "x")
			behind := func(i int) bool { return list[i] > x }
			want := sort.Search(len(list), behind)
			if got := lookUp(&hint, len(list), behind); got != want || int(hint) != want {
				rt.Fatalf("first above %d in %v: %d and hint %d, want %d", x, list, got, hint, want)
			}
		}
	})
}

// TestSetRanges wants parts of sets to be what a look at each member says.
func TestSetRanges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const n = 200
		set := Sets(n).NewSet()
		for range rapid.IntRange(0, 6).Draw(rt, "members") {
			set.Add(cdg.ActID(rapid.IntRange(0, n-1).Draw(rt, "member")))
		}
		first, limit := cdg.ActID(rapid.IntRange(0, n-1).Draw(rt, "first")), cdg.ActID(rapid.IntRange(0, n).Draw(rt, "limit"))
		var from, got []cdg.ActID
		between := false
		for a := range cdg.ActID(n) {
			if set.Has(a) && a >= first {
				from = append(from, a)
				between = between || a < limit
			}
		}
		set.eachFrom(first, func(a cdg.ActID) { got = append(got, a) })
		if !slices.Equal(got, from) || set.any(first, limit) != between {
			rt.Fatalf("from %d: %v, want %v; before %d: %v, want %v", first, got, from, limit, set.any(first, limit), between)
		}
	})
}

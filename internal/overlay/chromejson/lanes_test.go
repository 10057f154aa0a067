package chromejson

import (
	"math/rand/v2"
	"slices"
	"testing"

	"overlay/internal/overlay"
)

// TestSplitSlices: each slice lies in the first lane in which it nests, as a search lane by lane finds it.
func TestSplitSlices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		type span struct{ start, dur int64 }
		var list []span
		for range 1 + r.IntN(60) {
			list = append(list, span{r.Int64N(100), r.Int64N(40)})
		}
		slices.SortFunc(list, func(a, b span) int { return int(a.start - b.start) })
		track := &overlay.Track{}
		for _, s := range list {
			track.Slices = append(track.Slices, overlay.Slice{Start: s.start, Dur: s.dur})
		}
		var want [][]int32
		var open [][]int64
		for i, s := range list {
			for k := 0; ; k++ {
				if k == len(want) {
					want, open = append(want, nil), append(open, nil)
				}
				open[k] = slices.DeleteFunc(open[k], func(end int64) bool { return end <= s.start })
				if n := len(open[k]); n == 0 || s.start+s.dur <= open[k][n-1] {
					want[k], open[k] = append(want[k], int32(i)), append(open[k], s.start+s.dur)
					break
				}
			}
		}
		if got := splitSlices(track); !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("%v\ngot  %v\nwant %v", list, got, want)
		}
	}
}

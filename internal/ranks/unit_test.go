package ranks

import (
	"slices"
	"testing"
)

// TestUnit: where groups do not say what they are for, any of them may be what is slow; two sides of transfers are none.
func TestUnit(t *testing.T) {
	j := &Job{}
	for r := range 4 {
		j.Members = append(j.Members, Member{Summary: &Summary{Rank: Rank(r), Device: -1}})
	}
	excess := []int64{50, 40, 0, 0}
	s := &JobStep{Excess: excess, Duration: 100}
	strikes := []strike{{s, 0, 0.5}, {s, 0, 0.5}}
	for by, want := range map[string][]int32{"times": {0, 1}, "transfers": nil, "args": nil} {
		j.Groups = []JobGroup{{Name: "a", Ranks: []Rank{0, 1}, Size: 2, By: by}}
		var got []int32
		if u := j.unit(excess, strikes); u != nil {
			got = u.members
		}
		if !slices.Equal(got, want) {
			t.Errorf("by %s: %v, want %v", by, got, want)
		}
	}
}

package page

import (
	"slices"
	"testing"
)

// TestHeadsOfMaps: a head is as wide as the columns up to the next one, and there are six to twelve however many columns there are; the last has at least half the room of the others.
func TestHeadsOfMaps(t *testing.T) {
	if got := headsOver([]string{"0", "", "", "3", ""}); !slices.Equal(got, []head{{"0", 3, true}, {"3", 2, true}}) {
		t.Errorf("%+v", got)
	}
	for columns := 1; columns <= 512; columns++ {
		n, last := 0, 0
		for c := range columns {
			if headed(c, columns) {
				n, last = n+1, c
			}
		}
		if n > 12 || n < min(columns, 6) || !headed(0, columns) {
			t.Errorf("%d heads over %d columns", n, columns)
		}
		if every := (columns + 7) / 8; columns > 12 && 2*(columns-last) < every {
			t.Errorf("the last head over %d columns has %d, the others %d", columns, columns-last, every)
		}
	}
}

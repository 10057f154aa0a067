package whatif_test

import (
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/whatif"
)

// Where a second path is shorter by a margin, the critical one without any of its operations there saves that and no more.
func TestTies(t *testing.T) {
	ties, tight := 0, 0
	for _, class := range testtrace.Classes {
		for seed := range uint64(40) {
			m := whatif.New(simulated(t, class, seed))
			last := int64(0)
			for _, x := range m.Ties() {
				if x.From < last || x.To <= x.From || x.Margin < 0 || 100*x.Margin > x.To-x.From {
					t.Errorf("%s %d: %+v after %d", class, seed, x, last)
				}
				last = x.To
				r := m.Replay(&whatif.Scenario{Changes: []whatif.Change{{Verb: whatif.Scale, On: m.Critical(x.From, x.To), Num: 0, Den: 1}}})
				if r.Saved() > x.Margin {
					t.Errorf("%s %d: %+v, but %d ns are saved", class, seed, x, r.Saved())
				}
				if ties++; x.Margin > 0 && r.Saved() == x.Margin {
					tight++
				}
			}
		}
	}
	if ties < 20 || tight < 3 {
		t.Errorf("%d ties, in %d of which the margin is saved", ties, tight)
	}
}

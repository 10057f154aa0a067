package whatif_test

import (
	"reflect"
	"testing"

	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/whatif"
)

// TestRanges: however few points a processor works at in one go, the model is the same.
func TestRanges(t *testing.T) {
	beside := 0
	check := func(name string, g *graph.Graph) {
		want := whatif.New(g).Inside()
		for _, size := range []int{1, 7, 100} {
			back := whatif.SmallRanges(size)
			got := whatif.New(g).Inside()
			back()
			for i := range want {
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Errorf("%s: list %d of the model is another one in ranges of %d", name, i, size)
				}
			}
		}
		beside += reflect.ValueOf(want[13]).Len()
	}
	for _, made := range testtrace.Made(t) {
		g := testtrace.Graph(t, made.Trace)
		check(made.Name, g)
	}
	for seed := range uint64(3) {
		back := func() {}
		if seed == 2 { // most times have no room in 32 bits
			back = whatif.SmallTimes(2000)
		}
		for _, class := range testtrace.Classes {
			check(class, simulated(t, class, seed))
		}
		back()
	}
	if beside == 0 {
		t.Error("no call waits for a thread beside")
	}
}

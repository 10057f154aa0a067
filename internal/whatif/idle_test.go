package whatif_test

import (
	"fmt"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/testtrace"
	"overlay/internal/whatif"
)

// TestIdleStays: without untraced time a thread of a pool waits for work as long as it did, and what is saved is the untraced time of its path.
func TestIdleStays(t *testing.T) {
	text := "call 1 cudaLaunchKernel 3900 5 1\nkernel 7 a 3910 5 1\n"
	for thread := range 3 {
		for round := range 3 {
			text += fmt.Sprintf("note %d Stage::Serve::run %d 400\ncall %d cudaStreamSynchronize %d 5\n", thread+1, 1000*round+10*thread, thread+1, 1000*round+10*thread+400)
		}
	}
	text += "op 3 aten::last 2900 1100\ncall 3 cudaLaunchKernel 3990 5 2\nkernel 7 b 4000 10 2\n"
	g, p := testtrace.Exact(t, testtrace.Lines(t, text))
	was := critpath.Breakdown(p).Class
	m := whatif.New(g)
	idle := m.Replay(&whatif.Scenario{}).Classes()[critpath.ClassIdle]
	for _, c := range []struct{ num, saved int64 }{{0, was[critpath.ClassUntraced]}, {1, was[critpath.ClassUntraced] / 2}} {
		r := m.Replay(&whatif.Scenario{Changes: []whatif.Change{{Verb: whatif.Delay, Num: c.num, Den: 2, Kinds: []whatif.DelayClass{whatif.Untraced}}}})
		if r.Saved() != c.saved || r.Classes()[critpath.ClassIdle] != idle || idle == 0 {
			t.Errorf("%d of 2: saved %d of %d untraced, idle %d, was %d", c.num, r.Saved(), was[critpath.ClassUntraced], r.Classes()[critpath.ClassIdle], idle)
		}
		_, path, err := r.Path()
		if err != nil {
			t.Fatal(err)
		}
		if then := critpath.Breakdown(path).Class; then[critpath.ClassIdle] != was[critpath.ClassIdle] {
			t.Errorf("the path has %d idle, was %d", then[critpath.ClassIdle], was[critpath.ClassIdle])
		}
	}
}

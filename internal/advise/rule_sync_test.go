package advise

import (
	"fmt"
	"testing"

	"overlay/internal/testtrace"
)

// TestAnswers: a thread of a pool that waits for the device and launches nothing more before its next work answers with what was computed. It is
// advised not to wait where it goes on with its work, and where there is no pool.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name    string
		threads int
		then    bool // the thread launches more after it waited
		want    int
	}{{"answers", 3, false, 0}, {"goes on", 3, true, 9}, {"no pool", 1, true, 3}} {
		text, n := "", 0
		launch := func(thread, at, dur int) string {
			n++
			return fmt.Sprintf("call %d cudaLaunchKernel %d 5 %d\nkernel %d k %d %d %d\n", thread, at, n, thread+6, at+10, dur, n)
		}
		for thread := range c.threads {
			for round := range 3 {
				at, id := 2000*round+100*thread, thread+1
				text += fmt.Sprintf("note %d Serve::run %d 700\n", id, at) + launch(id, at+10, 400) + fmt.Sprintf("call %d cudaStreamSynchronize %d 400\n", id, at+25)
				if c.then {
					text += launch(id, at+500, 100)
				}
			}
		}
		text += "op 9 aten::last 8000 100\n" + launch(9, 8020, 10)
		g, p := testtrace.Exact(t, testtrace.Lines(t, text))
		r := newRun(g, p)
		r.look()
		if got := len(midRun(r, r.waitsOf(byExplicit))); got != c.want {
			t.Errorf("%s: %d of %d waits could go, want %d", c.name, got, len(r.waitsOf(byExplicit)), c.want)
		}
	}
}

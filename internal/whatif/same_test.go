package whatif_test

import (
	"flag"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/digest"
	"overlay/internal/whatif"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestSame holds replays to what they gave.
func TestSame(t *testing.T) {
	var lines []string
	for _, tr := range testtrace.Steady(t) {
		m := whatif.New(testtrace.Graph(t, tr.Trace))
		for _, text := range []string{"class:cpu=0.5", "class:gpu_compute=0.5", "class:communication=0", "launch=0", "sync=0", "class:copy=2"} {
			sc, err := whatif.NewSelector(m, nil).Scenario(text)
			if err != nil { // nothing of it is in the trace
				continue
			}
			lines = append(lines, tr.Name+"_"+text+" "+digest.Of(m.Replay(&sc)))
		}
	}
	if len(lines) < 100 {
		t.Errorf("%d replays only", len(lines))
	}
	digest.Check(t, "replays", lines, *update)
}

package whatif_test

import (
	"path/filepath"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/whatif"
)

// TestPathHolds: a replay without a class saves no more than the class has on the path, as what the path followed still follows.
func TestPathHolds(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpus.Dir(t), "*.json.gz"))
	if len(files) == 0 {
		t.Skip("no traces are at hand: set OVERLAY_CORPUS")
	}
	for _, f := range files {
		g, p := testtrace.Exact(t, testtrace.Read(t, f))
		m, was := whatif.New(g), critpath.Breakdown(p).Class
		for _, class := range []critpath.Class{critpath.ClassCompute, critpath.ClassComm, critpath.ClassCopy} {
			c := m.OfClass(class)
			c.Num = 0
			if r := m.Replay(&whatif.Scenario{Changes: []whatif.Change{c}}); r.Saved() > was[class] {
				t.Errorf("%s without %v: saved %d of %d on the path", filepath.Base(f), class, r.Saved(), was[class])
			}
		}
	}
}

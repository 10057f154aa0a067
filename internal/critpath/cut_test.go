package critpath_test

import (
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/testtrace"
)

// TestCutSync: a synchronisation in which the recording ended waits for what has no record. One that is over in no time does not, nor
// does a call that does not wait.
func TestCutSync(t *testing.T) {
	for _, c := range []struct {
		name, last string
		want       critpath.SegmentKind
	}{
		{"cut", "call 1 cudaStreamSynchronize 40 960 9", critpath.SyncWait},
		{"short", "call 1 cudaStreamSynchronize 40 30 9", critpath.RuntimeCall},
		{"not the last", "call 1 cudaStreamSynchronize 40 860 9\nop 1 aten::x 900 100", critpath.RuntimeCall},
		{"no wait", "call 1 cudaMalloc 40 960 9", critpath.RuntimeCall},
	} {
		_, p := testtrace.Exact(t, testtrace.Lines(t, "call 1 cudaLaunchKernel 0 5 1\nkernel 7 a 10 20 1\ncall 1 cudaLaunchKernel 20 5 2\n"+c.last))
		var kind critpath.SegmentKind
		for _, s := range p.Segments.List() {
			if s.Start <= 40_000 && s.End > 40_000 {
				kind = s.Kind
			}
		}
		if kind != c.want || (p.Quality[critpath.CutSync] > 0) != (c.want == critpath.SyncWait) {
			t.Errorf("%s: %v, wanted %v; counts %v", c.name, kind, c.want, p.Quality)
		}
	}
}

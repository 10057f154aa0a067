package whatif_test

import (
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/whatif"
)

// TestStepOfACPUThatRunsAhead: the window of a step lasts until the work that it launched is done; what its thread does for the next steps
// meanwhile is nothing that the window waits for, so that less GPU work makes the window shorter.
func TestStepOfACPUThatRunsAhead(t *testing.T) {
	b := testtrace.New()
	main, stream := b.Thread(100, 100, "python"), b.Stream(0, 7)
	for step := range int64(4) {
		at := step * 100_000
		main.Annotation([]string{"ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"}[step], at, 100_000)
		main.Launch("cudaLaunchKernel", at+5_000, 5_000, step+1)
		main.Op("aten::mm", at+20_000, 75_000)
		stream.Kernel([]string{"gemm", "gemm", "other", "other"}[step], 15_000+step*250_000, 250_000, step+1)
	}
	g, err := graph.Build(b.Parse(t), cdg.Options{Step: "0"})
	if err != nil {
		t.Fatal(err)
	}
	if g.Window.Body != 100_000 || g.Window.End != 265_000 {
		t.Fatalf("the window is %+v", g.Window)
	}
	p, err := critpath.Exact(g)
	if err != nil {
		t.Fatal(err)
	}
	m := whatif.New(g)
	if got := m.Replay(&whatif.Scenario{}); got.Window != 265_000 {
		t.Errorf("a replay of nothing takes %d, the window is %+v", got.Window, g.Window)
	}
	for _, h := range critpath.Hotspots(g, p) {
		if h.Name != "gemm" {
			continue
		}
		// Without the kernel the step itself is left: the annotation, whose end is at 100 µs.
		c := m.Ceilings([]whatif.Change{{On: m.OfHotspot(&h)}})[0]
		if c.Zero != 100_000 || c.Half != 140_000 {
			t.Errorf("without its kernel the step takes %d, with half of it %d", c.Zero, c.Half)
		}
		return
	}
	t.Error("the kernel is no hotspot")
}

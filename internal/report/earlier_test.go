package report_test

import (
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/report"
	"overlay/internal/testtrace"
)

// TestEarlierWork: shares of hotspots are of what a program could make shorter, where a tenth of the window and more is work that was launched before it was recorded.
func TestEarlierWork(t *testing.T) {
	for _, c := range []struct {
		start int64
		want  string
	}{
		{9_000, "of 100.0 µs"},
		{28, "of the window"},
	} {
		b := testtrace.New()
		main, stream := b.Thread(1, 1, "python"), b.Stream(0, 7)
		main.Op("aten::x", 0, 20_000)
		main.Launch("cudaLaunchKernel", 5_000, 3_000, 1)
		main.Launch("cudaLaunchKernel", 10_000, 3_000, 2)
		at := c.start * 1000
		stream.Kernel("first", at, 70_000, 1)
		stream.Kernel("second", at+70_500, 29_500, 2)
		g, err := graph.Build(b.Parse(t), cdg.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := critpath.Exact(g)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		r := report.New(report.Source{Name: "x", Graph: g, Path: p, Top: 10})
		if err := r.WriteText(&text, report.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		_, list, _ := strings.Cut(text.String(), "\nHotspots.")
		list, _, _ = strings.Cut(list, "\n\n")
		list = strings.Join(strings.Fields(list), " ")
		said := strings.Contains(list, "Shares are without work from before recording.")
		if earlier := c.start > 1000; !strings.Contains(list, c.want) || said != earlier || earlier && !strings.Contains(list, "70.0 %") {
			t.Errorf("%s", text.String())
		}
	}
}

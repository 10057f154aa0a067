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

// TestCutIteration: where recording began in running work, verdict, classes, bar and rows of steps are of what the iterations of a server take. A run
// without iterations has the whole window there.
func TestCutIteration(t *testing.T) {
	for _, c := range []struct {
		name       string
		want, lack []string
	}{
		{"step[DECODE bs=4]", []string{"\nbound by GPU compute (60 %) and launch latency (40 %), in 50.0 µs of iterations; the other 900.0 µs of the window are GPU work launched before recording began\n",
			" GPU compute 60.0 % 30.0 µs", "\nbefore 900.0 µs GPU compute 100 %", "\ndecode#0 50.0 µs GPU compute 60 %, launch latency 40 %", "\nGGGGG", "GGLL"}, []string{" 950.0 µs GPU"}},
		{"forward", []string{"\nbound by GPU work launched before recording began\n", " GPU compute 97.9 % 930.0 µs"}, []string{"of iterations"}},
	} {
		b := testtrace.New()
		main, stream := b.Thread(1, 1, "python"), b.Stream(0, 7)
		main.Annotation(c.name, 0, 950_000)
		main.Launch("cudaLaunchKernel", 5_000, 3_000, 1)
		main.Launch("cudaLaunchKernel", 10_000, 3_000, 2)
		stream.Kernel("first", 900_000, 10_000, 1)
		stream.Kernel("second", 930_000, 20_000, 2)
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
		if err := r.WriteText(&text, report.TextOptions{Width: 250}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(text.String(), "\n")
		for i := range lines {
			lines[i] = strings.Join(strings.Fields(lines[i]), " ")
		}
		got := strings.Join(lines, "\n")
		for _, s := range c.want {
			if !strings.Contains(got, s) {
				t.Errorf("no %q in\n%s", s, got)
			}
		}
		for _, s := range c.lack {
			if strings.Contains(got, s) {
				t.Errorf("%q in\n%s", s, got)
			}
		}
	}
}

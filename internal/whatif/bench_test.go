package whatif_test

import (
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/whatif"
)

// bench returns the graph of a real trace of 274,000 events.
func bench(b *testing.B) *graph.Graph {
	b.Helper()
	g := testtrace.Graph(b, read(b, corpus.Files(b, "SAF__amg_example__asdf_False*")[0]))
	b.ReportAllocs()
	b.ResetTimer()
	return g
}

func BenchmarkNew(b *testing.B) {
	g := bench(b)
	for b.Loop() {
		whatif.New(g)
	}
}

func BenchmarkReplay(b *testing.B) {
	m := whatif.New(bench(b))
	sc, err := whatif.NewSelector(m, nil).Scenario("class:cpu=0.5")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		m.Replay(&sc)
	}
}

func BenchmarkPath(b *testing.B) {
	m := whatif.New(bench(b))
	sc, err := whatif.NewSelector(m, nil).Scenario("class:cpu=0.5")
	if err != nil {
		b.Fatal(err)
	}
	r := m.Replay(&sc)
	for b.Loop() {
		if _, _, err := r.Path(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCeilings asks what a report asks: all classes and ten hotspots, each at none and at half of its time.
func BenchmarkCeilings(b *testing.B) {
	g := bench(b)
	m := whatif.New(g)
	p := testtrace.Path(b, g)
	for b.Loop() {
		var list []whatif.Change
		for c := range critpath.NumClasses {
			list = append(list, m.OfClass(c))
		}
		for i, h := range critpath.Hotspots(g, p) {
			if i < 10 {
				list = append(list, whatif.Change{On: m.OfHotspot(&h)})
			}
		}
		m.Ceilings(list)
	}
}

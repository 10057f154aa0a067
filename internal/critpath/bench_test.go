package critpath_test

import (
	"slices"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// repeated concatenates n copies of a trace in time.
func repeated(tr *trace.Trace, n int) *trace.Trace {
	c := *tr
	c.Events, c.Wide = nil, slices.Clip(tr.Wide)
	var of []trace.EventID
	first, last := int64(1<<62), int64(0)
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Ph == 'X' {
			first, last = min(first, e.Start), max(last, tr.End(e))
		}
	}
	for i := range n {
		base := trace.EventID(len(c.Events))
		for j := range trace.EventID(len(tr.Events)) {
			e := c.Unlaunched(tr, j)
			e.Start += int64(i) * (last - first + 1000)
			c.Events, of = append(c.Events, e), append(of, j)
		}
		for j := range trace.EventID(len(tr.Events)) {
			if l := tr.Launch(j); l != trace.NoEvent {
				c.SetLaunch(base+j, base+l)
			}
		}
	}
	c.Source = testtrace.Renumbered{Source: tr.Source, Of: of}
	return &c
}

func benchTrace(b *testing.B) *trace.Trace {
	return testtrace.Read(b, corpus.Files(b, "SAF*False*")[0])
}

func BenchmarkBuild(b *testing.B)   { benchmark(b, 1, false) }
func BenchmarkExact(b *testing.B)   { benchmark(b, 1, true) }
func BenchmarkBuild5M(b *testing.B) { benchmark(b, 18, false) }
func BenchmarkExact5M(b *testing.B) { benchmark(b, 18, true) }

func benchmark(b *testing.B, copies int, exact bool) {
	tr := repeated(benchTrace(b), copies)
	g := testtrace.Graph(b, tr)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		var err error
		if exact {
			_, err = critpath.Exact(g)
		} else {
			_, err = graph.Build(tr, cdg.Options{})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(tr.Events))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

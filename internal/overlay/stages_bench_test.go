package overlay_test

import (
	"bytes"
	"io"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/critpath/hta"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/overlay"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/processor"
)

// BenchmarkStages measures every stage of a run on the demo and on generated traces; on 1 and 5 million events with
// OVERLAY_LONG=1. It works on as many cores as GOMAXPROCS (-cpu) says. On a
// machine that others use, too, the processor time (cpu-ns/op) says more than the time that passed.
func BenchmarkStages(b *testing.B) {
	b.Run("demo", func(b *testing.B) { stages(b, corpus.Text(b, corpus.Demo(b))) })
	for _, c := range []struct {
		name   string
		events int
		stacks bool
	}{
		{"10k", 10_000, false}, {"100k", 100_000, false}, {"100k_stacks", 100_000, true},
		{"1M", 1_000_000, false}, {"1M_stacks", 1_000_000, true}, {"5M", 5_000_000, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			if c.events > 100_000 && !corpus.Long() {
				b.Skip("OVERLAY_LONG=1 runs it")
			}
			var buf bytes.Buffer
			if err := testtrace.Large(&buf, c.events, c.stacks); err != nil {
				b.Fatal(err)
			}
			stages(b, buf.Bytes())
		})
	}
}

func stages(b *testing.B, src []byte) {
	tr := testtrace.Parse(b, src)
	g, p := testtrace.Exact(b, tr)
	ov := overlay.Annotate(g.Layout(), p, overlay.Options{})
	stage := func(name string, work func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			used := processor.Time()
			for b.Loop() {
				if err := work(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(processor.Time()-used)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(len(tr.Events))*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
	stage("parse", func() error { _, err := kineto.Parse(src, "bench", kineto.Options{}); return err })
	stage("build", func() error { _, err := graph.Build(tr, cdg.Options{}); return err })
	stage("exact", func() error { _, err := critpath.Exact(g); return err })
	stage("ctda", func() error { _, err := critpath.CTDA(g); return err })
	stage("hta", func() error { _, err := hta.Find(tr, hta.Options{First: -1, Last: -1}); return err })
	stage("annotate", func() error { overlay.Annotate(g.Layout(), p, overlay.Options{}); return nil })
	stage("perfetto", func() error {
		_, err := pftrace.Write(io.Discard, tr, ov)
		return err
	})
	stage("chrome", func() error {
		_, err := chromejson.Write(io.Discard, tr, ov)
		return err
	})
}

package frompftrace_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"testing"

	"overlay/internal/frompftrace"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// BenchmarkParse reads one trace as JSON, and as the .pftrace files that PyTorch and Perfetto's SDK would have written of it.
func BenchmarkParse(b *testing.B) {
	f, err := os.Open(corpus.Files(b, "SAF*False*.json.gz")[0])
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		b.Fatal(err)
	}
	tr, err := kineto.Parse(text, "t.json", kineto.Options{})
	if err != nil {
		b.Fatal(err)
	}
	events := float64(len(tr.Events))
	pytorch := testtrace.Pftrace(tr, testtrace.PftraceOptions{})
	live := testtrace.Pftrace(tr, testtrace.PftraceOptions{Layout: testtrace.Live})
	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			if _, err := kineto.Parse(text, "t.json", kineto.Options{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
	})
	for name, src := range map[string][]byte{"pytorch": pytorch, "live": live} {
		b.Run(name, func(b *testing.B) {
			to := &spool{}
			for b.Loop() {
				to.b = to.b[:0]
				if _, err := frompftrace.Parse(bytes.Clone(src), "t.pftrace", kineto.Options{}, to); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
		})
	}
}

//go:build unix

package frompftrace_test

import (
	"strings"
	"syscall"
	"testing"

	"overlay/internal/frompftrace"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// BenchmarkParse reads traces as JSON, and as the .pftrace files that PyTorch and Perfetto's SDK would have written of them;
// BenchmarkPath reads them and finds the path. Both tell the time of processors, which other work on a machine bends less.
func BenchmarkParse(b *testing.B) { benchmark(b, func(*trace.Trace) {}) }

func BenchmarkPath(b *testing.B) {
	benchmark(b, func(tr *trace.Trace) { testtrace.Analyse(b, tr) })
}

func benchmark(b *testing.B, then func(tr *trace.Trace)) {
	for _, file := range corpus.Files(b, "SAF*False*.json.gz", "HTA__trace_diff*.json.gz") {
		text := corpus.Text(b, file)
		tr := testtrace.Parse(b, text)
		events := len(tr.Events)
		short, _, _ := strings.Cut(file[strings.LastIndexByte(file, '/')+1:], "__")
		run := func(layout string, read func() (*trace.Trace, error)) {
			b.Run(short+"/"+layout, func(b *testing.B) {
				b.ReportAllocs()
				from := processorTime()
				for b.Loop() {
					tr, err := read()
					if err != nil {
						b.Fatal(err)
					}
					then(tr)
				}
				b.ReportMetric(float64(processorTime()-from)/float64(b.N)/float64(events), "cpu-ns/event")
			})
		}
		run("json", func() (*trace.Trace, error) { return kineto.Parse(text, "t.json", kineto.Options{}) })
		for _, l := range []struct {
			name   string
			layout testtrace.PftraceLayout
		}{{"pytorch", testtrace.PyTorch}, {"live", testtrace.Live}} {
			src := testtrace.Pftrace(tr, testtrace.PftraceOptions{Layout: l.layout})
			to := &spool{b: make([]byte, 0, 3*len(src))}
			run(l.name, func() (*trace.Trace, error) {
				to.b = to.b[:0]
				return frompftrace.Parse(src, "t.pftrace", kineto.Options{}, kineto.NewSink(to, kineto.Options{}))
			})
		}
	}
}

// processorTime is what the process has used so far, in ns.
func processorTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

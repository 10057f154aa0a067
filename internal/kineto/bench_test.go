package kineto

import (
	"fmt"
	"os"
	"runtime"
	"testing"
)

// BenchmarkParse reads OVERLAY_LARGE_TRACE, a plain JSON file, or a generated trace.
func BenchmarkParse(b *testing.B) {
	src := largeTrace(b)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cpus := range []int{1, 2} {
		b.Run(fmt.Sprintf("cpus=%d", cpus), func(b *testing.B) {
			runtime.GOMAXPROCS(cpus)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			events := 0
			for b.Loop() {
				tr, err := Parse(src, "bench", Options{})
				if err != nil {
					b.Fatal(err)
				}
				events = len(tr.Events)
			}
			b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func largeTrace(b *testing.B) []byte {
	if name := os.Getenv("OVERLAY_LARGE_TRACE"); name != "" {
		src, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		return src
	}
	return generated(100_000)
}

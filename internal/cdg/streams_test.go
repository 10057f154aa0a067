package cdg_test

import (
	"fmt"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
)

// TestOverlapInStream: stamps of a stream may overlap. An operation comes after the one that ends last of those before it, and of several that end together after the
// one that starts last, be it also longer or shorter.
func TestOverlapInStream(t *testing.T) {
	for _, c := range []struct {
		ends [2]int64
		want int
	}{{[2]int64{200, 200}, 1}, {[2]int64{210, 200}, 0}, {[2]int64{200, 210}, 1}} {
		b := testtrace.New()
		main, s := b.Thread(1, 1, "main"), b.Stream(0, 7)
		for i := range int64(3) {
			main.Launch("cudaLaunchKernel", 1000*(1+10*i), 5000, 1+i)
		}
		var list []*testtrace.Event
		for i, start := range []int64{100, 150} {
			list = append(list, s.Kernel("k", 1000*start, 1000*(c.ends[i]-start), int64(1+i)))
		}
		after := s.Kernel("after", 212_000, 10_000, 3)
		g := build(t, b.Parse(t))
		wants(t, fmt.Sprint("after those that end at ", c.ends), dependsOn(g, after, cdg.StreamOrder), fmt.Sprint(list[c.want].ID(), " stream"))
	}
}

package cdg_test

import (
	"fmt"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
)

// delays measures on a trace that kernels queued behind each other start 1.0 to 1.4 µs after the one before, and that
// launches on an idle stream take from 10 to 18 µs.
func delays() string {
	var sb strings.Builder
	t, corr := 0.0, 100
	for i := range 9 {
		fmt.Fprintf(&sb, "call 1 cudaLaunchKernel %.1f 5 %d\n", t, corr)
		start := t + 10 + float64(i)
		for k := range 3 { // two that queue behind it
			fmt.Fprintf(&sb, "kernel 7 k %.1f 60 %d\n", start, corr+k)
			if k < 2 {
				fmt.Fprintf(&sb, "call 1 cudaLaunchKernel %.1f 5 %d\n", t+6+6*float64(k), corr+k+1)
			}
			start += 60 + 1 + float64(i%3)/5
		}
		t += 300
		corr += 3
	}
	return sb.String()
}

// Where two releases are possible, the one whose delay is usual and which leaves the other a usual delay is taken, not the
// one that was over last.
func TestLikeliestRelease(t *testing.T) {
	for _, c := range []struct {
		name   string
		launch float64 // of x, µs after 3000
		before float64 // end of the kernel before x
		want   cdg.Rule
	}{
		{"launched 17 µs before, which happens; 1.9 µs after a kernel, which hardly ever does", 0, 15.1, cdg.Launch},
		{"launched 17 µs before, 1.2 µs after a kernel, as always", 0, 15.8, cdg.StreamOrder},
		{"launched 11 µs before, 1.2 µs after a kernel: a launch that is nearly too fast", 6, 15.8, cdg.StreamOrder},
		{"launched 14 µs before; the kernel ended 10 µs before", 3, 7, cdg.Launch},
	} {
		text := delays() + fmt.Sprintf(`
call 1 cudaLaunchKernel 2900 5 1
kernel 7 before 2915 %.1f 1
call 1 cudaLaunchKernel %.1f 5 2
kernel 7 x 3017 50 2
`, 85+c.before, 3000+c.launch)
		g := testtrace.Graph(t, testtrace.Lines(t, text))
		for a := range g.Acts {
			if g.Trace.Name(g.Acts[a].Event) == "x" {
				if w := g.Release(cdg.ActID(a)); w.Rule != c.want {
					t.Errorf("%s: %s, not %s; %+v", c.name, w.Rule, c.want, g.Delays)
				}
			}
		}
	}
}

package cdg_test

import (
	"fmt"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
)

// warm is launches as they usually are: 5 µs, and the operation begins 1 µs after the call.
func warm(from, corr int) string {
	var sb strings.Builder
	for i := range 10 {
		t := from + 20*i
		fmt.Fprintf(&sb, "call 1 cudaLaunchKernel %d 5 %d\nkernel 7 warm %d 4 %d\n", t, corr+i, t+6, corr+i)
	}
	return sb.String()
}

// The latency of a launch counts from its call, of a slow one that loaded code before from one usual call before its end.
func TestSlowLaunch(t *testing.T) {
	for _, c := range []struct {
		name, text string
		at         int64 // µs, of what operation x waited for
		rule       cdg.Rule
	}{
		{"the first launch of a kernel loads its code", `
call 1 cudaLaunchKernel 0 400 1
kernel 7 x 402 50 1
` + warm(500, 100), 395, cdg.Launch},
		{"the operation begins a bit before the call returns", `
call 1 cudaLaunchKernel 0 400 1
kernel 7 x 398 50 1
` + warm(500, 100), 392, cdg.Launch},
		{"what ran before was over long before the call returned", warm(0, 100) + `
call 1 cudaLaunchKernel 190 5 1
kernel 7 long 196 100 1
call 1 cudaLaunchKernel 200 400 2
kernel 7 x 602 50 2
`, 595, cdg.Launch},
		{"it came with the end of what ran before: the call may have been slow behind that", warm(0, 100) + `
call 1 cudaLaunchKernel 190 5 1
kernel 7 long 196 405 1
call 1 cudaLaunchKernel 200 400 2
kernel 7 x 602 50 2
`, 601, cdg.StreamOrder},
		{"the operation begins long before the call is over", `
call 1 cudaLaunchKernel 0 400 1
kernel 7 x 6 50 1
` + warm(500, 100), 0, cdg.Launch},
		{"a call that is as usual", warm(0, 100) + `
call 1 cudaLaunchKernel 300 9 1
kernel 7 x 311 50 1
`, 300, cdg.Launch},
		{"a copy waits for its stream in its call", warm(0, 100) + `
call 1 cudaLaunchKernel 190 5 1
kernel 7 long 196 300 1
call 1 cudaMemcpyAsync 200 330 2
copy 7 x 510 10 2
`, 496, cdg.StreamOrder},
	} {
		g := testtrace.Graph(t, testtrace.Lines(t, c.text))
		for a := range g.Acts {
			if g.Trace.Name(g.Acts[a].Event) != "x" {
				continue
			}
			if w := g.Release(cdg.ActID(a)); w.Rule != c.rule || w.At != c.at*1000 {
				t.Errorf("%s: %s at %d, not %s at %d", c.name, w.Rule, w.At, c.rule, c.at*1000)
			}
		}
	}
}

package cdg_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/pathcheck"
)

// What is stored of a small trace: each line after an activity is one of its waits, each after "at" what ended a piece.
var waitCases = []struct{ name, text, want string }{
	{"launch, stream order, synchronisation and a gap", `
call 1 cudaLaunchKernel 0 5.5 1
call 1 cudaLaunchKernel 6 5 2
kernel 7 a 10 50 1
kernel 7 b 61 50 2
call 1 cudaDeviceSynchronize 20 94
op 1 aten::x 120 10
`, `
thread 100/1
  "cudaLaunchKernel" 0 5500
  "cudaLaunchKernel" 6000 11000
  "cudaDeviceSynchronize" 20000 114000
    <- sync api "b" 111000 +3000
  "aten::x" 120000 130000
  at 0
    <- unexplained none "" 0 +0 bound
  at 6000
    <- untraced none "" 5500 +500 bound
  at 20000
    <- untraced none "" 11000 +9000 bound
  at 114000
    <- sync api "b" 111000 +3000 bound
  at 120000
    <- untraced none "" 114000 +6000 bound
stream 0/7
  "a" 10000 60000
    <- launch correlation "cudaLaunchKernel" 0 +10000 bound
  "b" 61000 111000
    <- stream_order stream "a" 60000 +1000 bound
    <- launch correlation "cudaLaunchKernel" 6000 +55000
`},
	{"a hand-off and back, and a launch call without length inside a wait", `
note 1 step 0 400
op 1 aten::forward 1 99
op 2 autograd::engine::evaluate_function:~X 110 190
call 1 cudaLaunchKernel 305 0 1
op 1 aten::step 310 80
kernel 7 a 312 10 1
`, `
thread 100/1
  "step" 0 400000
  "aten::forward" 1000 100000
  "cudaLaunchKernel" 305000 305000
  "aten::step" 310000 390000
  at 0
    <- unexplained none "" 0 +0 bound
  at 310000
    <- handoff aligned "autograd::engine::evaluate_function: X" 300000 +10000 bound
  inside, at 305000
    <- handoff aligned "autograd::engine::evaluate_function: X" 300000 +5000 bound
thread 100/2
  "autograd::engine::evaluate_function: X" 110000 300000
  at 110000
    <- handoff aligned "aten::forward" 100000 +10000 bound
  inside, at 400000
    <- handoff aligned "aten::step" 390000 +10000 bound
stream 0/7
  "a" 312000 322000
    <- launch correlation "cudaLaunchKernel" 305000 +7000 bound
`},
	{"an operation that nothing explains, and one that starts late", `
kernel 7 a 0 50
call 1 cudaLaunchKernel 0 5.5 1
kernel 7 b 500 50 1
`, `
thread 100/1
  "cudaLaunchKernel" 0 5500
  at 0
    <- unexplained none "" 0 +0 bound
  inside, at 550000
    <- untraced none "" 5500 +544500 bound
stream 0/7
  "a" 0 50000
    <- unexplained none "" 0 +0 bound
  "b" 500000 550000
    <- stream_order stream "a" 50000 +450000 bound late
    <- launch correlation "cudaLaunchKernel" 0 +500000
`},
}

func TestWaits(t *testing.T) {
	for _, c := range waitCases {
		t.Run(c.name, func(t *testing.T) {
			g, err := cdg.Build(testtrace.Lines(t, c.text), cdg.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var sb strings.Builder
			if err := pathcheck.WriteGraph(&sb, g); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), takesTurns.Replace(sb.String())); diff != "" {
				t.Error(diff)
			}
			if err := g.CheckWaits(); err != nil {
				t.Error(err)
			}
		})
	}
}

var takesTurns = strings.NewReplacer("  takes turns with 100/1\n", "", "  takes turns with 100/2\n", "")

// The check of the waits finds what is wrong with them.
func TestCheckWaits(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(*cdg.Graph)
	}{
		{"a lag", func(g *cdg.Graph) { g.Waits[0].Lag++ }},
		{"a time", func(g *cdg.Graph) { g.Waits[0].At--; g.Waits[0].Lag++ }},
		{"a source", func(g *cdg.Graph) { g.Waits[len(g.Waits)-1].From = 0 }},
		{"two that bound", func(g *cdg.Graph) {
			for i := range g.Sources(cdg.ActID(len(g.Acts) - 1)) {
				g.Sources(cdg.ActID(len(g.Acts) - 1))[i].Bound = true
			}
		}},
		{"none that bound", func(g *cdg.Graph) { g.Release(cdg.ActID(len(g.Acts) - 1)).Bound = false }},
		{"a gap without a reason", func(g *cdg.Graph) { g.Pieces[2].Begun = cdg.NoWait }},
		{"the order of a row", func(g *cdg.Graph) {
			row := g.Sources(cdg.ActID(len(g.Acts) - 1))
			row[0], row[1] = row[1], row[0]
		}},
	} {
		g, err := cdg.Build(testtrace.Lines(t, waitCases[0].text), cdg.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c.harm(g)
		if g.CheckWaits() == nil {
			t.Errorf("%s: not found", c.name)
		}
	}
}

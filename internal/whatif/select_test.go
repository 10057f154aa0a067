package whatif_test

import (
	"slices"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
	"overlay/internal/whatif"
)

// TestStepHasItsStart: a step holds what starts with it and what it launched, whenever that runs; what starts with the next one belongs there.
func TestStepHasItsStart(t *testing.T) {
	g, _ := testtrace.Exact(t, testtrace.Lines(t, `
note 1 ProfilerStep#1 100 100
note 1 ProfilerStep#2 200 100
call 1 cudaLaunchKernel 50 5 1
call 1 cudaLaunchKernel 100 5 2
call 1 cudaLaunchKernel 200 5 3
kernel 7 before 60 20 1
kernel 7 first 210 20 2
kernel 7 second 240 20 3
`))
	for step, want := range map[string][]string{"step:1": {"first"}, "step:2": {"second"}, "step:ProfilerStep#2": {"second"}} {
		set, err := whatif.NewSelector(whatif.New(g), nil).Select(step)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		calls := 0
		set.Each(func(a cdg.ActID) {
			switch name := g.Trace.Str(g.Trace.Events[g.Acts[a].Event].Name); {
			case g.Lanes[g.Acts[a].Lane].Stream:
				got = append(got, name)
			case name == "cudaLaunchKernel":
				calls++
			}
		})
		if !slices.Equal(got, want) || calls != 1 {
			t.Errorf("%s: %v and %d launches, want %v and 1", step, got, calls, want)
		}
	}
}

// TestNearest: a message about a selector names three at most, and no further one behind a long one.
func TestNearest(t *testing.T) {
	long := strings.Repeat("k", 500)
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"a", "b", "c", "d"}, `"a", "b", "c"`},
		{[]string{"a", long, "c"}, `"a"`},
		{[]string{long, "b"}, `"` + long[:100] + `…", "b"`},
		{[]string{long, strings.Repeat("b", 60)}, `"` + long[:100] + `…"`},
	} {
		if got := whatif.Nearest(c.names); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

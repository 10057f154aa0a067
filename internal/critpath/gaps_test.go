package critpath_test

import (
	"fmt"
	"strings"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// Time that no event owns: each likely reason, with the smallest trace that shows it.
var gapCases = []struct {
	reason                  critpath.Reason
	kind                    critpath.SegmentKind
	name, before, after, in string
}{
	{critpath.QueuedBefore, critpath.GPUUnrecorded, "a copy starts long after its launch, and what was launched behind it follows at once", "", "a", `
op 1 aten::x 0 100
call 1 cudaLaunchKernel 5 5 1
call 1 cudaLaunchKernel 20 5 2
kernel 7 a 900 50 1
kernel 7 b 951 50 2
`},
	{critpath.RecordsLost, critpath.GPUUnrecorded, "launch calls before it have no operation", "z", "a", `
op 1 aten::x 0 100
call 1 cudaLaunchKernel 1 3 1
call 1 cudaLaunchKernel 5 5 2
call 1 cudaLaunchKernel 20 5 3
call 1 cudaLaunchKernel 30 5 4
kernel 7 z 8 20 1
kernel 7 a 900 50 3
kernel 7 b 951 50 4
`},
	{critpath.GraphLost, critpath.GPUUnrecorded, "a graph starts long after its launch", "", "a", `
call 1 cudaGraphLaunch 5 5 1
kernel 7 a 900 50 1
kernel 7 b 951 50 1
`},
	{critpath.LaunchNotRecorded, critpath.Unexplained, "nobody knows when it was launched", "", "a", `
call 1 cudaLaunchKernel 0 5 1
kernel 20 z 8 20 1
kernel 7 a 900 50
`},
	{critpath.HostNotRecorded, critpath.Unexplained, "nothing but the device was recorded", "", "a", `
kernel 20 z 8 20
kernel 7 a 900 50
`},
	{critpath.EventNotRecorded, critpath.Unexplained, "a wait for an event of another process", "z", "a", `
call 1 cudaLaunchKernel 1 3 1
call 1 cudaStreamWaitEvent 50 1 8
call 1 cudaLaunchKernel 60 5 2
kernel 7 z 8 20 1
kernel 7 a 900 50 2
`},
	{critpath.MemoryAllocated, critpath.Unexplained, "memory was allocated before the launch", "z", "a", `
call 1 cudaLaunchKernel 1 3 1
call 1 cudaMalloc 50 5 8
call 1 cudaLaunchKernel 60 5 2
kernel 7 z 8 20 1
kernel 7 a 900 50 2
`},
	{critpath.DeviceStoodStill, critpath.Unexplained, "all was queued, and nothing ran", "z", "a", `
call 1 cudaLaunchKernel 1 3 1
call 1 cudaLaunchKernel 6 3 2
kernel 7 z 8 200 1
kernel 7 a 900 50 2
`},
	{critpath.NoReason, critpath.Unexplained, "nothing says why", "z", "a", `
call 1 cudaLaunchKernel 1 3 1
call 1 cudaLaunchKernel 60 5 2
kernel 7 z 8 20 1
kernel 7 a 900 50 2
`},
	{critpath.OtherDevice, critpath.Unexplained, "a device that is not analysed was busy", "z", "a", `
call 1 cudaLaunchKernel 1 3 1
call 1 cudaLaunchKernel 60 5 2
other 99 graph_7 70 820
kernel 7 z 8 20 1
kernel 7 a 900 50 2
`},
	{critpath.ProfilerAtWork, critpath.Untraced, "the profiler took the time", "aten::a", "aten::b", `
op 1 aten::a 0 100
overhead 1 Buffer~Flush 150 700
op 1 aten::b 900 100
`},
	{critpath.RecordingEnded, critpath.Untraced, "the profiler synchronises the device in the end", "aten::a", "cudaDeviceSynchronize", `
op 1 aten::a 0 100
call 1 cudaDeviceSynchronize 900 5
`},
	{critpath.BeforeThread, critpath.Untraced, "a thread begins", "", "aten::b", `
op 1 aten::a 0 100
op 2 aten::b 900 100
`},
	{critpath.EngineBetween, critpath.Untraced, "the engine's own time", "autograd::engine::evaluate_function: A", "autograd::engine::evaluate_function: B", `
op 2 autograd::engine::evaluate_function:~A 0 100
op 2 autograd::engine::evaluate_function:~B 900 100
`},
	{critpath.CallsOnly, critpath.Untraced, "no operators are recorded", "cudaMemGetInfo", "cudaGetDevice", `
call 1 cudaMemGetInfo 0 100
call 1 cudaGetDevice 900 100
call 1 cudaLaunchKernel 1000 5 1
kernel 7 a 1010 5 1
`},
	{critpath.PythonUnrecorded, critpath.Untraced, "host code between operators", "aten::a", "aten::b", `
op 1 aten::a 0 100
op 1 aten::a2 10 90
op 1 aten::b 900 100
`},
	{critpath.PythonUnrecorded, critpath.Untraced, "a synchronisation that the profiler does not end with", "aten::a", "cudaDeviceSynchronize", `
op 1 aten::a 0 100
op 1 aten::a2 10 90
call 1 cudaDeviceSynchronize 900 5
op 1 aten::b 910 10
`},
	{critpath.OutsidePython, critpath.Untraced, "host code outside of frames", "f.py(1): f", "f.py(9): g", `
frame 1 f.py(1):~f 0 100
op 1 aten::a 0 100
frame 1 f.py(9):~g 900 100
`},
}

func TestGapsHaveReasons(t *testing.T) {
	seen := map[critpath.Reason]bool{critpath.AfterThread: true, critpath.DeviceRan: true} // only in windows that end after a thread's last event; of pools (TestIdlePool)
	for _, c := range gapCases {
		seen[c.reason] = true
		t.Run(c.reason.String()+": "+c.name, func(t *testing.T) {
			tr := testtrace.Lines(t, c.in)
			gaps := gapsOf(t, tr)
			text := func(s trace.Sym) string {
				if s == 0 {
					return ""
				}
				return tr.Str(s)
			}
			if len(gaps) == 0 || gaps[0].NS < 500_000 {
				t.Fatalf("no long gap: %+v", gaps)
			}
			if g := &gaps[0]; g.Reason != c.reason || g.Kind != c.kind || text(g.Before) != c.before || text(g.After) != c.after || g.Count != 1 || g.Longest != g.NS {
				t.Errorf("got %s %s between %q and %q, %d times", g.Kind, g.Reason, text(g.Before), text(g.After), g.Count)
			}
		})
	}
	for r := range critpath.NumReasons {
		if !seen[r] || strings.HasPrefix(r.String(), "Reason(") {
			t.Errorf("%s has no case", r)
		}
	}
}

// TestEarlier: of time without a record, work from before recording is what nothing in the trace let begin.
func TestEarlier(t *testing.T) {
	for _, c := range gapCases {
		in := c.in
		if c.reason == critpath.QueuedBefore {
			in += "kernel 20 c 900 20\n" // nothing let that begin either, and it is on another stream
		}
		g, p := testtrace.Exact(t, testtrace.Lines(t, in))
		var want int64
		if c.reason == critpath.QueuedBefore {
			for _, s := range p.Segments.List() {
				if s.Kind == critpath.GPUUnrecorded {
					want += s.End - s.Start
				}
			}
			if want < 500_000 {
				t.Errorf("%s: %d ns without a record", c.name, want)
			}
		}
		w := p.Window
		if got := critpath.Earlier(g, p, w.Start, w.End); got != want {
			t.Errorf("%s: %d ns of work from before recording, not %d", c.name, got, want)
		}
		if got := critpath.Earlier(g, p, w.Start, w.Start+400_000) + critpath.Earlier(g, p, w.Start+400_000, w.End); got != want {
			t.Errorf("%s: %d ns in two halves, not %d", c.name, got, want)
		}
	}
}

// gapsOf lists the gaps of a trace, and checks that they sum to the time of the path that no event owns.
func gapsOf(t *testing.T, tr *trace.Trace) []critpath.Gap {
	t.Helper()
	g, p := testtrace.Exact(t, tr)
	var want, got [critpath.NumSegmentKinds]int64
	for _, s := range p.Segments.List() {
		if s.Kind == critpath.Unexplained || s.Kind == critpath.Untraced || s.Kind == critpath.GPUUnrecorded {
			want[s.Kind] += s.End - s.Start
		}
	}
	gaps := critpath.OutlineOf(g, p).Gaps
	for i, x := range gaps {
		got[x.Kind] += x.NS
		if i > 0 && x.NS > gaps[i-1].NS {
			t.Errorf("gap %d is longer than the one before", i)
		}
	}
	if got != want {
		t.Errorf("gaps sum to %v, the path has %v", got, want)
	}
	return gaps
}

func TestGapsAddUp(t *testing.T) {
	known := 0
	for i, class := range append([]string{testtrace.Dropped}, testtrace.Classes...) {
		tr := testtrace.Simulated(testtrace.Random(class, uint64(i)+300)).Parse(t)
		for _, x := range gapsOf(t, tr) {
			if x.Reason != critpath.NoReason {
				known++
			}
		}
	}
	if known < 20 {
		t.Errorf("only %d gaps have a reason", known)
	}
}

// Threads of a pool that do the same in rounds wait for work between them.
func TestIdlePool(t *testing.T) {
	text := "call 1 cudaLaunchKernel 3900 5 1\nkernel 7 a 3910 5 1\n"
	for thread := range 3 {
		for round := range 3 {
			text += fmt.Sprintf("note %d Stage::Serve::run %d 400\ncall %d cudaStreamSynchronize %d 5\n", thread+1, 1000*round+10*thread, thread+1, 1000*round+10*thread+400)
		}
	}
	text += "op 3 aten::last 2900 1100\ncall 3 cudaLaunchKernel 3990 5 2\nkernel 7 b 4000 10 2\n"
	sums := func(text string) (idle, untraced, ran int64) {
		_, p := testtrace.Exact(t, testtrace.Lines(t, text))
		for _, s := range p.Segments.List() {
			switch s.Kind {
			case critpath.IdleWorker:
				idle += s.End - s.Start
			case critpath.Untraced:
				untraced += s.End - s.Start
			case critpath.Unexplained:
				ran += s.End - s.Start
			}
		}
		return idle, untraced, ran
	}
	if idle, untraced, ran := sums(text); idle != 2*595_000+20_000 || untraced != 2_900_000-2_425_000 || ran != 0 {
		t.Errorf("idle %d, untraced %d, a device ran %d", idle, untraced, ran)
	}
	// While a device runs nobody is said to be idle.
	text += "call 1 cudaLaunchKernel 300 5 3\nkernel 8 c 500 300 3\n"
	if idle, untraced, ran := sums(text); idle != 2*595_000+20_000-300_000 || untraced != 2_900_000-2_425_000 || ran != 300_000 {
		t.Errorf("beside a device: idle %d, untraced %d, a device ran %d", idle, untraced, ran)
	}
	for _, x := range gapsOf(t, testtrace.Lines(t, text)) {
		if x.Kind == critpath.Unexplained && x.Reason != critpath.DeviceRan {
			t.Errorf("the reason is %s", x.Reason)
		}
	}
}

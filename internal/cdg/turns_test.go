package cdg_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// crowd draws threads that nest, overlap, wait and take turns, with many equal times.
func crowd(rt *rapid.T) *trace.Trace {
	names := []struct{ category, name string }{
		{"cpu_op", "aten::x"}, {"cpu_op", "aten::x"}, {"cpu_op", "autograd::engine::evaluate_function: X"}, {"cpu_op", "pin_memory"},
		{"cuda_runtime", "cudaMalloc"}, {"user_annotation", "ProfilerStep#1"}, {"user_annotation", "enumerate(DataLoader)#X"},
		{"python_function", "train.py(1): f"}, {"python_function", "threading.py(9): join"}, {"python_function", "queue.py(9): get"},
	}
	var events []string
	threads := rapid.IntRange(1, 12).Draw(rt, "threads")
	slots := rapid.IntRange(5, 60).Draw(rt, "slots")
	for i := range slots {
		// Mostly one thread works at a time; others may hold slices open around.
		th := rapid.IntRange(1, threads).Draw(rt, "thread")
		e := names[rapid.IntRange(0, len(names)-1).Draw(rt, "name")]
		start, dur := 5*i+rapid.IntRange(-1, 1).Draw(rt, "shift"), rapid.IntRange(0, 5).Draw(rt, "dur")
		if e.category == "python_function" || e.category == "user_annotation" {
			dur *= rapid.IntRange(1, 12).Draw(rt, "long")
		}
		events = append(events, fmt.Sprintf(`{"ph": "X", "cat": %q, "name": %q, "pid": %d, "tid": %d, "ts": %d, "dur": %d}`,
			e.category, e.name, 100+th%2*rapid.IntRange(0, 1).Draw(rt, "process"), th, max(0, start), dur))
	}
	tr := testtrace.Parse(rt, []byte(`{"schemaVersion": 1, "traceEvents": [`+strings.Join(events, ",\n")+`]}`))
	return tr
}

var threadModes = []cdg.ThreadMode{cdg.ThreadsAuto, cdg.ThreadsGIL, cdg.ThreadsExplicit}

// Going through the threads in order of time finds the hand-offs that a look at every thread finds.
func TestTurns(t *testing.T) {
	found := 0
	rapid.Check(t, func(rt *rapid.T) {
		tr := crowd(rt)
		for _, mode := range threadModes {
			n, err := cdg.CheckHandoffs(tr, cdg.Options{Threads: mode})
			if err != nil {
				rt.Fatalf("threads %s: %v", mode, err)
			}
			found += n
			if err := checkForward(tr, cdg.Options{Threads: mode}); err != nil {
				rt.Fatalf("threads %s: %v", mode, err)
			}
		}
	})
	if found == 0 {
		t.Error("no hand-off in any of them")
	}
	t.Logf("%d hand-offs", found)
}

// The same on simulated programs.
func TestTurnsSimulated(t *testing.T) {
	for _, class := range testtrace.Classes {
		found := 0
		for seed := range uint64(6) {
			tr := testtrace.Simulated(testtrace.Random(class, seed)).Parse(t)
			for _, mode := range threadModes {
				n, err := cdg.CheckHandoffs(tr, cdg.Options{Threads: mode})
				if err != nil {
					t.Errorf("%s, seed %d, threads %s: %v", class, seed, mode, err)
				}
				found += n
			}
		}
		if found == 0 && (class == "autograd" || class == "gil" || class == "loader" || class == "explicit") {
			t.Errorf("%s: no hand-off", class)
		}
	}
}

// Two threads end an op at one instant, and each was in a frame in which it might have waited for the other.
func TestThreadsDoNotWaitForEachOther(t *testing.T) {
	tr := testtrace.Lines(t, `
op 1 aten::x 0 60
op 2 autograd::engine::evaluate_function:~X 61 64
op 1 aten::y 127 3
frame 1 f 127.4 2.6
op 2 autograd::engine::evaluate_function:~Y 127.5 2.5
frame 2 g 127.6 2.4
call 1 cudaLaunchKernel 131 5 1
kernel 7 k 140 10 1
`)
	if err := checkForward(tr, cdg.Options{}); err != nil {
		t.Error(err)
	}
	n, _ := cdg.CheckHandoffs(tr, cdg.Options{})
	if n < 2 { // main waited for the backward thread before aten::y, and one of the two at the end
		t.Errorf("%d hand-offs", n)
	}
	pathText(t, tr, cdg.Options{})
}

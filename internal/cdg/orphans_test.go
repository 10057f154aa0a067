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

// strays draws threads of a few processes that launch operations, with launch calls of which no operation is recorded,
// and operations without a launch shortly after them.
func strays(rt *rapid.T) *trace.Trace {
	var events []string
	slice := func(category, name string, pid, tid, start, dur int, args string) {
		events = append(events, fmt.Sprintf(`{"ph": "X", "cat": %q, "name": %q, "pid": %d, "tid": %d, "ts": %d.%03d, "dur": %d, "args": {%s}}`,
			category, name, pid, tid, start/1000, start%1000, dur, args))
	}
	threads := rapid.IntRange(1, 24).Draw(rt, "threads")
	processes := rapid.IntRange(1, 3).Draw(rt, "processes")
	for i := range processes {
		slice("cpu_op", "aten::mm", 100+i, 1000, 0, 1, "")
	}
	corr := 0
	for i := range rapid.IntRange(5, 60).Draw(rt, "slots") {
		thread := rapid.IntRange(1, threads).Draw(rt, "thread")
		at := 12_000*i + rapid.SampledFrom([]int{0, 0, 1000, 1001, 5000}).Draw(rt, "shift")
		stream := rapid.IntRange(7, 12).Draw(rt, "stream")
		switch rapid.SampledFrom([]string{"launch", "call", "nested", "op", "frame", "operation", "operation", "operation"}).Draw(rt, "what") {
		case "launch":
			corr++
			slice("cuda_runtime", "cudaLaunchKernel", 100, thread, at, 3, fmt.Sprintf(`"correlation": %d`, corr))
			slice("kernel", "launched", 0, stream, at+6000, 5, fmt.Sprintf(`"correlation": %d, "device": 0, "stream": %d`, corr, stream))
		case "call":
			slice("cuda_runtime", "cudaLaunchKernel", 100, thread, at, rapid.IntRange(0, 9).Draw(rt, "long"), "")
		case "nested":
			slice("cuda_runtime", "cudaLaunchKernel", 100, thread, at, 30, "")
			slice("cuda_runtime", "cudaMemcpyAsync", 100, thread, at+2000, 3, "")
			slice("cpu_op", "aten::mm", 100, thread, at+6000, 3, "")
		case "op":
			slice("cpu_op", "aten::mm", 100, thread, at, rapid.IntRange(0, 90).Draw(rt, "long"), "")
		case "frame":
			slice("python_function", "model.py(1): forward", 100, thread, at, 90, "")
		case "operation":
			slice("kernel", "stray", 0, stream, at+rapid.IntRange(0, 30).Draw(rt, "after")*500, 5, fmt.Sprintf(`"device": 0, "stream": %d`, stream))
		}
	}
	tr := testtrace.Parse(rt, []byte(`{"schemaVersion": 1, "traceEvents": [`+strings.Join(events, ",\n")+`]}`))
	// The reader refuses several processes that launch in one file; other sources of traces need not.
	for t := range tr.Tracks {
		if x := &tr.Tracks[t]; x.Class == trace.HostThread {
			x.Proc = trace.ProcID(x.TID.Num % int64(processes))
		}
	}
	return tr
}

// Going through the threads in order of time finds the launches that a look at every thread finds.
func TestAssumedLaunches(t *testing.T) {
	calls, ops := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		c, o, err := cdg.CheckAssumedLaunches(strays(rt), cdg.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		calls, ops = calls+c, ops+o
	})
	least := 10
	if testing.Short() {
		least = 1 // with a fifth of the traces
	}
	if calls < least || ops < least {
		t.Errorf("only %d calls and %d ops were found", calls, ops)
	}
}

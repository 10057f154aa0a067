package whatif_test

import (
	"fmt"
	"strings"
	"testing"

	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

func modelOf(t *testing.T, tr *trace.Trace) *whatif.Model {
	t.Helper()
	g := testtrace.Graph(t, tr)
	return whatif.New(g)
}

func saved(t *testing.T, m *whatif.Model, text string) int64 {
	t.Helper()
	sc, err := whatif.NewSelector(m, nil).Scenario(text)
	if err != nil {
		t.Fatal(err)
	}
	return m.Replay(&sc).Saved()
}

// A slow first launch that becomes faster lets its kernel begin earlier; a usual one, and one that waited for room, do not.
func TestSlowLaunchGains(t *testing.T) {
	var sb strings.Builder
	sb.WriteString("call 1 cudaLaunchKernel 0 400 1\nkernel 7 cold 402 50 1\n")
	for i := range 10 {
		fmt.Fprintf(&sb, "call 1 cudaLaunchKernel %d 5 %d\nkernel 7 warm %d 4 %d\n", 500+20*i, 10+i, 506+20*i, 10+i)
	}
	m := modelOf(t, testtrace.Lines(t, sb.String()))
	if got := saved(t, m, "no warm-up := set cudaLaunchKernel=5us"); got < 394_900 || got > 395_100 {
		t.Errorf("saved %d", got)
	}
	// A kernel ends the window, and only the slow launch stands before it.
	m = modelOf(t, testtrace.Lines(t, "call 1 cudaLaunchKernel 0 400 1\nkernel 7 cold 402 5000 1\n"))
	if got := saved(t, m, "set cudaLaunchKernel=10us"); got < 385_000 || got > 395_100 {
		t.Errorf("saved %d", got)
	}
	m = modelOf(t, testtrace.Lines(t, "call 1 cudaLaunchKernel 0 400 1\nkernel 7 early 6 5000 1\n"))
	if got := saved(t, m, "set cudaLaunchKernel=10us"); got != 0 {
		t.Errorf("saved %d of a launch that was made at once", got)
	}
}

// A thread that sits in a frame until the end of the recording is not what the window waits for; alone it is.
func TestSittingThread(t *testing.T) {
	work := "op 1 aten::mm 0 100\nop 1 aten::add 100 100\n"
	if got := saved(t, modelOf(t, testtrace.Lines(t, work+"frame 2 queue.py(1):~get 0 200\n")), "aten::mm=0"); got != 100_000 {
		t.Errorf("saved %d", got)
	}
	if got := saved(t, modelOf(t, testtrace.Lines(t, work+"op 2 aten::log 0 200\n")), "aten::mm=0"); got != 0 {
		t.Errorf("saved %d beside a thread that works", got)
	}
}

// collectives is two kernels of collectives behind each other: what the first moves says the kernel, what the second moves
// the op that asked for it, and the third says nothing.
func collectives(t *testing.T) *trace.Trace {
	tr, err := kineto.Parse([]byte(`{"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 100, "tid": 1, "ts": 10, "dur": 9,
 "args": {"Collective name": "broadcast", "In msg nelems": 1000000, "Out msg nelems": 1000000, "dtype": "Float", "Group size": 4}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 1, "ts": 0, "dur": 5, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 1, "ts": 12, "dur": 5, "args": {"correlation": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 1, "ts": 20, "dur": 5, "args": {"correlation": 3}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7, "ts": 10, "dur": 1000, "args": {"correlation": 1,
 "Collective name": "allreduce", "In msg nelems": 500000, "Out msg nelems": 500000, "dtype": "BFloat16", "Group size": 4}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_Broadcast", "pid": 0, "tid": 7, "ts": 1010, "dur": 1000, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv", "pid": 0, "tid": 7, "ts": 2010, "dur": 1000, "args": {"correlation": 3}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 3010, "dur": 1000, "args": {}}]}`), "made", kineto.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// A collective at a bandwidth takes what its bytes take on a link: an allreduce of n ranks moves each byte 2(n-1)/n times.
func TestBandwidth(t *testing.T) {
	m := modelOf(t, collectives(t))
	for _, c := range []struct {
		text string
		want int64
	}{
		{"bandwidth ncclDevKernel_AllReduce=10GB/s", 1_000_000 - 150_000},
		{"bandwidth ncclDevKernel_Broadcast=10", 1_000_000 - 400_000},
		{"bandwidth class:comm=100GB/s", 2_000_000 - 15_000 - 40_000},
		{"bandwidth class:comm=2", 2_000_000 - 750_000 - 2_000_000},
		{"both := bandwidth class:comm=100GB/s; gemm=0.5", 2_000_000 - 15_000 - 40_000 + 500_000},
	} {
		if got := saved(t, m, c.text); got != c.want {
			t.Errorf("%s: saved %d, not %d", c.text, got, c.want)
		}
	}
	for text, want := range map[string]string{
		"bandwidth class:comm":               "has no bandwidth: write class:comm=50GB/s",
		"bandwidth class:comm=0":             "is not between 0.001 and",
		"bandwidth class:comm=fast":          `"fast" is no bandwidth`,
		"bandwidth class:comm=-3GB/s":        "is not between",
		"bandwidth gemm=10":                  `does not say how much "gemm" moves`,
		"bandwidth ncclDevKernel_SendRecv=1": "does not say how much",
		"bandwidth nothing=1":                "selects nothing",
	} {
		if _, err := whatif.NewSelector(m, nil).Scenario(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", text, err, want)
		}
	}
}

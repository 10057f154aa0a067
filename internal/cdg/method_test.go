package cdg_test

import (
	"strconv"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
)

// One behaviour of the exact method each, on the smallest trace that shows it. Lines of the path's text that must
// and must not be there.
var methodCases = []struct {
	name    string
	text    string
	want    []string
	wantNot []string
}{
	{"a short call after its stream was idle waited for nothing", `
call 1 cudaLaunchKernel 0 5.5 1
kernel 7 a 5 20.5 1
op 1 aten::x 6 94
call 1 cudaStreamSynchronize 100 3
op 1 aten::y 103 10
`, []string{`runtime 100/1 program "cudaStreamSynchronize"`}, []string{"sync_dependency"}},
	{"a synchronisation in the op of a copy is for the copy's stream", `
call 1 cudaLaunchKernel 0 5.5 1
kernel 20 nccl 5 104.5 1
op 1 aten::item 10 105
call 1 cudaMemcpyAsync 11 20 2
copy 7 Memcpy~DtoH~(Device~->~Pageable) 16 10 2
call 1 cudaStreamSynchronize 106 5
op 1 aten::y 115 10
`, []string{`runtime 100/1 program "cudaStreamSynchronize"`}, []string{`"nccl" end -> "cudaStreamSynchronize"`}},
	{"an asynchronous copy from pinned memory does not block", `
call 1 cudaMemcpyAsync 0 60.5 1
copy 7 Memcpy~HtoD~(Pinned~->~Device) 6 50 1
op 1 aten::y 61 10
`, []string{`runtime 100/1 program "cudaMemcpyAsync"`}, []string{"sync_dependency"}},
	{"the wait before a collective is not one of the compute stream", `
call 1 cudaLaunchKernel 0 5.5 1
call 1 cudaEventRecord 6 1
call 1 cudaStreamWaitEvent 8 1
call 1 cudaLaunchKernel 10 5 2
kernel 7 a 5 20 1
kernel 20 nccl 26 170 2
op 1 aten::x 20 180
call 1 cudaLaunchKernel 200 5 3
kernel 7 b 206 30 3
`, []string{`edge critical_path_kernel_launch_delay "cudaLaunchKernel" start -> "b" start`}, []string{`"nccl" end -> "b" start`}},
	{"a long idle time with nothing near it is unexplained", `
call 1 cudaLaunchKernel 0 5.5 1
kernel 7 a 5 50 1
call 1 cudaLaunchKernel 8 5 2
kernel 7 b 500 50 2
`, []string{`segment 55000 500000 unexplained`}, nil},
	{"a graph launch holds its operations back to its end", `
call 1 cudaGraphLaunch 0 300.5 1
kernel 7 a 305 50 1
kernel 7 b 356 50 1
`, []string{`segment 0 305000 launch_delay`}, []string{"unexplained"}},
	{"what follows a graph waits for all of it", `
call 1 cudaGraphLaunch 0 10.5 1
kernel 7 a 12 20 1
kernel 20 b 33 100 1
call 1 cudaLaunchKernel 20 5 2
kernel 7 c 134 10 2
`, []string{`edge critical_path_event_wait "b" end -> "c" start`}, nil},
	{"an unused launch call launched an operation without a recorded launch", `
call 1 cudaLaunchKernel 0 5.5 1
kernel 7 a 5 20 1
op 1 aten::x 10 490
call 1 cuLaunchKernel 492 5
kernel 7 b 500 50
`, []string{`edge critical_path_kernel_launch_delay "cuLaunchKernel" start -> "b" start`}, []string{"unexplained"}},
	{"recording that begins inside a wait goes on with the operation waited for", `
kernel 7 a 5.5 100
note 1 step 110 30
op 1 aten::x 110 10
`, []string{`edge critical_path_sync_dependency "a" end -> "aten::x" start`, `compute 0/7 none "a"`}, nil},
	{"a data loader that waits for a worker process keeps its time", `
note 1 enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ 0 300
op 3 aten::pin_memory 200.5 90
op 1 aten::x 300 10
`, []string{`segment 0 200500 cpu 100/1 program "enumerate(DataLoader)`, `cpu 100/3 program "aten::pin_memory"`}, []string{"untraced"}},
	{"parallel threads do not hand over", parallelText(), nil, []string{"handoff"}},
	{"a watchdog with calls only never hands over", `
note 1 step 0.5 300
op 1 autograd::engine::evaluate_function:~X 1 100
call 9 cudaEventQuery 150 20
op 1 aten::y 200 100
`, []string{`segment 101000 200000 host_unrecorded 100/1 none "step"`}, []string{"handoff"}},
}

// parallelText is two threads whose ops overlap all the time.
func parallelText() string {
	var sb strings.Builder
	sb.WriteString("note 1 step 0.5 10000\n")
	for i := range 40 {
		t := i * 200
		sb.WriteString("op 1 aten::a " + strconv.Itoa(t+1) + " 100\nop 2 aten::b " + strconv.Itoa(t+40) + " 100\n")
	}
	return sb.String()
}

func TestMethod(t *testing.T) {
	for _, c := range methodCases {
		t.Run(c.name, func(t *testing.T) {
			got := pathText(t, testtrace.Lines(t, c.text), cdg.Options{})
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("want %q\n%s", w, got)
				}
			}
			for _, w := range c.wantNot {
				if strings.Contains(got, w) {
					t.Errorf("%q must not be there\n%s", w, got)
				}
			}
		})
	}
}

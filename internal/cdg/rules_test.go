package cdg_test

import (
	"fmt"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/pathcheck"
	"overlay/internal/trace"
)

// Each row of the dependency table, with the smallest trace that needs it.
var ruleCases = []struct {
	rule cdg.Rule
	name string
	text string
	want string // an edge of the exact path
}{
	{cdg.StreamOrder, "a kernel starts when the one before it on its stream ends", `
call 1 cudaLaunchKernel 0 5.5 1
call 1 cudaLaunchKernel 6 5 2
kernel 7 a 5 100.5 1
kernel 7 b 107 50 2
`, `critical_path_kernel_kernel_delay "a" end -> "b" start`},
	{cdg.Launch, "a kernel starts when its launch was made", `
op 1 aten::x 0 100.5
call 1 cudaLaunchKernel 100.5 5 1
kernel 7 a 106 50 1
`, `critical_path_kernel_launch_delay "cudaLaunchKernel" start -> "a" start`},
	{cdg.Launch, "a wait call stands before it, but what ended just then is the copy of a thread with a stream of its own", `
op 1 aten::mm 0 60
call 1 cudaLaunchKernel 5 5 1
call 2 cudaMemcpyAsync 105 5 2
call 1 cudaEventRecord 180 1 3
call 1 cudaStreamWaitEvent 182 1 4
call 1 cudaLaunchKernel 190 5 5
kernel 7 a 12 138 1
copy 40 Memcpy~HtoD~(Pinned~->~Device) 112 89.5 2
kernel 31 b 203 57 5
`, `critical_path_kernel_launch_delay "cudaLaunchKernel" start -> "b" start`},
	{cdg.EventWait, "a kernel waits for an event recorded on another stream", `
call 1 cudaLaunchKernel 0 5.5 1
call 1 cudaEventRecord 6 1
call 1 cudaStreamWaitEvent 8 1
call 1 cudaLaunchKernel 10 5 2
kernel 7 a 5 200.5 1
kernel 20 b 207 50 2
`, `critical_path_event_wait "a" end -> "b" start`},
	{cdg.EventWait, "nothing but the device was recorded: the path goes on with what ran last", `
kernel 7 a 0 100
kernel 20 b 500 100
kernel 20 c 610 100
kernel 7 d 2000 100
`, `critical_path_event_wait "c" end -> "d" start`},
	{cdg.EventWait, "a record of a wait for the stream of another device names device 0", `
call 1 cudaLaunchKernel 0 5.5 1
call 1 cudaEventRecord 6 1 2
call 1 cudaStreamWaitEvent 8 1 3
sync 0:7 Stream~Wait~Event 8 1 3 107 2
call 1 cudaLaunchKernel 10 5 4
kernel 1:107 a 6 300 1
kernel 0:7 b 308 50 4
`, `critical_path_event_wait "a" end -> "b" start`},
	{cdg.EventWait, "a stream waits for that of the same number on another device", `
call 1 cudaLaunchKernel 0 5.5 1
call 1 cudaLaunchKernel 6 2 9
call 1 cudaEventRecord 9 1 2
call 1 cudaStreamWaitEvent 11 1 3
sync 0:7 Stream~Wait~Event 11 1 3 7 2
call 1 cudaLaunchKernel 13 5 4
kernel 0:7 a 6 300 1
kernel 0:20 other 12 294.5 9
kernel 1:7 b 308 50 4
`, `critical_path_event_wait "a" end -> "b" start`},
	{cdg.EventWait, "a stream without operations hands on what it was made to wait for", `
call 1 cudaLaunchKernel 0 2 1
call 1 cudaLaunchKernel 3 2 2
call 1 cudaEventRecord 6 1 3
call 1 cudaStreamWaitEvent 8 1 4
sync 24 Stream~Wait~Event 8 1 4 40 3
call 1 cudaEventRecord 10 1 5
call 1 cudaStreamWaitEvent 12 1 6
sync 7 Stream~Wait~Event 12 1 6 24 5
call 1 cudaLaunchKernel 14 5 7
kernel 40 gather 6 302 1
kernel 20 other 9 303 2
kernel 7 b 314 50 7
`, `critical_path_event_wait "gather" end -> "b" start`},
	{cdg.EventWait, "one record of a wait names what was waited for, the next does not", `
call 1 cudaLaunchKernel 0 2 1
call 1 cudaEventRecord 3 1 2
call 1 cudaStreamWaitEvent 5 1 3
sync 7 Stream~Wait~Event 5 1 3 13 2
call 1 cudaLaunchKernel 7 2 4
call 1 cudaLaunchKernel 10 2 5
call 1 cudaEventRecord 13 1 6
call 1 cudaStreamWaitEvent 15 1 7
sync 7 Stream~Wait~Event 15 1 7 -1 -1
call 1 cudaLaunchKernel 17 2 8
kernel 13 old 6 14 1
kernel 7 first 22 8 4
kernel 20 a 16 290 5
kernel 7 b 308 50 8
`, `critical_path_event_wait "a" end -> "b" start`},
	{cdg.EventWait, "a kernel whose launch is lost starts some µs after one of a stream that the same thread feeds", `
call 1 cudaLaunchKernel 0 5.5 1
call 1 cudaLaunchKernel 180 5 2
kernel 20 z 6 20 1
kernel 7 a 190 15.5 2
kernel 20 b 212 50
`, `critical_path_event_wait "a" end -> "b" start`},
	{cdg.Sync, "a stream is synchronised behind a wait for another, and nothing was put on it since", `
call 1 cudaLaunchKernel 0 2 1
call 1 cudaLaunchKernel 3 2 2
call 1 cudaEventRecord 6 1 3
call 1 cudaStreamWaitEvent 8 1 4
sync 7 Stream~Wait~Event 8 1 4 20 3
call 1 cudaStreamSynchronize 10 300 5
sync 7 Stream~Sync 10 300 5 -1 -1
kernel 7 first 6 40 1
kernel 20 a 8 297 2
op 1 aten::x 310 10
`, `critical_path_sync_dependency "a" end -> "cudaStreamSynchronize" end`},
	{cdg.Sync, "what came behind such a wait is what is waited for", `
call 1 cudaLaunchKernel 0 2 1
call 1 cudaLaunchKernel 3 2 2
call 1 cudaEventRecord 6 1 3
call 1 cudaStreamWaitEvent 8 1 4
sync 7 Stream~Wait~Event 8 1 4 20 3
call 1 cudaLaunchKernel 9 1 6
call 1 cudaStreamSynchronize 10 300 5
sync 7 Stream~Sync 10 300 5 -1 -1
kernel 7 first 6 40 1
kernel 20 a 8 290 2
kernel 7 behind 299.5 6 6
op 1 aten::x 310 10
`, `critical_path_sync_dependency "behind" end -> "cudaStreamSynchronize" end`},
	{cdg.Sync, "an event that the thread has just recorded, though its copy ends closer to the return than usual", `
call 1 cudaMemcpyAsync 0 5 1
call 1 cudaEventRecord 6 1 2
call 1 cudaEventSynchronize 8 292
copy 33 Memcpy~DtoH~(Device~->~Pinned) 7 292.5 1
kernel 9 z 100 198
op 1 aten::x 300 10
`, `critical_path_sync_dependency "Memcpy DtoH (Device -> Pinned)" end -> "cudaEventSynchronize" end`},
	{cdg.GraphOrder, "a kernel waits for a kernel of its graph on another stream", `
call 1 cudaGraphLaunch 0 10.5 1
kernel 7 a 12 100.5 1
kernel 20 b 114 100 1
`, `critical_path_event_wait "a" end -> "b" start`},
	{cdg.Sync, "a record names the stream, whose work seems to end after the call, and nothing tells by how much the clock is off", `
call 1 cudaLaunchKernel 0 5.5 1
call 1 cudaStreamSynchronize 1000 200 2
sync 7 Stream~Sync 1000 200 2 -1 -1
op 1 aten::x 1250 100.5
kernel 7 a 700 513 1
`, `critical_path_sync_dependency "a" start -> "cudaStreamSynchronize" end`},
	{cdg.Sync, "a call waits for the device", `
call 1 cudaLaunchKernel 0 5.5 1
kernel 7 a 5 200.5 1
call 1 cudaDeviceSynchronize 10 200
op 1 aten::x 210 10
`, `critical_path_sync_dependency "a" end -> "cudaDeviceSynchronize" end`},
	{cdg.Sync, "an op waits for its pageable copy, whose call is lost", `
call 1 cudaLaunchKernel 0 5.5 1
kernel 7 a 8 800 1
op 1 aten::copy_ 20 860
copy 7 Memcpy~HtoD~(Pageable~->~Device) 809.2 60 77
op 1 aten::x 882 30
`, `critical_path_sync_dependency "Memcpy HtoD (Pageable -> Device)" end -> "aten::copy_" end`},
	{cdg.Sync, "an op waits for its copy, of which the call that enqueued it is recorded and the call that waited is not", `
call 1 urEnqueueKernelLaunch 0 5.5 1
kernel 7 a 8 800 1
op 1 aten::_local_scalar_dense 20 860
call 1 urEnqueueUSMMemcpy 30 8 2
copy 7 Memcpy~D2M~(DEVICE~->~MEMORY(Unknown)) 809.2 60 2
op 1 aten::x 882 30
`, `critical_path_sync_dependency "Memcpy D2M (DEVICE -> MEMORY(Unknown))" end -> "aten::_local_scalar_dense" end`},
	{cdg.Sync, "a short call that took longer than calls without anything to wait for", `
call 1 cudaDeviceSynchronize 1 3 1
call 1 cudaDeviceSynchronize 6 3.5 2
call 1 cudaDeviceSynchronize 11 3 3
call 1 cudaDeviceSynchronize 16 3 4
call 1 cudaDeviceSynchronize 21 3 5
call 1 cudaMemcpyAsync 30 5 6
copy 7 Memcpy~HtoD~(Pinned~->~Device) 40 12 6
call 1 cudaDeviceSynchronize 38 14.7 7
op 1 aten::x 53 30
`, `critical_path_sync_dependency "Memcpy HtoD (Pinned -> Device)" end -> "cudaDeviceSynchronize" end`},
	{cdg.Sync, "a call waits for all of the device, though what ended before it fits better", `
call 1 cudaLaunchKernel 0 5.5 1
call 1 cudaLaunchKernel 6 5 2
kernel 7 a 5 196 1
kernel 20 b 11 198.4 2
call 1 cudaDeviceSynchronize 12 198
op 1 aten::x 210 10
`, `critical_path_sync_dependency "b" end -> "cudaDeviceSynchronize" end`},
	{cdg.Sync, "a pageable copy waits for itself", `
call 1 cudaLaunchKernel 0 5.5 1
kernel 7 a 5 200.5 1
call 1 cudaMemcpyAsync 10 220 2
copy 7 Memcpy~DtoH~(Device~->~Pageable) 207 20 2
op 1 aten::x 230 10
`, `critical_path_sync_dependency "Memcpy DtoH (Device -> Pageable)" end -> "cudaMemcpyAsync" end`},
	{cdg.QueueFull, "a launch waits for a place in its stream's queue", queueFullText(), `critical_path_queue_full "k10" end -> "cudaLaunchKernel" end`},
	{cdg.Handoff, "a thread that waits for a lock goes on when another one releases it, and not when that one was done with its call", `
frame 1 server.py(5):~step 0 3000
call 1 cudaLaunchKernel 5 5 1
kernel 7 a 12 100 1
frame 1 <built-in~method~acquire~of~_thread.lock~object~at~0x1> 20 1500
op 1 aten::x 1600 1300
frame 2 server.py(9):~serve 0 2000
call 2 cudaEventSynchronize 10 110 2
frame 2 server.py(12):~decode 130 1360
frame 2 <built-in~method~release~of~_thread.lock~object~at~0x1> 1500 2
`, `critical_path_thread_handoff "<built-in method release of _thread.lock object at 0x1>"`},
	{cdg.Handoff, "a third thread ended work later, but was done before backward began", `
note 1 ProfilerStep#1 0.5 400
op 1 aten::forward 1 99
op 3 aten::clone 20 85
op 2 autograd::engine::evaluate_function:~X 110 190
op 1 aten::step 310 90
`, `critical_path_thread_handoff "aten::forward" end -> "autograd::engine::evaluate_function: X" start`},
	{cdg.Handoff, "the autograd thread works while the main thread waits, and back", `
note 1 ProfilerStep#1 0.5 400
op 1 aten::forward 1 99
op 2 autograd::engine::evaluate_function:~X 110 190
op 1 aten::step 310 90
`, `critical_path_thread_handoff "autograd::engine::evaluate_function: X" end -> "aten::step" start`},
	{cdg.Handoff, "the same in the first schema, whose autograd nodes have other names", `
note 1 ProfilerStep#1 0.5 400
op 1 aten::forward 1 99
op 2 torch::autograd::AccumulateGrad 110 190
op 1 aten::step 310 90
`, `critical_path_thread_handoff "torch::autograd::AccumulateGrad" end -> "aten::step" start`},
	{cdg.Handoff, "a slice of a data loader waits for the batch, not for a kernel that ended then", `
note 1 enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ 0.5 1000
op 3 aten::pin_memory 100 880
kernel 7 a 10 985
op 1 aten::x 1000.5 10
`, `critical_path_thread_handoff "aten::pin_memory" end -> "aten::x" start`},
	{cdg.Handoff, "a thread of which calls alone are recorded waits for each result, and the other one goes on soon after", `
op 1 schedule 0 100
call 1 cudaLaunchKernel 50 5 1
kernel 7 a 60 300 1
call 2 cudaEventSynchronize 80 285
op 1 schedule 405 100
call 1 cudaLaunchKernel 455 5 2
kernel 7 a 465 317 2
call 2 cudaEventSynchronize 485 302
op 1 schedule 830 100
call 1 cudaLaunchKernel 880 5 3
kernel 7 a 890 334 3
call 2 cudaEventSynchronize 910 319
op 1 schedule 1275 100
call 1 cudaLaunchKernel 1325 5 4
kernel 7 a 1335 351 4
call 2 cudaEventSynchronize 1355 336
op 1 schedule 1740 300
`, `critical_path_thread_handoff "cudaEventSynchronize" end -> "schedule" start`},
	{cdg.Handoff, "both threads have ops open at once, of which one waits for results, and these take their time to the other one", `
op 1 schedule 0 100
call 1 cudaLaunchKernel 50 5 1
kernel 7 a 60 300 1
op 2 get_output 70 315
call 2 cudaEventSynchronize 80 285
op 1 schedule 525 100
call 1 cudaLaunchKernel 575 5 2
kernel 7 a 585 317 2
op 2 get_output 595 332
call 2 cudaEventSynchronize 605 302
op 1 schedule 1070 100
call 1 cudaLaunchKernel 1120 5 3
kernel 7 a 1130 334 3
op 2 get_output 1140 349
call 2 cudaEventSynchronize 1150 319
op 1 schedule 1635 100
call 1 cudaLaunchKernel 1685 5 4
kernel 7 a 1695 351 4
op 2 get_output 1705 366
call 2 cudaEventSynchronize 1715 336
op 1 schedule 2220 300
`, `critical_path_thread_handoff "get_output" end -> "schedule" start`},
	{cdg.PolledWait, "an annotation spins on memory that its kernel writes", `
note 1 dispatch 0.5 1000
call 1 cudaLaunchKernel 1 5 1
kernel 7 a 10 980 1
op 1 aten::x 1001 10
`, `critical_path_sync_dependency "a" end -> "dispatch" end`},
	{cdg.Launch, "a stream ran what the profiler lost, from the first launch without an operation on", `
call 1 cudaLaunchKernel 1 3 1
op 1 aten::x 50 60
call 1 cudaLaunchKernel 55 5 2
call 1 cudaLaunchKernel 70 5 3
call 1 cudaLaunchKernel 90 5 4
kernel 7 z 8 20 1
kernel 7 a 900 50 3
kernel 7 b 951 50 4
`, `critical_path_kernel_launch_delay "cudaLaunchKernel" start -> "a" start`},
	{cdg.Handoff, "a thread asks another one for rounds of work, time and again", askedText, `critical_path_thread_handoff "aten::a" end -> "serve" start`},
	{cdg.Handoff, "a thread goes on when the round is over that it asked for", askedText, `critical_path_thread_handoff "serve" end -> "aten::b" start`},
	{cdg.EventWait, "a device recorded itself what a stream waited for", markedText, `critical_path_event_wait "work_a" end -> "work_b" start`},
	{cdg.EventWait, "a device that recorded all waits runs one kernel at a time", busyText, `critical_path_event_wait "work_a" end -> "work_b" start`},
	{cdg.BeforeRecording, "another thread worked long before, and an operation ended just before", `
op 2 autograd::engine::evaluate_function:~X 0 20
kernel 7 a 0 900
op 1 aten::x 905 50
call 1 cudaLaunchKernel 915 5 1
kernel 7 b 925 100 1
`, `critical_path_sync_dependency "a" end -> "aten::x" start`},
	{cdg.BeforeRecording, "recording began inside a call that waited", `
kernel 7 a 0 100
op 1 aten::x 101 50
call 1 cudaLaunchKernel 115 5 1
kernel 7 b 125 100 1
`, `critical_path_sync_dependency "a" end -> "aten::x" start`},
}

// askedText is a thread that waits in an annotation while another one works..
const askedText = `
op 11 aten::a 0 95
note 11 ask 100 500
call 12 serve 120 470
op 11 aten::a 900 95
note 11 ask 1000 500
call 12 serve 1020 470
op 11 aten::a 1900 95
note 11 ask 2000 500
call 12 serve 2020 470
op 11 aten::b 2501 100
`

// markedText is a device whose streams have records of their own. work_b waited 40 µs longer than any delay explains.
const markedText = `
call 1 recordEvent 0 2 1
call 1 runFunction 5 2 2
call 1 enqueueCommand~waitOnEvent 8 1 3
call 1 runFunction 10 2 4
mtia 101 work_a 10 400 2
mtia 101 event_record 411 1 1:5
mtia 102 event_wait 12 402 0:5:101
mtia 102 work_b 455 100 4
`

// busyText is a device whose streams do not wait for each other. work_b starts when the device is free.
const busyText = `
call 1 runFunction 5 2 1
call 1 recordEvent 8 1 2
call 2 runFunction 10 2 3
mtia 101 work_a 20 400 1
mtia 101 event_record 421 1 1:5
mtia 102 work_b 452 100 3
`

// A round in which a slice begins that outlasts it is over while its thread goes on: no path comes back to it.
func TestRoundOutlasted(t *testing.T) {
	text := askedText + "note 11 ask 3000 500\ncall 12 serve 3020 470\ncall 12 other 3400 300\nop 11 aten::c 3501 400\n"
	if got := pathText(t, testtrace.Lines(t, text), cdg.Options{}); !strings.Contains(got, `"serve" end -> "aten::b" start`) || strings.Contains(got, `"other"`) {
		t.Error(got)
	}
}

// A device that runs two kernels at once is no reason for a third to wait.
func TestSharedDevice(t *testing.T) {
	text := busyText + "call 3 runFunction 11 2 4\nmtia 103 work_c 300 50 4\n"
	if got := pathText(t, testtrace.Lines(t, text), cdg.Options{}); strings.Contains(got, "critical_path_event_wait") {
		t.Errorf("work_b waits for work_a\n%s", got)
	}
}

// queueFullText is a thread that launches faster than its stream works, and waits for a place once the stream holds 1,010 operations.
func queueFullText() string {
	const holds = 1010
	var sb strings.Builder
	launch := 0
	for i := range holds + 12 {
		dur := 5
		if i > holds {
			dur = max(dur, 110+102*(i-holds-1)+10_000+3-launch) // until operation i-holds-1 ended
		}
		fmt.Fprintf(&sb, "call 1 cudaLaunchKernel %d %d.5 %d\nkernel 7 k%d %d 100 %d\n", launch, dur-1, i+1, i, 10_010+102*i, i+1)
		launch += dur
	}
	fmt.Fprintf(&sb, "op 1 aten::x %d 200000\n", launch)
	return sb.String()
}

func pathText(t *testing.T, tr *trace.Trace, o cdg.Options) string {
	t.Helper()
	g, err := graph.Build(tr, o)
	if err != nil {
		t.Fatal(err)
	}
	p := testtrace.Path(t, g)
	if err := pathcheck.Check(p, g); err != nil {
		t.Fatal(err)
	}
	var sb strings.Builder
	if err := pathcheck.WritePath(&sb, p, g); err != nil {
		t.Fatal(err)
	}
	return sb.String()
}

func TestEachRuleIsNeeded(t *testing.T) {
	// No rule stands behind these: they are what is left.
	tested := map[cdg.Rule]bool{cdg.Program: true, cdg.Untraced: true, cdg.Unexplained: true}
	for _, c := range ruleCases {
		tested[c.rule] = true
		t.Run(c.rule.String()+": "+c.name, func(t *testing.T) {
			tr := testtrace.Lines(t, c.text)
			if got := pathText(t, tr, cdg.Options{}); !strings.Contains(got, "edge "+c.want) {
				t.Errorf("want edge %s\n%s", c.want, got)
			}
			var off cdg.Options
			off.Disable(c.rule)
			if got := pathText(t, tr, off); strings.Contains(got, "edge "+c.want) {
				t.Errorf("edge %s without its rule\n%s", c.want, got)
			}
		})
	}
	for r := range cdg.NumRules {
		if !tested[r] {
			t.Errorf("rule %s has no case", r)
		}
	}
}

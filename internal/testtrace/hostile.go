package testtrace

import (
	"bufio"
	"io"
	"strings"
)

// Hostile is a kind of trace that grows in one direction only, where a loop inside a loop would show.
type Hostile struct {
	Name string
	grow func(h *hostile, n int64)
}

// Write makes the trace of size n: about n to 3n events. Same size, same bytes.
func (s Hostile) Write(w io.Writer, n int) error {
	h := &hostile{w: bufio.NewWriterSize(w, 1<<20)}
	h.w.WriteString(`{"schemaVersion":1,"deviceProperties":[],"traceEvents":[`)
	h.op("aten::mm", 1, 1, 8) // something for the analysis where the kind has nothing
	h.launched(1, 7, 2, -2)
	s.grow(h, int64(n))
	h.w.WriteString("\n]}\n")
	return h.w.Flush()
}

// Hostiles are all kinds, each with a name that says what there are many of.
var Hostiles = append([]Hostile{
	{"correlation", func(h *hostile, n int64) {
		for i := range n {
			h.call("cudaLaunchKernel", 1, 10*i, 1, 5)
			h.kernel("k", 7, 10*i+3, 6, 5, "")
		}
	}},
	{"late-operations", func(h *hostile, n int64) { // one correlation, and every call ends before the first operation starts
		for i := range n {
			h.call("cudaLaunchKernel", 1, 10*i, 1, 5)
		}
		for i := range n {
			h.kernel("k", 7, 10*n-20*i, 6, 5, "")
		}
	}},
	{"threads", func(h *hostile, n int64) {
		for i := range n {
			h.op("aten::mm", i, 20*i, 15)
			h.launched(i, 7, 20*i+2, i)
		}
	}},
	{"turns", func(h *hostile, n int64) { // every thread has enough to do to be looked at
		threads := n/24 + 2
		for i := range n {
			h.op("aten::mm", i%threads, 20*i, 15)
		}
	}},
	{"crowd", func(h *hostile, n int64) { // as turns, but all threads are busy at once
		threads := n/24 + 2
		for i := range n {
			h.op("aten::mm", i%threads, 20*(i/threads)*threads+3*(i%threads), 15*threads)
		}
	}},
	{"waiters", func(h *hostile, n int64) { // threads that block, in code without a global lock
		h.op("aten::mm", 1, 0, 15)
		h.op("MmBackward", 2, 1, 15)
		h.flow("fwdbwd", 1, 1, 2, 5, 6)
		for i := range n {
			h.slice("python_function", "threading.py(1): wait", 1, 10+i, 20*i, 15)
			h.op("aten::mm", 10+i, 20*i+16, 3)
		}
	}},
	{"fwdbwd", func(h *hostile, n int64) {
		for i := range n {
			h.op("aten::mm", 2*i, 40*i, 15)
			h.op("MmBackward", 2*i+1, 40*i+20, 15)
			h.flow("fwdbwd", i, 2*i, 2*i+1, 40*i+1, 40*i+21)
		}
	}},
	{"steps", func(h *hostile, n int64) {
		for i := range n {
			h.slice("user_annotation", "ProfilerStep#"+itoa(i), 1, 1, 20*i, 18)
			h.op("aten::mm", 1, 20*i+1, 12)
			h.launched(1, 7, 20*i+2, i)
		}
	}},
	{"steps-streams", func(h *hostile, n int64) {
		for i := range n {
			h.slice("user_annotation", "ProfilerStep#"+itoa(i), 1, 1, 20*i, 18)
			h.launched(1, 7+i, 20*i+2, i)
		}
	}},
	{"streams", func(h *hostile, n int64) {
		for i := range n {
			h.op("aten::mm", 1, 20*i+1, 12)
			h.launched(1, 7+i, 20*i+2, i)
		}
	}},
	{"streams-at-once", func(h *hostile, n int64) {
		for i := range n {
			h.call("cudaLaunchKernel", 1, 20*i+2, 3, i)
			h.kernel("k", 7+i, 20*i+8, 20*n, i, "")
		}
	}},
	{"streams-syncs", func(h *hostile, n int64) {
		for i := range n {
			h.launched(1, 7+i, 40*i, 2*i)
			h.call("cudaDeviceSynchronize", 1, 40*i+10, 20, 2*i+1)
		}
	}},
	{"syncs", func(h *hostile, n int64) {
		for i := range n {
			h.launched(1, 7, 40*i, 3*i)
			h.call("cudaStreamSynchronize", 1, 40*i+10, 20, 3*i+1)
			h.call("cudaDeviceSynchronize", 1, 40*i+32, 5, 3*i+2)
		}
	}},
	{"threads-syncs", func(h *hostile, n int64) {
		for i := range n {
			h.op("aten::item", i, 40*i, 38)
			h.launched(i, 7, 40*i, 2*i)
			h.call("cudaDeviceSynchronize", i, 40*i+10, 20, 2*i+1)
		}
	}},
	{"depth", func(h *hostile, n int64) {
		for i := range n {
			h.op("aten::op_"+itoa(i%97), 1, 10*i, 10*(2*n-2*i))
		}
	}},
	{"depth-launches", func(h *hostile, n int64) { // every launch stands under the whole stack
		for i := range n {
			h.slice("python_function", "model.py("+itoa(i)+"): forward", 1, 1, 10*i, 10*(2*n-2*i)+20*n)
		}
		for i := range n {
			h.op("aten::mm", 1, 10*n+15*i, 13)
			h.launched(1, 7, 10*n+15*i+1, i)
		}
	}},
	{"overlaps", func(h *hostile, n int64) {
		for i := range n {
			h.op("aten::mm", 1, 10*i, 10*n)
		}
	}},
	{"overlapping-kernels", func(h *hostile, n int64) {
		for i := range n {
			h.call("cudaLaunchKernel", 1, 10*i, 3, i)
			h.kernel("k", 7, 10*i+5, 10*n, i, "")
		}
	}},
	{"equal", func(h *hostile, n int64) {
		for range n {
			h.op("aten::mm", 1, 10, 100)
		}
	}},
	{"zero-lengths", func(h *hostile, n int64) {
		for i := range n {
			h.op("aten::mm", 1, 10, 0)
			h.call("cudaLaunchKernel", 1, 10, 0, i)
			h.kernel("k", 7, 10, 0, i, "")
		}
	}},
	{"one-start", func(h *hostile, n int64) { // all start together, each ends elsewhere
		for i := range n {
			h.op("aten::mm", 1, 10, 10+10*((i*7919)%n))
		}
	}},
	{"counters", func(h *hostile, n int64) {
		for i := range n {
			h.event(`"ph":"C","name":"memory `+itoa(i)+`","pid":1`, 10*i, -1, `"bytes":`+itoa(i))
		}
	}},
	{"counter-keys", func(h *hostile, n int64) {
		for i := range n {
			h.event(`"ph":"C","name":"memory","pid":1`, 10*i, -1, `"bytes `+itoa(i)+`":1`)
		}
	}},
	{"processes", func(h *hostile, n int64) {
		for i := range n {
			h.event(`"ph":"M","name":"process_name","pid":`+itoa(1000+i)+`,"tid":0`, 0, -1, `"name":"python"`)
			h.slice("cpu_op", "aten::mm", 1000+i, 1, 20*i, 15)
		}
	}},
	{"devices", func(h *hostile, n int64) {
		for i := range n {
			h.call("cudaLaunchKernel", 1, 20*i+2, 3, i)
			h.sliceArgs("kernel", "k", i, 7, 20*i+8, 5, `"device":`+itoa(i)+`,"stream":7,"correlation":`+itoa(i))
		}
	}},
	{"annotations", func(h *hostile, n int64) {
		for i := range n {
			h.slice("user_annotation", "forward", 1, 1, 20*i, 18)
			h.launched(1, 7, 20*i+2, i)
			h.slice("gpu_user_annotation", "forward", 0, 7, 20*i+8, 5)
		}
	}},
	{"annotation-depth", func(h *hostile, n int64) {
		for i := range n {
			h.slice("user_annotation", "forward "+itoa(i), 1, 1, 10*i, 20*(n-i)+20*n)
		}
		for i := range n {
			h.launched(1, 7, 10*n+12*i, i)
		}
	}},
	{"flows", func(h *hostile, n int64) {
		for i := range n {
			h.op("aten::mm", 1, 20*i, 8)
			h.op("aten::mm", 2, 20*i+10, 8)
			h.flow("mine", 5, 1, 2, 20*i+1, 20*i+11)
		}
	}},
	{"flow-ids", func(h *hostile, n int64) {
		for i := range n {
			h.op("aten::mm", 1, 20*i, 8)
			h.op("aten::mm", 2, 20*i+10, 8)
			h.flow("mine", i, 1, 2, 20*i+1, 20*i+11)
		}
	}},
	{"graphs", func(h *hostile, n int64) {
		for i := range n {
			h.call("cudaGraphLaunch", 1, 20*i+2, 3, i)
			h.kernel("k", 7, 20*i+8, 5, i, `,"graph id":1`)
			h.kernel("k", 8, 20*i+8, 8, i, `,"graph id":1`)
		}
	}},
	{"graph", func(h *hostile, n int64) {
		h.call("cudaGraphLaunch", 1, 2, 3, 1)
		for i := range n {
			h.kernel("k", 7+i, 20*i+8, 15, 1, `,"graph id":1,"graph node id":`+itoa(i))
		}
	}},
	{"graph-syncs", func(h *hostile, n int64) {
		h.call("cudaGraphLaunch", 1, 2, 3, 1)
		for i := range n {
			h.kernel("k", 7+i%100, 20*i+8, 15, 1, `,"graph id":1,"graph node id":`+itoa(i))
			h.call("cudaStreamSynchronize", 1, 20*i+10, 15, i+2)
		}
	}},
	{"events", func(h *hostile, n int64) {
		for i := range n {
			h.launched(1, 7, 40*i, 4*i)
			h.call("cudaEventRecord", 1, 40*i+6, 2, 4*i+1)
			h.call("cudaStreamWaitEvent", 1, 40*i+10, 2, 4*i+2)
			h.launched(1, 8, 40*i+14, 4*i+3)
		}
	}},
	{"event-records", func(h *hostile, n int64) {
		for i := range n {
			h.launched(1, 7+i, 40*i, 4*i)
			h.call("cudaEventRecord", 1, 40*i+6, 2, 4*i+1)
			h.call("cudaEventSynchronize", 1, 40*i+10, 12, 4*i+2)
			h.sliceArgs("cuda_sync", "Event Sync", 0, 7+i, 40*i+10, 12, `"cuda_sync_kind":"Event Sync","stream":`+itoa(7+i)+`,"correlation":`+itoa(4*i+2)+
				`,"device":0,"wait_on_stream":`+itoa(7+i)+`,"wait_on_cuda_event_record_corr_id":`+itoa(4*i+1)+`,"wait_on_cuda_event_id":1`)
		}
	}},
	{"wait-records", func(h *hostile, n int64) { // all waits come before the first operation behind them
		for i := range n {
			h.launched(1, 7+i, 40*i, 4*i)
			h.call("cudaEventRecord", 1, 40*i+6, 2, 4*i+1)
			h.call("cudaStreamWaitEvent", 1, 40*i+10, 2, 4*i+2)
			h.sliceArgs("cuda_sync", "Stream Wait Event", 0, 5, 40*i+10, 1, `"cuda_sync_kind":"Stream Wait Event","stream":5,"correlation":`+itoa(4*i+2)+
				`,"device":0,"wait_on_stream":`+itoa(7+i)+`,"wait_on_cuda_event_record_corr_id":`+itoa(4*i+1)+`,"wait_on_cuda_event_id":1`)
		}
		for i := range n {
			h.launched(1, 5, 40*n+20*i, 4*n+i)
		}
	}},
	{"queue", func(h *hostile, n int64) { // everything is launched before the first operation starts
		for i := range n {
			h.call("cudaLaunchKernel", 1, 5*i, 3, i)
			h.kernel("k", 7+i%2, 5*n+10*i, 8, i, "")
		}
	}},
	{"orphans", func(h *hostile, n int64) { // operations whose launches nobody recorded, and who waits for them
		for i := range n {
			h.sliceArgs("kernel", "k", 0, 7, 40*n+40*i, 8, `"device":0,"stream":7`)
			h.call("cudaStreamSynchronize", 1, 40*n+40*i, 12, i)
		}
	}},
	{"strays", func(h *hostile, n int64) { // operations without a launch, and as many threads that launch
		for i := range n {
			h.op("aten::mm", i, 40*i, 35)
			h.launched(i, 7, 40*i+2, i)
			h.sliceArgs("kernel", "k", 0, 8, 40*i+25, 5, `"device":0,"stream":8`)
		}
	}},
	{"stray-calls", func(h *hostile, n int64) { // the same, and as many launch calls without an operation
		for i := range n {
			h.launched(i, 7, 40*i+2, 2*i)
			h.call("cudaLaunchKernel", i, 40*i+23, 2, 2*i+1)
			h.sliceArgs("kernel", "k", 0, 8, 40*i+30, 5, `"device":0,"stream":8`)
		}
	}},
	{"stray-copies", func(h *hostile, n int64) { // copies without a launch, and as many threads that copy
		for i := range n {
			h.call("cudaMemcpyAsync", i, 100*i, 10, i)
			h.sliceArgs("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 7, 100*i+4, 5, `"device":0,"stream":7,"bytes":64,"correlation":`+itoa(i))
			h.op("aten::copy_", i, 100*i+20, 70)
			h.sliceArgs("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 8, 100*i+70, 15, `"device":0,"stream":8,"bytes":64`)
		}
	}},
	{"external-ids", func(h *hostile, n int64) { // calls of another thread than their op
		for i := range n {
			h.sliceArgs("cpu_op", "aten::mm", 1, 1, 20*i, 18, `"External id":5`)
			h.sliceArgs("cuda_runtime", "cudaEventQuery", 1, 2, 20*i+2, 3, `"External id":5,"correlation":`+itoa(i))
		}
	}},
	{"stack-flows", func(h *hostile, n int64) { // a stack that is over when the arrows come
		for i := range n {
			h.op("aten::mm", 1, i, 2*n-2*i)
		}
		for i := range n {
			h.op("aten::mm", 2, 2*n+20*i, 5)
			h.flow("mine", i, 1, 2, 2*n+20*i, 2*n+20*i+1)
		}
	}},
	{"process-counters", func(h *hostile, n int64) {
		for i := range n {
			h.event(`"ph":"C","name":"memory","pid":`+itoa(1000+i), 10*i, -1, `"bytes":`+itoa(i))
		}
	}},
	{"text-rows", func(h *hostile, n int64) { // rows without numbers
		for i := range n {
			h.event(`"ph":"X","cat":"mine","name":"x","pid":1,"tid":"row `+itoa(i)+`a"`, 10*i, 5, "")
			h.event(`"ph":"X","cat":"mine","name":"x","pid":"process `+itoa(i)+`a","tid":1`, 10*i, 5, "")
		}
	}},
	{"many-to-one", func(h *hostile, n int64) { // waits of one operation for streams that each wait for it
		for i := range n {
			h.launched(1, 8+i, 40*i, 3*i)
			h.call("cudaStreamWaitEvent", 1, 40*i+10, 2, 3*i+1)
			h.launched(1, 7, 40*i+14, 3*i+2)
		}
	}},
	{"event-streams", func(h *hostile, n int64) { // waits long after their launch, with as many streams
		for i := range n {
			h.launched(1, 8+i, 100*i, 3*i)
			h.call("cudaEventRecord", 1, 100*i+4, 2, 3*i+1)
			h.call("cudaStreamWaitEvent", 1, 100*i+8, 2, 3*i+2)
			h.call("cudaLaunchKernel", 1, 100*i+12, 2, 3*n+i)
			h.kernel("k", 7, 100*i+70, 5, 3*n+i, "")
		}
	}},
	{"copies", func(h *hostile, n int64) {
		for i := range n {
			h.call("cudaMemcpyAsync", 1, 20*i, 10, i)
			h.sliceArgs("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, 20*i+4, 5, `"device":0,"stream":7,"bytes":64,"correlation":`+itoa(i))
		}
	}},
	{"open", func(h *hostile, n int64) {
		for i := range n {
			h.event(`"ph":"B","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1`, 10*i, -1, "")
		}
	}},
	{"begin-end", func(h *hostile, n int64) {
		for i := range n {
			h.event(`"ph":"B","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1`, 10*i, -1, "")
		}
		for i := range n {
			h.event(`"ph":"E","pid":1,"tid":1`, 10*(n+i), -1, "")
		}
	}},
	{"async", func(h *hostile, n int64) {
		for i := range n {
			h.event(`"ph":"b","cat":"mine","id":5,"name":"request","pid":1,"tid":1`, 10*i, -1, "")
		}
		for i := range n {
			h.event(`"ph":"e","cat":"mine","id":5,"name":"request","pid":1,"tid":1`, 10*(n+i), -1, "")
		}
	}},
	{"async-ids", func(h *hostile, n int64) {
		for i := range n {
			h.event(`"ph":"b","cat":"mine","id":`+itoa(i)+`,"name":"request","pid":1,"tid":1`, 10*i, -1, "")
			h.event(`"ph":"e","cat":"mine","id":`+itoa(i)+`,"name":"request","pid":1,"tid":1`, 10*(n+i), -1, "")
		}
	}},
	{"args", func(h *hostile, n int64) {
		var args strings.Builder
		for i := range n {
			if i > 0 {
				args.WriteByte(',')
			}
			args.WriteString(`"key ` + itoa(i) + `":` + itoa(i))
		}
		h.sliceArgs("cpu_op", "aten::mm", 1, 1, 10, 100, args.String())
	}},
	{"arg-keys", func(h *hostile, n int64) {
		for i := range n {
			h.sliceArgs("cpu_op", "aten::mm", 1, 1, 20*i, 15, `"key `+itoa(i)+`":{"a":[1,{"b":`+itoa(i)+`}]}`)
		}
	}},
	{"names", func(h *hostile, n int64) {
		for i := range n {
			h.op("aten::op_"+itoa(i), 1, 20*i, 15)
			h.call("cudaLaunchKernel", 1, 20*i+2, 3, i)
			h.kernel("kernel_"+itoa(i), 7, 20*i+8, 5, i, "")
		}
	}},
	{"quotes", func(h *hostile, n int64) { // quotes that nobody escaped, as some recorders write them
		h.op(`aten::"mm" `+strings.Repeat(`"x" `, int(n)), 1, 20, 15)
	}},
	{"nested-args", func(h *hostile, n int64) {
		deep := min(n, 9000)
		for i := range n/deep + 1 {
			h.sliceArgs("cpu_op", "aten::mm", 1, 1, 20*i, 15, `"a":`+strings.Repeat("[", int(deep))+strings.Repeat("]", int(deep)))
		}
	}},
	{"broken", func(h *hostile, n int64) {
		for i := range n {
			h.event(`"ph":"X","name":5,"pid":"a","tid":{}`, 10*i, -5, "")
		}
	}},
	{"thread-names", func(h *hostile, n int64) {
		h.op("aten::mm", 1, 10, 15)
		for i := range n {
			h.event(`"ph":"M","name":"thread_name","pid":1,"tid":1`, 0, -1, `"name":"thread `+itoa(i)+`"`)
			h.event(`"ph":"M","name":"thread_sort_index","pid":1,"tid":1`, 0, -1, `"sort_index":`+itoa(i))
		}
	}},
	{"instants", func(h *hostile, n int64) {
		h.op("aten::mm", 1, 0, 10*n)
		for i := range n {
			h.event(`"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1`, 10*i, -1, `"Bytes":1`)
		}
	}},
	{"collectives", func(h *hostile, n int64) {
		for i := range n {
			h.call("cudaLaunchKernel", 1, 20*i+2, 3, i)
			h.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 7, 20*i+8, 30*(1+i%50), i, "")
		}
		for i := range n {
			h.call("cudaLaunchKernel", 1, 20*n+20*i+2, 3, n+i)
			h.kernel("k", 8, 20*i+8, 10, n+i, "")
		}
	}},
}, usersHostiles...)

type hostile struct {
	w    *bufio.Writer
	some bool
}

// event writes an event; times are µs, and a negative duration and empty args are left out.
func (h *hostile) event(head string, ts, dur int64, args string) {
	if h.some {
		h.w.WriteByte(',')
	}
	h.some = true
	h.w.WriteString("\n{" + head + `,"ts":` + itoa(ts))
	if dur >= 0 {
		h.w.WriteString(`,"dur":` + itoa(dur))
	}
	if args != "" {
		h.w.WriteString(`,"args":{` + args + "}")
	}
	h.w.WriteByte('}')
}

func (h *hostile) sliceArgs(cat, name string, pid, tid, ts, dur int64, args string) {
	h.event(`"ph":"X","cat":"`+cat+`","name":"`+name+`","pid":`+itoa(pid)+`,"tid":`+itoa(tid), ts, dur, args)
}

func (h *hostile) slice(cat, name string, pid, tid, ts, dur int64) {
	h.sliceArgs(cat, name, pid, tid, ts, dur, "")
}

func (h *hostile) op(name string, tid, ts, dur int64) { h.slice("cpu_op", name, 1, tid, ts, dur) }

func (h *hostile) call(name string, tid, ts, dur, corr int64) {
	h.sliceArgs("cuda_runtime", name, 1, tid, ts, dur, `"correlation":`+itoa(corr))
}

func (h *hostile) kernel(name string, stream, ts, dur, corr int64, more string) {
	h.sliceArgs("kernel", name, 0, stream, ts, dur, `"device":0,"stream":`+itoa(stream)+`,"correlation":`+itoa(corr)+more)
}

// launched writes a launch and its kernel.
func (h *hostile) launched(tid, stream, ts, corr int64) {
	h.call("cudaLaunchKernel", tid, ts, 3, corr)
	h.kernel("k", stream, ts+6, 5, corr, "")
}

func (h *hostile) flow(cat string, id, from, to, ts, end int64) {
	h.event(`"ph":"s","cat":"`+cat+`","name":"`+cat+`","id":`+itoa(id)+`,"pid":1,"tid":`+itoa(from), ts, -1, "")
	h.event(`"ph":"f","bp":"e","cat":"`+cat+`","name":"`+cat+`","id":`+itoa(id)+`,"pid":1,"tid":`+itoa(to), end, -1, "")
}

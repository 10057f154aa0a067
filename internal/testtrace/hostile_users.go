package testtrace

// usersHostiles are kinds of what the traces of users have in thousands, with the args that analyses look at.
var usersHostiles = []Hostile{
	{"model-depth", func(h *hostile, n int64) { // operators with a model, inside of each other, and every launch under all of them
		for i := range n {
			h.product([]string{"aten::linear", "aten::mm", "aten::conv2d"}[i%3], 1, 10*i, 20*(n-i)+30*n, i)
		}
		for i := range n {
			h.product("aten::addmm", 1, 10*n+15*i, 13, n+i)
			h.launched(1, 7, 10*n+15*i+1, i)
		}
	}},
	{"model-ladder", func(h *hostile, n int64) { // each of the nested operators launches by itself, too
		for i := range n {
			h.product("aten::mm", 1, 20*i, 40*(n-i), i)
			h.launched(1, 7, 20*i+2, i)
		}
	}},
	{"python-depth", func(h *hostile, n int64) {
		for i := range n {
			h.frame("model.py("+itoa(i)+"): forward", 1, 10*i, 20*(n-i)+40*n, i, i-1)
		}
		for i := range n {
			h.frame("nn.Module: Linear_"+itoa(i), 1, 10*n+30*i, 28, n+i, n-1)
			h.product("aten::mm", 1, 10*n+30*i+1, 20, i)
			h.launched(1, 7, 10*n+30*i+2, i)
		}
	}},
	{"shapes", func(h *hostile, n int64) { // every operator has dimensions of its own
		for i := range n {
			h.sliceArgs("cpu_op", "aten::mm", 1, 1, 20*i, 18, `"External id":`+itoa(i)+`,"Input Dims":[[`+itoa(i)+`,8],[8,`+itoa(i)+`]],"Input type":["float","float"]`)
			h.launched(1, 7, 20*i+2, i)
		}
	}},
	{"sequence", func(h *hostile, n int64) { // all operators of forward and backward have one number
		for i := range n {
			h.numbered("aten::convolution", 1, 20*i, 5, 0)
			h.launched(1, 7, 20*i+1, i)
		}
		for i := range n {
			h.numbered("ConvolutionBackward0", 2, 20*n+20*i, 5, 1)
			h.launched(2, 7, 20*n+20*i+1, n+i)
		}
	}},
	{"backward-depth", func(h *hostile, n int64) { // backward runs inside of backward, as with checkpoints
		for i := range n {
			h.op("MmBackward0", 2, 10*i, 20*(n-i)+20*n)
			h.flow("fwdbwd", i, 1, 2, 10*i-20*n, 10*i)
			h.op("aten::mm", 1, 10*i-20*n, 8)
		}
		for i := range n {
			h.launched(2, 7, 10*n+12*i, i)
		}
	}},
	{"thread-streams", func(h *hostile, n int64) { // each thread has a stream of its own, and waits for it; few devices
		for i := range n {
			h.call("cudaLaunchKernel", 10+i, 20*i, 3, i)
			h.sliceArgs("kernel", "k", i%8, 7+i, 20*i+8, 5, `"device":`+itoa(i%8)+`,"stream":`+itoa(7+i)+`,"correlation":`+itoa(i))
			h.call("cudaStreamSynchronize", 10+i, 20*i+4, 12, n+i)
		}
	}},
	{"device-streams", func(h *hostile, n int64) { // few devices with many streams, all busy at once
		for i := range n {
			device, stream := itoa(i%8), itoa(7+i)
			h.call("cudaLaunchKernel", 1, 10*i, 3, i)
			h.sliceArgs("kernel", "k", i%8, 7+i, 10*i+8, 10*n, `"device":`+device+`,"stream":`+stream+`,"correlation":`+itoa(i))
		}
		h.call("cudaDeviceSynchronize", 1, 10*n, 20*n, n)
	}},
	{"launch-flows", func(h *hostile, n int64) { // as PyTorch writes them
		for i := range n {
			h.launched(1, 7, 20*i, i)
			h.flowTo("ac2g", i, 1, 1, 20*i, 0, 7, 20*i+6)
		}
	}},
	{"flow-fan", func(h *hostile, n int64) { // one arrow leads to many ends
		h.op("aten::mm", 1, 0, 8)
		h.event(`"ph":"s","cat":"mine","name":"mine","id":5,"pid":1,"tid":1`, 1, -1, "")
		for i := range n {
			h.op("aten::mm", 2, 20*i+10, 8)
			h.event(`"ph":"t","cat":"mine","name":"mine","id":5,"pid":1,"tid":2`, 20*i+11, -1, "")
		}
	}},
	{"external-threads", func(h *hostile, n int64) { // every launch belongs to an operator of another thread
		for i := range n {
			h.sliceArgs("cpu_op", "aten::mm", 1, 1, 40*i, 35, `"External id":`+itoa(i))
			h.sliceArgs("cuda_runtime", "cudaLaunchKernel", 1, 2, 40*i+2, 3, `"External id":`+itoa(i)+`,"correlation":`+itoa(i))
			h.sliceArgs("kernel", "k", 0, 7, 40*i+8, 20, `"External id":`+itoa(i)+`,"device":0,"stream":7,"correlation":`+itoa(i))
		}
	}},
	{"graph-launches", func(h *hostile, n int64) { // as many launches of a graph as it has nodes
		nodes := int64(1)
		for nodes*nodes < n {
			nodes++
		}
		for i := range nodes {
			at := 40 * nodes * i
			h.call("cudaGraphLaunch", 1, at, 3, i)
			for k := range nodes {
				h.kernel("k", 7+k%4, at+8+20*(k/4), 15, i, `,"graph id":1,"graph node id":`+itoa(k))
			}
			h.call("cudaStreamSynchronize", 1, at+10, 30*nodes, nodes+i)
		}
	}},
	{"graph-steps", func(h *hostile, n int64) {
		for i := range n {
			h.slice("user_annotation", "ProfilerStep#"+itoa(i), 1, 1, 40*i, 38)
			h.call("cudaGraphLaunch", 1, 40*i+2, 3, 2*i)
			h.kernel("k", 7, 40*i+8, 5, 2*i, `,"graph id":1,"graph node id":1`)
			h.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 8, 40*i+8, 8, 2*i, `,"graph id":1,"graph node id":2`)
			h.call("cudaStreamSynchronize", 1, 40*i+6, 20, 2*i+1)
		}
	}},
	{"steps-collectives", func(h *hostile, n int64) {
		for i := range n {
			h.slice("user_annotation", "ProfilerStep#"+itoa(i), 1, 1, 60*i, 58)
			h.product("aten::mm", 1, 60*i+1, 10, i)
			h.launched(1, 7, 60*i+2, 3*i)
			h.collective("allreduce", 60*i+14, 30, 3*i+1, 5, `"Process Group Name":"0","Process Group Ranks":"[0, 1]"`)
			h.call("cudaStreamWaitEvent", 1, 60*i+50, 2, 3*i+2)
		}
	}},
	{"groups", func(h *hostile, n int64) { // a process group for every collective
		for i := range n {
			h.collective("all_gather", 40*i, 15, i, 7, `"Process Group Name":"`+itoa(i)+`","Process Group Ranks":"[0, `+itoa(i+1)+`]"`)
		}
	}},
	{"collectives-at-once", func(h *hostile, n int64) { // many are under way at any time, on streams of their own
		for i := range n {
			h.collective("reduce_scatter", 20*i, 600, i, 7+i, `"Process Group Name":"0"`)
		}
	}},
	{"sends", func(h *hostile, n int64) {
		for i := range n {
			h.collective([]string{"send", "recv"}[i%2], 40*i, 35, i, 7+i%2, `"Process Group Name":"0","Src Rank":`+itoa(i)+`,"Dst Rank":`+itoa(i+1))
		}
	}},
	{"memory", func(h *hostile, n int64) { // blocks of memory that are allocated and freed later, of calls that get it from the device
		for i := range n {
			h.launched(1, 7, 40*i, 2*i)
			h.call("cudaMalloc", 1, 40*i+10, 9, 2*i+1)
			args := `"Device Type":1,"Device Id":0,"Addr":` + itoa(4096+512*(i%(n/2+1))) + `,"Total Allocated":` + itoa(512*i) + `,"Total Reserved":` + itoa(1024*i)
			h.event(`"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1`, 40*i+20, -1, args+`,"Bytes":`+itoa(512-1024*(i*2/n%2)))
		}
	}},
	{"overhead", func(h *hostile, n int64) { // the profiler's own work, in gaps of the threads and streams
		for i := range n {
			h.op("aten::mm", 1, 60*i, 15)
			h.slice("overhead", "Activity Buffer Request", -1, 0, 60*i+16, 20)
			h.launched(1, 7, 60*i+40, i)
		}
	}},
	{"unfinished", func(h *hostile, n int64) { // launches of a queue whose operations were lost, each before one that was not
		for i := range n {
			h.call("cudaLaunchKernel", 1, 40*i, 3, 2*i)
			h.call("cudaLaunchKernel", 1, 40*i+4, 3, 2*i+1)
			h.kernel("k", 7, 40*i+30, 5, 2*i+1, "")
		}
	}},
	{"gpu-annotations", func(h *hostile, n int64) { // ranges of a stream inside of each other
		for i := range n {
			h.slice("gpu_user_annotation", "layer "+itoa(i), 0, 7, 10*i, 20*(n-i)+30*n)
		}
		for i := range n {
			h.launched(1, 7, 10*n+20*i, i)
		}
	}},
	{"annotation-names", func(h *hostile, n int64) { // ranges of many threads, with operators that belong to them
		for i := range n {
			h.slice("user_annotation", "request "+itoa(i), 1, i%10, 20*i, 18)
			h.op("aten::mm", i%10, 20*i+1, 15)
			h.launched(i%10, 7+i%10, 20*i+2, i)
		}
	}},
	{"loaders", func(h *hostile, n int64) { // every step waits for a process that reads its data
		for i := range n {
			h.slice("user_annotation", "ProfilerStep#"+itoa(i), 1, 1, 100*i, 98)
			h.slice("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 1, 1, 100*i+1, 60)
			h.slice("cpu_op", "aten::stack", 1000+i%64, 1, 100*i+5, 50)
			h.launched(1, 7, 100*i+70, i)
		}
	}},
	{"copies-both-ways", func(h *hostile, n int64) { // each copy that comes back is waited for
		for i := range n {
			for k, name := range []string{"Memcpy HtoD (Pageable -> Device)", "Memcpy DtoH (Device -> Pinned)"} {
				at, corr := 80*i+40*int64(k), 3*i+int64(k)
				h.call("cudaMemcpyAsync", 1, at, 10, corr)
				h.sliceArgs("gpu_memcpy", name, 0, 7+i%3, at+4, 25, `"device":0,"stream":`+itoa(7+i%3)+`,"bytes":4096,"correlation":`+itoa(corr))
			}
			h.call("cudaStreamSynchronize", 1, 80*i+52, 20, 3*i+2)
		}
	}},
}

// product is an operator with a model: it says what it works on.
func (h *hostile) product(name string, tid, ts, dur, id int64) {
	h.sliceArgs("cpu_op", name, 1, tid, ts, dur, `"External id":`+itoa(id)+`,"Input Dims":[[64,32],[32,16]],"Input type":["float","float"]`)
}

// numbered is an operator with a sequence number.
func (h *hostile) numbered(name string, tid, ts, dur, forward int64) {
	h.sliceArgs("cpu_op", name, 1, tid, ts, dur, `"Sequence number":5,"Fwd thread id":`+itoa(forward)+`,"Input Dims":[[8,8,8,8],[8,8,3,3]],"Input type":["float","float"]`)
}

func (h *hostile) frame(name string, tid, ts, dur, id, parent int64) {
	h.sliceArgs("python_function", name, 1, tid, ts, dur, `"Python id":`+itoa(id)+`,"Python parent id":`+itoa(parent))
}

// collective is what PyTorch records of one: an operator, a launch, a kernel.
func (h *hostile) collective(name string, ts, dur, corr, stream int64, group string) {
	says := `"Collective name":"` + name + `","In msg nelems":4096,"Out msg nelems":4096,"Group size":2,"dtype":"Float",` + group
	h.sliceArgs("cpu_op", "record_param_comms", 1, 1, ts, 12, says)
	h.call("cudaLaunchKernel", 1, ts+2, 3, corr)
	h.sliceArgs("kernel", "ncclDevKernel_"+name, 0, stream, ts+8, dur, `"device":0,"stream":`+itoa(stream)+`,"correlation":`+itoa(corr)+`,`+says)
}

func (h *hostile) flowTo(cat string, id, pid, tid, ts, toPid, toTid, end int64) {
	h.event(`"ph":"s","cat":"`+cat+`","name":"`+cat+`","id":`+itoa(id)+`,"pid":`+itoa(pid)+`,"tid":`+itoa(tid), ts, -1, "")
	h.event(`"ph":"f","bp":"e","cat":"`+cat+`","name":"`+cat+`","id":`+itoa(id)+`,"pid":`+itoa(toPid)+`,"tid":`+itoa(toTid), end, -1, "")
}

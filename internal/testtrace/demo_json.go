package testtrace

// cbids are CUPTI's numbers of the calls.
var cbids = map[string]int{"cudaLaunchKernel": 211, "cudaLaunchKernelExC": 430, "cudaMemcpyAsync": 41, "cudaStreamSynchronize": 131,
	"cudaEventRecord": 135, "cudaStreamWaitEvent": 147}

// json writes the run as Kineto of PyTorch 2.6 does.
func (d *demo) json(r *Run) []byte {
	p := d.p
	ext := d.externalIDs()
	idx := 0
	b, _ := r.build(func(e *Event, key int32) {
		n := int32(len(p.instrs))
		id := key
		if key >= n {
			id = p.ops[key-n].instr
		}
		if ext[id] > 0 {
			e.Arg("External id", ext[id])
		}
		ev := &e.b.events[e.id]
		switch {
		case key < n && p.instrs[key].code == opOpen:
			e.Arg("Record function id", 0).Arg("Ev Idx", idx)
			idx++
		case key < n:
			e.Arg("cbid", cbids[ev.name])
		case ev.cat == "kernel":
			e.Arg("queued", 0).Arg("registers per thread", 64).Arg("shared memory", 49152).Arg("blocks per SM", 8).
				Arg("warps per SM", 32).Arg("grid", Raw("[1056, 1, 1]")).Arg("block", Raw("[256, 1, 1]")).Arg("est. achieved occupancy %", 50)
		default:
			bytes := 4
			if ev.dur > 10_000 {
				bytes = 1_572_864
			}
			e.Arg("bytes", bytes).Arg("memory bandwidth (GB/s)", Raw(itoa(int64(bytes)/max(1, ev.dur))))
		}
		list := d.args[key]
		if key >= n {
			list = d.args[-1-(key-n)]
		}
		for _, a := range list {
			e.Arg(a.key, a.value)
		}
		// The launch flow follows the event at once.
		switch {
		case key >= n:
			e.b.add(event{ph: 'f', cat: "ac2g", name: "ac2g", pid: ev.pid, tid: ev.tid, start: ev.start, flow: int64(id) + 1, flags: hasFlow | bindEnd})
		case p.instrs[key].code == opLaunch:
			e.b.add(event{ph: 's', cat: "ac2g", name: "ac2g", pid: ev.pid, tid: ev.tid, start: ev.start, flow: int64(id) + 1, flags: hasFlow})
		}
	})
	d.shadows(b, r)
	b.Rank, b.World, b.BaseTime = 0, 8, 1_742_342_400_000_000_000
	b.Extra = `"cupti_version": 24, "cuda_runtime_version": 12060, "cuda_driver_version": 12060, "trace_id": "0F3A5C1E7B9D4E2F8A6C0B1D2E3F4A5B"`
	start, end := int64(1<<62), int64(0)
	for i := range b.events {
		e := &b.events[i]
		start, end = min(start, e.start), max(end, e.start+e.dur)
		e.start += 4_812_003_517_000 // some hours into the base interval
	}
	b.Element(string(traceSpan(start+4_812_003_417_000, end+4_812_003_717_000)))
	return b.JSON()
}

func traceSpan(from, to int64) []byte {
	var b Builder
	buf := []byte(`    {"ph": "X", "cat": "Trace", "ts": `)
	buf = b.appendTime(buf, from)
	buf = append(buf, `, "dur": `...)
	buf = b.appendTime(buf, to-from)
	return append(buf, `, "pid": "Spans", "tid": "PyTorch Profiler", "name": "PyTorch Profiler (0)", "args": {"Op count": 0}}`...)
}

// externalIDs gives every slice, call and launch the id of the innermost op around it.
func (d *demo) externalIDs() []int {
	p := d.p
	ext := make([]int, len(p.instrs))
	n := 0
	for i := range p.Threads {
		var open []int32
		inner := func() int {
			for k := len(open) - 1; k >= 0; k-- {
				if p.instrs[open[k]].kind == kindOp {
					return ext[open[k]]
				}
			}
			return 0
		}
		for _, id := range p.Threads[i].code {
			switch p.instrs[id].code {
			case opOpen:
				n++
				ext[id] = n
				open = append(open, id)
			case opClose:
				open = open[:len(open)-1]
			default:
				ext[id] = inner()
			}
		}
	}
	return ext
}

// shadows projects annotations on the streams that they launched on.
func (d *demo) shadows(b *Builder, r *Run) {
	p := d.p
	first, last := map[[2]int32]int64{}, map[[2]int32]int64{}
	var order [][2]int32
	for i := range p.Threads {
		var open []int32
		for _, id := range p.Threads[i].code {
			in := &p.instrs[id]
			switch in.code {
			case opOpen:
				open = append(open, id)
			case opClose:
				open = open[:len(open)-1]
			case opLaunch:
				for k := len(open) - 1; k >= 0; k-- {
					if p.instrs[open[k]].kind != kindAnnotation {
						continue
					}
					key := [2]int32{open[k], in.stream}
					s := r.slice[p.opKey(in.first)]
					if _, ok := first[key]; !ok {
						first[key] = s.start
						order = append(order, key)
					}
					last[key] = s.end
					break
				}
			}
		}
	}
	for _, key := range order {
		s := &Stream{b, 0, p.Streams[key[1]]}
		s.GPUAnnotation(p.instrs[key[0]].name, first[key]-1, last[key]-first[key]+2)
	}
}

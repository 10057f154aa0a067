package kineto

import (
	"strings"
	"testing"

	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

func TestAscend(t *testing.T) {
	// pids: 5<<10, 6<<10|1<<5, 7<<10|2<<5|3, the device in the low bits
	tr, err := Parse([]byte(`[
{"ph":"M","name":"process_name","pid":5120,"tid":0,"args":{"name":"Python"}},
{"ph":"M","name":"process_name","pid":6176,"tid":0,"args":{"name":"CANN"}},
{"ph":"M","name":"process_name","pid":7235,"tid":0,"args":{"name":"Ascend Hardware"}},
{"ph":"X","name":"aten::matmul","pid":5120,"tid":100,"ts":"1700000000000010.250\t","dur":30.5,"cat":"cpu_op","args":{"Sequence number":4}},
{"ph":"X","name":"AscendCL@aclnnMatmul","pid":6176,"tid":100,"ts":"1700000000000012.000\t","dur":5},
{"ph":"s","bp":"e","name":"torch_to_npu","id":77,"pid":5120,"tid":100,"ts":"1700000000000011.000\t","cat":"async_npu"},
{"ph":"f","bp":"e","name":"torch_to_npu","id":77,"pid":7235,"tid":9,"ts":"1700000000000060.500\t","cat":"async_npu"},
{"ph":"X","name":"MatMulV2","pid":7235,"tid":9,"ts":"1700000000000060.500\t","dur":12.125,"args":{"Task Type":"AI_CORE"}}
]`), "trace_view.json", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tracecheck.Check(tr); err != nil {
		t.Fatal(err)
	}
	k := &tr.Events[7]
	x := &tr.Tracks[k.Track]
	if k.Kind != trace.Kernel || k.Start != 1700000000000060500 || x.Class != trace.DeviceStream || x.Stream != 9 || tr.Procs[x.Proc].Device != 3 {
		t.Errorf("kernel %+v on %+v of %+v", *k, *x, tr.Procs[x.Proc])
	}
	if tr.Launch(7) != 3 {
		t.Errorf("launched by %d", tr.Launch(7))
	}
	if tr.Events[4].Kind != trace.Runtime || tr.Events[3].Kind != trace.CPUOp {
		t.Errorf("kinds %v %v", tr.Events[4].Kind, tr.Events[3].Kind)
	}
}

func TestBeforeKineto(t *testing.T) {
	tr, err := Parse([]byte(`[
{"name":"mul","ph":"X","ts":10.5,"dur":4.25,"tid":1,"pid":"CPU functions","args":{}},
{"name":"mul","ph":"s","ts":10.5,"tid":1,"pid":"CPU functions","id":3,"cat":"cpu_to_cuda","args":{}},
{"name":"mul","ph":"f","ts":20.75,"tid":0,"pid":"CUDA functions","id":3,"cat":"cpu_to_cuda","args":{}},
{"name":"mul","ph":"X","ts":20.75,"dur":2,"tid":0,"pid":"CUDA functions","args":{}},
]`), "old.json", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tracecheck.Check(tr); err != nil {
		t.Fatal(err)
	}
	if tr.Events[0].Kind != trace.CPUOp || tr.Events[3].Kind != trace.Kernel || tr.Launch(3) != 0 {
		t.Errorf("kinds %v %v, launched by %d", tr.Events[0].Kind, tr.Events[3].Kind, tr.Launch(3))
	}
	if s := Inspect(tr); s.Generation != "K0: the autograd profiler before Kineto, and of builds without it" {
		t.Error(s.Generation)
	}
}

// TestWithoutKineto: what torch.profiler of a build without Kineto writes on a machine without a GPU has whole µs from the start of the
// recording, numbers of threads by their first appearance, and neither categories nor flows.
func TestWithoutKineto(t *testing.T) {
	tr, err := Parse([]byte(`[{"name": "ProfilerStep#1", "ph": "X", "ts": 234, "dur": 394, "tid": 1, "pid": "CPU functions", "args": {}}, `+
		`{"name": "aten::linear", "ph": "X", "ts": 270, "dur": 40, "tid": 1, "pid": "CPU functions", "args": {}}, `+
		`{"name": "AddmmBackward0", "ph": "X", "ts": 400, "dur": 50, "tid": 2, "pid": "CPU functions", "args": {}}]`), "old.json", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Events[1].Kind != trace.CPUOp || tr.Events[1].Start != 270_000 || tr.Tracks[tr.Events[2].Track].Class != trace.HostThread {
		t.Errorf("%+v on %+v", tr.Events[1], tr.Tracks[tr.Events[2].Track])
	}
	s := Inspect(tr)
	if !strings.HasPrefix(s.Generation, "K0: ") || s.Steps != 1 || s.Threads != 2 || len(s.Repairs) != 0 {
		t.Errorf("%+v", s)
	}
}

// TestXLA: what JAX writes has no categories. Kernels lie on the rows of streams; the other rows of the device repeat them.
func TestXLA(t *testing.T) {
	tr, err := Parse([]byte(`{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:1"}},
{"ph":"M","pid":2,"name":"process_name","args":{"name":"/device:GPU:0"}},
{"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},
{"ph":"M","pid":1,"tid":13,"name":"thread_name","args":{"name":"Stream #13(Compute)"}},
{"ph":"M","pid":1,"tid":99,"name":"thread_name","args":{"name":"XLA Ops"}},
{"ph":"M","pid":701,"tid":5,"name":"thread_name","args":{"name":"python"}},
{"ph":"X","pid":701,"tid":5,"ts":10,"dur":30,"name":"PjitFunction(f)"},
{"ph":"X","pid":701,"tid":5,"ts":12,"dur":4,"name":"cuLaunchKernel","args":{"correlation_id":"77"}},
{"ph":"X","pid":1,"tid":13,"ts":20,"dur":9.5,"name":"fusion_3","args":{"correlation_id":"77","hlo_op":"fusion.3"}},
{"ph":"X","pid":1,"tid":99,"ts":20,"dur":9.5,"name":"fusion.3","args":{"hlo_op":"fusion.3"}},
{"ph":"X","pid":1,"tid":13,"ts":32,"dur":2,"name":"MemcpyD2H","args":{"correlation_id":"78"}},
{"ph":"X","pid":701,"tid":5,"ts":17,"dur":18,"name":"cuEventSynchronize"},
{}
]}`), "perfetto_trace.json.gz", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tracecheck.Check(tr); err != nil {
		t.Fatal(err)
	}
	want := []trace.Kind{6: trace.CPUOp, 7: trace.Runtime, 8: trace.Kernel, 9: trace.DeviceOther, 10: trace.Memcpy, 11: trace.Runtime}
	for i, k := range want {
		if tr.Events[i].Kind != k {
			t.Errorf("event %d is %v, want %v", i, tr.Events[i].Kind, k)
		}
	}
	if tr.Launch(8) != 7 || tr.Tracks[tr.Events[8].Track].Stream != 13 || tr.Procs[tr.Tracks[tr.Events[8].Track].Proc].Device != 1 {
		t.Errorf("launched by %d on %+v", tr.Launch(8), tr.Tracks[tr.Events[8].Track])
	}
	for _, r := range tr.Repairs {
		if r.Reason == RepairNumberString {
			t.Errorf("%+v", r)
		}
	}
}

// TestXLAOnCPU: of a program on the CPU there is no device, and its threads have work and steps all the same.
func TestXLAOnCPU(t *testing.T) {
	tr, err := Parse([]byte(`{"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},
{"ph":"X","pid":701,"tid":5,"ts":0,"dur":30,"name":"train","args":{"step_num":"1"}},
{"ph":"X","pid":701,"tid":6,"ts":5,"dur":20,"name":"TfrtCpuExecutable::Execute"}
]}`), "h.trace.json.gz", Options{})
	if err != nil || tr.Events[1].Kind != trace.Annotation || tr.Events[2].Kind != trace.CPUOp || tr.Tracks[tr.Events[2].Track].Class != trace.HostThread || tr.Recorder != vendors.XLA {
		t.Errorf("%v, %+v", err, tr)
	}
}

// TestTPU: the operations of a TPU lie on one row. What encloses others there is not what ran; the other rows repeat them.
func TestTPU(t *testing.T) {
	tr, err := Parse([]byte(`{"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":3,"name":"process_name","args":{"name":"/device:TPU:2"}},
{"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},
{"ph":"M","pid":3,"tid":1,"name":"thread_name","args":{"name":"Steps"}},
{"ph":"M","pid":3,"tid":2,"name":"thread_name","args":{"name":"XLA Modules"}},
{"ph":"M","pid":3,"tid":3,"name":"thread_name","args":{"name":"XLA Ops"}},
{"ph":"M","pid":3,"tid":4,"name":"thread_name","args":{"name":"Async XLA Ops"}},
{"ph":"X","pid":701,"tid":5,"ts":0,"dur":30,"name":"PjitFunction(step)"},
{"ph":"X","pid":701,"tid":5,"ts":32,"dur":210,"name":"$train.py:12 step"},
{"ph":"X","pid":701,"tid":5,"ts":33,"dur":208,"name":"train","args":{"step_num":"7"}},
{"ph":"X","pid":701,"tid":5,"ts":40,"dur":200,"name":"$array.py:650 block_until_ready"},
{"ph":"X","pid":3,"tid":1,"ts":10,"dur":200,"name":"0"},
{"ph":"X","pid":3,"tid":2,"ts":10,"dur":200,"name":"jit_step(123)"},
{"ph":"X","pid":3,"tid":3,"ts":10,"dur":50,"name":"fusion.1"},
{"ph":"X","pid":3,"tid":3,"ts":60,"dur":100,"name":"while.2"},
{"ph":"X","pid":3,"tid":3,"ts":61,"dur":40,"name":"fusion.3"},
{"ph":"X","pid":3,"tid":3,"ts":105,"dur":55,"name":"all-reduce.4"},
{"ph":"X","pid":3,"tid":3,"ts":160,"dur":50,"name":"copy.5"},
{"ph":"X","pid":3,"tid":4,"ts":70,"dur":60,"name":"copy-start.6"}
]}`), "tpu.trace.json.gz", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tracecheck.Check(tr); err != nil {
		t.Fatal(err)
	}
	want := []trace.Kind{6: trace.CPUOp, 7: trace.Python, 8: trace.Annotation, 9: trace.Runtime, 10: trace.DeviceOther, 11: trace.DeviceOther, 12: trace.Kernel,
		13: trace.DeviceOther, 14: trace.Kernel, 15: trace.Kernel, 16: trace.Kernel, 17: trace.DeviceOther}
	for i, k := range want {
		if tr.Events[i].Kind != k {
			t.Errorf("%s is %v, want %v", tr.Name(trace.EventID(i)), tr.Events[i].Kind, k)
		}
	}
	for id, names := range map[trace.EventID][2]string{6: {"PjitFunction(step)", "PjitFunction(step)"}, 7: {"train.py(12): step", "$train.py:12 step"},
		8: {"ProfilerStep#7", "train"}, 9: {"array.py(650): block_until_ready", "$array.py:650 block_until_ready"}} {
		if got := [2]string{tr.Name(id), tr.WrittenName(id)}; got != names {
			t.Errorf("name and written name %q, want %q", got, names)
		}
	}
	if x := &tr.Tracks[tr.Events[12].Track]; x.Class != trace.DeviceStream || tr.Procs[x.Proc].Device != 2 {
		t.Errorf("row %+v", *x)
	}
	s := Inspect(tr)
	if s.Generation != "not by Kineto: XLA's profiler (JAX, TensorFlow)" {
		t.Errorf("generation %q", s.Generation)
	}
	for _, o := range s.Oddities {
		if strings.Contains(o.What, "overlap") || strings.Contains(o.Means, "profiler.step") {
			t.Errorf("odd: %+v", o)
		}
	}
}

// TestOldRocprof: what rocprof wrote before its third version has texts for numbers and µs without fractions. A flow leads from the end of a call
// to the start of what it launched, and has a step (t) there and no end.
func TestOldRocprof(t *testing.T) {
	tr, err := Parse([]byte(`{ "traceEvents":[{}
,{"args":{"name":"Markers and Ranges"},"ph":"M","pid":0,"name":"process_name"}
,{"args":{"name":"CPU HIP API"},"ph":"M","pid":2,"name":"process_name"}
,{"args":{"name":"CPU HSA API"},"ph":"M","pid":3,"name":"process_name"}
,{"args":{"name":"COPY"},"ph":"M","pid":1,"name":"process_name"}
,{"args":{"name":"GPU0"},"ph":"M","pid":6,"name":"process_name"}
,{"args":{"name":"GPU1"},"ph":"M","pid":7,"name":"process_name"}
,{"ph":"X","name":"step 1","ts":"900","dur":"80","pid":"0","tid":"77","args":{"BeginNs":"900100","EndNs":"980100"}}
,{"ph":"X","name":"hipLaunchKernel","pid":"2","tid":"77","ts":"910","dur":"8","args":{"BeginNs":"910100","EndNs":"918300","Index":"0"}}
,{"ph":"X","name":"hsa_queue_create","pid":"3","tid":"77","ts":"911","dur":"3","args":{"BeginNs":"911100"}}
,{"ph":"X","name":"gemm","pid":"7","tid":"1","ts":"925","dur":"10","args":{"BeginNs":"925000","Index":"0"}}
,{"ph":"X","name":"CopyHostToDevice","pid":"1","tid":"0","ts":"940","dur":"5","args":{"BeginNs":"940000","Index":"1"}}
,{"ts":918,"ph":"s","cat":"DataFlow","id":0,"pid":2,"tid":77,"name":"dep"}
,{"ts":925,"ph":"t","cat":"DataFlow","id":0,"pid":7,"tid":1,"name":"dep"}
]}`), "results.json", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tracecheck.Check(tr); err != nil {
		t.Fatal(err)
	}
	for i, k := range map[trace.EventID]trace.Kind{7: trace.Annotation, 8: trace.Runtime, 9: trace.KindOther, 10: trace.Kernel, 11: trace.Memcpy} {
		if tr.Events[i].Kind != k {
			t.Errorf("%s is %v, want %v", tr.Name(i), tr.Events[i].Kind, k)
		}
	}
	row := &tr.Tracks[tr.Events[10].Track]
	if tr.Launch(10) != 8 || tr.Launch(11) != trace.NoEvent || row.Stream != 1 || tr.Procs[row.Proc].Device != 1 || tr.Recorder != vendors.Rocprof {
		t.Errorf("launched by %d on %+v of %+v, recorded by %d", tr.Launch(10), *row, tr.Procs[row.Proc], tr.Recorder)
	}
	if s := Inspect(tr); s.Generation != "not by Kineto: rocprof (ROCm)" {
		t.Errorf("generation %q", s.Generation)
	}
}

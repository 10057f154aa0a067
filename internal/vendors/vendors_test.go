package vendors_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/analyses"
	"overlay/internal/anonymize"
	"overlay/internal/testtrace"

	"overlay/internal/kineto"
	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// acme is a small trace of the vendor that export_test.go makes up: a collective that its stream is waited for, another
// one without a launch, a launch without an operation, and a thread that watches.
const acme = `{"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","cat":"acme_calls","name":"acmeFire","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"acme_work","name":"accl_v2_Swap_f32","pid":0,"tid":7,"ts":20,"dur":50,"args":{"correlation":1,"device":0,"stream":7}},
{"ph":"X","cat":"acme_calls","name":"acmeJoin_x2","pid":1,"tid":1,"ts":30,"dur":45,"args":{"correlation":2}},
{"ph":"X","cat":"user_annotation","name":"accl:swap","pid":1,"tid":1,"ts":77,"dur":2},
{"ph":"X","cat":"acme_work","name":"secret_accl_v2","pid":0,"tid":7,"ts":80,"dur":6,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"acme_calls","name":"acmeFire","pid":1,"tid":1,"ts":90,"dur":2,"args":{"correlation":3}},
{"ph":"X","cat":"cpu_op","name":"aten::item","pid":1,"tid":3,"ts":2,"dur":3},
{"ph":"X","cat":"acme_wait","name":"Wait","pid":0,"tid":7,"ts":40,"dur":1},
{"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"WAFER 0"}},
{"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"Acme Bus"}},
{"ph":"M","name":"thread_name","pid":1,"tid":3,"args":{"name":"pt_accl_watchdg"}}
]}`

// TestOneEntryIsEnough: everything that looks at names knows a vendor as soon as the table does, and takes nothing for it
// that only resembles it.
func TestOneEntryIsEnough(t *testing.T) {
	want := `hints [Acme Wafer ACCL synchronisation events]
cpu_op Forward aten::mm
runtime Forward acmeFire
kernel Forward accl_v2_Swap_f32
runtime Forward acmeJoin_x2
annotation Communication accl:swap
kernel Communication kernel_x#_accl
runtime Forward acmeFire
cpu_op Communication aten::item
sync_record Other Wait
processes WAFER 0
rows Acme Bus pt_accl_watchdg
path cpu launch_delay comm sync cpu cpu cpu runtime cpu
blocking acmeJoin_x2 1
odd 1 operations without a recorded launch
odd 1 kernel launches without a recorded kernel
`
	if got := told(t, acme); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	unknown := `hints []
cpu_op Forward aten::mm
annotation Other annotation_#
cpu_op Forward aten::item
processes process
rows row_# row_#
path cpu host_unrecorded cpu
`
	if got := told(t, strings.NewReplacer("acme", "zork", "Acme", "Zork", "accl", "zkkl", "WAFER", "PLATE").Replace(acme)); got != unknown {
		t.Errorf("of a stranger: got\n%swant\n%s", got, unknown)
	}
}

// told is what the program makes of a trace, names as anonymising leaves them.
func told(t *testing.T, text string) string {
	t.Helper()
	tr := testtrace.Parse(t, []byte(text))
	if err := tracecheck.Check(tr); err != nil {
		t.Fatal(err)
	}
	g, p := testtrace.Exact(t, tr)
	anonymous, _, err := anonymize.Graph(g, p)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	survey := kineto.Inspect(tr)
	fmt.Fprintln(&b, "hints", survey.Hints)
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Ph == 'X' && e.Kind != trace.KindOther {
			fmt.Fprintln(&b, e.Kind, g.Phases[i], anonymous.Trace.Name(trace.EventID(i)))
		}
	}
	fmt.Fprint(&b, "processes")
	for i := range anonymous.Trace.Procs {
		if name := anonymous.Trace.Procs[i].Name; name != "" {
			fmt.Fprint(&b, " ", name)
		}
	}
	fmt.Fprint(&b, "\nrows")
	for _, name := range rowNames(anonymous.Trace) {
		fmt.Fprint(&b, " ", name)
	}
	fmt.Fprint(&b, "\npath")
	for _, s := range p.Segments.List() {
		fmt.Fprint(&b, " ", s.Kind)
	}
	fmt.Fprintln(&b)
	for _, c := range analyses.Run(g, p, []string{"blocking"}, analyses.Options{}).Blocking {
		fmt.Fprintln(&b, "blocking", c.Call, c.Count)
	}
	for _, o := range survey.Oddities {
		if strings.Contains(o.What, "recorded") {
			fmt.Fprintln(&b, "odd", o.Count, o.What)
		}
	}
	return regexp.MustCompile(`[0-9a-f]{10}`).ReplaceAllString(b.String(), "#")
}

func rowNames(tr *trace.Trace) (list []string) {
	for i := range tr.Tracks {
		if name := tr.Tracks[i].Name; name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// TestProcessesOfAnEntry: where categories say nothing, processes do, and one of them may need another.
func TestProcessesOfAnEntry(t *testing.T) {
	const board = `[
{"ph":"M","name":"process_name","pid":40,"tid":0,"args":{"name":"Acme Host"}},
{"ph":"X","name":"push","pid":40,"tid":1,"ts":1,"dur":5},
{"ph":"s","name":"go","id":4,"pid":40,"tid":1,"ts":2,"cat":"acme_arrow"},
{"ph":"f","name":"go","id":4,"pid":45,"tid":2,"ts":9,"cat":"acme_arrow"},
{"ph":"X","name":"pulled","pid":45,"tid":2,"ts":9,"dur":5},
{"ph":"M","name":"process_name","pid":45,"tid":0,"args":{"name":"Acme Board"}}]`
	parse := func(text string) *trace.Trace {
		tr := testtrace.Parse(t, []byte(text))
		return tr
	}
	tr := parse(board)
	device := tr.Procs[tr.Tracks[tr.Events[4].Track].Proc]
	if tr.Events[1].Kind != trace.CPUOp || tr.Events[4].Kind != trace.Kernel || tr.Launch(4) != 1 || !device.IsDevice || device.Device != 5 {
		t.Errorf("kinds %v and %v, launched by %d, on %+v", tr.Events[1].Kind, tr.Events[4].Kind, tr.Launch(4), device)
	}
	tr = parse(strings.Replace(board, "Acme Board", "Board", 1))
	if tr.Events[1].Kind != trace.KindOther || tr.Events[4].Kind != trace.KindOther || tr.LaunchByFlow {
		t.Errorf("without the board: kinds %v and %v", tr.Events[1].Kind, tr.Events[4].Kind)
	}
}

// TestNamesOfAnEntry: what a short name of a kernel is made by holds what the made-up entry says, too.
func TestNamesOfAnEntry(t *testing.T) {
	if !slices.Contains(vendors.Namespaces(), "acme::detail::") || !slices.Contains(vendors.Functors(), `\w+AcmeWork`) {
		t.Errorf("namespaces %q, functors %q", vendors.Namespaces(), vendors.Functors())
	}
	if !slices.ContainsFunc(vendors.Libraries(), func(l vendors.Library) bool { return l.Name == "ACCL" && l.Kernel == "accl_v[0-9]+_" }) {
		t.Errorf("libraries %+v", vendors.Libraries())
	}
}

// TestVerbs: what calls do, by their names.
func TestVerbs(t *testing.T) {
	for name, want := range map[string]vendors.Verb{
		"cudaStreamSynchronize_ptsz": vendors.StreamSync, "aclrtSynchronizeStream": vendors.StreamSync, "aclrtSynchronizeDevice": vendors.DeviceSync, "aclrtRecordEvent": vendors.EventRecord, "synchronizeStream": vendors.StreamSync,
		"cuCtxSynchronize": vendors.DeviceSync, "hipDeviceSynchronize": vendors.DeviceSync, "hipEventSynchronize": vendors.EventSync,
		"cudaStreamWaitEvent": vendors.StreamWait, "hipEventRecord": vendors.EventRecord, "cudaGraphLaunch": vendors.GraphLaunch,
		"cuMemcpyDtoHAsync_v2": vendors.AsyncCopy, "hipMemcpyWithStream": vendors.BlockingCopy, "cudaFree": vendors.Free, "cudaFreeArray": vendors.NoVerb,
		"hipHostFree": vendors.Free, "cuMemFree_v2": vendors.Free, "cudaMemsetAsync": vendors.Memset, "hipExtModuleLaunchKernel": vendors.KernelLaunch,
		"cudaLaunchCooperativeKernelMultiDevice": vendors.OtherLaunch, "urEnqueueKernelLaunch": vendors.OtherLaunch, "cudaEventQuery": vendors.EventQuery,
		"cudaMalloc": vendors.Allocate, "hipMallocAsync": vendors.Allocate, "cuMemMap": vendors.Allocate, "": vendors.NoVerb,
		"urQueueFinish": vendors.StreamSync, "piEventsWait": vendors.EventSync, "zeEventHostSynchronize": vendors.EventSync, "urEnqueueUSMFill": vendors.Memset,
		"piQueueFinish": vendors.StreamSync, "zeCommandQueueSynchronize": vendors.StreamSync, "zeCommandListHostSynchronize": vendors.StreamSync, "urEventWait": vendors.EventSync,
		"zeFenceHostSynchronize": vendors.EventSync, "urEnqueueMemBufferFill": vendors.Memset, "zeCommandListAppendMemoryFill": vendors.Memset, "zeCommandListAppendMemoryCopy": vendors.AsyncCopy,
		"cnQueueSync": vendors.StreamSync, "cnCtxSync": vendors.DeviceSync, "cnrtWaitNotifier": vendors.EventSync, "cnWaitNotifier": vendors.EventSync,
		"musaStreamSynchronize": vendors.StreamSync, "cnInvokeKernelEx": vendors.KernelLaunch, "cnrtQueueSync": vendors.StreamSync, "cnrtSyncDevice": vendors.DeviceSync,
		"cnQueueWaitNotifierWithFlags": vendors.StreamWait, "cnPlaceNotifier": vendors.EventRecord, "cnTaskTopoEntityInvoke": vendors.GraphLaunch,
		"cnMemcpyHtoDAsync_V2": vendors.AsyncCopy, "cnrtMemcpy": vendors.BlockingCopy, "cnnlMatMul_v2": vendors.NoVerb,
		"acmeJoin_x2": vendors.StreamSync, "acmeJoinLater": vendors.NoVerb, "LaterOf_acmeCarry": vendors.AsyncCopy,
	} {
		if got := vendors.VerbOf(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// TestCollectives: kernels that communicate, of every library.
func TestCollectives(t *testing.T) {
	for name, want := range map[string]bool{
		"ncclDevKernel_AllReduce_Sum_bf16_RING_LL": true, "rcclGenericKernel": true, "hccl_broadcast": true, "oneccl_reduce_kernel": true,
		"void vllm::cross_device_reduce_2stage": false, "allgather_kernel": true, "multimem_one_shot": true, "accl_v2": true, "gemm": false, "gloo": false,
	} {
		if got := vendors.IsCollective(name); got != want || (vendors.CollectiveIn(name) != "") != want {
			t.Errorf("%s: %v, %q", name, got, vendors.CollectiveIn(name))
		}
	}
	if got := strings.Join(vendors.Backends(), " "); got != "accl hccl xccl rccl nccl mccl cncl gloo mpi ucc" {
		t.Error(got)
	}
}

// TestHintsSayWhatNamesSaid: what a name says of its call survives in the hint, so that an anonymous trace is analysed
// like the trace itself.
func TestHintsSayWhatNamesSaid(t *testing.T) {
	for _, name := range []string{"fooStreamSynchronize", "fooCtxSynchronize", "foo_synchronizeStream", "fooStreamWaitEvent", "fooMemcpyAsync", "fooMemcpy",
		"fooGraphLaunch", "fooMemset2D", "fooLaunchKernel", "fooLaunch", "fooEventQuery", "fooMalloc", "Later_acmeCarry"} {
		if hint := vendors.HintOf(name); vendors.VerbOf("call_0123456789"+hint) != vendors.VerbOf(name) {
			t.Errorf("%s: hint %q", name, hint)
		}
	}
}

// TestCategoriesHaveOneKind: no two entries mean different things by one category, and all are in lower case.
func TestCategoriesHaveOneKind(t *testing.T) {
	vendors.EachCategory(func(category string, kind trace.Kind) {
		if vendors.KindOf(category) != kind || strings.ToLower(category) != category {
			t.Errorf("%s is %v and %v", category, kind, vendors.KindOf(category))
		}
	})
	for category, kind := range map[string]trace.Kind{"Operator": trace.CPUOp, "nobody's": trace.KindOther, "musa_runtime": trace.Runtime, "mlu_memcpy": trace.Memcpy,
		"GCU_USER_ANNOTATION": trace.GPUAnnotation, "gcu_driver": trace.Driver, "gpu_memset": trace.Memset, "user_annotation": trace.Annotation,
		"mlu_notifier": trace.KindOther, "my_kernel": trace.KindOther} {
		if got := vendors.KindOf(category); got != kind {
			t.Errorf("%s is %v, want %v", category, got, kind)
		}
	}
}

// TestNames: what calls, threads and annotations are by their names alone.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"cudaLaunchKernel": "api cuda cuda_runtime", "cuLaunchKernel": "api cuda cuda_driver", "hipLaunchKernel": "api hip cuda_runtime", "cuZ": "api cuda cuda_driver", "cuA": "api cuda cuda_driver",
		"cu": "cuda_runtime", "cuda": "cuda_runtime", "cudaa": "cuda_runtime", "cublasGemm": "cuda_runtime", "hipster": "cuda_runtime", "hip": "cuda_runtime", "cu[": "cuda_runtime", "": "cuda_runtime",
	} {
		var got []string
		for word, is := range map[string]bool{"api": vendors.IsAPI(name), "cuda": vendors.IsCUDA(name), "hip": vendors.IsHIP(name)} {
			if is {
				got = append(got, word)
			}
		}
		slices.Sort(got)
		if s := strings.Join(append(got, vendors.CallCategory(name)), " "); s != want {
			t.Errorf("%q: %s, want %s", name, s, want)
		}
	}
	for name, want := range map[string]string{"nccl:all_reduce": "nccl all_reduce true", "gloo:broadcast": "gloo broadcast true", "aten:mm": "aten mm false", "nccl": "nccl  false"} {
		if backend, collective, ok := vendors.BackendCall(name); fmt.Sprint(backend, " ", collective, " ", ok) != want {
			t.Errorf("%q: %s %s %v, want %s", name, backend, collective, ok, want)
		}
	}
	for call, want := range map[string]int{"cudaLaunchKernel": 4, "hipLaunchKernel": 5, "hipModuleLoad": 5, "aten::mm": 0} {
		if got := vendors.Interface(call); got != want {
			t.Errorf("%s has the interface %d, want %d", call, got, want)
		}
	}
	if vendors.KindsByName("mtia_ccp_events") == nil || vendors.KindsByName("kernel") != nil {
		t.Error("names tell kinds in another category than that of MTIA")
	}
	launches, blocks := "", ""
	for v := vendors.NoVerb; v < vendors.NumVerbs; v++ {
		if v.Launches() {
			launches += fmt.Sprint(" ", int(v))
		}
		if v.Blocks() {
			blocks += fmt.Sprint(" ", int(v))
		}
	}
	if launches != " 7 8 9 10 12 13 14" || blocks != " 1 2 3 4" {
		t.Errorf("verbs%s launch, verbs%s block", launches, blocks)
	}
}

// TestCollectiveSpellings: the search for words says what the pattern says.
func TestCollectiveSpellings(t *testing.T) {
	piece := rapid.SampledFrom([]string{"all", "ALL", "_", "__", "reduce", "Reduce", "gather", "scatter", "to", "To", "send", "recv", "multimem", "n", "one", "cCl", "ccl", "r", "h", "Kernel", "<float>", "\xff", "é"})
	rapid.Check(t, func(t *rapid.T) {
		name := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "")
		if got, want := vendors.IsCollective(name), vendors.CollectiveIn(name) != ""; got != want {
			t.Fatalf("%q: %v, and the pattern says %v", name, got, want)
		}
	})
}

// TestSeenLibrary: a library that has the names of another one's kernels is named where its vendor is there.
func TestSeenLibrary(t *testing.T) {
	none := func(string) bool { return false }
	for _, c := range []struct{ names, want []string }{
		{[]string{"cudaLaunchKernel", "ncclDevKernel_Generic"}, []string{"NVIDIA CUDA", "NCCL"}},
		{[]string{"hipLaunchKernel", "ncclDevKernel_Generic"}, []string{"AMD ROCm", "RCCL"}},
		{[]string{"hipLaunchKernel", "cudaLaunchKernel", "ncclDevKernel_Generic"}, []string{"AMD ROCm", "NVIDIA CUDA", "NCCL"}},
		{[]string{"ncclDevKernel_Generic"}, []string{"NCCL"}},
	} {
		if got := vendors.Seen(none, c.names); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
}

// TestCanRecordWaits: nobody is told to switch on records that the profiler of the device does not have.
func TestCanRecordWaits(t *testing.T) {
	for _, c := range []struct {
		syms []string
		want bool
	}{
		{[]string{"cuda_runtime", "cudaLaunchKernel"}, true},
		{[]string{"cuda_runtime", "hipLaunchKernel"}, false},
		{[]string{"mtia_runtime"}, false},
		{[]string{"mtia_runtime", "cudaLaunchKernel"}, true},
		{[]string{"kernel", "gemm"}, true}, // nobody knows whose
	} {
		if got := vendors.CanRecordWaits(c.syms); got != c.want {
			t.Errorf("%q: %v", c.syms, got)
		}
	}
}

// TestOperations: what a communication kernel does, by its name or by what PyTorch recorded, and the library that it is of.
func TestOperations(t *testing.T) {
	for name, want := range map[string][2]string{
		"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)": {"allreduce", "NCCL"},
		"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)":                    {"", "NCCL"},
		"mscclKernel_Sum_rccl_bfloat16_LL_false(mscclWork*)":                         {"", "RCCL"},
		"hcom_reduceScatter__310":                                                    {"reducescatter", "HCCL"}, "oneccl_reduce_kernel": {"reduce", "oneCCL"}, "accl_v2": {"", "ACCL"}, "all-gather.3": {"", ""},
	} {
		if got := [2]string{vendors.OperationIn(name), vendors.LibraryOf(name)}; got != want || !vendors.IsCollective(name) {
			t.Errorf("%s: %q, want %q; a collective: %v", name, got, want, vendors.IsCollective(name))
		}
	}
	for _, name := range []string{"gemm", "multimem_all_reduce_kernel"} {
		if got := vendors.LibraryOf(name); got != "" {
			t.Errorf("%s is of %s", name, got)
		}
	}
	for recorded, want := range map[string]string{"allreduce": "AllReduce", "_allgather_base": "AllGather", "reduce_scatter_tensor_coalesced": "ReduceScatter", "all_to_allv": "AllToAll",
		"broadcast": "Broadcast", "reduce": "Reduce", "gather": "Gather", "send": "Send", "sendrecv": "SendRecv", "acme_swap": "acme_swap", "": ""} {
		if got := vendors.OperationWords(recorded); got != want {
			t.Errorf("%s: %s, want %s", recorded, got, want)
		}
	}
	if got := vendors.Renamed([]string{"hipLaunchKernel"})["NCCL"]; got != "RCCL" {
		t.Errorf("on AMD NCCL is %q", got)
	}
	if got := vendors.Renamed([]string{"cudaLaunchKernel", "hipLaunchKernel"})["NCCL"]; got == "RCCL" {
		t.Error("RCCL beside NVIDIA")
	}
}

// A device whose name ROCm left empty is told by what nothing else has.
func TestNamelessDevices(t *testing.T) {
	for _, c := range []struct {
		major, minor, units, bytes int64
		want                       string
	}{
		{9, 4, 304, 206141652992, "AMD Instinct MI300X"}, {9, 4, 304, 274861129728, ""}, {9, 4, 228, 137438953472, ""}, {9, 0, 132, 85045084160, ""}, {},
	} {
		if got := vendors.DeviceOf(c.major, c.minor, c.units, c.bytes); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestHowToRecord: each way of asking is known of the profiler that writes a kind of files.
func TestHowToRecord(t *testing.T) {
	for form, want := range map[vendors.Form]string{{}: "ProfilerActivity", vendors.PerfettoTrace: "ProfilerActivity", vendors.RocprofJSON: "rocprofv3", vendors.RocpdDatabase: "rocprofv3",
		vendors.NsightDatabase: "nsys", vendors.XPlane: "host_tracer_level"} {
		if got := vendors.HowToRecord(form.By, vendors.LacksHost); !strings.Contains(got, want) {
			t.Errorf("%s: %s", form.Name, got)
		}
	}
}

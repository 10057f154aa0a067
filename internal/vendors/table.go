package vendors

import "overlay/internal/trace"

// Names of marks on the rows of streams: the stream waited for another one, and an event was recorded in it.
const (
	DeviceWait   = "event_wait"
	DeviceRecord = "event_record"
)

// OldFlow is the category of flows from operators to kernels in what PyTorch wrote before Kineto.
const OldFlow = "cpu_to_cuda"

// OldHost is the pid of what ran on the CPU in what PyTorch writes without Kineto.
const OldHost = "CPU functions"

// table holds all vendors, and last what they have in common. `overlay check` names those that it finds in this order.
var table = []Vendor{meta, intel, amd, nvidia, ascend, mooreThreads, cambricon, habana, xla, common}

// common is what PyTorch and Kineto write for every device. Runtimes modelled after CUDA's keep the verbs of its calls
// and put a start of their own in front. Categories are those of libkineto/include/ActivityType.h; the first ones of
// all are in the profiler's plugin for TensorBoard.
var common = Vendor{
	Categories: map[trace.Kind][]string{
		trace.CPUOp:      {"cpu_op", "operator", "python", "collective_comm"},
		trace.Annotation: {"user_annotation"},
		trace.Python:     {"python_function"},
		trace.Runtime:    {"runtime"},
		trace.Kernel:     {"kernel"},
		trace.Memcpy:     {"memcpy"},
		trace.Memset:     {"memset"},
		trace.GraphNode:  {"graph_event_node", "graph_host_node"},
		trace.Overhead:   {"overhead"},
		trace.Span:       {"trace", "net"},
	},
	Calls: []Call{
		{Verb: StreamSync, Parts: []string{"StreamSynchronize"}},
		{Verb: DeviceSync, Parts: []string{"DeviceSynchronize"}},
		{Verb: EventSync, Parts: []string{"EventSynchronize"}},
		{Verb: OtherSync, Parts: []string{"Synchronize"}},
		{Verb: StreamWait, Parts: []string{"StreamWaitEvent"}},
		{Verb: EventRecord, Parts: []string{"EventRecord"}},
		{Verb: GraphLaunch, Parts: []string{"GraphLaunch"}},
		{Verb: AsyncCopy, Parts: []string{"Memcpy", "Async"}},
		{Verb: BlockingCopy, Parts: []string{"Memcpy"}},
		{Verb: Memset, Parts: []string{"Memset"}},
		{Verb: KernelLaunch, Parts: []string{"LaunchKernel"}},
		{Verb: OtherLaunch, Parts: []string{"Launch"}},
		{Verb: EventQuery, Parts: []string{"EventQuery"}},
		{Verb: Allocate, Parts: []string{"Malloc"}},
	},
	Libraries: []Library{
		{Kernels: `all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|sendrecv|multimem`},
		{Name: "Gloo", Backend: "gloo"},
		{Name: "MPI", Backend: "mpi"},
		{Name: "UCC", Backend: "ucc"},
	},
	Processes:  []Process{{PID: OldHost, Kind: trace.CPUOp}}, // of the autograd profiler without Kineto (profiler_legacy.cpp)
	Devices:    []string{"GPU", "CPU"},
	Namespaces: []string{"at::native::", "c10::"},
	Functors:   []string{`\w+Functor\b`, `\w+_kernel_impl\b`, `\w+_kernel\b`, `launch_\w+`, `\w+ops?::\w+Ops`},
	Wrappers:   []string{"gpu_kernel_impl", "BinaryFunctor", "AUnaryFunctor", "BUnaryFunctor"},
}

// meta is Meta's accelerator. Its streams have a category of their own, whose names tell work from copies and from what
// the stream waited for.
var meta = Vendor{
	Name:  "MTIA",
	Marks: Marks{Categories: []string{"mtia_runtime", "mtia_ccp_events"}},
	Categories: map[trace.Kind][]string{
		trace.Kernel:      {"mtia_ccp_events"},
		trace.DeviceOther: {"mtia_insight"},
	},
	Named: "mtia_ccp_events",
	Names: map[string]trace.Kind{"dma_request": trace.Memcpy, DeviceWait: trace.DeviceMark, DeviceRecord: trace.DeviceMark},
	Calls: []Call{
		{Verb: StreamSync, Names: []string{"synchronize"}, Parts: []string{"synchronizeStream"}},
		{Verb: Submit, Parts: []string{"runFunction"}},
		{Verb: StreamWait, Names: []string{"enqueueCommand waitOnEvent"}},
		{Verb: EventRecord, Names: []string{"recordEvent"}},
	},
	Libraries: []Library{hccl},
	Devices:   []string{"MTIA"},
	Words:     "mtia",
}

var intel = Vendor{
	Name:  "Intel XPU",
	Marks: Marks{Categories: []string{"xpu_runtime"}},
	Categories: map[trace.Kind][]string{
		trace.DeviceOther: {"xpu_sync"},
	},
	Syncs: []string{"xpu_sync"},
	Calls: []Call{ // of the Unified Runtime, of the Plugin Interface before it, and of Level Zero
		{Verb: StreamSync, Names: []string{"urQueueFinish", "piQueueFinish", "zeCommandQueueSynchronize", "zeCommandListHostSynchronize"}},
		{Verb: EventSync, Names: []string{"urEventWait", "piEventsWait", "zeEventHostSynchronize", "zeFenceHostSynchronize"}},
		{Verb: Memset, Names: []string{"urEnqueueUSMFill", "urEnqueueMemBufferFill", "zeCommandListAppendMemoryFill"}},
		{Verb: AsyncCopy, Names: []string{"zeCommandListAppendMemoryCopy"}},
	},
	Libraries: []Library{{Name: "oneCCL", Kernels: "oneccl", Backend: "xccl"}},
	Devices:   []string{"XPU"},
	Words:     "xpu ur pi ze zes sycl oneccl xccl",
}

// amd uses NVIDIA's categories, and kernels of its library of collectives keep the names of NVIDIA's. The further ones are
// those of its own profilers: rocprofv3 (generatePerfetto.cpp of rocprofiler-sdk), and with rocm_ in front rocprof-sys.
// They record the calls below HIP too, as hsa_api: that is the inside of HIP's calls, and none of the kinds.
var amd = Vendor{
	Name:      "AMD ROCm",
	Marks:     Marks{Categories: []string{"hip_api", "rocm_hip_api"}, Starts: []string{"hipLaunchKernel", "hipModule", "hipExt"}},
	Interface: 5,
	Categories: map[trace.Kind][]string{
		trace.Runtime:    {"hip_api", "rocm_hip_api"},
		trace.Kernel:     {"kernel_dispatch", "rocm_kernel_dispatch"},
		trace.Memcpy:     {"memory_copy", "rocm_memory_copy"},
		trace.Annotation: {"marker_api", "rocm_marker_api"},
		trace.CPUOp:      {"rccl_api", "rocm_rccl_api"},
	},
	Calls: []Call{{Verb: Free, Names: []string{"hipFree", "hipHostFree"}}},
	Processes: []Process{ // rocprof before version 3 (tblextr.py)
		{Name: "CPU HIP API", Kind: trace.Runtime, Writer: "rocprof (ROCm)", By: Rocprof},
		{Name: "COPY", With: "CPU HIP API", Kind: trace.Memcpy, Writer: "rocprof (ROCm)"},
		{Name: "Markers and Ranges", With: "CPU HIP API", Kind: trace.Annotation},
		{Name: "GPU", With: "CPU HIP API", Start: true, Kind: trace.Kernel},
	},
	Libraries: []Library{{Name: "RCCL", Kernels: "rccl|msccl", Backend: "rccl", NamedAs: "NCCL"}},
	Words:     "hip hsa amd roctx rccl",
	Tails:     []string{`_MT(\d+x\d+x\d+)_\w+$`, `_bt(\d+x\d+x\d+)_\w+$`}, // of Tensile and of MIOpen's convolutions: the tile of a group
}

var nvidia = Vendor{
	Name:      "NVIDIA CUDA",
	Marks:     Marks{Starts: []string{"cudaLaunchKernel"}},
	Interface: 4,
	Categories: map[trace.Kind][]string{
		trace.SyncRecord:  {"cuda_sync"},
		trace.EventRecord: {"cuda_event"},
		trace.DeviceOther: {"cuda_profiler_range"},
	},
	Syncs:      []string{"cuda_sync"},
	SyncsAsked: true,
	Calls: []Call{
		{Verb: DeviceSync, Parts: []string{"CtxSynchronize"}},
		{Verb: Free, Names: []string{"cudaFree", "cuMemFree_v2", "cudaFreeHost"}},
		{Verb: Allocate, Names: []string{"cuMemAlloc_v2", "cuMemCreate", "cuMemMap"}},
	},
	Endings: []string{"_ptsz"}, // calls that mean the default stream of their thread
	Libraries: []Library{{Name: "NCCL", Marks: Marks{Starts: []string{"nccl"}}, Kernels: "nccl", Kernel: `nccl(?:Dev)?Kernel_`,
		Backend: "nccl", Threads: "pt_nccl_"}},
	Processes:  []Process{{PID: "CUDA functions", Kind: trace.Kernel}}, // of the autograd profiler before Kineto
	Rows:       []string{"CUPTI Overhead"},
	Flows:      []string{OldFlow},
	Words:      "cu cuda nvtx cupti nccl",
	Namespaces: []string{"at::cuda::", "cub::", "cutlass::", "cudnn::ops::"},
	Functors:   []string{`CUDAFunctor\w*`, `\w+_kernel_cuda`},
	Tails:      []string{`_tilesize(\d+x\d+x\d+)_\w+$`},
}

// ascend writes traces of its own (torch_npu, _trace_view_parser.py): processes take the place of categories.
var ascend = Vendor{
	Name:  "Ascend",
	Marks: Marks{Categories: []string{"cann_api", "ascend_task"}},
	Categories: map[trace.Kind][]string{ // of its database, as package fromsqlite words it
		trace.Runtime:     {"cann_api"},
		trace.DeviceOther: {"ascend_task"},
	},
	Calls: []Call{
		{Verb: StreamSync, Parts: []string{"SynchronizeStream"}},
		{Verb: DeviceSync, Parts: []string{"SynchronizeDevice"}},
		{Verb: EventSync, Parts: []string{"SynchronizeEvent"}},
		{Verb: EventRecord, Parts: []string{"RecordEvent"}},
	},
	Libraries: []Library{hccl},
	Processes: []Process{
		{Name: "Ascend Hardware", Kind: trace.Kernel, DeviceBits: 5, Writer: "Ascend's profiler (torch_npu, msprof)"},
		{Name: "CANN", Kind: trace.Runtime},
		{Name: "Python", With: "Ascend Hardware", Kind: trace.CPUOp},
	},
	Devices: []string{"NPU"},
	Rows:    []string{"Overlap Analysis", "HBM"},
	Flows:   []string{"async_npu", "async_task_queue", "HostToDevice"},
	Words:   "acl aclnn aclrt aclop ascend cann npu hccl",
}

var mooreThreads = Vendor{
	Name:      "Moore Threads MUSA",
	Marks:     Marks{Categories: []string{"musa_runtime"}, Starts: []string{"musaLaunchKernel"}},
	Libraries: []Library{{Name: "MCCL", Kernels: "mccl", Backend: "mccl"}},
	Devices:   []string{"MUSA"},
	Words:     "musa mu mccl",
}

// cambricon's Kineto records calls of the runtime (cnrt), the driver (cn) and, around these, of its library of operators (cnnl)
// (CnpapiActivityApi.cpp of torch_mlu).
var cambricon = Vendor{
	Name:  "Cambricon MLU",
	Marks: Marks{Categories: []string{"mlu_runtime"}, Starts: []string{"cnInvokeKernel"}},
	Calls: []Call{
		{Verb: StreamSync, Names: []string{"cnrtQueueSync", "cnQueueSync"}},
		{Verb: DeviceSync, Names: []string{"cnrtSyncDevice", "cnCtxSync"}},
		{Verb: EventSync, Names: []string{"cnrtWaitNotifier", "cnWaitNotifier"}},
		{Verb: StreamWait, Parts: []string{"QueueWaitNotifier"}},
		{Verb: EventRecord, Parts: []string{"PlaceNotifier"}},
		{Verb: GraphLaunch, Parts: []string{"TaskTopoEntityInvoke"}},
		{Verb: KernelLaunch, Parts: []string{"InvokeKernel"}},
	},
	Libraries: []Library{{Name: "CNCL", Kernels: "cncl", Backend: "cncl"}},
	Devices:   []string{"MLU"},
	Words:     "cn cnrt cnnl cncl mlu",
}

var habana = Vendor{
	Name:       "Intel Gaudi",
	Categories: map[trace.Kind][]string{trace.DeviceOther: {"hpu_op"}},
	Libraries:  []Library{hccl},
	Devices:    []string{"HPU"},
}

// xla is the compiler of JAX and TensorFlow. What its profiler writes as JSON has processes in place of categories
// (tsl/profiler/utils/xplane_schema.cc, xla/backends/profiler/gpu/cupti_collector.cc). Of a GPU the rows of streams hold the
// operations, of a TPU the row "XLA Ops", where loops and calls enclose their bodies. The other rows of a device repeat them, sorted
// by step, module, name scope and source, or hold transfers that run beside them.
var xla = Vendor{
	Calls: []Call{
		{Verb: DeviceSync, Parts: []string{"block_until_ready"}},
		{Verb: DeviceSync, Parts: []string{"BlockUntilReady"}},
		{Verb: DeviceSync, Parts: []string{"BlockHostUntil"}},
		{Verb: DeviceSync, Parts: []string{"SynchronizeAllActivity"}},
	},
	Libraries: []Library{{Kernels: "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"}},
	Processes: []Process{
		{Name: "/device:GPU:", Start: true, Row: "Stream #", Kind: trace.Kernel, Writer: xlaWriter, By: XLA},
		{Name: "/device:TPU:", Start: true, Row: "XLA Ops", Kind: trace.Kernel, Nested: true, Writer: xlaWriter, By: XLA},
		{Name: "/host:CPU", Calls: true, Kind: trace.CPUOp, Writer: xlaWriter, By: XLA}, // alone where the program runs on the CPU
	},
}

const xlaWriter = "XLA's profiler (JAX, TensorFlow)"

// hccl is a name that several libraries have.
var hccl = Library{Name: "HCCL", Kernels: "hccl|hcom_", Backend: "hccl"}

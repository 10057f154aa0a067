package anonymize

import (
	_ "embed"
	"strings"
	"sync"

	"overlay/internal/vendors"
)

//go:embed words.txt
var wordList string

// knownWords are the words of names that are public: of PyTorch, of libraries of kernels, of calls of vendors.
var knownWords = sync.OnceValue(func() map[string]bool {
	words := union(nil, vendors.Words())
	for line := range strings.Lines(wordList) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for w := range strings.FieldsSeq(line) {
			words[w] = true
		}
	}
	return words
})

// set makes a set of the words of a text.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// union adds a list to a set.
func union(m map[string]bool, list []string) map[string]bool {
	if m == nil {
		m = map[string]bool{}
	}
	for _, s := range list {
		m[s] = true
	}
	return m
}

// keySet makes a set of the lines of a text, since keys contain blanks.
func keySet(lines string) map[string]bool {
	m := map[string]bool{}
	for line := range strings.Lines(lines) {
		for key := range strings.SplitSeq(strings.TrimSpace(line), ", ") {
			m[key] = true
		}
	}
	return m
}

// knownArgs are the keys of args that profilers write (libkineto's output_json.cpp and plugins, PyTorch's
// profiler_kineto.cpp and util.cpp, inductor's record_function calls), those of overlays, and those of metadata.
var knownArgs = keySet(`name, labels, sort_index
External id, external id, External Id, Ev Idx, Record function id, Profiler Event Index, Fwd thread id, Sequence number, Op count
Input Dims, Input dims, Input type, Input Strides, Concrete Inputs, Kwargs, Output Dims, Call stack, Module Hierarchy, Flops, flops
Trace name, Trace iteration, Trace id, Device, device, context, stream, correlation, cbid, bytes, Bytes, queued, finished, ptr, src, dst, value
memory bandwidth (GB/s), registers per thread, shared memory, blocks per SM, warps per SM, grid, block, est. achieved occupancy %
theoretical occupancy %, graph node id, graph id, priority, cluster dims, kind, copy kind, src kind, dst kind, wait_on_stream
wait_on_cuda_event_id, wait_on_cuda_event_record_corr_id, cuda_sync_kind, cuda_event_id, event_id, original_stream, size, direction
external ts, Total Reserved, Total Allocated, Addr, Device Id, Device Type, Python parent id, Python id, Python module id, cid, type, dtype
Process Group Name, Process Group Description, Process Group Ranks, Collective name, Group size, Rank, Src Rank, Dst Rank, Seq, Red op
In msg nelems, Out msg nelems, In split size, Out split size, Global rank start, Global rank stride, Async op, Is asynchronized op, Is Async
kernel, kernel_name, kernel_backend, kernel_kwargs, kernel_file, kernel_hash, kernel_num_gb, kernel_flop, num_warps, num_stages, backend, debug
seq_num, sqid, host_ctx, column, row, packet_ptr, k_work_ptr, stream_id, cmd_name, mem size, executable_name, scope, Stream, Context
tid, pid, Domain, Correlation Id, Node Id, dim, step, Duration, Start, End, In Bytes, Out Bytes, Running, Waiting, queue, node_id, agent
Blocks Per SM, Est. Achieved Occupancy, GPU Utilization, GPU, GPU 0, Allocated, Reserved, Task Type, Task Id, Stream Id, Batch Id, Subtask Id
Thread Id, connection_id, Model Id, Context Id, Queue length, l0 call, sycl_kernel, sycl_queue, sycl_invocation_id, device_type, uuid
weight, inferred, critical, critical_ns, critical_id, critical_next, critical_total_ns, cdg_node, phase, events, busy_ns, node_critical_ns, evidence, resource
class, event, from, to, from_side, to_side, correlation_id, step_num`)

// knownEventKeys are the keys of events in the trace event format.
var knownEventKeys = set(`name cat ph s bp ts dur tts tdur tidelta id id2 local global scope pid tid args cname sf esf stack estack bind_id flow_in flow_out use_async v`)

// knownPhases are the phase letters of the trace event format.
const knownPhases = "BEXiIRCbnesStTpFfNODMPvVc()"

// knownFields are the top-level keys of traces; knownMeta those within deviceProperties and distributedInfo.
var (
	knownFields = set(`schemaVersion deviceProperties distributedInfo traceName traceEvents displayTimeUnit baseTimeNanoseconds record_shapes with_stack
		with_flops with_modules profile_memory cuda_runtime_version cuda_driver_version cupti_version roctracer_version hip_runtime_version hip_driver_version
		nccl_version trace_id group_trace_id metadata otherData systemTraceEvents stackFrames samples username host_name hostname computeProperties clientInfo
		controllerTraceDataKey powerTraceAsString INFO WARNING ERROR`)
	knownMeta = set(`id name totalGlobalMem computeMajor computeMinor maxThreadsPerBlock maxThreadsPerMultiprocessor maxThreadsPerMultiProcessor regsPerBlock
		regsPerMultiprocessor warpSize sharedMemPerBlock sharedMemPerMultiprocessor numSms sharedMemPerBlockOptin multiProcessorCount regsPerMultiProcessor
		maxSharedMemoryPerMultiProcessor clockRate memoryClockRate memoryBusWidth l2CacheSize major minor backend rank world_size pg_count pg_config pg_name pg_desc
		backend_config pg_size ranks nccl_version deviceType type numSubslices numEUs slices`)
)

// knownMetadata are the names of M events.
var knownMetadata = set(`process_name process_labels process_sort_index process_uptime_seconds thread_name thread_sort_index num_cpus stackFrames trace_buffer_overflowed IsTimeInRange`)

// plainFlow are names and categories of events that belong to no kind.
var plainFlow = union(set(`ac2g async_gpu async_cpu_to_gpu launch async fwdbwd fwd_bwd forward_backward cpu_instant_event Trace critical_path critical_path_summary
	critical_path_analysis cdg fwdbwd_cpu fwdbwd_gpu [memory] [OutOfMemory]`), vendors.Flows())

// rowNames are names of processes and rows that profilers give.
var rowNames = union(keySet(`python, python3, Python, Spans, Traces, PyTorch Profiler, Trace PyTorch Profiler
process, Critical path, Bound by`), vendors.Rows())

// tensile are the short forms of parameters in the names of Tensile's kernels.
var tensile = sync.OnceValue(func() map[string]bool {
	return set(`SL EM Ailk Alik Bjlk Bljk Ailkm Alikm Bjlkm Bljkm AAC ABV ACED AF AFC AFEM AMAS APM ASAE ASBE ASCE ASE ASEM ASGT ASLT ASM B BBS BH BL BS Bias BIAS CADS CDO CLR CGEMM CLS
	D DB DD DTL DTLA DTLB DTVA DTVB DVO DPLB EM EPS ELFLR EMLL ETSP F FDSI FL FMA FSSC FB FF GLS GLVWA GLVWB GNLC GRCGA GRCGB GRPM GRVW GRVWA GRVWB GSU GSUAMB GSUAMBSK GSUASB GSUC
	GSUWGMRR GG GRVWn H HA HAS HB HH HHS HSS HBH I IB IU ISA K KLA KLS LA LBSPP LBSPPA LBSPPB LBSPPM LDL LDS LDSB LDSTI LDW LPA LPB LPM LRVW LRVWA LRVWB LWPM MAC MAS MDA MGRIPM MI MIAV MIWT MO MMFSC
	MKFGSU MT NEPBS NLCA NLCB NR NTA NTB NTC NTD NTE NTM NT ONLL OPLV PAP PGL PGR PK PKA PLR PSD R RK S SAB SAV SB SCD SCIU SCIUI SFG SIA SK SKFTR SKFDPO SKXCCM SLW SN SNLL SOC SPO SRVW SS SSO SU
	SUM SUS SVW SVWA SVWB SV SW TDS TLDS TSGRA TSGRB TT U UIOFGRO ULSGRO UMF UMLDSA UMLDSB UPLRP USFGRO USFGROn USL UserArgs Ulsgro VAW VFLRP VS VW VWA VWB WG WGM WGR WGMXCC WGMXCCG WGMXCCn WS WSGR WSGRA
	WSGRB WSK XCC XCCM Z ZB HPA HPAB Grouped UA GSUM AB ABSC Aux Amax Scale SABV SCDV SAVB TF XF Ascales MIX PostGSU LT SCAB ADBA AG AH SZ B8 F8 BF8 Act Gelu Relu AuxB AuxH AuxS C E`)
})

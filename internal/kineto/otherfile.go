package kineto

import (
	"bytes"
	"strings"
)

// Where the profilers and formats of the table below leave what can be read.
const (
	giveKineto  = "give what torch.profiler wrote (export_chrome_trace, or tensorboard_trace_handler's .pt.trace.json)"
	flightDump  = "it is a dump of NCCL's flight recorder, which holds collectives alone: 'overlay report' of it, and of those of the other ranks, says who did not arrive"
	giveRocprof = "record with rocprofv3 --output-format json or pftrace, and --runtime-trace"
	snapshot    = "it is a memory snapshot of PyTorch, which the page pytorch.org/memory_viz shows, and 'overlay report TRACE --snapshot FILE' beside a trace of the same run"
	giveNsys    = "give what 'nsys export --type sqlite' writes of it"
)

// otherFile is a kind of file that people take for a trace: how it is told, and what to say of it. An entry has one of the first three.
type otherFile struct {
	head string   // how it begins
	name string   // how its name ends
	keys []string // members of the JSON object that it is, all of them
	in   string   // with head: what stands in its first bytes
	say  string   // what it is, and what to do
}

// otherFiles are looked through in this order. The bytes and keys are those of the description of each format.
var otherFiles = []otherFile{
	{name: ".nsys-rep", say: "it is a report of Nsight Systems: " + giveNsys},
	{name: ".qdrep", say: "it is a report of Nsight Systems: " + giveNsys},
	{name: ".ncu-rep", say: "it is a report of Nsight Compute, which measures kernels one at a time: " + giveKineto + ", or the run under nsys"},
	{name: ".et", say: "it is a Chakra execution trace, which says what ran and not when: " + giveKineto},
	{head: "version https://git-lfs.github.com/", say: "it is a pointer of Git LFS, not the file: fetch it with 'git lfs pull'"},
	{head: "<", say: "it is HTML or XML, as when a download failed or needs a login, or a page made of a trace: give the trace"},
	{head: "\x1f\x8b", say: "it is compressed twice with gzip: unpack it once"},
	{head: "\x28\xb5\x2f\xfd", say: "it is compressed twice, inside with zstd: unpack it once"},
	{head: "BZh", say: "it is compressed with bzip2: unpack it first"},
	{head: "\xfd7zXZ\x00", say: "it is compressed with xz: unpack it first"},
	{head: "7z\xbc\xaf\x27\x1c", say: "it is an archive of 7-Zip: unpack it first"},
	{head: "Rar!", say: "it is a RAR archive: unpack it first"},
	{head: "\x04\x22\x4d\x18", say: "it is compressed with lz4: unpack it first"},
	{head: "PAR1", say: "it is a Parquet file: 'overlay query' takes the folder that 'overlay export' wrote"},
	{head: "\xff\xfe", say: "it is text in UTF-16: write it as UTF-8"},
	{head: "\xfe\xff", say: "it is text in UTF-16: write it as UTF-8"},
	{head: "PERFILE2", say: "it is a recording of Linux perf, which knows no GPU: " + giveKineto},
	{head: "\x7fELF", say: "it is a program"},
	{head: "\x89PNG", say: "it is a picture"},
	{head: "\x80", in: "device_traces", say: snapshot},
	{head: "\x80", in: "segment_type", say: snapshot}, // which come first, and are long
	{head: "\x80", in: "nccl_version", say: flightDump},
	{head: "\x80", in: "profiling_name", say: "it is a dump of a flight recorder of version 1, which does not say who is in a group: dumps of version 2.0 and later are read"},
	{head: "\x80", say: "it is a Python pickle, as of a memory snapshot or a model: " + giveKineto},
	{head: "", in: "brain.Event:", say: "it is an event file of TensorBoard: " + giveKineto + ", which lies beside it"},
	{head: "", in: "Total Time (ns)", say: "it is a table of 'nsys stats', which has sums and says not when anything ran: " + giveNsys},
	{head: "", in: "TotalDurationNs", say: "it is a table of rocprof, which has sums and says not when anything ran: " + giveRocprof},
	{head: "", in: "Start_Timestamp", say: "it is a table of rocprof, one of several that it writes of a run: " + giveRocprof},
	{head: "", in: "BeginNs", say: "it is a table of rocprof, one of several that it writes of a run: " + giveRocprof},
	{keys: []string{"name", "ph"}, say: "it has one event a line: make a list of them, as with 'jq -s . FILE'"},
	{keys: []string{"Type", "NvtxEvent"}, say: "it has one event a line, as 'nsys export --type jsonlines' writes: " + giveNsys},
	{keys: []string{"$schema", "profiles"}, say: "it is a profile for speedscope, as py-spy writes: samples of CPU stacks and no GPU: " + giveKineto},
	{keys: []string{"nodes", "timeDeltas"}, say: "it is a CPU profile of V8 (Node.js, Chrome), which knows no GPU: " + giveKineto},
	{keys: []string{"schema", "nodes"}, say: "it is an execution trace of PyTorch (Chakra), which says what ran and not when: " + giveKineto},
	{keys: []string{"segments", "device_traces"}, say: snapshot},
	{keys: []string{"nccl_version", "entries"}, say: flightDump},
	{keys: []string{"pg_config", "entries"}, say: flightDump},
	{keys: []string{"meta", "threads", "libs"}, say: "it is a profile of the Firefox Profiler (samply, perf): samples of CPU stacks and no GPU: " + giveKineto},
	{keys: []string{"resourceSpans"}, say: "it is a trace of OpenTelemetry, of requests and not of a GPU: " + giveKineto},
	{keys: []string{"cells", "nbformat"}, say: "it is a Jupyter notebook"},
}

// noTrace says of a file that is no JSON what it is, where its beginning or its name tells.
func noTrace(name string, src []byte) string {
	const plain = "expected '{' or '[': this is no JSON trace"
	start := src[:min(len(src), 64<<10)]
	for i := range otherFiles {
		x := &otherFiles[i]
		if x.keys != nil || x.name != "" && !strings.HasSuffix(name, x.name) {
			continue
		}
		if bytes.HasPrefix(start, []byte(x.head)) && bytes.Contains(start, []byte(x.in)) {
			return plain + "; " + x.say
		}
	}
	return plain
}

// noEvents says of a JSON object without events what it is, where its members tell.
func noEvents(fields []Field) string {
	const plain = `no "traceEvents" in the top-level object: this is no profiler trace`
	has := map[string]bool{}
	for i := range fields {
		has[fields[i].Key] = true
	}
next:
	for i := range otherFiles {
		for _, key := range otherFiles[i].keys {
			if !has[key] {
				continue next
			}
		}
		if otherFiles[i].keys != nil {
			return plain + "; " + otherFiles[i].say
		}
	}
	return plain
}

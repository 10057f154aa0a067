package kineto

import (
	"strings"
	"testing"
)

// TestOtherFiles: the one line of error says what a file is that is often taken for a trace, and what to do.
func TestOtherFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.json", "version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"},
		{"a.json", "\n<!doctype html>", "HTML"},
		{"a.json.bz2", "BZh91AY&SY", "bzip2"},
		{"a.json", "\xff\xfe{\x00", "UTF-16"},
		{"a.nsys-rep", "anything", "nsys export --type sqlite"},
		{"a.ncu-rep", "NVR\x00", "Nsight Compute"},
		{"a.et", "\x1c\x0a\x1a", "Chakra"},
		{"perf.data", "PERFILE2", "perf"},
		{"a.pickle", "\x80\x04\x95}\x94(\x8c\x08segments\x94]\x94\x8c\rdevice_traces", "memory snapshot"},
		{"a.pickle", "\x80\x04\x95}\x94(\x8c\x08segments\x94]\x94(\x8c\x0csegment_type\x94\x8c\x05large\x94", "--snapshot"},
		{"nccl_trace_rank_0", "\x80\x02}(X\x07\x00\x00\x00entriesX\x0e\x00\x00\x00profiling_name", "version 1"},
		{"nccl_trace_rank_0", "\x80\x04\x95}\x94(\x8c\x07version\x94\x8c\x0cnccl_version", "flight recorder"},
		{"model.pkl", "\x80\x02}q", "pickle"},
		{"events.out.tfevents.1", "\x18\x00\x00\x00\x00\x00\x00\x00\xa3\x7f\x4b\x22\x09\x00\x00brain.Event:2", "TensorBoard"},
		{"a.json.gz", "\x1f\x8b\x08\x00", "compressed twice"},
		{"a.json.gz", "\x28\xb5\x2f\xfd", "zstd"},
		{"a.csv", "Time (%),Total Time (ns),Instances\n", "nsys export --type sqlite"},
		{"a.csv", "\"Name\",\"Calls\",\"TotalDurationNs\"\n", "sums"},
		{"a.csv", "\"Kind\",\"Agent_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n", "rocprofv3 --output-format"},
		{"results.csv", "\"Index\",\"KernelName\",\"BeginNs\",\"EndNs\"\n", "rocprofv3 --output-format"},
		{"a.json", "hello", "this is no JSON trace"},
	} {
		_, err := Parse([]byte(c.text), c.name, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "expected '{' or '['") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// TestOtherObjects: the same of JSON.
func TestOtherObjects(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[]}`, "speedscope"},
		{`{"nodes":[],"startTime":1,"endTime":2,"samples":[],"timeDeltas":[]}`, "V8"},
		{`{"schema":"1.1.1-chakra.0.0.4","pid":1,"nodes":[]}`, "Chakra"},
		{`{"segments":[],"device_traces":[]}`, "memory_viz"},
		{`{"version":"2.10","nccl_version":"2.21","entries":[]}`, "flight recorder"},
		{`{"meta":{},"libs":[],"threads":[]}`, "Firefox"},
		{`{"ph":"X","name":"aten::mm","ts":1,"dur":2}` + "\n" + `{"ph":"X","name":"aten::mm","ts":4,"dur":2}`, "jq -s"},
		{`{"Type":59,"NvtxEvent":{"Type":59,"Timestamp":"4739751477"}}`, "nsys export --type sqlite"},
		{`{"a":1}`, "this is no profiler trace"},
	} {
		_, err := Parse([]byte(c.text), "a.json", Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "traceEvents") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

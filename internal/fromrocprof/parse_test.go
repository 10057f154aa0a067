package fromrocprof_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"overlay/internal/fromrocprof"
	"overlay/internal/kineto"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
)

type spool struct{ b []byte }

func (s *spool) Write(p []byte) (int, error) { s.b = append(s.b, p...); return len(p), nil }
func (s *spool) Bytes() ([]byte, error)      { return s.b, nil }

// made has a launch, a copy that a call of HSA inside a call of HIP carried out, ranges of the program, and a collective; the
// second GPU has no numbers among the GPUs, as in older versions.
const made = `{ "rocprofiler-sdk-tool": [ {
"metadata": {"pid": 908, "command": ["/opt/bin/python3", "train.py"]},
"agents": [{"id": {"handle": 10}, "type": 1, "name": "EPYC"},
  {"id": {"handle": 11}, "type": 2, "name": "gfx950", "product_name": "MI350X", "logical_node_type_id": 0},
  {"id": {"handle": 12}, "type": 2, "name": "gfx950"}],
"strings": {"buffer_records": [{"kind": "NONE", "operations": []},
    {"kind": "HIP_RUNTIME_API", "operations": ["hipLaunchKernel", "hipMemcpyAsync"]},
    {"kind": "HSA_CORE_API", "operations": ["hsa_amd_memory_async_copy"]},
    {"kind": "MARKER_CORE_API", "operations": ["roctxMarkA", "roctxRangePushA", "roctxRangePop", "roctxRangeStartA"]},
    {"kind": "MEMORY_COPY", "operations": ["MEMORY_COPY_NONE", "MEMORY_COPY_DEVICE_TO_HOST"]},
    {"kind": "RCCL_API", "operations": ["ncclAllReduce"]}],
  "marker_api": [{"key": 1, "value": "step \"1\""}, {"key": 2, "value": "aten::mm, op_id = 7"}, {"key": 3, "value": "epoch"}, {"key": 4, "value": "here"}]},
"kernel_symbols": [{"kernel_id": 5, "kernel_name": "gemm.kd", "formatted_kernel_name": "gemm"}, {"kernel_id": 6, "kernel_name": "add.kd"}],
"callback_records": {"counter_collection": []},
"buffer_records": {
  "kernel_dispatch": [
    {"kind": 9, "operation": 2, "thread_id": 77, "correlation_id": {"internal": 20, "external": 0}, "start_timestamp": 5000, "end_timestamp": 9000,
     "dispatch_info": {"agent_id": {"handle": 11}, "queue_id": {"handle": 18}, "kernel_id": 5, "workgroup_size": {"x": 64, "y": 2, "z": 1}, "grid_size": {"x": 130, "y": 2, "z": 1}},
     "stream_id": {"handle": 3}},
    {"correlation_id": {"internal": 99}, "start_timestamp": 9000, "end_timestamp": 9500, "dispatch_info": {"agent_id": {"handle": 12}, "queue_id": {"handle": 19}, "kernel_id": 6}}],
  "hip_api": [
    {"kind": 1, "operation": 0, "thread_id": 77, "correlation_id": {"internal": 20}, "start_timestamp": 1000, "end_timestamp": 2000},
    {"kind": 1, "operation": 1, "thread_id": 77, "correlation_id": {"internal": 21}, "start_timestamp": 3000, "end_timestamp": 4000}],
  "hsa_api": [{"kind": 2, "operation": 0, "thread_id": 77, "correlation_id": {"internal": 22}, "start_timestamp": 3100, "end_timestamp": 3900}],
  "marker_api": [
    {"kind": 3, "operation": 1, "thread_id": 77, "correlation_id": {"internal": 1}, "start_timestamp": 500, "end_timestamp": 9900},
    {"kind": 3, "operation": 1, "thread_id": 77, "correlation_id": {"internal": 2}, "start_timestamp": 900, "end_timestamp": 2100},
    {"kind": 3, "operation": 3, "thread_id": 77, "correlation_id": {"internal": 3}, "start_timestamp": 100, "end_timestamp": 9990},
    {"kind": 3, "operation": 0, "thread_id": 77, "correlation_id": {"internal": 4}, "start_timestamp": 600, "end_timestamp": 600}],
  "rccl_api": [{"kind": 5, "operation": 0, "thread_id": 78, "correlation_id": {"internal": 30}, "start_timestamp": 100, "end_timestamp": 200}],
  "memory_copy": [{"kind": 4, "operation": 1, "thread_id": 77, "correlation_id": {"internal": 22}, "start_timestamp": 9100, "end_timestamp": 9200,
    "dst_agent_id": {"handle": 10}, "src_agent_id": {"handle": 11}, "bytes": 4096}]
}}]}`

func parse(t *testing.T, text string) *trace.Trace {
	t.Helper()
	if !fromrocprof.Is([]byte(text)) {
		t.Fatal("not told by its first bytes")
	}
	tr, err := fromrocprof.Parse([]byte(text), "t.json", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := tracecheck.Check(tr); err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestParse(t *testing.T) {
	tr := parse(t, made)
	var got []string
	for i := range tr.Events {
		e, id := &tr.Events[i], trace.EventID(i)
		if e.Ph != 'X' && e.Ph != 'i' {
			continue
		}
		line := fmt.Sprintf("%v %s %d..%d", e.Kind, tr.Name(id), e.Start, tr.End(e))
		x := &tr.Tracks[e.Track]
		if e.Kind.Device() {
			line += fmt.Sprintf(" GPU %d stream %d", tr.Procs[x.Proc].Device, x.Stream)
			if l := tr.Launch(id); l != trace.NoEvent {
				line += " by " + tr.Name(l)
			}
		}
		got = append(got, line)
	}
	want := []string{
		"kernel gemm 5000..9000 GPU 0 stream 3 by hipLaunchKernel",
		"kernel add 9000..9500 GPU 1 stream 19",
		"runtime hipLaunchKernel 1000..2000",
		"runtime hipMemcpyAsync 3000..4000",
		"other hsa_amd_memory_async_copy 3100..3900",
		`annotation step "1" 500..9900`,
		"cpu_op aten::mm 900..2100",
		"other epoch 100..9990",
		"other here 600..600",
		"cpu_op ncclAllReduce 100..200",
		"memcpy MEMORY_COPY_DEVICE_TO_HOST 9100..9200 GPU 0 stream 0 by hipMemcpyAsync",
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	if s := kineto.Inspect(tr); s.Form != "rocprofv3 JSON" || len(s.Devices) != 2 || s.Devices[0].Name != "MI350X" {
		t.Errorf("survey %+v", s)
	}
	if text := string(kineto.TextOf(tr).Raw(0)); !strings.Contains(text, `"grid":[3,1,1],"block":[64,2,1]`) {
		t.Error(text)
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"cut":     {made[:len(made)-60], "t.json: byte "},
		"empty":   {`{"rocprofiler-sdk-tool": [{"metadata": {}}]}`, "t.json: byte 0: this file of rocprofv3 holds no kernels"},
		"nobody":  {`{"rocprofiler-sdk-tool": []}`, "holds no kernels"},
		"strange": {`{"rocprofiler-sdk-tool": 7}`, "holds no kernels"},
		"several": {strings.TrimSuffix(made, "]}") + "," + made[strings.Index(made, "[ {")+2:], "2 processes launched GPU work in this file (908, 908)"},
	} {
		_, err := fromrocprof.Parse([]byte(c.text), "t.json", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReal: numbers that were read from the file by other means.
func TestReal(t *testing.T) {
	tr := parse(t, string(corpus.Text(t, corpus.World(t, "TraceLens__rocprofv3_results.json.gz"))))
	n, sum, streams := 0, int64(0), map[trace.TrackID]int{}
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Kind == trace.Kernel {
			n++
			sum += tr.Dur(e)
			streams[e.Track]++
		}
	}
	busiest := 0
	for _, n := range streams {
		busiest = max(busiest, n)
	}
	if n != 43915 || sum != 4441741378 || len(streams) != 567 || busiest != 37300 {
		t.Errorf("%d kernels of %d ns on %d streams, the busiest has %d", n, sum, len(streams), busiest)
	}
	if d := kineto.Inspect(tr).Devices; len(d) != 1 || d[0].Name != "AMD Instinct MI350X" {
		t.Errorf("devices %v", d)
	}
}

// FuzzParse wants of any bytes an error of one line, or a sound trace and the same again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(made))
	f.Add([]byte(`{"rocprofiler-sdk-tool":[{"buffer_records":{"kernel_dispatch":[{"kind":-1,"start_timestamp":9223372036854775807,"end_timestamp":-9223372036854775808}]}}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		if !fromrocprof.Is(src) {
			return
		}
		tr, err := fromrocprof.Parse(src, "t.json", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "t.json") {
				t.Fatalf("error %q", err)
			}
			return
		}
		if err := tracecheck.Check(tr); err != nil {
			t.Fatal(err)
		}
		again, err := fromrocprof.Parse(src, "t.json", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
		if err != nil || !bytes.Equal(kineto.TextOf(tr).Src, kineto.TextOf(again).Src) {
			t.Fatal("not the same again", err)
		}
	})
}

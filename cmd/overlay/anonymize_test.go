package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"overlay/internal/testtrace/corpus"
)

// planted is a trace with a made-up name at every place that can hold text. Each @ becomes another one, 987654321 is
// the number of a job.
const planted = `{"schemaVersion":1,"@":"@","host_name":"@","username":"@","job_id":987654321,"list":["@"],
"deviceProperties":[{"id":0,"name":"NVIDIA @","@":"@","uuid":"@","totalGlobalMem":85}],"trace_id":"@","traceName":"/tmp/@.json",
"distributedInfo":{"backend":"@","rank":0,"world_size":8,"pg_config":[{"pg_name":"@","pg_desc":"@","backend_config":"cuda:@","@":["@"],"ranks":[0,"@"]}],"nccl_version":"@","host":"@","job":987654321},
"displayTimeUnit":"@","baseTimeNanoseconds":0,"metadata":{"@":"@","overlay.x":"@","overlay.method":"@","overlay.annotation":"@","overlay.instance":"@"},
"otherData":{"v":"@"},"systemTraceEvents":"@","stackFrames":{"1":{"name":"@","category":"@"}},"samples":[{"name":"@"}],"INFO":"@","WARNING":["@"],"esc\u0061cme":"x\u0061cme",
"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"tid":0,"ts":0,"args":{"name":"python @","@":"@"}},
{"ph":"M","name":"process_labels","pid":1,"tid":0,"ts":0,"args":{"labels":"@"}},
{"ph":"M","name":"process_labels","pid":0,"tid":0,"ts":0,"args":{"labels":"GPU 0 @"}},
{"ph":"M","name":"process_sort_index","pid":1,"tid":0,"ts":0,"args":{"sort_index":"@"}},
{"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":0,"args":{"name":"thread 1 (@)"}},
{"ph":"M","name":"thread_name","pid":1,"tid":2,"ts":0,"args":{"name":"thread 2 (pt_@)"}},
{"ph":"M","name":"thread_name","pid":0,"tid":7,"ts":0,"args":{"name":"stream 7 @"}},
{"ph":"M","name":"@","pid":1,"tid":1,"ts":0,"args":{"name":"@"}},
{"ph":"M","name":"process_name","pid":"@","tid":{"@":"@"},"ts":0,"args":{"name":["@"]}},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":1000,"dur":6000,"args":{}},
{"ph":"X","cat":"user_annotation","name":"@","pid":1,"tid":1,"ts":1001,"dur":9},
{"ph":"X","cat":"user_annotation","name":"forward @","pid":1,"tid":1,"ts":1011,"dur":9},
{"ph":"X","cat":"user_annotation","name":"FSDP::forward (@)","pid":1,"tid":1,"ts":1021,"dur":9},
{"ph":"X","cat":"user_annotation","name":"FSDP::pre_forward@","pid":1,"tid":1,"ts":1031,"dur":9},
{"ph":"X","cat":"user_annotation","name":"Optimizer.step#@.step","pid":1,"tid":1,"ts":1041,"dur":9},
{"ph":"X","cat":"user_annotation","name":"nccl:@","pid":1,"tid":1,"ts":1051,"dur":9},
{"ph":"X","cat":"user_annotation","name":"PyTorch Profiler @","pid":1,"tid":1,"ts":1061,"dur":9},
{"ph":"X","cat":"user_annotation","name":"TorchDynamo @","pid":1,"tid":1,"ts":1071,"dur":9},
{"ph":"X","cat":"user_annotation","name":"AOTDispatcher @","pid":1,"tid":1,"ts":1081,"dur":9},
{"ph":"X","cat":"user_annotation","name":"enumerate(DataLoader)#_@ProcessingDataLoaderIter.__next__","pid":1,"tid":1,"ts":1091,"dur":9},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#@","pid":1,"tid":1,"ts":1101,"dur":9},
{"ph":"X","cat":"user_annotation","name":"## @ ##","pid":1,"tid":1,"ts":1111,"dur":9},
{"ph":"X","cat":"user_annotation","name":"quo"te @","pid":1,"tid":1,"ts":1121,"dur":9},
{"ph":"X","cat":"user_annotation","name":"\u0061cme \u0041CME","pid":1,"tid":1,"ts":1131,"dur":9},
{"ph":"X","cat":"cpu_op","name":"aten::@","pid":1,"tid":1,"ts":1201,"dur":9},
{"ph":"X","cat":"cpu_op","name":"aten::add.@","pid":1,"tid":1,"ts":1211,"dur":9},
{"ph":"X","cat":"cpu_op","name":"torch: host @","pid":1,"tid":1,"ts":1221,"dur":9},
{"ph":"X","cat":"cpu_op","name":"c10d::add_@","pid":1,"tid":1,"ts":1231,"dur":9},
{"ph":"X","cat":"cpu_op","name":"22@Backward0","pid":1,"tid":1,"ts":1241,"dur":9},
{"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: @Backward0","pid":1,"tid":1,"ts":1251,"dur":9},
{"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: torch::autograd::CppNode<@>","pid":1,"tid":1,"ts":1261,"dur":9},
{"ph":"X","cat":"cpu_op","name":"torch::@","pid":1,"tid":1,"ts":1271,"dur":9},
{"ph":"X","cat":"cpu_op","name":"@::fused_op","pid":1,"tid":1,"ts":1281,"dur":9},
{"ph":"X","cat":"cpu_op","name":"triton_poi_fused_@_0","pid":1,"tid":1,"ts":1291,"dur":9},
{"ph":"X","cat":"cpu_op","name":"Torch-Compiled Region: 0/1 @","pid":1,"tid":1,"ts":1301,"dur":9},
{"ph":"X","cat":"cpu_op","name":"/home/@/x","pid":1,"tid":1,"ts":1311,"dur":9},
{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":1321,"dur":9,"args":{"Collective name":"@","Process Group Name":"@","Process Group Description":"default_pg @","Process Group Ranks":"[0, @]","dtype":"@","Group size":8,"Src Rank":"@"}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1331,"dur":9,"args":{"Input Dims":[[1,2],"@"],"Input type":["float","@"],"Concrete Inputs":["@","[@]",""],"Call stack":"/home/@.py(3): f;@","Module Hierarchy":"@","Input Strides":["@"],"Kwargs":{"@":"@"},"kernel_file":"/x/@.py","kernel_backend":"@","kernel_hash":"@","kernel":"@","backend":"@","kind":"@","direction":"@","cuda_sync_kind":"@","Trace name":"@","type":"critical_path_@","class":"@","employee":987654321}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1341,"dur":9,"args":{"@":1,"nested":{"@":{"@":["@",{"@":"@"}]}},"x":"critical_path_@","\u0061cme":"y","critical_@":"z","job":[987654321]}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1351,"dur":9,"args":"@"},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1361,"dur":9,"args":["@"]},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1371,"dur":9,"@":"@","cname":"@","sf":"@","stack":["@"],"tts":"@","id":"@","scope":"@","bind_id":"@"},
{"ph":"X","cat":"cpu_op","name":"aten::mm","name":"@","cat":"@","pid":1,"tid":1,"ts":1381,"dur":9},
{"ph":"@","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1391,"dur":9},
{"ph":"X","cat":"cpu_op","name":{"a":"@"},"pid":1,"tid":1,"ts":1401,"dur":9},
{"ph":"X","cat":["@"],"name":"aten::mm","pid":1,"tid":1,"ts":1411,"dur":9},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":{"@":"@"},"tid":["@"],"ts":1421,"dur":9},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":"@","tid":"@","ts":1431,"dur":9},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":"16:@","dur":"@"},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1441,"dur":9,"args":{"bad":@,"tail":"@"}},
{"ph":"X","cat":"python_function","name":"/home/@/@.py(12): @","pid":1,"tid":1,"ts":1501,"dur":9},
{"ph":"X","cat":"python_function","name":"/opt/@/site-packages/torch/nn/modules/module.py(12): forward","pid":1,"tid":1,"ts":1511,"dur":9,"args":{"Python id":1,"Python module id":"@"}},
{"ph":"X","cat":"python_function","name":"torch/@.py(12): @","pid":1,"tid":1,"ts":1521,"dur":9},
{"ph":"X","cat":"python_function","name":"nn.Module: @_0","pid":1,"tid":1,"ts":1531,"dur":9},
{"ph":"X","cat":"python_function","name":"<built-in method @ of @ object at 0x7f>","pid":1,"tid":1,"ts":1541,"dur":9},
{"ph":"X","cat":"python_function","name":"@","pid":1,"tid":1,"ts":1551,"dur":9},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1601,"dur":9,"args":{"correlation":5,"External id":7}},
{"ph":"X","cat":"cuda_runtime","name":"cuda@","pid":1,"tid":1,"ts":1611,"dur":9,"args":{"correlation":6}},
{"ph":"X","cat":"cuda_driver","name":"@LaunchKernel","pid":1,"tid":1,"ts":1621,"dur":9,"args":{"correlation":8}},
{"ph":"X","cat":"kernel","name":"/home/@/k.cu","pid":0,"tid":7,"ts":1700,"dur":50,"args":{"correlation":5,"device":0,"stream":7,"kernel_hash":"@"}},
{"ph":"X","cat":"kernel","name":"triton_@","pid":0,"tid":7,"ts":1800,"dur":50,"args":{"correlation":6,"device":0,"stream":7,"grid":"@"}},
{"ph":"X","cat":"kernel","name":"void at::native::foo<@>(int)","pid":0,"tid":7,"ts":1900,"dur":50,"args":{"correlation":8,"device":0,"stream":7,"device":"@"}},
{"ph":"X","cat":"kernel","name":"_ZN6@4nameEv","pid":0,"tid":7,"ts":2000,"dur":50,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"Cijk_@_MT64","pid":0,"tid":7,"ts":2100,"dur":50,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD @","pid":0,"tid":7,"ts":2200,"dur":50,"args":{"device":0,"stream":7,"bytes":10}},
{"ph":"X","cat":"gpu_memset","name":"Memset (@)","pid":0,"tid":7,"ts":2300,"dur":50,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"gpu_user_annotation","name":"@","pid":0,"tid":7,"ts":2301,"dur":5},
{"ph":"X","cat":"cuda_sync","name":"@ Sync","pid":0,"tid":7,"ts":2401,"dur":5,"args":{"cuda_sync_kind":"@","stream":7,"device":0}},
{"ph":"X","cat":"cuda_event","name":"@","pid":0,"tid":7,"ts":2411,"dur":5},
{"ph":"X","cat":"mtia_ccp_events","name":"@","pid":0,"tid":9,"ts":2411,"dur":5},
{"ph":"X","cat":"overhead","name":"@","pid":-1,"tid":0,"ts":2421,"dur":5},
{"ph":"X","cat":"Trace","name":"PyTorch Profiler (@)","pid":"Spans","tid":"PyTorch Profiler @","ts":1000,"dur":6000,"args":{"Op count":0}},
{"ph":"X","cat":"Trace","name":"GPU: PyTorch Profiler @","pid":"Traces","tid":"Trace @","ts":1000,"dur":6000},
{"ph":"X","cat":"@","name":"@","pid":1,"tid":1,"ts":2501,"dur":5},
{"ph":"X","name":"@","pid":"CPU functions","tid":"@","ts":2501,"dur":5},
{"ph":"X","cat":"@","name":"@","pid":"CUDA functions","tid":"@","ts":2501,"dur":5},
{"ph":"B","cat":"cpu_op","name":"@","pid":1,"tid":3,"ts":2601},{"ph":"E","cat":"@","name":"@","pid":1,"tid":3,"ts":2611,"args":{"@":"@"}},
{"ph":"i","cat":"cpu_instant_event","name":"[@ memory]","s":"@","pid":1,"tid":1,"ts":2701,"args":{"Device Type":0,"Addr":1,"@":"@"}},
{"ph":"R","cat":"@","name":"@","pid":1,"tid":1,"ts":2711},{"ph":"I","cat":"@","name":"@","pid":1,"tid":1,"ts":2711},
{"ph":"C","cat":"@","name":"@","id":"@","pid":1,"tid":1,"ts":2721,"args":{"@":1,"x":"@","deep":{"@":2}}},
{"ph":"s","id":"@","cat":"ac2g","name":"@","pid":1,"tid":1,"ts":1331},{"ph":"f","id":"@","bp":"@","cat":"@","name":"@","pid":0,"tid":7,"ts":1700},
{"ph":"b","id":"@","scope":"@","cat":"@","name":"@","pid":1,"tid":1,"ts":2801,"args":{"@":"@"}},{"ph":"n","id":"@","id2":{"local":"@","@":"@"},"cat":"@","name":"@","pid":1,"tid":1,"ts":2802},{"ph":"e","id":"@","cat":"@","name":"@","pid":1,"tid":1,"ts":2804},
{"ph":"S","id":"@","cat":"@","name":"@","pid":1,"tid":1,"ts":2811},{"ph":"T","id":"@","cat":"@","name":"@","pid":1,"tid":1,"ts":2812},{"ph":"F","id":"@","cat":"@","name":"@","pid":1,"tid":1,"ts":2813},
{"ph":"N","id":"@","cat":"@","name":"@","pid":1,"tid":1,"ts":2821},{"ph":"O","id":"@","cat":"@","name":"@","pid":1,"tid":1,"ts":2822,"args":{"snapshot":{"@":"@"}}},{"ph":"D","id":"@","cat":"@","name":"@","pid":1,"tid":1,"ts":2823},
{"ph":"P","cat":"@","name":"@","pid":1,"tid":1,"ts":2831},{"ph":"c","cat":"@","name":"@","pid":1,"tid":1,"ts":2832},{"ph":"v","id":"@","name":"@","pid":1,"ts":2833,"args":{"dumps":{"@":"@"}}},
"@",["@"],12345,
{"ph":"X","cat":"critical_path","name":"@","pid":9,"tid":9,"ts":2900,"dur":5,"args":{"evidence":"@","resource":"@","kind":"@"}},
{"@":"@"}
],"after":"@","afterList":[{"@":"@"}]}`

// plant puts a name of its own at every place.
func plant() string {
	n := 0
	return regexp.MustCompile(`@`).ReplaceAllStringFunc(planted, func(string) string {
		n++
		return fmt.Sprintf("%s%03dzq", [...]string{"acme", "ACME", "Acme"}[n%3], n)
	})
}

// TestAnonymousOutputs looks for the planted names in everything that a run writes.
func TestAnonymousOutputs(t *testing.T) {
	inputs := map[string]string{"object": plant(), "cut": plant()[:len(plant())-90]}
	list := plant()
	list = list[strings.Index(list, "[\n{"):]
	inputs["array"] = list[:strings.LastIndex(list, "],\"after")+1]
	if shared, err := os.ReadFile(filepath.Join(corpus.Dir(t), "../repro/anon.json")); err == nil {
		inputs["shared"] = string(shared)
	} else {
		t.Log("no further trace beside the real ones, only the ones made here are looked at")
	}
	for name, text := range inputs {
		for _, suffix := range []string{".json", ".json.gz", ".pftrace", ".pftrace.gz"} {
			for i, flags := range [][]string{
				{"--report", "r.json", "--segments", "--analysis", "all"},
				{"--report", "r.html", "--only-critical", "--flows", "all"},
				{"--method", "ctda", "--report", "r.html", "--analysis", "all"},
				{"--method", "hta", "--report", "r.json", "--plain"},
				{"--annotation", "ProfilerStep#", "--report", "r.html", "--only-critical"},
			} {
				t.Run(fmt.Sprintf("%s%s-%d", name, suffix, i), func(t *testing.T) { anonymousOutputs(t, text, suffix, flags) })
			}
		}
	}
}

func anonymousOutputs(t *testing.T, text, suffix string, flags []string) {
	dir := t.TempDir()
	in := filepath.Join(dir, "acme_job.json")
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"overlay", "run", "-i", in, "-o", filepath.Join(dir, "out"+suffix), "--anonymize"}
	for _, f := range flags {
		if strings.HasPrefix(f, "r.") {
			f = filepath.Join(dir, f)
		}
		args = append(args, f)
	}
	var stdout, stderr bytes.Buffer
	if status := run(args, nil, &stdout, &stderr); status != exitDone {
		if strings.Contains(strings.Join(flags, " "), "--annotation") && status == exitFailed || strings.Contains(text, "SECRET") {
			t.Skip(stderr.String())
		}
		t.Fatalf("status %d: %s", status, stderr.String())
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, f := range files {
		if f.Name() == filepath.Base(in) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f.Name(), ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if data, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		wantNoSecret(t, f.Name(), data)
		looked++
	}
	if looked != 2 {
		t.Errorf("looked at %d outputs", looked)
	}
	wantNoSecret(t, "standard output", stdout.Bytes())
}

// secretTexts are in small letters.
var secretTexts = []string{"acme", "secret", `\u0061cme`, "987654321"}

func wantNoSecret(t *testing.T, name string, data []byte) {
	t.Helper()
	small := bytes.ToLower(data)
	for _, secret := range secretTexts {
		if at := bytes.Index(small, []byte(secret)); at >= 0 {
			t.Errorf("%s: %q", name, small[max(0, at-60):min(len(small), at+60)])
		}
	}
}

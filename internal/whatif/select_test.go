package whatif_test

import (
	"slices"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
	"overlay/internal/whatif"
)

// TestStepHasItsStart: a step holds what starts with it and what it launched, whenever that runs; what starts with the next one belongs there.
func TestStepHasItsStart(t *testing.T) {
	g, _ := testtrace.Exact(t, testtrace.Lines(t, `
note 1 ProfilerStep#1 100 100
note 1 ProfilerStep#2 200 100
call 1 cudaLaunchKernel 50 5 1
call 1 cudaLaunchKernel 100 5 2
call 1 cudaLaunchKernel 200 5 3
kernel 7 before 60 20 1
kernel 7 first 210 20 2
kernel 7 second 240 20 3
`))
	for step, want := range map[string][]string{"step:1": {"first"}, "step:2": {"second"}, "step:ProfilerStep#2": {"second"}} {
		set, err := whatif.NewSelector(whatif.New(g), nil).Select(step)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		calls := 0
		set.Each(func(a cdg.ActID) {
			switch name := g.Trace.Str(g.Trace.Events[g.Acts[a].Event].Name); {
			case g.Lanes[g.Acts[a].Lane].Stream:
				got = append(got, name)
			case name == "cudaLaunchKernel":
				calls++
			}
		})
		if !slices.Equal(got, want) || calls != 1 {
			t.Errorf("%s: %v and %d launches, want %v and 1", step, got, calls, want)
		}
	}
}

// TestNearest: a message about a selector names three at most, and no further one behind a long one.
func TestNearest(t *testing.T) {
	long := strings.Repeat("k", 500)
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"a", "b", "c", "d"}, `"a", "b", "c"`},
		{[]string{"a", long, "c"}, `"a"`},
		{[]string{long, "b"}, `"` + long[:100] + `…", "b"`},
		{[]string{long, strings.Repeat("b", 60)}, `"` + long[:100] + `…"`},
	} {
		if got := whatif.Nearest(c.names); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestSelect: selectors in, what they select out, and what is said of those that select nothing.
func TestSelect(t *testing.T) {
	g, _ := testtrace.Exact(t, testtrace.Parse(t, []byte(`{"traceEvents":[
{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":1,"ts":100,"dur":100},
{"ph":"X","cat":"cpu_op","name":"aten::a","pid":1,"tid":1,"ts":10,"dur":20},
{"ph":"X","cat":"cuda_runtime","name":"call1","pid":1,"tid":1,"ts":12,"dur":2,"args":{"correlation":1}},
{"ph":"X","cat":"user_annotation","name":"x in y","pid":1,"tid":1,"ts":40,"dur":20},
{"ph":"X","cat":"cpu_op","name":"aten::b","pid":1,"tid":1,"ts":42,"dur":8},
{"ph":"X","cat":"cuda_runtime","name":"call2","pid":1,"tid":1,"ts":44,"dur":2,"args":{"correlation":2}},
{"ph":"X","cat":"python_function","name":"f.py(1): f","pid":1,"tid":1,"ts":62,"dur":18},
{"ph":"X","cat":"cpu_op","name":"aten::c","pid":1,"tid":2,"ts":20,"dur":5},
{"ph":"X","cat":"cuda_runtime","name":"call3","pid":1,"tid":1,"ts":105,"dur":1,"args":{"correlation":3}},
{"ph":"X","cat":"cuda_runtime","name":"call4","pid":1,"tid":1,"ts":107,"dur":1,"args":{"correlation":4}},
{"ph":"X","cat":"kernel","name":"k1","pid":0,"tid":7,"ts":20,"dur":10,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","name":"k2","pid":0,"tid":20,"ts":110,"dur":10,"args":{"device":0,"stream":20,"correlation":2}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":1,"tid":7,"ts":120,"dur":5,"args":{"device":1,"stream":7,"correlation":3}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":20,"ts":140,"dur":5,"args":{"device":0,"stream":20,"correlation":4}}]}`)))
	for text, want := range map[string]string{
		"aten::a": "aten::a", "name: aten::a": "aten::a", "aten::*": "aten::a, aten::b, aten::c", "k*": "k1, k2", "*::b": "aten::b", "a*:*c": "aten::c", "x in y": "x in y",
		"class:cpu": "ProfilerStep#1, ProfilerStep#2, aten::a, aten::b, aten::c, call1, call2, call3, call4, f.py(1): f, x in y", "class:runtime": "call1, call2, call3, call4",
		"class:python": "f.py(1): f", "class:compute": "k1, k2", "class:gpu_compute": "k1, k2", "class:comm": "ncclDevKernel_AllReduce", "class:copy": "Memcpy HtoD",
		"stream:7": "Memcpy HtoD, k1", "stream:1/7": "Memcpy HtoD", "stream:0/7": "k1", "stream: 20": "k2, ncclDevKernel_AllReduce", "thread:2": "aten::c",
		"class:runtime in thread:main": "call1, call2, call3, call4", "class:runtime in thread:1": "call1, call2, call3, call4",
		"step:1": "ProfilerStep#1, aten::a, aten::b, aten::c, call1, call2, f.py(1): f, k1, k2, x in y", "step:ProfilerStep#2": "Memcpy HtoD, ProfilerStep#2, call3, call4, ncclDevKernel_AllReduce",
		"annotation:in y": "aten::b, call2, k2, x in y", "under:x in y": "aten::b, call2, x in y", "under:aten::*": "aten::a, aten::b, aten::c, call1, call2", "class:compute in annotation:x in y": "k2",
		"class:compute in step:1 in stream:7": "k1", "phase:backward": `error "phase:backward" selects nothing in the window; the report lists the names that matter`, "phase:x": `error no phase "x": DataLoad, Forward, Loss, Backward, Communication, Update, Other`,
		"": "error a change without a selector: say what is to change, as in aten::copy_=0.5", "*": `error "*" selects all 15 activities of the window: say which are to change, as in class:cpu=0.5`,
		"class:gpu": `error no class "gpu": compute, comm, copy, cpu, runtime, python; of delays launch, sync, handoff, unexplained, untraced`, "stream:x": `error "x" is no stream: stream:7, or stream:1/7 for that of device 1`,
		"stream:x/7": `error "x/7" is no stream: stream:7, or stream:1/7 for that of device 1`, "step:9": `error no step "9" in the trace`, "step:decode": `error no step "decode" in the trace`,
		"rank:3": `error "rank:3" selects nothing: it is for the traces of several ranks, and here is one`, "aten::a in host:x": `error "aten::a in host:x" selects nothing: it is for the traces of several ranks, and here is one`,
		"transfer": `error "transfer" selects nothing: it is for the traces of several ranks, and here is one`, "aten::A": `error "aten::A" selects nothing in the window; near are "aten::a", "aten::b", "aten::c"`,
		"k": `error "k" selects nothing in the window; near are "k1", "k2", "ncclDevKernel_AllReduce"`, "k1 in stream:20": `error "k1 in stream:20" selects nothing in the window; the report lists the names that matter`,
	} {
		set, err := whatif.NewSelector(whatif.New(g), nil).Select(text)
		got := ""
		if err != nil {
			got = "error " + err.Error()
		} else {
			var names []string
			set.Each(func(a cdg.ActID) { names = append(names, g.Trace.Str(g.Trace.Events[g.Acts[a].Event].Name)) })
			slices.Sort(names)
			got = strings.Join(names, ", ")
		}
		if got != want {
			t.Errorf("%q: %s\nwant %s", text, got, want)
		}
	}
}

package ranks

import (
	"fmt"
	"slices"
	"testing"

	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestDoing: time of a thread inside of a data loader counts as that of the loader, however many frames are recorded there; beside it under its own name.
func TestDoing(t *testing.T) {
	tr, err := kineto.Parse([]byte(`{"traceEvents": [
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":1,"tid":1,"ts":0,"dur":1000},
{"ph":"X","cat":"user_annotation","name":"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__","pid":1,"tid":1,"ts":100,"dur":300},
{"ph":"X","cat":"python_function","name":"data.py(7): fetch","pid":1,"tid":1,"ts":110,"dur":280},
{"ph":"X","cat":"cpu_op","name":"aten::stack","pid":1,"tid":1,"ts":120,"dur":200},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":500,"dur":200}]}`), "t.json", kineto.Options{})
	s := summaryOf(t, tr, err)
	busy := map[string]int64{}
	for _, x := range s.Spent {
		busy[s.Names[x.Name]] += x.Busy
	}
	if got := busy["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"]; got != 300_000 || busy["aten::mm"] != 200_000 || busy["aten::stack"] != 0 {
		t.Errorf("the loader took %d ns, by name %v", got, busy)
	}
}

// summaryOf is the summary of a trace.
func summaryOf(t *testing.T, tr *trace.Trace, err error) *Summary {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	g, p := testtrace.Exact(t, tr)
	return Summarize(g, p, Identity{Source: "t.json"})
}

// TestGivenByLaunch: a kernel counts for the innermost operator around its launch, with the shapes of that; those of a graph, and one that no operator launched, count for themselves, by their grids.
// An operator in a step that the trace does not show, and one of which no shapes make sense, counts for nothing.
func TestGivenByLaunch(t *testing.T) {
	tr, err := kineto.Parse([]byte(`{"traceEvents": [
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":1,"tid":1,"ts":0,"dur":1000},
{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":100,"dur":80,"args":{"Input Dims":[[9,9]],"Input type":["float"]}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":110,"dur":50,"args":{"Input Dims":[[4,8],[8,2]],"Input type":["float","float"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":120,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":130,"dur":5,"args":{"correlation":2}},
{"ph":"X","cat":"cpu_op","name":"step","pid":1,"tid":1,"ts":200,"dur":80,"args":{"Input Dims":[[9,9]],"Input type":["float"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":210,"dur":5,"args":{"correlation":3}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":300,"dur":5,"args":{"correlation":4}},
{"ph":"X","cat":"cpu_op","name":"odd","pid":1,"tid":1,"ts":400,"dur":80,"args":{"Input Dims":[[-3,9],[]],"Input type":["Scalar","float"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":410,"dur":5,"args":{"correlation":5}},
{"ph":"X","cat":"cpu_op","name":"late","pid":1,"tid":1,"ts":1100,"dur":80,"args":{"Input Dims":[[9,9]],"Input type":["float"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1110,"dur":5,"args":{"correlation":6}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":140,"dur":10,"args":{"correlation":1,"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"split","pid":0,"tid":7,"ts":150,"dur":20,"args":{"correlation":2,"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"of graph","pid":0,"tid":7,"ts":220,"dur":30,"args":{"correlation":3,"device":0,"stream":7,"grid":[4,2,1],"block":[32,1,1]}},
{"ph":"X","cat":"kernel","name":"alone","pid":0,"tid":7,"ts":310,"dur":40,"args":{"correlation":4,"device":0,"stream":7,"grid":[5,1,1],"block":[64,1,1]}},
{"ph":"X","cat":"kernel","name":"of odd","pid":0,"tid":7,"ts":420,"dur":50,"args":{"correlation":5,"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"of late","pid":0,"tid":7,"ts":1120,"dur":50,"args":{"correlation":6,"device":0,"stream":7}}]}`), "t.json", kineto.Options{})
	s := summaryOf(t, tr, err)
	var got []string
	for _, g := range s.Given {
		got = append(got, fmt.Sprintf("%s %d %s %d", s.Names[g.Name], g.Amount, g.Unit, g.Busy))
	}
	want := []string{"alone 320 threads 40000", "aten::mm 128 flops 30000", "of graph 256 threads 30000"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

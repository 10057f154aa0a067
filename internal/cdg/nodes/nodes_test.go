package nodes_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"overlay/internal/cdg"
	"overlay/internal/cdg/phases"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/nodecheck"
	"overlay/internal/trace"
)

func build(t *testing.T, tr *trace.Trace) *graph.Graph {
	t.Helper()
	g := testtrace.Graph(t, tr)
	if err := nodecheck.Check(g); err != nil {
		t.Error(err)
	}
	return g
}

// Each rule of aggregation by the smallest trace that shows it, as the graph's text.
var nodeCases = []struct{ name, text, want string }{
	{"a phase ends a node, and so does the way back", `
op 1 aten::mm 0 100
op 1 record_param_comms 100 60
op 1 aten::mm 160 100
`, `node 0 cpu Forward lane=0 0..100000 busy=100000 events=1 sync=false first="aten::mm" last="aten::mm" launch="-"
node 1 cpu Communication lane=0 100000..160000 busy=60000 events=1 sync=false first="record_param_comms" last="record_param_comms" launch="-"
node 2 cpu Forward lane=0 160000..260000 busy=100000 events=1 sync=false first="aten::mm" last="aten::mm" launch="-"
edge 0 -> 1 sequential
edge 1 -> 2 sequential
`},
	{"short communication that starts nothing ends no node", `
op 1 aten::mm 0 100
op 1 record_param_comms 100 49
op 1 aten::mm 160 100
`, `node 0 cpu Forward lane=0 0..260000 busy=249000 events=3 sync=false first="aten::mm" last="aten::mm" launch="-"
`},
	{"self time of no phase joins below 50 µs", `
note 1 ProfilerStep#1 0 249
op 1 aten::mm 0 100
op 1 aten::mm 149 100
`, `node 0 cpu Forward lane=0 0..249000 busy=249000 events=3 sync=false first="ProfilerStep#1" last="aten::mm" launch="-"
`},
	{"self time of no phase is a node from 50 µs", `
note 1 ProfilerStep#1 0 250
op 1 aten::mm 0 100
op 1 aten::mm 150 100
`, `node 0 cpu Forward lane=0 0..100000 busy=100000 events=2 sync=false first="ProfilerStep#1" last="aten::mm" launch="-"
node 1 cpu Other lane=0 100000..150000 busy=50000 events=0 sync=false first="ProfilerStep#1" last="ProfilerStep#1" launch="-"
node 2 cpu Forward lane=0 150000..250000 busy=100000 events=1 sync=false first="aten::mm" last="aten::mm" launch="-"
edge 0 -> 1 sequential
edge 1 -> 2 sequential
`},
	{"a launch to another stream ends a node, inside an op too", `
op 1 aten::mm 0 100
call 1 cudaLaunchKernel 10 5 1
call 1 cudaLaunchKernel 50 5 2
kernel 7 a 20 30 1
kernel 9 b 60 30 2
`, `node 0 cpu Forward lane=0 0..50000 busy=50000 events=2 sync=false first="aten::mm" last="aten::mm" launch="cudaLaunchKernel"
node 1 gpu Forward lane=1 20000..50000 busy=30000 events=1 sync=false first="a" last="a" launch="-"
node 2 cpu Forward lane=0 50000..100000 busy=50000 events=1 sync=false first="cudaLaunchKernel" last="aten::mm" launch="cudaLaunchKernel"
node 3 gpu Forward lane=2 60000..90000 busy=30000 events=1 sync=false first="b" last="b" launch="-"
edge 0 -> 1 call
edge 0 -> 2 sequential
edge 2 -> 3 call
`},
	{"a call that waited opens a node", `
call 1 cudaLaunchKernel 0 5 1
call 1 cudaStreamSynchronize 10 100
op 1 aten::mm 111 20
kernel 7 a 6 100 1
`, `node 0 cpu Forward lane=0 0..5000 busy=5000 events=1 sync=false first="cudaLaunchKernel" last="cudaLaunchKernel" launch="cudaLaunchKernel"
node 1 gpu Forward lane=1 6000..106000 busy=100000 events=1 sync=false first="a" last="a" launch="-"
node 2 cpu Forward lane=0 10000..131000 busy=120000 events=2 sync=true first="cudaStreamSynchronize" last="aten::mm" launch="-"
edge 0 -> 1 call
edge 0 -> 2 sequential
edge 1 -> 2 sync
`},
	{"a call that waited below 20 µs opens none", `
call 1 cudaLaunchKernel 0 5 1
call 1 cudaStreamSynchronize 10 23
op 1 aten::mm 33 20
kernel 7 a 6 23 1
`, `node 0 cpu Forward lane=0 0..53000 busy=48000 events=3 sync=false first="cudaLaunchKernel" last="aten::mm" launch="cudaLaunchKernel"
node 1 gpu Forward lane=1 6000..29000 busy=23000 events=1 sync=false first="a" last="a" launch="-"
edge 0 -> 1 call
`},
	{"a copy that its call waited for belongs to the node before", `
op 1 aten::mm 0 20
op 1 aten::copy_ 20 200
call 1 cudaMemcpyAsync 30 100 1
copy 7 Memcpy~DtoH~(Device~->~Pageable) 40 85 1
`, `node 0 cpu Forward lane=0 0..30000 busy=30000 events=2 sync=false first="aten::mm" last="aten::copy_" launch="cudaMemcpyAsync"
node 1 cpu Forward lane=0 30000..220000 busy=190000 events=1 sync=true first="cudaMemcpyAsync" last="aten::copy_" launch="-"
node 2 gpu Forward lane=1 40000..125000 busy=85000 events=1 sync=false first="Memcpy DtoH (Device -> Pageable)" last="Memcpy DtoH (Device -> Pageable)" launch="-"
edge 0 -> 1 sequential
edge 2 -> 1 sync
edge 0 -> 2 call
`},
	{"threads that take turns are one, and what waits is no work", `
note 1 ProfilerStep#1 0 400
op 1 aten::mm 0 100
op 2 autograd::engine::evaluate_function:~MmBackward0 110 180
op 1 aten::add_ 300 100
`, `node 0 cpu Forward lane=0 0..110000 busy=110000 events=2 sync=false first="ProfilerStep#1" last="ProfilerStep#1" launch="-"
node 1 cpu Backward lane=1 110000..300000 busy=190000 events=1 sync=false first="autograd::engine::evaluate_function: MmBackward0" last="ProfilerStep#1" launch="-"
node 2 cpu Update lane=0 300000..400000 busy=100000 events=1 sync=false first="aten::add_" last="aten::add_" launch="-"
edge 0 -> 1 cross_thread
edge 1 -> 2 sequential
`},
	{"an op belongs to the node of what it encloses from its first instant", `
op 1 aten::mm 0 100
op 1 c10d::allreduce_ 100 100
op 1 record_param_comms 100 90
`, `node 0 cpu Forward lane=0 0..100000 busy=100000 events=1 sync=false first="aten::mm" last="aten::mm" launch="-"
node 1 cpu Communication lane=0 100000..200000 busy=100000 events=2 sync=false first="c10d::allreduce_" last="c10d::allreduce_" launch="-"
edge 0 -> 1 sequential
`},
	{"a stream's operations of several threads interleave", `
op 1 x 0 100
op 2 x 0 100
op 3 x 0 100
call 1 cudaLaunchKernel 1 2 1
call 2 cudaLaunchKernel 2 2 2
call 1 cudaLaunchKernel 4 2 3
call 3 cudaLaunchKernel 6 2 4
kernel 7 a 10 10 1
kernel 7 b 30 10 2
kernel 7 a 70 10 3
kernel 7 c 85 10 4
`, `node 0 cpu Forward lane=0 0..100000 busy=100000 events=3 sync=false first="x" last="x" launch="cudaLaunchKernel"
node 1 cpu Forward lane=1 0..100000 busy=100000 events=2 sync=false first="x" last="x" launch="cudaLaunchKernel"
node 2 cpu Forward lane=2 0..100000 busy=100000 events=2 sync=false first="x" last="x" launch="cudaLaunchKernel"
node 3 gpu Forward lane=3 10000..80000 busy=20000 events=2 sync=false first="a" last="a" launch="-"
node 4 gpu Forward lane=3 30000..40000 busy=10000 events=1 sync=false first="b" last="b" launch="-"
node 5 gpu Forward lane=3 85000..95000 busy=10000 events=1 sync=false first="c" last="c" launch="-"
edge 0 -> 3 call
edge 1 -> 4 call
edge 3 -> 4 sequential
edge 2 -> 5 call
edge 3 -> 5 sequential
edge 4 -> 5 sequential
`},
	{"a thread that takes turns with the engine's, not with the main thread, stays apart", `
note 1 forward 0 100
op 1 aten::mm 0 100
op 2 autograd::engine::evaluate_function:~X 110 200
note 3 forward 0 90
op 3 aten::mm 0 90
`, `node 0 cpu Forward lane=0 0..100000 busy=100000 events=2 sync=false first="forward" last="aten::mm" launch="-"
node 1 cpu Forward lane=2 0..90000 busy=90000 events=2 sync=false first="forward" last="aten::mm" launch="-"
node 2 cpu Backward lane=1 110000..310000 busy=200000 events=1 sync=false first="autograd::engine::evaluate_function: X" last="autograd::engine::evaluate_function: X" launch="-"
edge 0 -> 2 cross_thread
`},
	{"operations without a launch form a node as long as they follow one another", `
call 1 cudaLaunchKernel 50 5 1
kernel 7 a 0 10
kernel 7 b 20 10
kernel 7 c 60 10 1
kernel 7 d 80 10
`, `node 0 gpu Other lane=1 0..30000 busy=20000 events=2 sync=false first="a" last="b" launch="-"
node 1 cpu Forward lane=0 50000..55000 busy=5000 events=1 sync=false first="cudaLaunchKernel" last="cudaLaunchKernel" launch="cudaLaunchKernel"
node 2 gpu Forward lane=1 60000..70000 busy=10000 events=1 sync=false first="c" last="c" launch="-"
node 3 gpu Other lane=1 80000..90000 busy=10000 events=1 sync=false first="d" last="d" launch="-"
edge 0 -> 2 sequential
edge 1 -> 2 call
edge 2 -> 3 sequential
`},
}

func TestNodes(t *testing.T) {
	for _, c := range nodeCases {
		t.Run(c.name, func(t *testing.T) {
			g := build(t, testtrace.Lines(t, c.text))
			var got strings.Builder
			if err := nodecheck.Write(&got, g); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.String()); diff != "" {
				t.Errorf("graph (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNodeBudget: when collectives would make more CPU nodes than anyone looks at, they end none. What they launched
// stays apart, on a common stream too.
func TestNodeBudget(t *testing.T) {
	var text strings.Builder
	for i := range 1500 {
		at := i * 200
		fmt.Fprintf(&text, "op 1 aten::mm %d 100\ncall 1 cudaLaunchKernel %d 5 %d\nkernel 7 gemm %d 20 %d\n", at, at+5, 2*i+1, at+12, 2*i+1)
		fmt.Fprintf(&text, "op 1 record_param_comms %d 90\ncall 1 cudaLaunchKernel %d 5 %d\nkernel 7 ncclKernel_AllReduce %d 20 %d\n", at+100, at+105, 2*i+2, at+112, 2*i+2)
	}
	g := build(t, testtrace.Lines(t, text.String()))
	var got strings.Builder
	if err := nodecheck.Write(&got, g); err != nil {
		t.Fatal(err)
	}
	want := `node 0 cpu Forward lane=0 0..299990000 busy=285000000 events=6000 sync=false first="aten::mm" last="record_param_comms" launch="cudaLaunchKernel"
node 1 gpu Forward lane=1 12000..299832000 busy=30000000 events=1500 sync=false first="gemm" last="gemm" launch="-"
node 2 gpu Communication lane=1 112000..299932000 busy=30000000 events=1500 sync=false first="ncclKernel_AllReduce" last="ncclKernel_AllReduce" launch="-"
edge 0 -> 1 call
edge 0 -> 2 call
edge 1 -> 2 sequential
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("graph (-want +got):\n%s", diff)
	}
}

// TestNodesOfPrograms holds the invariants on simulated processes of every class.
func TestNodesOfPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		class := rapid.SampledFrom(testtrace.Classes).Draw(t, "class")
		tr := testtrace.Simulated(testtrace.Random(class, rapid.Uint64().Draw(t, "seed"))).Parse(t)
		for _, o := range []cdg.Options{{}, {Annotation: "ProfilerStep"}, {Annotation: "ProfilerStep", Instance: "1"}} {
			g, err := graph.Build(tr, o)
			if err != nil && o.Annotation == "" {
				t.Fatal(err)
			}
			if err == nil {
				err = nodecheck.Check(g)
				if err != nil {
					t.Errorf("window %v: %v", o, err)
				}
			}
		}
	})
}

// TestNodesOfRealTraces holds the invariants, and the sizes, on real traces.
func TestNodesOfRealTraces(t *testing.T) {
	for _, file := range corpus.Files(t, "*.json.gz") {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		tr := testtrace.Read(t, file)
		g := testtrace.Graph(t, tr)
		if err := nodecheck.Check(g); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var busy [phases.NumPhases]int64
		var sum int64
		cpu := 0
		for i := range g.Nodes {
			if n := &g.Nodes[i]; !n.GPU {
				cpu++
				busy[n.Phase] += n.Busy
				sum += n.Busy
			}
		}
		if len(g.Nodes) >= 1000 {
			t.Errorf("%s: %d nodes are no picture", name, len(g.Nodes))
		}
		var shares strings.Builder
		for ph, ns := range busy {
			if ns*200 >= sum && ns > 0 {
				fmt.Fprintf(&shares, " %s %d%%", phases.Phase(ph), 100*ns/sum)
			}
		}
		t.Logf("%-60.60s %7d events %4d CPU %4d GPU nodes %5d edges %s", name, len(tr.Events), cpu, len(g.Nodes)-cpu, len(g.Edges), shares.String())
	}
}

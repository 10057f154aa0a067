package critpath_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
	"overlay/internal/cdg/phases"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/pathcheck"
	"overlay/internal/trace"
)

const micro = 1000

// paperTrace writes traces in µs.
type paperTrace struct {
	b            *testtrace.Builder
	main, grad   *testtrace.Thread
	compute, net *testtrace.Stream
	corr         int64
}

func newPaperTrace() *paperTrace {
	b := testtrace.New()
	return &paperTrace{b: b, main: b.Thread(100, 100, "python"), grad: b.Thread(100, 101, "pt_autograd_0"), compute: b.Stream(0, 7), net: b.Stream(0, 20)}
}

func (p *paperTrace) op(t *testtrace.Thread, name string, from, to int64) *testtrace.Event {
	return t.Op(name, from*micro, (to-from)*micro)
}

// launch adds a call over [at, at+5] and its kernel over [from, to].
func (p *paperTrace) launch(t *testtrace.Thread, at int64, s *testtrace.Stream, name string, from, to int64) {
	p.corr++
	t.Launch("cudaLaunchKernel", at*micro, 5*micro, p.corr)
	s.Kernel(name, from*micro, (to-from)*micro, p.corr)
}

func (p *paperTrace) sync(t *testtrace.Thread, from, to int64) {
	p.corr++
	t.Call("cudaStreamSynchronize", from*micro, (to-from)*micro, p.corr)
}

// ctdaOf builds the graph and the paper's path, and checks what must always hold of it.
func ctdaOf(t testing.TB, tr *trace.Trace) (*graph.Graph, *critpath.Path) {
	t.Helper()
	g := testtrace.Graph(t, tr)
	p, err := critpath.CTDA(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkCTDA(g, p); err != nil {
		t.Error(err)
	}
	return g, p
}

// checkCTDA: the nodes are a chain of edges; segments are sorted, apart, and inside their events and the window;
// time is counted once.
func checkCTDA(g *graph.Graph, p *critpath.Path) error {
	joined := map[[2]nodes.ID]bool{}
	for _, e := range g.Edges {
		joined[[2]nodes.ID{e.From, e.To}] = true
	}
	for i := 1; i < len(p.Nodes); i++ {
		if !joined[[2]nodes.ID{p.Nodes[i-1], p.Nodes[i]}] {
			return fmt.Errorf("no edge from node %d to node %d", p.Nodes[i-1], p.Nodes[i])
		}
	}
	if p.Edges.Len() != len(p.Nodes)-1 {
		return fmt.Errorf("%d edges between %d nodes", p.Edges.Len(), len(p.Nodes))
	}
	at, sum := p.Window.Start, int64(0)
	for i, s := range p.Segments.List() {
		e := &g.Trace.Events[s.Event]
		if s.Start < at || s.End <= s.Start || s.End > p.Window.End || s.Start < e.Start || s.End > g.Trace.End(e) {
			return fmt.Errorf("segment %d: [%d, %d] of event [%d, %d] after %d", i, s.Start, s.End, e.Start, g.Trace.End(e), at)
		}
		at = s.End
		sum += s.End - s.Start
	}
	marked := int64(0)
	for _, m := range p.Marks.All() {
		marked += m.NS
	}
	if window := p.Window.End - p.Window.Start; sum != p.Covered || marked != sum || p.Covered > p.Duration || p.Duration > window {
		return fmt.Errorf("segments %d, marks %d, covered %d, duration %d, window %d", sum, marked, p.Covered, p.Duration, window)
	}
	return nil
}

// marked is the time of each name on the path, µs.
func marked(g *graph.Graph, p *critpath.Path) map[string]float64 {
	ns := map[string]float64{}
	for _, m := range p.Marks.All() {
		ns[g.Trace.Name(m.Event)] += float64(m.NS) / micro
	}
	return ns
}

func edgesOf(g *graph.Graph, p *critpath.Path) string {
	var out strings.Builder
	for _, e := range p.Edges.List() {
		fmt.Fprintf(&out, "%s %q -> %q %d\n", e.Type, g.Trace.Name(e.From), g.Trace.Name(e.To), e.Weight/micro)
	}
	return out.String()
}

// TestFigure3: the longest event of all runs under CPU work. It is no hotspot, and shortening it gains nothing.
func TestFigure3(t *testing.T) {
	run := func(b int64) (*graph.Graph, *critpath.Path) {
		p := newPaperTrace()
		for i := range int64(5) {
			p.op(p.main, fmt.Sprintf("aten::op%d", i), i*100, i*100+100)
		}
		p.launch(p.main, 10, p.compute, "kernel A", 20, 40)
		p.launch(p.main, 110, p.compute, "kernel B", 120, 120+b)
		p.launch(p.main, 210, p.compute, "kernel C", 450, 480)
		return ctdaOf(t, p.b.Parse(t))
	}
	g, long := run(320)
	for name := range marked(g, long) {
		if strings.HasPrefix(name, "kernel") {
			t.Errorf("%s is on the path", name)
		}
	}
	if _, short := run(20); short.Duration != long.Duration || long.Duration != 500*micro {
		t.Errorf("the path takes %d ns with the long kernel, %d with a short one, of 500 µs", long.Duration, short.Duration)
	}
}

// fig4 is a step whose backward pass runs on the engine's thread.
func fig4() *paperTrace {
	p := newPaperTrace()
	p.main.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 100*micro)
	p.op(p.main, "aten::linear", 100, 200).Arg("Sequence number", 1).Arg("Fwd thread id", 0)
	p.op(p.main, "aten::nll_loss", 200, 260)
	p.op(p.grad, "autograd::engine::evaluate_function: NllLossBackward0", 270, 350)
	p.op(p.grad, "autograd::engine::evaluate_function: AddmmBackward0", 350, 470)
	p.op(p.grad, "c10d::allreduce_", 470, 480)
	p.launch(p.grad, 472, p.net, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 482, 500)
	p.main.Annotation("Optimizer.step#SGD.step", 490*micro, 110*micro)
	return p
}

// TestCrossThreadFigure4: from the update the path crosses to the engine's thread and back to the main thread, to the data loading.
func TestCrossThreadFigure4(t *testing.T) {
	g, p := ctdaOf(t, fig4().b.Parse(t))
	var phases []string
	for _, n := range p.Nodes {
		phases = append(phases, g.Nodes[n].Phase.String())
	}
	if got, want := strings.Join(phases, " "), "DataLoad Forward Loss Backward Communication Update"; got != want {
		t.Errorf("phases on the path: %s, want %s", got, want)
	}
	want := `sequential "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" -> "aten::linear" 0
sequential "aten::linear" -> "aten::nll_loss" 0
cross_thread "aten::nll_loss" -> "autograd::engine::evaluate_function: NllLossBackward0" 10
sequential "autograd::engine::evaluate_function: AddmmBackward0" -> "c10d::allreduce_" 0
cross_thread "c10d::allreduce_" -> "Optimizer.step#SGD.step" 10
`
	if diff := cmp.Diff(want, edgesOf(g, p)); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
	if n := p.Quality["ctda_threads_overlap_ns"]; n != 0 {
		t.Errorf("threads that take turns overlap by %d ns", n)
	}
}

// TestThreadsOverlap: where two threads of one logical thread do work at the same time, the quality says for how long.
func TestThreadsOverlap(t *testing.T) {
	p := fig4()
	p.op(p.main, "aten::mul_", 345, 352)
	_, path := ctdaOf(t, p.b.Parse(t))
	if n := path.Quality["ctda_threads_overlap_ns"]; n != 7*micro {
		t.Errorf("overlap of %d ns, want 7000", n)
	}
}

// TestFigure7: of the node that launched, only what comes up to the end of the first launch call counts.
func TestFigure7(t *testing.T) {
	p := newPaperTrace()
	p.op(p.main, "Op A", 0, 10)
	p.op(p.main, "Op B", 10, 20)
	p.launch(p.main, 12, p.compute, "kernel 1", 19, 120)
	p.op(p.main, "Op C", 20, 30)
	p.launch(p.main, 22, p.compute, "kernel 2", 121, 195)
	p.op(p.main, "Op D", 30, 40)
	p.sync(p.main, 40, 200)
	p.op(p.main, "Op E", 205, 230)
	g, path := ctdaOf(t, p.b.Parse(t))
	want := map[string]float64{"Op A": 10, "Op B": 2, "cudaLaunchKernel": 5, "kernel 1": 101, "kernel 2": 74, "cudaStreamSynchronize": 5, "Op E": 25}
	if diff := cmp.Diff(want, marked(g, path)); diff != "" {
		t.Errorf("time on the path, µs (-want +got):\n%s", diff)
	}
	// [17, 19] launch latency, [120, 121] between the kernels, [200, 205] before Op E.
	if path.Covered != 222*micro || path.Duration != 228*micro {
		t.Errorf("covered %d ns of a path of %d", path.Covered, path.Duration)
	}
	if got := path.CPCR(); got != 222.0/230 {
		t.Errorf("CPCR %v, want 222/230", got)
	}
	wantEdges := `call "cudaLaunchKernel" -> "kernel 1" 2
sync "kernel 2" -> "cudaStreamSynchronize" 0
`
	if diff := cmp.Diff(wantEdges, edgesOf(g, path)); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
	exact := testtrace.Path(t, g)
	if err := pathcheck.Check(exact, g); err != nil || exact.Duration != 230*micro { // our own path tiles what CPCR leaves out
		t.Errorf("exact: %d ns, %v", exact.Duration, err)
	}
}

// TestPaperTables: two tables, whose shares are of all events on the path and of the makespan.
func TestPaperTables(t *testing.T) {
	p := newPaperTrace()
	p.op(p.main, "aten::mm", 0, 40)
	p.launch(p.main, 30, p.compute, "gemm", 40, 160)
	p.sync(p.main, 45, 165)
	p.main.Frame("train.py(3): log at 0x7f00", 165*micro, 35*micro)
	g, path := ctdaOf(t, p.b.Parse(t))
	cpu, gpu := critpath.PaperHotspots(g, path)
	covered := float64(path.Covered)
	wantCPU := []critpath.PaperHotspot{
		{Name: "train.py(3): log", Category: "python_function", Calls: 1, NS: 35 * micro, OfPath: 35 * micro / covered, OfMakespan: 0.175},
		{Name: "aten::mm", Category: "cpu_op", Calls: 1, NS: 30 * micro, OfPath: 30 * micro / covered, OfMakespan: 0.15},
		{Name: "cudaLaunchKernel", Category: "cuda_runtime", Calls: 1, NS: 5 * micro, OfPath: 5 * micro / covered, OfMakespan: 0.025},
		{Name: "cudaStreamSynchronize", Category: "cuda_runtime", Calls: 1, NS: 5 * micro, OfPath: 5 * micro / covered, OfMakespan: 0.025},
	}
	wantGPU := []critpath.PaperHotspot{{Name: "gemm", Category: "kernel", Calls: 1, NS: 120 * micro, OfPath: 120 * micro / covered, OfMakespan: 0.6}}
	if diff := cmp.Diff(wantCPU, cpu); diff != "" {
		t.Errorf("CPU (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantGPU, gpu); diff != "" {
		t.Errorf("GPU (-want +got):\n%s", diff)
	}
}

// smallStep is a step of a small network: the shape of the paper's ResNet-18 run.
func smallStep() *paperTrace {
	p := newPaperTrace()
	p.main.Annotation("ProfilerStep#1", 0, 20_000*micro)
	p.main.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 4000*micro)
	t := int64(4000)
	for i := range 62 {
		p.op(p.main, "aten::conv2d", t, t+40).Arg("Sequence number", i).Arg("Fwd thread id", 0)
		p.launch(p.main, t+10, p.compute, "conv", t+18, t+38)
		t += 45
	}
	p.op(p.main, "aten::nll_loss", t, t+60)
	p.launch(p.main, t+10, p.compute, "nll", t+18, t+25)
	t += 70
	for i := range 62 {
		p.op(p.grad, "autograd::engine::evaluate_function: ConvolutionBackward0", t, t+60).Arg("Sequence number", 61-i).Arg("Fwd thread id", 1)
		p.launch(p.grad, t+10, p.compute, "dgrad", t+18, t+50)
		t += 65
	}
	p.main.Annotation("Optimizer.step#SGD.step", t*micro, 1500*micro)
	for range 20 {
		p.op(p.main, "aten::add_", t, t+50)
		p.launch(p.main, t+10, p.compute, "add", t+18, t+40)
		t += 60
	}
	t += 300
	p.op(p.main, "aten::item", t, 20_000)
	p.launch(p.main, t+5, p.compute, "last", t+15, 19_900)
	p.sync(p.main, t+20, 19_905)
	return p
}

// TestSizeOfSmallStep: a small training step is a handful of nodes, as in the paper's Table 3 (13 for 3,802 events).
func TestSizeOfSmallStep(t *testing.T) {
	g, path := ctdaOf(t, smallStep().b.Parse(t))
	if n := len(g.Nodes); n > 16 {
		t.Errorf("%d nodes for %d events", n, len(g.Trace.Events))
	}
	var got []string
	for _, n := range path.Nodes {
		kind := "cpu "
		if g.Nodes[n].GPU {
			kind = "gpu "
		}
		got = append(got, kind+g.Nodes[n].Phase.String())
	}
	want := "cpu DataLoad, cpu Forward, cpu Loss, cpu Backward, cpu Update, gpu Update, cpu Update"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("path %s, want %s", s, want)
	}
}

// resizeTrace is a step of 1,000 µs in which a data loader without workers resizes images for 220 µs.
func resizeTrace(frames bool) *paperTrace {
	p := newPaperTrace()
	p.main.Annotation("ProfilerStep#1", 0, 1000*micro)
	p.main.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 300*micro)
	frame := func(t *testtrace.Thread, name string, from, to int64) {
		if frames {
			t.Frame(name, from*micro, (to-from)*micro)
		}
	}
	frame(p.main, "torch/utils/data/dataloader.py(630): __next__", 1, 299)
	frame(p.main, "torch/utils/data/_utils/fetch.py(51): fetch", 5, 295)
	for i := range int64(4) {
		at := 10 + 70*i
		frame(p.main, "dataset.py(20): __getitem__", at, at+65)
		frame(p.main, fmt.Sprintf("<built-in method resize of ImagingCore object at 0x7f%04x>", 16*i), at+5, at+60)
	}
	t := int64(300)
	frame(p.main, "nn.Module: Net_0", t, 600)
	for t < 580 {
		p.op(p.main, "aten::linear", t, t+18).Arg("Sequence number", int(t)).Arg("Fwd thread id", 0)
		p.launch(p.main, t+5, p.compute, "gemm", t+12, t+17)
		t += 20
	}
	p.op(p.main, "aten::nll_loss", 600, 606)
	frame(p.main, "torch/_tensor.py(466): backward", 606, 856)
	frame(p.main, "<built-in method run_backward of torch._C._EngineBase object at 0x7f33>", 607, 855)
	t = 610
	for t < 840 {
		p.op(p.grad, "autograd::engine::evaluate_function: AddmmBackward0", t, t+18).Arg("Sequence number", int(t)).Arg("Fwd thread id", 1)
		p.launch(p.grad, t+5, p.compute, "dgemm", t+12, t+17)
		t += 20
	}
	p.main.Annotation("Optimizer.step#SGD.step", 860*micro, 140*micro)
	for t = 861; t < 990; t += 10 {
		p.op(p.main, "aten::add_", t, t+9)
	}
	return p
}

// TestResizeUnderDataLoader is the paper's first case: with frames in the trace the first hotspot is the function that
// resizes images, by whatever address its objects have; without frames it is the data loader. What waits for the
// backward pass is no work.
func TestResizeUnderDataLoader(t *testing.T) {
	methods := []struct {
		name string
		find critpath.Method
	}{{"exact", critpath.Exact}, {"ctda", critpath.CTDA}}
	for _, m := range methods {
		for _, c := range []struct {
			frames bool
			first  string
			share  float64
		}{
			{true, "<built-in method resize of ImagingCore object>", 0.22},
			{false, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0.3},
		} {
			g := testtrace.Graph(t, resizeTrace(c.frames).b.Parse(t))
			p, err := m.find(g)
			if err != nil {
				t.Fatal(err)
			}
			spots := critpath.Hotspots(g, p)
			if h := spots[0]; h.Name != c.first || h.ShareOfWindow != c.share || h.Phase != phases.DataLoad {
				t.Errorf("%s, frames %t: first hotspot %q in %s with %.4f of the window, want %q with %.4f", m.name, c.frames, h.Name, h.Phase, h.ShareOfWindow, c.first, c.share)
			}
			if c.frames && spots[0].Caller != "dataset.py(20): __getitem__" {
				t.Errorf("%s: called by %q", m.name, spots[0].Caller)
			}
			for _, h := range spots {
				if strings.Contains(h.Name, "backward of") && h.ShareOfWindow > 0.05 {
					t.Errorf("%s: %q waits, and has %.3f of the window", m.name, h.Name, h.ShareOfWindow)
				}
			}
		}
	}
}

// TestCTDAOfPrograms holds the invariants of the path on simulated processes of every class.
func TestCTDAOfPrograms(t *testing.T) {
	windows := 0
	defer func() {
		if windows == 0 {
			t.Error("no program has steps")
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		class := rapid.SampledFrom(testtrace.Classes).Draw(t, "class")
		tr := testtrace.Simulated(testtrace.Random(class, rapid.Uint64().Draw(t, "seed"))).Parse(t)
		for _, o := range []cdg.Options{{}, {Annotation: "ProfilerStep"}, {Annotation: "ProfilerStep", Instance: "1"}} {
			g, err := graph.Build(tr, o)
			if err != nil && o.Annotation != "" {
				continue // not every program has steps
			}
			if err != nil {
				t.Fatal(err)
			}
			if o.Annotation != "" {
				windows++
			}
			p, err := critpath.CTDA(g)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkCTDA(g, p); err != nil {
				t.Errorf("window %v: %v", o, err)
			}
		}
	})
}

// TestCTDAOfRealTraces holds the invariants on real traces, and reports the paper's ratio beside the sizes and the
// agreement of the first 20 hotspots with those of the exact method.
func TestCTDAOfRealTraces(t *testing.T) {
	for _, file := range corpus.Files(t, "*.json.gz") {
		tr := readTrace(t, file)
		g, p := ctdaOf(t, tr)
		exact := testtrace.Path(t, g)
		first := map[string]bool{}
		for i, h := range critpath.Hotspots(g, exact) {
			if i < 20 {
				first[h.Name] = true
			}
		}
		same, all := 0, 0
		for i, h := range critpath.Hotspots(g, p) {
			if i < 20 {
				all++
				if first[h.Name] {
					same++
				}
			}
		}
		name := file[strings.LastIndexByte(file, '/')+1:]
		t.Logf("%-48.48s %7d events %4d nodes %4d edges %4d on the path CPCR %.3f, hotspots %d of %d", name, len(tr.Events), len(g.Nodes), len(g.Edges), len(p.Nodes), p.CPCR(), same, all)
	}
}

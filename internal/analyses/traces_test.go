package analyses

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// memoryTrace is a step with everything that the other made traces have too little of: events of the allocator, copies
// of all kinds, blocking calls with known causes, and operators that launch several kernels.
func memoryTrace(t testing.TB) *trace.Trace {
	b := testtrace.New()
	b.NoFlows = true // args go to the event added last
	main, compute, side := b.Thread(100, 100, "python"), b.Stream(0, 7), b.Stream(1, 20)
	memory := func(at, device, allocated, reserved int64) {
		e := main.Instant("[memory]", at).Arg("Total Allocated", allocated).Arg("Total Reserved", reserved)
		if device >= 0 {
			e.Arg("Device Type", 1).Arg("Device Id", device)
		} else {
			e.Arg("Device Type", 0).Arg("Device Id", -1)
		}
	}
	main.Frame("train.py(7): train", 0, 900_000)
	main.Annotation("forward", 5_000, 300_000)
	main.Op("aten::linear", 10_000, 100_000)
	main.Op("aten::addmm", 12_000, 90_000)
	main.Launch("cudaLaunchKernel", 15_000, 5_000, 1)
	compute.Kernel("gemm", 25_000, 40_000, 1)
	main.Launch("cudaLaunchKernel", 30_000, 60_000, 2)
	compute.Kernel("bias", 95_000, 3_000, 2)
	memory(14_000, 0, 4<<20, 20<<20)
	memory(50_000, 0, 9<<20, 20<<20)
	memory(50_000, 0, 5<<20, 20<<20)
	memory(60_000, -1, 1<<10, 1<<12)
	main.Op("aten::item", 150_000, 250_000)
	main.Op("aten::_local_scalar_dense", 152_000, 240_000)
	main.Launch("cudaMemcpyAsync", 160_000, 5_000, 3)
	compute.Memcpy("Memcpy DtoH (Device -> Pageable)", 300_000, 2_000, 3).Arg("bytes", 4).Arg("memory bandwidth (GB/s)", testtrace.Raw("0.002"))
	main.Call("cudaStreamSynchronize", 170_000, 140_000, 4)
	main.Launch("cudaMemcpyAsync", 500_000, 5_000, 5)
	side.Memcpy("Memcpy HtoD (Pinned -> Device)", 510_000, 100_000, 5).Arg("bytes", 2_500_000).Arg("memory bandwidth (GB/s)", 25)
	main.Launch("cudaMemsetAsync", 520_000, 5_000, 6)
	side.Memset(620_000, 1_000, 6).Arg("bytes", 4096).Arg("memory bandwidth (GB/s)", testtrace.Raw("4.1"))
	main.Launch("cudaLaunchKernel", 540_000, 5_000, 7)
	side.Kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", 630_000, 150_000, 7)
	main.Call("cudaEventSynchronize", 600_000, 200_000, 8)
	side.GPUAnnotation("forward", 20_000, 300_000)
	return b.Parse(t)
}

// made are the traces that a fresh clone has: the demo, programs of every class of the simulator, and one by hand.
func made(t testing.TB) map[string]*trace.Trace {
	out := map[string]*trace.Trace{"demo": testtrace.Read(t, "../../testdata/demo.json.gz"), "memory": memoryTrace(t)}
	for _, class := range testtrace.Classes {
		for seed := range uint64(2) {
			var r testtrace.Run
			r.Simulate(testtrace.Random(class, seed+1))
			b, _ := r.Build()
			out[fmt.Sprintf("%s %d", class, seed+1)] = b.Parse(t)
		}
	}
	return out
}

// analysed runs all analyses on a trace.
func analysed(t testing.TB, tr *trace.Trace) (*critpath.Path, *Result, error) {
	g, err := graph.Build(tr, cdg.Options{})
	if err != nil {
		return nil, nil, err
	}
	p := testtrace.Path(t, g)
	return p, Run(g, p, Names, Options{}), nil
}

// TestMadeTraces: all analyses run on every made trace, and what they say adds up. Each finds something somewhere.
func TestMadeTraces(t *testing.T) {
	found := map[string]int{}
	for name, tr := range made(t) {
		p, res, err := analysed(t, tr)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		addsUp(t, name, tr, p, res)
		for _, s := range res.Sections() {
			for i := range s.Tables {
				found[s.Tables[i].Name] += s.Tables[i].Rows
			}
		}
		found["rows"] += len(res.Rows)
	}
	for _, table := range []string{"temporal", "idle", "idle_causes", "overlap", "queue", "copies_kinds", "copies_memory", "launch", "launch_delay_histogram",
		"launch_gpu_histogram", "sequences", "operators", "component", "component_operators", "kernels", "kernels_names", "annotations", "blocking", "rows"} {
		if found[table] == 0 {
			t.Errorf("no made trace gives a row of %s: the test has looked at nothing", table)
		}
	}
}

// TestRealTraces does the same on the real traces, where they are.
func TestRealTraces(t *testing.T) {
	files := corpus.Files(t, "*.json.gz")
	built := 0
	for _, f := range files {
		if st, _ := os.Stat(f); testing.Short() && st.Size() > 1<<20 {
			continue
		}
		tr := testtrace.Read(t, f)
		p, res, err := analysed(t, tr)
		if err != nil {
			t.Logf("%s: nothing to analyse: %v", filepath.Base(f), err)
			continue
		}
		built++
		addsUp(t, f, tr, p, res)
	}
	if built < len(files)/2 || built == 0 {
		t.Errorf("only %d of %d traces could be analysed", built, len(files))
	}
}

// addsUp compares the analyses with sums over the events of the window, and with themselves.
func addsUp(t *testing.T, name string, tr *trace.Trace, p *critpath.Path, res *Result) {
	t.Helper()
	var ops, launched, copies, annotations int
	var busy int64
	for i := range tr.Events {
		e := &tr.Events[i]
		if e.Ph != 'X' || e.Start < p.Window.Start || e.Start > p.Window.End {
			continue
		}
		switch e.Kind {
		case trace.Annotation, trace.GPUAnnotation:
			annotations++
		case trace.Memcpy, trace.Memset:
			copies++
			fallthrough
		case trace.Kernel:
			ops++
			busy += tr.Dur(e)
			if tr.Launch(trace.EventID(i)) != trace.NoEvent {
				launched++
			}
		}
	}
	var listed int64
	counted := 0
	for _, k := range res.Kernels {
		listed += k.NS
		counted += k.Others
		for _, n := range k.Names {
			counted += n.Stats.Count
			if n.Stats.Min > n.Stats.P50 || n.Stats.P50 > n.Stats.Max || math.Abs(n.Stats.Mean*float64(n.Stats.Count)-n.Stats.Sum) > 1 {
				t.Errorf("%s: %+v", name, n)
			}
		}
	}
	if listed != busy {
		t.Errorf("%s: kernels sum to %d ns, the operations of the window to %d", name, listed, busy)
	}
	if counted > ops {
		t.Errorf("%s: %d operations listed, there are %d", name, counted, ops)
	}
	if res.Launch.Pairs != launched {
		t.Errorf("%s: %d pairs of launch and operation, there are %d", name, res.Launch.Pairs, launched)
	}
	for _, h := range [][]Bucket{res.Launch.DelayHistogram, res.Launch.GPUHistogram} {
		n := 0
		for _, b := range h {
			n += b.Count
		}
		if n != launched {
			t.Errorf("%s: a histogram of %d values, there are %d", name, n, launched)
		}
	}
	n := 0
	for _, k := range res.Copies.Kinds {
		n += k.Count
	}
	if n != copies {
		t.Errorf("%s: %d copies, there are %d", name, n, copies)
	}
	n = 0
	for _, a := range res.Annotations {
		n += a.Stats.Count
	}
	if n != annotations {
		t.Errorf("%s: %d annotations, there are %d", name, n, annotations)
	}
	partsAddUp(t, name, p, res)
}

// partsAddUp looks at what holds inside one analysis.
func partsAddUp(t *testing.T, name string, p *critpath.Path, res *Result) {
	t.Helper()
	for _, d := range res.Temporal {
		if d.Computation+d.Communication+d.Copies+d.Idle != d.Span || min(d.Computation, d.Communication, d.Copies, d.Idle) < 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
	for _, o := range res.Overlap {
		if o.Hidden+o.Exposed != o.Communication || o.Ratio < 0 || o.Ratio > 1 {
			t.Errorf("%s: %+v", name, o)
		}
	}
	for _, s := range res.Idle {
		sum, shares := int64(0), 0.0
		for _, c := range s.Causes {
			sum, shares = sum+c.NS, shares+c.Share
		}
		if sum != s.Idle || s.Idle > 0 && math.Abs(shares-1) > 1e-9 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	for _, q := range res.Queue {
		if q.Waiting.Min < 0 || q.Waiting.Max > q.Outstanding.Max {
			t.Errorf("%s: %+v", name, q)
		}
	}
	for _, c := range res.Component {
		if c.Overlap+c.Computation+c.Communication+c.Host+c.Free != c.Duration || min(c.Overlap, c.Computation, c.Communication, c.Host, c.Free) < 0 {
			t.Errorf("%s: %+v", name, c)
		}
	}
	for _, q := range res.Sequences {
		if q.Count < 1 || len(q.Kernels) == 0 || q.Critical > p.Window.End-p.Window.Start {
			t.Errorf("%s: %+v", name, q)
		}
	}
	for _, q := range res.Operators {
		if q.Count < 1 || len(q.Kernels) == 0 || !strings.HasPrefix(q.Operator, "aten::") || q.LaunchDelay < 0 {
			t.Errorf("%s: %+v", name, q)
		}
	}
	for _, b := range res.Blocking {
		if b.WaitNS > b.NS || b.Waited > b.Count || b.Critical > b.NS {
			t.Errorf("%s: %+v", name, b)
		}
	}
	for _, row := range res.Rows {
		if row.Name == "" || row.Group == "" || row.About == "" || len(row.Slices) == 0 && len(row.Points) == 0 {
			t.Errorf("%s: an empty row %+v", name, row)
		}
		for i := 1; i < len(row.Slices); i++ {
			if row.Slices[i].Start < row.Slices[i-1].End {
				t.Errorf("%s: %s overlaps itself", name, row.Name)
			}
		}
		for i := 1; i < len(row.Points); i++ {
			if row.Points[i].TS <= row.Points[i-1].TS {
				t.Errorf("%s: %s goes back in time", name, row.Name)
			}
		}
	}
}

// TestMemoryTrace compares with figures counted by hand.
func TestMemoryTrace(t *testing.T) {
	_, res, err := analysed(t, memoryTrace(t))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]CopyKind{}
	for _, k := range res.Copies.Kinds {
		kinds[k.Kind] = k
	}
	if k := kinds["Memcpy HtoD"]; k.Count != 1 || k.NS != 100_000 || k.Bytes != 2_500_000 || k.GBs != 25 || k.Bandwidth.Max != 25 {
		t.Errorf("%+v", k)
	}
	if k := kinds["Memset"]; k.Count != 1 || k.Bytes != 4096 {
		t.Errorf("%+v", k)
	}
	want := []MemoryUse{{Device: "GPU 0", Events: 3, Peak: 9 << 20, Reserved: 20 << 20}, {Device: "cpu", Events: 1, Peak: 1 << 10, Reserved: 1 << 12}}
	for i, m := range res.Copies.Memory {
		if i >= len(want) || m != want[i] {
			t.Errorf("%+v", m)
		}
	}
	var calls []string
	for _, b := range res.Blocking {
		calls = append(calls, fmt.Sprintf("%s in %s: %d waited, hint %t", b.Call, b.Operator, b.Waited, b.Hint != ""))
	}
	slices.Sort(calls)
	if want := []string{"cudaEventSynchronize in : 1 waited, hint true", "cudaStreamSynchronize in aten::item: 1 waited, hint true"}; !slices.Equal(calls, want) {
		t.Errorf("blocking calls %q, want %q", calls, want)
	}
	if l := res.Launch; l.Pairs != 6 || l.RuntimeOutliers != 1 || l.ShortKernels != 2 || l.DelayOutliers != 1 {
		t.Errorf("%+v", l)
	}
}

// TestRegistry: the JSON has the analyses under the names of the registry and in its order; one that was not asked for
// gives nothing; every analysis has a line in the documentation.
func TestRegistry(t *testing.T) {
	var keys []string
	r := reflect.TypeFor[Result]()
	for i := range r.NumField() {
		if name, _, _ := strings.Cut(r.Field(i).Tag.Get("json"), ","); name != "-" {
			keys = append(keys, name)
		}
	}
	if !slices.Equal(keys, Names) {
		t.Errorf("the result has %q, the registry %q", keys, Names)
	}
	tr := memoryTrace(t)
	g, p := testtrace.Exact(t, tr)
	doc, err := os.ReadFile("../../docs/reference/analyses.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names {
		s := Run(g, p, []string{name}, Options{}).Sections()
		if len(s) != 1 || s[0].Name != name || s[0].Title == "" {
			t.Errorf("%s alone gives %+v", name, s)
		}
		if !regexp.MustCompile("(?m)^\\|.*`" + name + "`.*\\|").Match(doc) {
			t.Errorf("docs/reference/analyses.md has no line for %s", name)
		}
	}
	if s := Run(g, p, nil, Options{}).Sections(); s != nil {
		t.Errorf("nothing asked for, %d sections given", len(s))
	}
}

// TestBlockingCallsOfOneFrame: frames that differ in the address of their object only are one place in the code, and one
// row.
func TestBlockingCallsOfOneFrame(t *testing.T) {
	b := testtrace.New()
	main, stream := b.Thread(1, 1, "python"), b.Stream(0, 7)
	main.Frame("train.py(7): train", 0, 1_000_000)
	for i := range int64(10) {
		at := 10_000 + 90_000*i
		main.Frame(fmt.Sprintf("model.py(9): <lambda of Block at 0x7f%02d>", i), at, 80_000)
		main.Launch("cudaLaunchKernel", at+1_000, 2_000, 2*i+1)
		stream.Kernel("gemm", at+5_000, 50_000, 2*i+1)
		main.Call("cudaStreamSynchronize", at+10_000, 50_000, 2*i+2)
	}
	tr := b.Parse(t)
	g, p := testtrace.Exact(t, tr)
	list := blocking(newSet(g, p), Options{})
	if len(list) != 1 || list[0].Count != 10 || list[0].Caller != "model.py(9): <lambda of Block>" {
		t.Errorf("%+v", list)
	}
}

package verdict

import (
	"slices"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestVerdict: one part is named where it holds most, and all that hold about as much where none does. What was not recorded and what happens once
// have words of their own; a replay says what would remain, and which of two parts comes first.
func TestVerdict(t *testing.T) {
	type classes map[critpath.Class]int64
	type kinds map[critpath.SegmentKind]int64
	const cpu, compute, comm = critpath.ClassCPU, critpath.ClassCompute, critpath.ClassComm
	for _, c := range []struct {
		classes classes
		kinds   kinds
		busy    float64
		advice  *Replayed
		want    string
	}{
		{classes{compute: 72, cpu: 14, comm: 13, critpath.ClassLaunch: 1}, nil, 0.72, nil, "bound by GPU compute"},
		{classes{cpu: 51, compute: 49}, nil, 0.5, nil, "bound by CPU (51 %) and GPU compute (49 %)"},
		{classes{compute: 40, critpath.ClassUntraced: 35, cpu: 21, critpath.ClassLaunch: 4}, nil, 0.4, nil, "bound by GPU compute (40 %), host code that was not recorded (35 %) and CPU (21 %)"},
		{classes{cpu: 55, comm: 36, critpath.ClassLaunch: 9}, nil, 0.36, nil, "bound by CPU (55 %)"},
		{classes{cpu: 55, comm: 36, critpath.ClassLaunch: 9}, nil, 0.8, nil, "bound by CPU (55 %), while the GPU is busy 80 % of the time"},
		{classes{critpath.ClassIdle: 68, cpu: 31, critpath.ClassCopy: 1}, nil, 0.1, nil, "mostly waiting for work (68 %), then bound by CPU (31 %)"},
		{classes{critpath.ClassIdle: 100}, nil, -1, nil, "mostly waiting for work (100 %)"},
		{nil, nil, -1, nil, "bound by CPU"},
		{classes{cpu: 100}, kinds{critpath.HostUnrecorded: 83}, -1, nil, "bound by host code that was not recorded"},
		{classes{cpu: 100}, kinds{critpath.HostUnrecorded: 17}, -1, nil, "bound by CPU (83 %); 17 % is host code that was not recorded"},
		{classes{compute: 100}, kinds{critpath.GPUUnrecorded: 98}, 0.02, nil, "bound by GPU work that was not recorded"},
		{classes{critpath.ClassUnexplained: 66, cpu: 34}, nil, 0.9, nil, "bound by waits that nothing recorded explains (66 %), while the GPU is busy 90 % of the time"},
		{classes{cpu: 100}, nil, 0, &Replayed{Base: 3, FirstUse: 97}, "mostly first use, which happens once in a run (97 %), then bound by CPU (3 %)"},
		{classes{cpu: 50, compute: 50}, nil, 0.5, &Replayed{Base: 60, FirstUse: 40}, "bound by GPU compute (50 %) and first use (40 %)"},
		{classes{cpu: 100}, kinds{critpath.HostUnrecorded: 83}, -1, &Replayed{Base: 100, Beside: 84}, "bound by waiting for collectives"},
		{classes{cpu: 100}, kinds{critpath.HostUnrecorded: 60}, -1, &Replayed{Base: 100, Workers: 84, WorkersUnseen: 54}, "bound by waiting for workers of the data loader"},
		{classes{cpu: 90, compute: 10}, nil, 0.3, &Replayed{Base: 100, Without: []Without{{"cpu", 70, false}}}, "bound by CPU; without any time of the CPU 70 % would remain, while the GPU is busy 30 % of the time"},
		{classes{cpu: 90, compute: 10}, nil, 0.1, &Replayed{Base: 74, Without: []Without{{"cpu", 58, false}}}, "bound by CPU; without any time of the CPU 58 % would remain"},
		{classes{compute: 90, cpu: 10}, nil, 0.9, &Replayed{Base: 50, Without: []Without{{"gpu_compute", 40, false}}}, "bound by GPU compute; without GPU compute 90 % would remain"},
		{classes{compute: 90, cpu: 10}, nil, 0.9, &Replayed{Base: 50, Without: []Without{{"gpu_compute", 40, true}}}, "bound by GPU compute; without GPU compute 90 % would remain, mostly waiting for work"},
		{classes{compute: 64, comm: 36}, nil, 0.9, &Replayed{Base: 100, Without: []Without{{"gpu_compute", 85, false}, {"communication", 70, false}}}, "bound by communication (36 %) and GPU compute (64 %)"},
		{classes{compute: 40, cpu: 60}, nil, 0.5, &Replayed{Base: 100, Without: []Without{{"cpu", 96, false}, {"gpu_compute", 70, false}}}, "bound by GPU compute (40 %) and CPU (60 %); without any time of the CPU 96 % would remain"},
		// Where each word begins: half of the most, a twentieth and a third of the window, a tenth of it unseen, a fiftieth beside waits for work.
		{classes{compute: 40, cpu: 20, comm: 20, critpath.ClassCopy: 19}, nil, 0.8, nil, "bound by GPU compute (40 %), CPU (20 %) and communication (20 %)"},
		{classes{compute: 10, cpu: 5}, nil, 0.1, nil, "bound by GPU compute (10 %) and CPU (5 %)"},
		{classes{compute: 4, cpu: 3}, nil, 0.1, nil, "bound by GPU compute (4 %)"},
		{classes{compute: 50, cpu: 33, comm: 17}, nil, 0.67, nil, "bound by GPU compute (50 %)"},
		{classes{compute: 60, cpu: 40}, nil, 0.6, nil, "bound by GPU compute (60 %) and CPU (40 %)"},
		{classes{cpu: 100}, kinds{critpath.HostUnrecorded: 10}, -1, nil, "bound by CPU (90 %); 10 % is host code that was not recorded"},
		{classes{critpath.ClassIdle: 98, cpu: 2}, nil, -1, nil, "mostly waiting for work (98 %), then bound by CPU (2 %)"},
		// Launches, waits and hand-offs are time of the CPU; a device that works without record is no idle one.
		{classes{critpath.ClassLaunch: 90, compute: 10}, nil, 0.1, &Replayed{Base: 100, Without: []Without{{"launch", 70, false}}}, "bound by launch latency; without any time of the CPU 70 % would remain"},
		{classes{critpath.ClassSync: 90, compute: 10}, nil, 0.1, &Replayed{Base: 100, Without: []Without{{"sync", 70, false}}}, "bound by sync; without any time of the CPU 70 % would remain"},
		{classes{critpath.ClassHandoff: 90, compute: 10}, nil, 0.1, &Replayed{Base: 100, Without: []Without{{"handoff", 70, false}}}, "bound by hand-off; without any time of the CPU 70 % would remain"},
		{classes{compute: 100}, kinds{critpath.GPUUnrecorded: 98}, 0.9, nil, "bound by GPU work that was not recorded"},
		// Half of a part has to go for a word about what would remain, and of first use nothing is said.
		{classes{cpu: 90, compute: 10}, nil, 0.1, &Replayed{Base: 100, Without: []Without{{"cpu", 55, false}}}, "bound by CPU"},
		{classes{cpu: 100}, nil, 0, &Replayed{Base: 3, FirstUse: 97, Without: []Without{{"cpu", 70, false}}}, "mostly first use, which happens once in a run (97 %), then bound by CPU (3 %)"},
		{classes{cpu: 50, compute: 50}, nil, 0.5, &Replayed{Base: 100, Without: []Without{{"cpu", 60, false}, {"gpu_compute", 0, false}}}, "bound by GPU compute (50 %) and CPU (50 %)"},
	} {
		b := &Bounds{exact: true, window: 100, busy: c.busy}
		for class, ns := range c.classes {
			b.total.Class[class] = ns
		}
		for kind, ns := range c.kinds {
			b.total.Kind[kind] = ns
		}
		if got := b.Verdict(c.advice).Words; got != c.want {
			t.Errorf("%v %v: %s, want %s", c.classes, c.kinds, got, c.want)
		}
	}
	b := &Bounds{exact: true, window: 100, busy: 0.9, before: 49}
	b.total.Class[compute], b.total.Kind[critpath.GPUUnrecorded] = 100, 49
	if got := b.Verdict(nil).Words; got != "bound by GPU compute (51 %) and GPU work launched before recording began (49 %)" {
		t.Error(got)
	}
	// A server's iterations are judged without what is older than they are.
	b = &Bounds{exact: true, served: true, window: 1000, busy: 0.02, before: 900}
	b.total.Class[compute], b.total.Class[cpu], b.total.Kind[critpath.GPUUnrecorded] = 920, 80, 900
	if got := b.Verdict(nil); got.Words != "bound by CPU, in 100 ns of iterations; the other 900 ns of the window are GPU work launched before recording began" || got.Class != cpu || b.Busy() != "GPU busy 20 %" {
		t.Errorf("%+v, %s", got, b.Busy())
	}
	for before, lead := range map[int64]int64{99: 0, 100: 100, 999: 999, 1000: 0} { // a tenth of the window at least, and not all of it
		if b.before = before; b.Lead() != lead {
			t.Errorf("of %d ns before recording %d are left out, want %d", before, b.Lead(), lead)
		}
	}
	// A function is named where most of what was not recorded is in it, and where it is not the loader's.
	for _, c := range []struct {
		advice *Replayed
		want   string
	}{
		{nil, "bound by host code that was not recorded, in encode()"},
		{&Replayed{Base: 100}, "bound by host code that was not recorded, in encode()"},
		{&Replayed{Base: 100, Workers: 40, WorkersUnseen: 39}, "bound by host code that was not recorded, in encode() (41 %) and waiting for workers of the data loader (40 %)"},
		{&Replayed{Base: 100, Workers: 40, WorkersUnseen: 40}, "bound by host code that was not recorded (40 %), waiting for workers of the data loader (40 %) and CPU (20 %)"},
	} {
		b := &Bounds{exact: true, window: 100, busy: -1, unseen: "encode()"}
		b.total.Class[cpu], b.total.Kind[critpath.HostUnrecorded] = 100, 80
		if got := b.Verdict(c.advice).Words; got != c.want {
			t.Errorf("%+v: %s, want %s", c.advice, got, c.want)
		}
	}
	b = &Bounds{exact: true, window: 100, busy: 0.5, calls: 3}
	if got := b.Verdict(nil).Words; got != "3 launch calls and no record of what the GPU did: what bounds the run is not known" {
		t.Error(got)
	}
	// What recording cost is taken from the CPU: then the device bounds the run.
	b = &Bounds{exact: true, window: 100, busy: 0.45}
	b.total.Class[cpu], b.total.Class[compute] = 60, 40
	a := &Replayed{Base: 100, Recording: 40}
	if got := b.Verdict(a); got.Words != "bound by CPU (60 %)" && got.Words != "bound by CPU (60 %) and GPU compute (40 %)" || got.Without != "recording costs about 40 % of this; without it bound by GPU compute" {
		t.Errorf("%+v", got)
	}
	for cost, want := range map[int64]string{4: "", 5: "recording costs about 5 % of this; without it bound by CPU (58 %) and GPU compute (42 %)"} {
		if got := b.Verdict(&Replayed{Base: 100, Recording: cost}).Without; got != want {
			t.Errorf("%d: %s, want %s", cost, got, want)
		}
	}
	// What the CPU's part cannot hold is taken once from the next, and no share exceeds the rest of the window.
	b = &Bounds{exact: true, window: 100, busy: 0.1}
	b.total.Class[cpu], b.total.Class[compute] = 90, 10
	b.total.Kind[critpath.HostUnrecorded] = 30
	a = &Replayed{Base: 100, FirstUse: 50, Recording: 20}
	if got := b.Verdict(a).Without; got != "recording costs about 20 % of this; without it mostly first use, which happens once in a run (63 %), then bound by GPU compute (13 %); 25 % is host code that was not recorded" {
		t.Error(got)
	}
}

// TestBoundsOf: what is read off a graph and its path: the function that most unrecorded time is in, work from before recording, the busiest device,
// launches of devices that nothing recorded.
func TestBoundsOf(t *testing.T) {
	b := testtrace.New()
	th := b.Thread(1, 1, "")
	names := []string{"encode", "decode", "third", strings.Repeat("é", 40), strings.Repeat("é", 41)}
	for i, name := range names {
		b.Slice("user_annotation", name, 1, 1, int64(i)*100, 90)
	}
	th.Launch("cudaLaunchKernel", 600, 10, 7)
	b.Stream(0, 7)
	b.Stream(1, 7)
	b.Slice("kernel", "k", 0, 7, 620, 380).Arg("device", 0).Arg("stream", 7).Arg("correlation", 7)
	b.Slice("kernel", "k", 1, 7, 700, 200).Arg("device", 1).Arg("stream", 7)
	b.Slice("kernel", "k", 1, 7, 950, 500).Arg("device", 1).Arg("stream", 7)
	tr := b.Parse(t)
	y := testtrace.Graph(t, tr).Graph.Layout
	const host, cpu, gpu, none = critpath.HostUnrecorded, critpath.CPU, critpath.GPUUnrecorded, trace.NoEvent
	type piece struct {
		kind  critpath.SegmentKind
		event trace.EventID
		ns    int64
	}
	bounds := func(y *cdg.Layout, method string, pieces ...piece) *Bounds {
		var list []critpath.Segment
		at := int64(0)
		for _, p := range append(pieces, piece{cpu, 0, 1000}) {
			if end := min(at+p.ns, 1000); at < end {
				list = append(list, critpath.Segment{Start: at, End: end, Kind: p.kind, Event: p.event, Track: trace.NoTrack})
				at = end
			}
		}
		return BoundsOf(y, &critpath.Path{Method: method, Window: cdg.Window{Start: 0, End: 1000}, Segments: critpath.SegmentsOf(list)})
	}
	for _, c := range []struct {
		pieces []piece
		unseen string
		before int64
	}{
		{[]piece{{host, 0, 60}, {host, 1, 40}}, "", 0}, // a tenth of the window is too little
		{[]piece{{host, 0, 61}, {host, 1, 40}}, "encode", 0},
		{[]piece{{host, 0, 60}, {host, 1, 60}}, "decode", 0},
		{[]piece{{host, 1, 60}, {host, 0, 60}}, "decode", 0},
		{[]piece{{host, 0, 50}, {host, 1, 40}, {host, 2, 30}}, "", 0}, // none has half
		{[]piece{{host, 0, 60}, {host, none, 60}, {cpu, 1, 500}}, "encode", 0},
		{[]piece{{host, 3, 200}}, names[3], 0},
		{[]piece{{host, 4, 200}}, strings.Repeat("é", 39) + "…", 0},
		{[]piece{{gpu, none, 30}, {gpu, none, 20}, {cpu, 0, 10}, {gpu, none, 40}}, "", 50},
		{[]piece{{gpu, none, 30}, {gpu, 6, 20}}, "", 30},
		{[]piece{{cpu, none, 30}, {gpu, none, 20}}, "", 0},
	} {
		if got := bounds(y, "exact", c.pieces...); got.unseen != c.unseen || got.before != c.before || !got.exact || got.served || got.alone {
			t.Errorf("%v: %+v", c.pieces, got)
		}
	}
	if got := bounds(y, "ctda"); got.exact || got.busy != 0.38 || got.LaunchCalls() != 0 {
		t.Errorf("%+v", got)
	}
	own := *y
	own.Steps = []cdg.Step{{Of: trace.Iteration{Type: trace.NoIteration}}}
	if bounds(&own, "exact").served {
		t.Error("steps without a type are taken for iterations of a server")
	}
	own.Steps = []cdg.Step{{Of: trace.Iteration{Type: trace.Decode}}}
	own.Lanes = slices.DeleteFunc(slices.Clone(y.Lanes), func(l cdg.Lane) bool { return !l.Stream })
	if got := bounds(&own, "exact"); !got.served || !got.alone {
		t.Errorf("%+v", got)
	}
	b = testtrace.New()
	for i, name := range []string{"cudaMalloc", "cudaLaunchKernel", "cudaMalloc", "cudaMalloc", "cudaLaunchKernel", "cudaGraphLaunch"} {
		b.Slice("cuda_runtime", name, 1, 1, int64(i)*100, 90)
	}
	b.Element(`{"ph":"i","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"s":"t"}`)
	if got := bounds(testtrace.Graph(t, b.Parse(t)).Graph.Layout, "exact"); got.LaunchCalls() != 3 || got.Busy() != "" {
		t.Errorf("%+v", got)
	}
}

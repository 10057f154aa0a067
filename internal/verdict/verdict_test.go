package verdict

import (
	"testing"

	"overlay/internal/critpath"
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
	b := &Bounds{exact: true, window: 100, busy: 0.5, before: 49}
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
	if b.before = 99; b.Lead() != 0 {
		t.Error("less than a tenth of the window is left out")
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
	// What the CPU's part cannot hold is taken once from the next, and no share exceeds the rest of the window.
	b = &Bounds{exact: true, window: 100, busy: 0.1}
	b.total.Class[cpu], b.total.Class[compute] = 90, 10
	b.total.Kind[critpath.HostUnrecorded] = 30
	a = &Replayed{Base: 100, FirstUse: 50, Recording: 20}
	if got := b.Verdict(a).Without; got != "recording costs about 20 % of this; without it mostly first use, which happens once in a run (63 %), then bound by GPU compute (13 %); 25 % is host code that was not recorded" {
		t.Error(got)
	}
}

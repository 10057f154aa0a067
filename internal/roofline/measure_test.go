package roofline

import (
	"testing"

	"overlay/internal/testtrace"
)

// made is a process on an A100 with one operator that launches one kernel.
func made(t *testing.T, op, dims, types, kernel string, ns int64, more func(*testtrace.Event)) []Row {
	t.Helper()
	b := testtrace.New()
	b.NoFlows = true
	b.Device = "NVIDIA A100-SXM4-40GB"
	main, stream := b.Thread(1, 1, "python"), b.Stream(0, 7)
	e := main.Op(op, 0, 30_000).Arg("Input type", testtrace.Raw(types))
	if dims != "" {
		e.Arg("Input Dims", testtrace.Raw(dims))
	}
	if more != nil {
		more(e)
	}
	main.Launch("cudaLaunchKernel", 10_000, 5_000, 1)
	stream.Kernel(kernel, 20_000, ns, 1)
	g, _, ok := testtrace.Analyse(t, b.Parse(t))
	if !ok {
		t.Fatal("nothing to analyse")
	}
	return NewMeter(g).Rows()
}

// TestOlderShapes: the key of shapes in other letters says the same.
func TestOlderShapes(t *testing.T) {
	const square = `[[4096,4096],[4096,4096]]`
	rows := made(t, "aten::mm", square, `["c10::Half","c10::Half"]`, "ampere_h16816gemm", 500_000, func(e *testtrace.Event) { e.Arg("Input dims", testtrace.Raw(square)) })
	older := made(t, "aten::mm", "", `["c10::Half","c10::Half"]`, "ampere_h16816gemm", 500_000, func(e *testtrace.Event) { e.Arg("Input dims", testtrace.Raw(square)) })
	if len(rows) != 1 || len(older) != 1 || rows[0].Class != older[0].Class || older[0].Class != ComputeBound {
		t.Errorf("%+v, with the older key %+v", rows, older)
	}
}

// TestClasses: what an operator is bound by, on made operators whose figures are known.
func TestClasses(t *testing.T) {
	const square = `[[4096,4096],[4096,4096]]` // 137 GFLOP: 441 µs of 312 TFLOP/s, 881 of 156, 7.05 ms of 19.5
	half, float := `["c10::Half","c10::Half"]`, `["float","float"]`
	for _, c := range []struct {
		name, op, dims, types, kernel string
		ns                            int64
		class                         Class
		compute, memory               float64
	}{
		{"near the peak of fp16", "aten::mm", square, half, "ampere_h16816gemm", 500_000, ComputeBound, 0.881, 0.13},
		{"far from it", "aten::mm", square, half, "ampere_h16816gemm", 1_000_000, Underused, 0.44, 0.065},
		{"fp32 by vectors", "aten::mm", square, float, "ampere_sgemm_128x64_tn", 8_000_000, ComputeBound, 0.881, 0.016},
		{"fp32 by tensor cores", "aten::mm", square, float, "ampere_tf32_s1688gemm", 1_000_000, ComputeBound, 0.881, 0.13},
		{"a stream through memory", "aten::relu", `[[100000000]]`, `["float"]`, "elementwise", 600_000, MemoryBound, 0.0085, 0.857},
		{"in the cache", "aten::relu", `[[1000000]]`, `["float"]`, "elementwise", 4_000, Unjudged, 0.0128, -1},
		{"by Winograd", "aten::cudnn_convolution", `[[32,64,56,56],[64,64,3,3],[],[],[],[],[],[],[]]`, `["float","float","","","","","","",""]`, "winograd_nonfused", 100_000, Unjudged, -1, -1},
	} {
		rows := made(t, c.op, c.dims, c.types, c.kernel, c.ns, func(e *testtrace.Event) {
			if c.op == "aten::cudnn_convolution" {
				e.Arg("Concrete Inputs", testtrace.Raw(`["","","[1, 1]","[1, 1]","[1, 1]","1","True","False","True"]`))
			}
		})
		if len(rows) != 1 {
			t.Errorf("%s: %d rows", c.name, len(rows))
			continue
		}
		r := rows[0]
		near := func(got, want float64) bool { return want < 0 && got < 0 || got > 0.97*want && got < 1.03*want }
		if r.Class != c.class || !near(r.Compute, c.compute) || c.memory >= 0 && !near(r.Memory, c.memory) {
			t.Errorf("%s: %+v", c.name, r)
		}
		if r.Class != Unjudged && (r.Compute > 1.05 || r.Memory > 1.05) {
			t.Errorf("%s: over the peak: %+v", c.name, r)
		}
	}
	if rows := made(t, "aten::mm", `[]`, `[]`, "gemm", 1000, nil); len(rows) != 0 {
		t.Errorf("no shapes: %+v", rows)
	}
	if rows := made(t, "my::op", square, half, "gemm", 1000, nil); len(rows) != 0 {
		t.Errorf("no model: %+v", rows)
	}
}

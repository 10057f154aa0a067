package analyses

import (
	"testing"

	"overlay/internal/testtrace"
)

// TestRooflineSteps: a step has the products that start in it, whatever thread and order they have, and no others.
func TestRooflineSteps(t *testing.T) {
	b := testtrace.New()
	main, side, compute, other := b.Thread(100, 100, "python"), b.Thread(100, 101, "python"), b.Stream(0, 7), b.Stream(1, 8)
	corr := int64(0)
	product := func(th *testtrace.Thread, s *testtrace.Stream, at int64, rows string) {
		corr++
		th.Op("aten::mm", at, 20_000).Arg("Input Dims", testtrace.Raw("[["+rows+",32],[32,16]]")).Arg("Input type", testtrace.Raw(`["float","float"]`))
		th.Launch("cudaLaunchKernel", at+1_000, 5_000, corr)
		s.Kernel("gemm", at+7_000, 10_000, corr)
	}
	main.Annotation("ProfilerStep#1", 100_000, 100_000)
	main.Annotation("ProfilerStep#2", 200_000, 100_000)
	main.Annotation("ProfilerStep#3", 300_000, 100_000)
	product(main, compute, 50_000, "1")
	product(main, compute, 100_000, "2") // the start of a step belongs to it, its end does not
	product(main, compute, 150_000, "4")
	product(main, compute, 200_000, "8")
	product(side, compute, 120_000, "16")
	product(main, other, 230_000, "32")
	_, res, err := analysed(t, b.Parse(t))
	if err != nil {
		t.Fatal(err)
	}
	const each = 2 * 32 * 16
	want := map[[2]any]float64{{int64(0), "ProfilerStep#1"}: each * (2 + 4 + 16), {int64(0), "ProfilerStep#2"}: each * 8, {int64(0), "ProfilerStep#3"}: 0,
		{int64(1), "ProfilerStep#1"}: 0, {int64(1), "ProfilerStep#2"}: each * 32, {int64(1), "ProfilerStep#3"}: 0}
	for _, s := range res.Roofline.Steps {
		if n, ok := want[[2]any{s.Device, s.Step}]; !ok || s.Flops != n {
			t.Errorf("%s on device %d: %v operations, want %v", s.Step, s.Device, s.Flops, n)
		}
		delete(want, [2]any{s.Device, s.Step})
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

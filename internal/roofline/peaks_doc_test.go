package roofline

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of peaks in the documentation")

// TestPeaksDocumented: docs/reference/peaks.md lists every device with its figures and the documents that they come from.
func TestPeaksDocumented(t *testing.T) {
	const file = "../../docs/reference/peaks.md"
	var b strings.Builder
	b.WriteString(`# Peaks of devices

What the [roofline](analyses.md) compares with: dense products without sparsity at boost clocks, TFLOP/s by the type of the inputs; fp32
outside of matrix units (vector); GB/s of the device's memory; MB of its last cache. A dash is a type without units. MI250X is one of the two dies
of a card, because the profiler shows each as a device.

| device | fp16 | bf16 | tf32 | fp8 | fp4 | fp64 | vector | GB/s | cache | figures from |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
`)
	figure := func(x float64) string {
		if x == 0 {
			return "–"
		}
		return fmt.Sprint(x)
	}
	for i := range devices {
		d := &devices[i]
		var from []string
		for _, s := range d.sources() {
			if s.Address != "" {
				from = append(from, "["+s.Title+"]("+s.Address+")")
			} else {
				from = append(from, s.Title)
			}
		}
		fmt.Fprintf(&b, "| %s |", d.Name)
		for _, x := range []float64{d.FP16, d.BF16, d.TF32, d.FP8, d.FP4, d.FP64, d.Vector, d.GBs, d.CacheMB} {
			fmt.Fprintf(&b, " %s |", figure(x))
		}
		fmt.Fprintf(&b, " %s |\n", strings.Join(from, "; "))
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != b.String() {
		t.Errorf("%s is not what the table of devices says: run go test ./internal/roofline -run Documented -update", file)
	}
}

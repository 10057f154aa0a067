package roofline

import (
	"regexp"
	"slices"
)

// Device is what a model can do at best: dense products without sparsity, in TFLOP/s, by the type of their inputs; 0 where
// it has no units for them. Vector is fp32 outside of matrix units.
type Device struct {
	Name                             string
	FP16, BF16, TF32, FP8, FP4, FP64 float64
	Vector                           float64
	GBs                              float64 // of its memory
	CacheMB                          float64 // of the last level
	Achievable                       float64 // share of the peak of products that its maker's own measurements reach; 0 for all of it
	match                            string
	from                             []string // names of the sheets
}

// devices are tried in order: the first whose expression fits the name that the profiler writes. The figures are those of
// the makers' documents, for the part with that name and cooling: dense, at boost clocks, one die where each die is a
// device of its own. Achievable shares are AMD's published maximum achievable figures over its peaks for bf16 (MI300X 708 of
// 1,307 TFLOP/s, MI325X 843).
var devices = []Device{
	{Name: "GB200", match: `GB200`, FP16: 2500, BF16: 2500, TF32: 1250, FP8: 5000, FP4: 10000, FP64: 40, Vector: 80, GBs: 8000, CacheMB: 126, from: []string{"blackwell"}},
	{Name: "B200", match: `B200`, FP16: 2250, BF16: 2250, TF32: 1125, FP8: 4500, FP4: 9000, FP64: 37, Vector: 75, GBs: 8000, CacheMB: 126, from: []string{"blackwell"}},
	{Name: "GH200 96GB", match: `GH200`, FP16: 989.4, BF16: 989.4, TF32: 494.7, FP8: 1978.9, FP64: 66.9, Vector: 66.9, GBs: 4022, CacheMB: 60, from: []string{"gh200", "hopper"}},
	{Name: "H200 NVL", match: `H200.*NVL`, FP16: 835.5, BF16: 835.5, TF32: 417.7, FP8: 1670.9, FP64: 60, Vector: 60, GBs: 4800, CacheMB: 50, from: []string{"h200", "hopper"}},
	{Name: "H200 SXM", match: `H200`, FP16: 989.4, BF16: 989.4, TF32: 494.7, FP8: 1978.9, FP64: 66.9, Vector: 66.9, GBs: 4800, CacheMB: 50, from: []string{"h200", "hopper"}},
	{Name: "H20", match: `H20\b`, FP16: 148, BF16: 148, TF32: 74, FP8: 296, FP64: 1, Vector: 44, GBs: 4023, CacheMB: 60, from: []string{"h20"}},
	{Name: "H100 NVL", match: `H100.*NVL`, FP16: 835.5, BF16: 835.5, TF32: 417.7, FP8: 1670.9, FP64: 60, Vector: 60, GBs: 3938, CacheMB: 50, from: []string{"h100", "hopper"}},
	{Name: "H100 PCIe", match: `H100.*PCI`, FP16: 756.4, BF16: 756.4, TF32: 378.2, FP8: 1512.9, FP64: 51.2, Vector: 51.2, GBs: 2039, CacheMB: 50, from: []string{"h100", "hopper"}},
	{Name: "H100 SXM", match: `H100`, FP16: 989.4, BF16: 989.4, TF32: 494.7, FP8: 1978.9, FP64: 66.9, Vector: 66.9, GBs: 3352, CacheMB: 50, from: []string{"h100", "hopper"}},
	{Name: "A100 80GB PCIe", match: `A100.*80GB.*PCI|A100-PCI.*80GB`, FP16: 312, BF16: 312, TF32: 156, FP64: 19.5, Vector: 19.5, GBs: 1935, CacheMB: 40, from: []string{"a100", "ampere"}},
	{Name: "A100 40GB PCIe", match: `A100.*PCI`, FP16: 312, BF16: 312, TF32: 156, FP64: 19.5, Vector: 19.5, GBs: 1555, CacheMB: 40, from: []string{"a100", "ampere"}},
	{Name: "A100 80GB SXM", match: `A100.*80GB|PG509-210`, FP16: 312, BF16: 312, TF32: 156, FP64: 19.5, Vector: 19.5, GBs: 2039, CacheMB: 40, from: []string{"a100", "ampere"}},
	{Name: "A100 40GB SXM", match: `A100|PG509-2`, FP16: 312, BF16: 312, TF32: 156, FP64: 19.5, Vector: 19.5, GBs: 1555, CacheMB: 40, from: []string{"a100", "ampere"}},
	{Name: "A10G", match: `A10G`, FP16: 70, BF16: 70, TF32: 35, FP64: 0.49, Vector: 31.5, GBs: 600, CacheMB: 6, from: []string{"a10g", "ga102"}},
	{Name: "A10", match: `A10\b`, FP16: 125, BF16: 125, TF32: 62.5, FP64: 0.49, Vector: 31.2, GBs: 600, CacheMB: 6, from: []string{"a10", "ga102"}},
	{Name: "A30", match: `A30\b`, FP16: 165, BF16: 165, TF32: 82, FP64: 10.3, Vector: 10.3, GBs: 933, CacheMB: 24, from: []string{"a30", "ampere"}},
	{Name: "A40", match: `A40\b`, FP16: 149.7, BF16: 149.7, TF32: 74.8, FP64: 0.58, Vector: 37.4, GBs: 696, CacheMB: 6, from: []string{"a40", "ga102"}},
	{Name: "RTX A6000", match: `RTX A6000`, FP16: 154.8, BF16: 154.8, TF32: 77.4, FP64: 0.6, Vector: 38.7, GBs: 768, CacheMB: 6, from: []string{"a6000", "ga102"}},
	{Name: "RTX 6000 Ada", match: `RTX 6000 Ada`, FP16: 364.2, BF16: 364.2, TF32: 182.1, FP8: 728.5, FP64: 1.4, Vector: 91.1, GBs: 960, CacheMB: 96, from: []string{"rtx6000", "ada"}},
	{Name: "L40S", match: `L40S`, FP16: 362.1, BF16: 362.1, TF32: 183, FP8: 733, FP64: 1.4, Vector: 91.6, GBs: 864, CacheMB: 96, from: []string{"l40s", "ada"}},
	{Name: "L40", match: `L40\b`, FP16: 181.1, BF16: 181.1, TF32: 90.5, FP8: 362, FP64: 1.4, Vector: 90.5, GBs: 864, CacheMB: 96, from: []string{"ada"}},
	{Name: "L4", match: `L4\b`, FP16: 121, BF16: 121, TF32: 60, FP8: 242.5, FP64: 0.5, Vector: 30.3, GBs: 300, CacheMB: 48, from: []string{"ada"}},
	{Name: "RTX 5090", match: `RTX 5090`, FP16: 209.5, BF16: 209.5, TF32: 104.8, FP8: 419, FP64: 1.6, Vector: 104.8, GBs: 1792, CacheMB: 96, from: []string{"geforce50"}},
	{Name: "RTX 4090", match: `RTX 4090`, FP16: 165.2, BF16: 165.2, TF32: 82.6, FP8: 330.3, FP64: 1.3, Vector: 82.6, GBs: 1008, CacheMB: 72, from: []string{"geforce40"}},
	{Name: "RTX 3090", match: `RTX 3090$`, FP16: 71.2, BF16: 71.2, TF32: 35.6, FP64: 0.56, Vector: 35.6, GBs: 936, CacheMB: 6, from: []string{"ga102"}},
	{Name: "V100 PCIe", match: `V100.*PCI`, FP16: 112, FP64: 7, Vector: 14, GBs: 900, CacheMB: 6, from: []string{"v100", "volta"}},
	{Name: "V100 SXM2", match: `V100`, FP16: 125, FP64: 7.8, Vector: 15.7, GBs: 900, CacheMB: 6, from: []string{"v100", "volta"}},
	{Name: "P100", match: `P100`, FP16: 21.2, FP64: 5.3, Vector: 10.6, GBs: 732, CacheMB: 4, from: []string{"pascal"}},
	{Name: "T4", match: `\bT4\b`, FP16: 65, FP64: 0.25, Vector: 8.1, GBs: 320, CacheMB: 4, from: []string{"t4"}},
	{Name: "MI355X", match: `MI355X`, FP16: 2516.6, BF16: 2516.6, FP8: 5033.2, FP4: 10066.3, FP64: 78.6, Vector: 157.3, GBs: 8000, CacheMB: 256, from: []string{"mi355x"}},
	{Name: "MI325X", match: `MI325X`, FP16: 1307.4, BF16: 1307.4, TF32: 653.7, FP8: 2614.9, FP64: 163.4, Vector: 163.4, GBs: 6000, CacheMB: 256, Achievable: 0.645, from: []string{"mi325x", "cdna3", "reached"}},
	{Name: "MI300A", match: `MI300A`, FP16: 980.6, BF16: 980.6, TF32: 490.3, FP8: 1961.2, FP64: 122.6, Vector: 122.6, GBs: 5300, CacheMB: 256, Achievable: 0.54, from: []string{"mi300a", "cdna3", "reached"}},
	{Name: "MI300X", match: `MI300X`, FP16: 1307.4, BF16: 1307.4, TF32: 653.7, FP8: 2614.9, FP64: 163.4, Vector: 163.4, GBs: 5325, CacheMB: 256, Achievable: 0.54, from: []string{"mi300x", "cdna3", "reached"}},
	{Name: "MI250X, one die", match: `MI250X`, FP16: 191.5, BF16: 191.5, FP64: 47.9, Vector: 47.9, GBs: 1638, CacheMB: 8, from: []string{"mi250x"}},
}

var expressions = func() (list []*regexp.Regexp) {
	for i := range devices {
		list = append(list, regexp.MustCompile(devices[i].match))
	}
	return list
}()

// Known finds a device by the name that the profiler writes, nil for one that is not in the table.
func Known(name string) *Device {
	i := slices.IndexFunc(expressions, func(x *regexp.Regexp) bool { return x.MatchString(name) })
	if i < 0 {
		return nil
	}
	return &devices[i]
}

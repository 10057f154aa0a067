package report

import (
	"cmp"
	"strings"

	"overlay/internal/tables"
)

// rooflineOf shows how much of a device operators use: their classes by device, and the operators with most time as
// bars of their peak.
func rooflineOf(list []tables.Table, _ Names) (s Section) {
	devices, kernels, steps := tables.Find(list, "roofline_devices"), tables.Find(list, "roofline_kernels"), tables.Find(list, "roofline_steps")
	if kernels == nil || kernels.Rows == 0 { // without shapes there is nothing to compare
		for l := range devices.Lines(-1) {
			s.Says += say(l, device+" (") + cmp.Or(Plain(l.Str("model")), "no peaks known") + "): "
		}
		s.Says += "no work is known" + after(": record ", list[0].Line(0).Str("record")) + "."
		return s
	}
	s.Says = "FLOPs and bytes follow from the shapes of the inputs, each input and output counted once" + after("; for more record ", list[0].Line(0).Str("record")) + "."
	for l := range devices.Lines(-1) {
		if !l.Value("flops_use_share").IsNull() && l.Value("flops").Float() != 0 {
			s.Says = say(l, "Products ({flops} in {type}) use {flops_use_share} of the {peak_flops_per_s}/s of GPU {device} over the window, and {product_peak_share} of the peak of the units that compute them while they run. The work is known of {shaped_share} of the kernels' time.")
			break
		}
	}
	classes := bars("", func(l tables.Line) []Part {
		if l.Str("model") == "" {
			return nil
		}
		p := func(kind, word, col string) Part { return Part{kind, l.Value(col).Float(), word + " " + l.Show(col)} }
		return []Part{p("gpu_compute", "near the peak of the units", "compute_bound_share"), p("copy", "near the memory's bandwidth", "memory_bound_share"),
			p("launch", "near neither", "underused_share"), p("nothing", "not judged", "not_judged_share"), p("nothing", "not known", "not_modelled_share")}
	}, Key{"gpu_compute", "near the peak of the units"}, Key{"copy", "near the memory's bandwidth"}, Key{"launch", "near neither"}, Key{"nothing", "not judged or not known"})
	ofPeak := bars("of its peak", func(l tables.Line) []Part {
		kind, col := "gpu_compute", "compute_peak_share"
		if l.Value(col).IsNull() || !l.Value("memory_peak_share").IsNull() && l.Value("memory_peak_share").Float() > l.Value(col).Float() {
			kind, col = "copy", "memory_peak_share"
		}
		if l.Value(col).IsNull() {
			return nil
		}
		return []Part{{kind, min(l.Value(col).Float(), 1), l.Show(col)}}
	}, classes.key...)
	s.Grids = []Grid{
		gridOf(devices, cardRows, "devices", firstLabel("device", func(l tables.Line) Cell { return Cell{Text: say(l, device), Small: say(l, "{model}")} }), inWords(classes),
			figure(devices, "model FLOPs use", "flops_use_share"), figure(devices, "while products run", "product_peak_share"), figure(devices, "work known", "shaped_share")),
		gridOf(kernels, cardRows, "operators of known work",
			label("operator", func(l tables.Line) Cell {
				return Cell{Text: say(l, "{operator} {type}"), Small: say(l, "{readable kernel}"), Title: l.Str("kernel")}
			}), ofPeak,
			figure(kernels, "time", "ns"), figure(kernels, "of compute", "compute_peak_share"), figure(kernels, "of memory", "memory_peak_share"),
			wordsBy("bound by", func(l tables.Line) string { return Words(strings.TrimSuffix(l.Str("class"), "_bound")) }),
			extra(figure(kernels, "calls", "calls")), extra(figure(kernels, "FLOPs", "flops")), extra(figure(kernels, "bytes", "bytes"))),
		gridOf(steps, cardRows, "steps", textual("step", "{step}"), figure(steps, "time", "duration_ns"), figure(steps, "products", "flops"), figure(steps, "model FLOPs use", "flops_use_share")),
	}
	return s
}

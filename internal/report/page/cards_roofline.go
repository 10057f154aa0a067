package page

import (
	"strings"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// rooflineCard shows how much of a device operators use: their classes by device, and the operators with most time as
// bars of their peak.
func rooflineCard(list []tables.Table, _ report.Names) card {
	devices, kernels, steps := tables.Find(list, "roofline_devices"), tables.Find(list, "roofline_kernels"), tables.Find(list, "roofline_steps")
	if kernels == nil || kernels.Rows == 0 {
		return card{} // without shapes there is nothing to compare
	}
	c := card{Key: []keyEntry{{"gpu_compute", "near the peak of the units"}, {"copy", "near the memory's bandwidth"}, {"launch", "near neither"}, {"nothing", "not judged or not known"}}}
	for l := range devices.Lines(-1) {
		if l.Value("flops_use_share").IsNull() || l.Value("flops").Float() == 0 {
			continue
		}
		c.Says = "Products (" + l.Show("flops") + " in " + l.Str("type") + ") use " + l.Show("flops_use_share") + " of the " + l.Show("peak_flops_per_s") + "/s of GPU " + l.Show("device") + " over the window, and " +
			l.Show("product_peak_share") + " of the peak of the units that compute them while they run. The work is known of " + l.Show("shaped_share") + " of the kernels' time."
		break
	}
	if c.Says == "" {
		c.Says = "FLOPs and bytes follow from the shapes of the inputs, each input and output counted once."
	}
	c.Grids = []grid{
		makeGrid(devices, cardRows, "devices", label("device", func(l tables.Line) gridCell {
			return gridCell{Text: "GPU " + l.Show("device"), Small: report.Plain(l.Str("model"))}
		}),
			bars("", func(l tables.Line) []part {
				p := func(kind, word, col string) part {
					return part{kind, l.Value(col).Float(), word + " " + l.Show(col)}
				}
				if l.Str("model") == "" {
					return nil
				}
				return without([]part{p("gpu_compute", "near the peak of the units", "compute_bound_share"), p("copy", "near the memory's bandwidth", "memory_bound_share"),
					p("launch", "near neither", "underused_share"), p("nothing", "not judged", "not_judged_share"), p("nothing", "not known", "not_modelled_share")})
			}),
			figure(devices, "model FLOPs use", "flops_use_share"), figure(devices, "while products run", "product_peak_share"), figure(devices, "work known", "shaped_share")),
		makeGrid(kernels, cardRows, "operators of known work",
			label("operator", func(l tables.Line) gridCell {
				return gridCell{Text: report.Plain(l.Str("operator") + " " + l.Str("type")), Small: report.Plain(report.Readable(l.Str("kernel"))), Title: l.Str("kernel")}
			}),
			bars("of its peak", func(l tables.Line) []part {
				kind, col := "gpu_compute", "compute_peak_share"
				if l.Value("compute_peak_share").IsNull() || !l.Value("memory_peak_share").IsNull() && l.Value("memory_peak_share").Float() > l.Value("compute_peak_share").Float() {
					kind, col = "copy", "memory_peak_share"
				}
				if l.Value(col).IsNull() {
					return nil
				}
				return without([]part{{kind, min(l.Value(col).Float(), 1), l.Show(col)}})
			}),
			figure(kernels, "time", "ns"), figure(kernels, "of compute", "compute_peak_share"), figure(kernels, "of memory", "memory_peak_share"),
			label("bound by", func(l tables.Line) gridCell { return gridCell{Text: boundWords(l.Str("class"))} }),
			extra(figure(kernels, "calls", "calls")), extra(figure(kernels, "FLOPs", "flops")), extra(figure(kernels, "bytes", "bytes"))),
		makeGrid(steps, cardRows, "steps", named("step", "step"), figure(steps, "time", "duration_ns"), figure(steps, "products", "flops"), figure(steps, "model FLOPs use", "flops_use_share")),
	}
	return c
}

// boundWords says what bounds an operator.
func boundWords(class string) string {
	if word, ok := strings.CutSuffix(class, "_bound"); ok {
		return word
	}
	return report.Words(class)
}

package report

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/analyses"
	"overlay/internal/tables"
)

// analysis prints what was asked for, a few lines each.
func (t *text) analysis(s analyses.Section) {
	t.line("")
	t.line("%s", t.bold(s.Title))
	analysisLines[s.Name](t, s.Tables)
}

// analysisLines are the lines of each analysis. Numbers come out of the tables with their unit.
var analysisLines = map[string]func(t *text, list []tables.Table){
	"temporal": func(t *text, list []tables.Table) {
		for l := range list[0].Lines(-1) {
			t.line("  GPU %-3s %11s  computation %s, communication %s, copies %s, idle %s", l.Show("device"), l.Show("span_ns"), l.Share("computation_ns", "span_ns"),
				l.Share("communication_ns", "span_ns"), l.Share("copies_ns", "span_ns"), l.Share("idle_ns", "span_ns"))
		}
	},
	"timeline": func(t *text, list []tables.Table) {
		slotsOf := tables.Find(list, "timeline_slots").By("device")
		for d := range list[0].Lines(-1) {
			curves := [...]struct{ col, word string }{{"computation_ns", "computation"}, {"communication_ns", "communication"}, {"copies_ns", "copies"}, {"outstanding_max", "queue"}}
			var at [len(curves)][]int64
			var whole []int64
			for l := range slotsOf(d) {
				for i, c := range curves {
					at[i] = append(at[i], l.Value(c.col).Int())
				}
				whole = append(whole, l.Value("duration_ns").Int())
			}
			for i, c := range curves {
				most := slices.Max(at[i])
				if most == 0 {
					continue
				}
				full, last := whole, ""
				if c.col == "outstanding_max" {
					full, last = slices.Repeat([]int64{most}, len(whole)), "  most "+tables.Grouped(most)
				}
				t.line("  GPU %-3s %-13s %s%s", d.Show("device"), c.word, curve(at[i], full, t.width-36), last)
			}
		}
	},
	"idle": func(t *text, list []tables.Table) {
		causesOf := tables.Find(list, "idle_causes").By("device", "stream")
		for l := range list[0].Lines(-1) {
			var causes []string
			for c := range causesOf(l) {
				if c.Value("ns").Int() > 0 {
					causes = append(causes, Words(c.Str("cause"))+" "+c.Show("share"))
				}
			}
			t.line("  GPU %s stream %-4s %11s  %s", l.Show("device"), l.Show("stream"), l.Show("idle_ns"), strings.Join(causes, ", "))
		}
	},
	"overlap": func(t *text, list []tables.Table) {
		for l := range list[0].Lines(-1) {
			t.line("  GPU %-3s %8s of %s hidden, %s exposed", l.Show("device"), l.Show("ratio"), l.Show("communication_ns"), l.Show("exposed_ns"))
		}
	},
	"queue": func(t *text, list []tables.Table) {
		for l := range list[0].Lines(-1) {
			t.line("  GPU %s stream %-4s mean %8s, most %6s, %s at the limit, %s calls blocked", l.Show("device"), l.Show("stream"),
				tables.Fixed(l.Value("outstanding_mean").Float(), 1), tables.Fixed(l.Value("outstanding_max").Float(), 0), l.Show("at_limit_ns"), l.Exact("calls_that_blocked"))
		}
	},
	"copies": func(t *text, list []tables.Table) {
		for l := range tables.Find(list, "copies_kinds").Lines(-1) {
			t.line("  %-12s %7s × %11s %13s %14s", Plain(l.Str("kind")), l.Show("count"), l.Show("ns"), tables.FormatMegabytes(l.Value("bytes").Int(), 2), l.Show("gb_per_s"))
		}
		for l := range tables.Find(list, "copies_memory").Lines(-1) {
			t.line("  memory %-5s most %s allocated, %s reserved", Plain(l.Str("device")), tables.FormatMegabytes(l.Value("peak_allocated_bytes").Int(), 1), tables.FormatMegabytes(l.Value("peak_reserved_bytes").Int(), 1))
		}
	},
	"launch": func(t *text, list []tables.Table) {
		for l := range list[0].Lines(-1) {
			t.line("  %s pairs; call %s, operation %s, delay %s (means)", l.Show("pairs"), l.Show("cpu_duration_mean"), l.Show("gpu_duration_mean"), l.Show("delay_mean"))
			t.line("  %s kernels shorter than their call, %s calls over 50 µs, %s delays over 100 µs", l.Show("short_kernels"), l.Show("runtime_outliers"), l.Show("delay_outliers"))
		}
	},
	"sequences": func(t *text, list []tables.Table) {
		for l := range list[0].Lines(-1) {
			t.line("  %7s × %11s critical  %s", l.Show("count"), l.Show("critical_ns"), Shorten(t.launches(l), t.width-36))
		}
	},
	"operators": func(t *text, list []tables.Table) {
		for l := range list[0].Lines(-1) {
			t.line("  %7s × %10s %11s  %s", l.Show("count"), l.Show("launch_delay_ns"), l.Show("kernel_delay_ns"), Shorten(t.launches(l), t.width-38))
		}
	},
	"component": func(t *text, list []tables.Table) {
		for l := range list[0].Lines(-1) {
			mark := ""
			if l.Value("low").Int() != 0 {
				mark = "  low overlap"
			}
			t.line("  %-18s overlap %s, comp %s, comm %s, host %s, free %s%s", Shorten(Plain(l.Str("step")), 18), l.Show("overlap_ratio"), l.Share("computation_only_ns", "duration_ns"),
				l.Share("communication_only_ns", "duration_ns"), l.Share("host_only_ns", "duration_ns"), l.Share("free_ns", "duration_ns"), mark)
		}
	},
	"kernels": func(t *text, list []tables.Table) {
		namesOf := tables.Find(list, "kernels_names").By("type")
		for l := range list[0].Lines(-1) {
			t.line("  %-14s %8s %11s", l.Str("type"), l.Show("share"), l.Show("ns"))
			listed := 0
			for n := range namesOf(l) {
				if listed++; listed > 3 {
					break
				}
				t.line("    %7s × %11s  %s", n.Show("stats_count"), n.Show("stats_sum"), Shorten(Plain(t.names.Readable(n.Str("name"))), t.width-30))
			}
		}
	},
	"roofline": func(t *text, list []tables.Table) {
		for l := range tables.Find(list, "roofline_devices").Lines(-1) {
			t.roofDevice(l)
		}
		if kernels := tables.Find(list, "roofline_kernels"); kernels.Rows > 0 {
			t.line("  %11s %9s %9s  %-13s %s", "time", "of peak", "of memory", "", Shorten("operator, and its longest kernel", t.width-49))
			for l := range kernels.Lines(-1) {
				t.line("  %11s %9s %9s  %-13s %s", l.Show("ns"), l.Show("compute_peak_share"), l.Show("memory_peak_share"), Words(l.Str("class")), Shorten(Plain(l.Str("operator")+" "+l.Str("type")+": "+Readable(l.Str("kernel"))), t.width-49))
			}
		}
		if steps := tables.Find(list, "roofline_steps"); steps.Rows > 0 {
			t.line("  %-16s %11s %13s %8s", "step", "time", "products", "of peak")
		}
		for l := range tables.Find(list, "roofline_steps").Lines(10) {
			t.line("  %-16s %11s %13s %8s", Shorten(Plain(l.Str("step")), 16), l.Show("duration_ns"), l.Show("flops"), l.Show("flops_use_share"))
		}
		if record := list[0].Line(0).Str("record"); record != "" {
			t.line("  %s", Shorten("for figures: "+record, t.width-2))
		}
	},
	"annotations": func(t *text, list []tables.Table) {
		for l := range list[0].Lines(10) {
			where := "CPU"
			if l.Value("gpu").Int() != 0 {
				where = "GPU"
			}
			t.line("  %s %7s × %11s  %s", where, l.Show("stats_count"), l.Show("stats_sum"), Shorten(Plain(l.Str("name")), t.width-32))
		}
	},
	"blocking": func(t *text, list []tables.Table) {
		said := map[string]bool{}
		for l := range list[0].Lines(-1) {
			what := l.Str("call")
			if op := l.Str("operator"); op != "" {
				what += " in " + op
			}
			t.line("  %7s × %11s, %s waited %s  %s", l.Show("count"), l.Show("ns"), l.Show("waited"), l.Show("waited_ns"), Shorten(Plain(what), t.width-48))
			if caller := l.Str("caller"); caller != "" {
				t.line("            from %s", Shorten(Plain(caller), t.width-17))
			}
			if hint := l.Str("hint"); hint != "" && !said[hint] {
				t.line("            %s", Shorten(hint, t.width-12))
				said[hint] = true
			}
		}
	},
}

// roofDevice says how much of a device is used.
func (t *text) roofDevice(l tables.Line) {
	name := l.Str("model")
	if name == "" {
		name = "no peaks known"
	}
	t.line("  %s", Shorten(fmt.Sprintf("GPU %s (%s): work known of %s of kernel time", l.Show("device"), Plain(name), l.Show("shaped_share")), t.width-2))
	if l.Value("flops").Float() > 0 {
		s := l.Show("flops") + " of products in " + l.Str("type")
		if !l.Value("flops_use_share").IsNull() {
			s += ": " + l.Show("flops_use_share") + " of the device's " + l.Show("peak_flops_per_s") + "/s over the window"
		}
		t.line("    %s", Shorten(s, t.width-4))
		if !l.Value("product_peak_share").IsNull() {
			t.line("    %s", Shorten("while they run: "+l.Show("product_peak_share")+" of the peak of the units that compute them", t.width-4))
		}
	}
	if l.Str("model") != "" && l.Value("shaped_share").Float() > 0 {
		t.line("    %s", Shorten(fmt.Sprintf("bound by compute %s, by memory %s, by neither %s, not judged %s, not known %s", l.Show("compute_bound_share"), l.Show("memory_bound_share"),
			l.Show("underused_share"), l.Show("not_judged_share"), l.Show("not_modelled_share")), t.width-4))
	}
}

// launches is an operator with the operations that it launches.
func (t *text) launches(l tables.Line) string {
	return Plain(Operator(l.Str("operator")) + ": " + t.names.ReadableList(l.Value("kernels").List()))
}

// curve draws values as blocks of an eighth of a line each, in so many columns. A column shows the largest of its values.
func curve(values, whole []int64, columns int) string {
	const blocks = " ▁▂▃▄▅▆▇█"
	n := min(columns, len(values))
	out := make([]rune, n)
	for c := range out {
		most := 0.0
		for i := len(values) * c / n; i < len(values)*(c+1)/n; i++ {
			most = max(most, tables.ShareOf(values[i], whole[i]))
		}
		eighths := int(most*8 + 0.5)
		if most > 0 {
			eighths = max(eighths, 1)
		}
		out[c] = []rune(blocks)[eighths]
	}
	return string(out)
}

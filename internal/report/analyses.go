package report

import (
	"cmp"
	"strings"

	"overlay/internal/tables"
)

// analysisForm is how an analysis is shown: as a section, which has no tables where there is nothing to show.
type analysisForm struct {
	name, title string
	section     func(list []tables.Table, names Names) Section // nil where it is drawn as curves
}

// analysisForms are the forms of the analyses in the order of text and page.
var analysisForms = []analysisForm{
	{"temporal", "What each GPU did", temporal},
	{"timeline", "What each GPU did over time", nil},
	{"component", "Exposed communication by step", component},
	{"overlap", "Communication behind computation", overlap},
	{"idle", "Why streams had nothing to do", idle},
	{"queue", "Queues of launched operations", queue},
	{"launch", "From the launch to the start", launch},
	{"kernels", "Kernels by type", kernels},
	{"roofline", "How close operators come to the device's peak", rooflineOf},
	{"copies", "Copies", copies},
	{"blocking", "Calls that wait for the GPU", blocking},
	{"operators", "Operators that launch", operators},
	{"sequences", "Kernels that come together", sequences},
	{"annotations", "What the program named", annotations},
}

// analysisSections are the analyses that were made, those that are drawn as curves without their tables.
func (r *Report) analysisSections() (out []Section) {
	made := r.Analyses.Sections()
	for _, a := range analysisForms {
		for _, m := range made {
			if m.Name != a.name {
				continue
			}
			s := Section{}
			if a.section != nil {
				s = a.section(m.Tables, r.Names)
			}
			s.Name, s.Title, s.Grids = a.name, a.title, filled(s.Grids)
			if len(s.Grids) > 0 {
				s.Grids[0].Key = keyOf(s.Grids)
			}
			out = append(out, s)
		}
	}
	return out
}

// analyses prints those that were asked for.
func (t *text) analyses(r *Report) {
	for _, s := range r.analysisSections() {
		if len(s.Grids) == 0 && s.Name != "timeline" {
			s.Says = cmp.Or(s.Says, "Nothing to show.")
		}
		if t.section(s, maxBars); s.Name == "timeline" {
			t.timeline()
		}
	}
}

func temporal(list []tables.Table, _ Names) Section {
	t := &list[0]
	s := Section{Says: "There is work from the first operation to the last."}
	if l, ok := largest(t, "idle_ns"); ok {
		s.Says = say(l, device+" has nothing to do for {idle_ns/span_ns} of the time between its first and its last operation. Time in which several kinds of work run counts as computation.")
	}
	s.Grids = []Grid{gridOf(t, cardRows, "devices", textual("device", device),
		stack("span_ns", [3]string{"gpu_compute", "computation", "computation_ns"}, [3]string{"communication", "communication", "communication_ns"}, [3]string{"copy", "copies", "copies_ns"}, [3]string{"nothing", "idle", "idle_ns"}),
		shareOf("computation", "computation_ns", "span_ns"), shareOf("communication", "communication_ns", "span_ns"),
		extra(shareOf("copies", "copies_ns", "span_ns")), shareOf("idle", "idle_ns", "span_ns"), extra(figure(t, "span", "span_ns")))}
	return s
}

func component(list []tables.Table, _ Names) (s Section) {
	t := &list[0]
	if l, ok := largest(t, "communication_only_ns"); ok {
		s.Says = say(l, "Time in which communication runs and nothing else does is what better overlap can hide: most of it in {step}, {communication_only_ns}.")
	} else if most(t, "computation_only_ns") > 0 || most(t, "overlap_ns") > 0 {
		s.Says = "No communication runs alone: there is nothing that better overlap could hide."
	} else {
		return s // of a CPU alone the strip says more
	}
	rows := maxBars
	if t.Rows > maxBars {
		rows, t = cardRows, t.Sorted("communication_only_ns")
	}
	s.Grids = []Grid{gridOf(t, rows, "steps", textual("step", "{step}"),
		inWords(stack("duration_ns", [3]string{"communication", "communication alone", "communication_only_ns"}, [3]string{"overlap", "several at once", "overlap_ns"},
			[3]string{"gpu_compute", "computation alone", "computation_only_ns"}, [3]string{"cpu", "host alone", "host_only_ns"}, [3]string{"nothing", "nothing", "free_ns"})),
		figure(t, "communication alone", "communication_only_ns"), shareOf("of the step", "communication_only_ns", "duration_ns"), extra(figure(t, "overlap", "overlap_ratio")),
		wordsBy("overlap is", func(l tables.Line) string { return [2]string{"enough", "low"}[l.Value("low").Int()] }))}
	return s
}

func overlap(list []tables.Table, _ Names) (s Section) {
	t := &list[0]
	l, ok := largest(t, "communication_ns")
	if !ok {
		return s
	}
	return Section{Says: say(l, "{exposed_ns} of the communication of "+device+" runs with no computation beside it; {ratio} of it is hidden."),
		Grids: []Grid{gridOf(t, cardRows, "devices", textual("device", device),
			stack("communication_ns", [3]string{"communication", "exposed", "exposed_ns"}, [3]string{"hidden", "hidden", "hidden_ns"}),
			figure(t, "exposed", "exposed_ns"), figure(t, "hidden", "hidden_ns"), figure(t, "hidden share", "ratio"))}}
}

func queue(list []tables.Table, _ Names) (s Section) {
	t := &list[0]
	if most(t, "outstanding_max") == 0 {
		return s
	}
	s.Says = "No call found a queue full. A queue that is empty most of the time says that the GPU waits for the host."
	if l, ok := largest(t, "calls_that_blocked"); ok {
		s.Says = say(l, "{calls_that_blocked#call} found the queue of "+stream+" full and blocked until there was room: the host is ahead of the GPU, and does not limit it.")
	}
	mean := figure(t, "operations, mean", "outstanding_mean")
	mean.About, mean.cell = "", func(l tables.Line) Cell {
		return Cell{Text: say(l, "{mean outstanding_mean}"), Exact: l.Exact("outstanding_mean")}
	}
	s.Grids = []Grid{gridOf(t, cardRows, "streams", textual("stream", stream),
		inner(t, "outstanding_mean", "outstanding_max", [3]string{"cpu", "mean", "mean {mean outstanding_mean} operations"}, [3]string{"pale", "most", "most {outstanding_max#operation}"}),
		mean, figure(t, "operations, most", "outstanding_max"), extra(figure(t, "time at the limit", "at_limit_ns")), figure(t, "calls that blocked", "calls_that_blocked"))}
	return s
}

func launch(list []tables.Table, _ Names) (s Section) {
	h, l := tables.Find(list, "launch_delay_histogram"), list[0].Line(0)
	if l.Value("pairs").Int() == 0 || h == nil {
		return s
	}
	s.Says = say(l, "{pairs#call} of {cpu_duration_mean} with their operations of {gpu_duration_mean}, on average {delay_mean} apart; half of the operations start within {delay_p50} of the end of their call. "+
		"{short_kernels#operation} shorter than the call, {runtime_outliers#call} over 50 µs, {delay_outliers#delay} over 100 µs. A delay far above 10 µs is no slow launch: the operation waited in the queue.")
	s.Grids = []Grid{gridOf(h, 64, "buckets", label("delay", func(l tables.Line) Cell {
		if l.Value("from_ns").Int() == 0 {
			return Cell{Text: "below 1.0 µs", Exact: "0"}
		}
		return Cell{Text: say(l, "from {from_ns}"), Exact: l.Exact("from_ns")}
	}), bar(h, "count", "launch", "{count#operation}"), figure(h, "operations", "count"))}
	return s
}

func kernels(list []tables.Table, as Names) (s Section) {
	t, names := &list[0], tables.Find(list, "kernels_names")
	l, ok := largest(t, "ns")
	if !ok {
		return s
	}
	s.Says = say(l, "Of the time of all operations {share} goes to {type}. Only what is red in the viewer, or stands among the hotspots, holds up the run.")
	s.Grids = []Grid{gridOf(t, cardRows, "types", textual("type", "{type}"), Column{Bar: true, cell: func(l tables.Line) Cell {
		return Cell{Parts: []Part{{kernelKinds[l.Str("type")], l.Value("share").Float(), say(l, "{share}, {ns}")}}}
	}}, figure(t, "share", "share"), figure(t, "time", "ns"))}
	if names != nil {
		names = names.Sorted("stats_sum")
		s.Grids = append(s.Grids, gridOf(names, cardRows, "names", label("name", func(l tables.Line) Cell { return cellOf(l.Str("name"), as.Readable(l.Str("name"))) }), wordsOf("type", "{type}"),
			bar(names, "stats_sum", "{colour type}", ""), figure(names, "time", "stats_sum"), figure(names, "calls", "stats_count"), extra(figure(names, "mean", "stats_mean")), figure(names, "on the path", "critical_ns")))
	}
	return s
}

func copies(list []tables.Table, _ Names) (s Section) {
	kinds := tables.Find(list, "copies_kinds")
	if l, ok := largest(kinds, "ns"); ok {
		s.Says = say(l, "{kind} takes most of the time of copies: {ns} for {bytes}, at {gb_per_s}.")
	}
	if kinds != nil {
		s.Grids = append(s.Grids, gridOf(kinds, cardRows, "kinds", named("kind", "kind"), bar(kinds, "ns", "copy", ""),
			figure(kinds, "time", "ns"), figure(kinds, "copies", "count"), figure(kinds, "amount", "bytes"), figure(kinds, "rate", "gb_per_s")))
	}
	if memory := tables.Find(list, "copies_memory"); memory != nil {
		s.Grids = append(s.Grids, gridOf(memory, cardRows, "devices", textual("memory of", "{device}"), figure(memory, "allocated at most", "peak_allocated_bytes"), figure(memory, "reserved at most", "peak_reserved_bytes")))
	}
	return s
}

func blocking(list []tables.Table, _ Names) Section {
	t := &list[0]
	s := Section{Says: "These calls can wait for the GPU. Here none had to."}
	if l, ok := largest(t, "waited_ns"); ok {
		s.Says = say(l, "{called call} waits longest: {waited_ns} in {waited#call}.")
	}
	s.Grids = []Grid{gridOf(t, cardRows, "calls", label("call", func(l tables.Line) Cell {
		return Cell{Text: say(l, "{called call}"), Small: strings.Join(nonEmpty(say(l, "{from caller}"), l.Str("hint")), smallParts)}
	}),
		inner(t, "waited_ns", "ns", [3]string{"sync", "waiting for the GPU", "waiting {waited_ns}"}, [3]string{"cpu", "the rest of the call", "in the call {ns}"}),
		figure(t, "in the call", "ns"), figure(t, "waiting", "waited_ns"), figure(t, "calls", "count"), extra(figure(t, "calls that waited", "waited")))}
	return s
}

// launching is the column of an operator with the operations that it launches.
func launching(as Names) Column {
	return label("operator and what it launches", func(l tables.Line) Cell {
		return Cell{Text: say(l, "{operator operator}"), Small: Shorten(Plain(as.ReadableList(l.Value("kernels").List())), longName), Title: strings.Join(l.Value("kernels").List(), tables.Arrow)}
	})
}

func operators(list []tables.Table, as Names) (s Section) {
	t := &list[0]
	l, ok := largest(t, "count")
	if !ok {
		return s
	}
	return Section{
		Says: say(l, "{operator operator} launches most often. The first delay is the operator's own work before its launch, the second the way from there to the GPU."),
		Grids: []Grid{gridOf(t, cardRows, "operators", launching(as), bar(t, "launch_delay_ns", "cpu", ""),
			figure(t, "to the launch", "launch_delay_ns"), figure(t, "to the start", "kernel_delay_ns"), figure(t, "calls", "count"))}}
}

func sequences(list []tables.Table, as Names) (s Section) {
	t := &list[0]
	if most(t, "count") == 0 {
		return s
	}
	s.Says = "Operations that one operator launches together, and often, are what a fused kernel or a captured graph would take together. "
	if l, ok := largest(t, "critical_ns"); ok {
		s.Says += say(l, "Of the path they hold {critical_ns} at most.")
	} else {
		s.Says += "None of these holds up the run."
	}
	s.Grids = []Grid{gridOf(t, cardRows, "sequences", launching(as), bar(t, "critical_ns", "gpu_compute", ""), figure(t, "on the path", "critical_ns"), figure(t, "calls", "count"))}
	return s
}

func annotations(list []tables.Table, _ Names) Section {
	t := &list[0]
	where := bar(t, "stats_sum", "{hue gpu}", "")
	where.key = []Key{{"cpu", "on the CPU"}, {"gpu_compute", "on the GPU"}}
	return Section{Says: "Annotations of the program with the time from their begin to their end. They nest, so their times do not add up.",
		Grids: []Grid{gridOf(t, cardRows, "annotations", named("name", "name"), wordsOf("where", "{side gpu}"), where,
			figure(t, "time", "stats_sum"), figure(t, "times", "stats_count"), extra(figure(t, "mean", "stats_mean")))}}
}

package report

import (
	"strings"

	"overlay/internal/analyses"
	"overlay/internal/tables"
)

// analysisForm is how an analysis is shown: as a few lines of text, and as a section of a page.
type analysisForm struct {
	name, title string // title of the section; "" where the analysis is drawn with the window
	text        []rowText
	print       func(t *text, list []tables.Table) // lines that no pattern can say
	page        func(list []tables.Table, names Names) Section
}

// rowText is a line of text for each row of a table, by a pattern; of at most so many rows where limit is not 0.
type rowText struct {
	table, pattern string
	limit          int
}

// analysisForms are the forms of the analyses in the order of a page; a text has the order of the registry.
var analysisForms = []analysisForm{
	{"temporal", "What each GPU did",
		[]rowText{{"temporal", "  GPU {device:-3} {span_ns:11}  computation {computation_ns/span_ns}, communication {communication_ns/span_ns}, copies {copies_ns/span_ns}, idle {idle_ns/span_ns}", 0}}, nil, temporal},
	{"timeline", "", nil, printTimeline, nil},
	{"component", "Exposed communication by step",
		[]rowText{{"component", "  {step:-18!} overlap {overlap_ratio}, comp {computation_only_ns/duration_ns}, comm {communication_only_ns/duration_ns}, host {host_only_ns/duration_ns}, free {free_ns/duration_ns}{mark low}", 0}}, nil, component},
	{"overlap", "Communication behind computation",
		[]rowText{{"overlap", "  GPU {device:-3} {ratio:8} of {communication_ns} hidden, {exposed_ns} exposed", 0}}, nil, overlap},
	{"idle", "Why streams had nothing to do", nil, printIdle, idle},
	{"queue", "Queues of launched operations",
		[]rowText{{"queue", "  GPU {device} stream {stream:-4} mean {mean outstanding_mean:8}, most {whole outstanding_max:6}, {at_limit_ns} at the limit, {exact calls_that_blocked} calls blocked", 0}}, nil, queue},
	{"launch", "From the launch to the start", []rowText{
		{"launch", "  {pairs} pairs; call {cpu_duration_mean}, operation {gpu_duration_mean}, delay {delay_mean} (means)", 0},
		{"launch", "  {short_kernels} kernels shorter than their call, {runtime_outliers} calls over 50 µs, {delay_outliers} delays over 100 µs", 0}}, nil, launch},
	{"kernels", "Kernels by type", nil, printKernels, kernels},
	{"roofline", "How close operators come to the device's peak", nil, printRoofline, rooflineOf},
	{"copies", "Copies", []rowText{
		{"copies_kinds", "  {kind:-12} {count:7} × {ns:11} {MB2 bytes:13} {gb_per_s:14}", 0},
		{"copies_memory", "  memory {device:-5} most {MB1 peak_allocated_bytes} allocated, {MB1 peak_reserved_bytes} reserved", 0}}, nil, copies},
	{"blocking", "Calls that wait for the GPU", nil, printBlocking, blocking},
	{"operators", "Operators that launch",
		[]rowText{{"operators", "  {count:7} × {launch_delay_ns:10} {kernel_delay_ns:11}  {launches kernels<38}", 0}}, nil, operators},
	{"sequences", "Kernels that come together",
		[]rowText{{"sequences", "  {count:7} × {critical_ns:11} critical  {launches kernels<36}", 0}}, nil, sequences},
	{"annotations", "What the program named",
		[]rowText{{"annotations", "  {side gpu} {stats_count:7} × {stats_sum:11}  {name<32}", 10}}, nil, annotations},
}

// analysis prints what was asked for, a few lines each.
func (t *text) analysis(s analyses.Section) {
	t.head(s.Title)
	for _, a := range analysisForms {
		if a.name != s.Name {
			continue
		}
		for _, r := range a.text {
			t.rows(tables.Find(s.Tables, r.table), r.limit, r.pattern)
		}
		if a.print != nil {
			a.print(t, s.Tables)
		}
	}
}

// analysisSections are the analyses that were made and have something to show on a page.
func (r *Report) analysisSections() (out []Section) {
	made := r.Analyses.Sections()
	for _, a := range analysisForms {
		for _, m := range made {
			if m.Name != a.name || a.page == nil {
				continue
			}
			s := a.page(m.Tables, r.Names)
			s.Name, s.Title, s.Grids = a.name, a.title, filled(s.Grids)
			if len(s.Grids) > 0 {
				s.Grids[0].Key = keyOf(s.Grids)
				out = append(out, s)
			}
		}
	}
	return out
}

func filled(grids []Grid) (out []Grid) {
	for _, g := range grids {
		if len(g.Rows) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// device and stream name the row of a device, or of a stream.
const (
	device = "GPU {device}"
	stream = "GPU {device} stream {stream}"
)

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
		stack("duration_ns", [3]string{"communication", "communication alone", "communication_only_ns"}, [3]string{"overlap", "several at once", "overlap_ns"},
			[3]string{"gpu_compute", "computation alone", "computation_only_ns"}, [3]string{"cpu", "host alone", "host_only_ns"}, [3]string{"nothing", "nothing", "free_ns"}),
		figure(t, "communication alone", "communication_only_ns"), shareOf("of the step", "communication_only_ns", "duration_ns"), extra(figure(t, "overlap", "overlap_ratio")))}
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
	s.Says = say(l, "Half of the operations start within {delay_p50} of the end of the call that launched them. A delay far above 10 µs is no slow launch: the operation waited in the queue.")
	s.Grids = []Grid{gridOf(h, 64, "buckets", label("delay", func(l tables.Line) Cell {
		if l.Value("from_ns").Int() == 0 {
			return Cell{Text: "below 1.0 µs", Exact: "0"}
		}
		return Cell{Text: say(l, "from {from_ns}"), Exact: l.Exact("from_ns")}
	}), bar(h, "count", "launch", "{count#operation}"), figure(h, "operations", "count"))}
	return s
}

// kernelKinds are the colours of the types of operations.
var kernelKinds = map[string]string{"computation": "gpu_compute", "communication": "communication", "memory": "copy", "other": "untraced"}

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

func printKernels(t *text, list []tables.Table) {
	namesOf := tables.Find(list, "kernels_names").By("type")
	for l := range list[0].Lines(-1) {
		t.row(l, "  {type:-14} {share:8} {ns:11}")
		listed := 0
		for n := range namesOf(l) {
			if listed++; listed > 3 {
				break
			}
			t.row(n, "    {stats_count:7} × {stats_sum:11}  {readable name<30}")
		}
	}
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
	return s
}

func blocking(list []tables.Table, _ Names) Section {
	t := &list[0]
	s := Section{Says: "These calls can wait for the GPU. Here none had to."}
	if l, ok := largest(t, "waited_ns"); ok {
		s.Says = say(l, "{called call} waits longest: {waited_ns} in {waited#call}.")
		if hint := l.Str("hint"); hint != "" {
			s.Says += " What to do: " + hint + "."
		}
	}
	s.Grids = []Grid{gridOf(t, cardRows, "calls", label("call", func(l tables.Line) Cell { return Cell{Text: say(l, "{called call}"), Small: say(l, "{from caller}")} }),
		inner(t, "waited_ns", "ns", [3]string{"sync", "waiting for the GPU", "waiting {waited_ns}"}, [3]string{"cpu", "the rest of the call", "in the call {ns}"}),
		figure(t, "in the call", "ns"), figure(t, "waiting", "waited_ns"), figure(t, "calls", "count"), extra(figure(t, "calls that waited", "waited")))}
	return s
}

func printBlocking(t *text, list []tables.Table) {
	said := map[string]bool{}
	for l := range list[0].Lines(-1) {
		t.row(l, "  {count:7} × {ns:11}, {waited} waited {waited_ns}  {called call<48}")
		if l.Str("caller") != "" {
			t.row(l, "            from {caller<17}")
		}
		if hint := l.Str("hint"); hint != "" && !said[hint] {
			t.row(l, "            {hint<12}")
			said[hint] = true
		}
	}
}

// launching is the column of an operator with the operations that it launches.
func launching(as Names) Column {
	return label("operator and what it launches", func(l tables.Line) Cell {
		return Cell{Text: say(l, "{operator operator}"), Small: filler{names: as}.fill(l, "{all kernels}"), Title: strings.Join(l.Value("kernels").List(), tables.Arrow)}
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

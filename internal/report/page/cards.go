package page

import (
	"slices"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// card is an analysis on the page: a title, what it says in a sentence, and a picture with its numbers.
type card struct {
	Name, Title string
	Says        string
	Key         []keyEntry
	Grids       []grid
}

// keyEntry explains a colour.
type keyEntry struct{ Kind, Word string }

// cardRows is how many rows the tables of a card hold.
const cardRows = 10

// cards are the analyses that were made and have something to show. The timeline is drawn with the window.
func cards(r *report.Report) []card {
	made := r.Analyses.Sections()
	var out []card
	for _, p := range pictures {
		for _, s := range made {
			if s.Name != p.analysis {
				continue
			}
			c := p.draw(s.Tables, r.Names)
			c.Name, c.Title = p.analysis, p.title
			c.Grids = filled(c.Grids)
			c.Key = slices.DeleteFunc(c.Key, func(k keyEntry) bool {
				return !slices.ContainsFunc(c.Grids, func(g grid) bool { return g.draws(k.Kind) })
			})
			if len(c.Grids) > 0 {
				out = append(out, c)
			}
		}
	}
	return out
}

func filled(grids []grid) []grid {
	out := grids[:0]
	for _, g := range grids {
		if len(g.Rows) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// pictures are the forms of the analyses, in the order of the page.
var pictures = []struct {
	analysis, title string
	draw            func(list []tables.Table, as report.Names) card
}{
	{"temporal", "What each GPU did", temporalCard},
	{"component", "Exposed communication by step", componentCard},
	{"overlap", "Communication behind computation", overlapCard},
	{"idle", "Why streams had nothing to do", idleCard},
	{"queue", "Queues of launched operations", queueCard},
	{"launch", "From the launch to the start", launchCard},
	{"kernels", "Kernels by type", kernelsCard},
	{"roofline", "How close operators come to the device's peak", rooflineCard},
	{"copies", "Copies and memory", copiesCard},
	{"blocking", "Calls that wait for the GPU", blockingCard},
	{"operators", "Operators that launch", operatorsCard},
	{"sequences", "Kernels that come together", sequencesCard},
	{"annotations", "What the program named", annotationsCard},
}

// gpu is the label of a device, stream that of a stream.
func gpu(l tables.Line) gridCell { return gridCell{Text: "GPU " + l.Show("device")} }
func stream(l tables.Line) gridCell {
	return gridCell{Text: "GPU " + l.Show("device") + " stream " + l.Show("stream")}
}

// largest is the row with the most in a column; false where all have 0.
func largest(t *tables.Table, col string) (best tables.Line, ok bool) {
	var top float64
	for l := range t.Lines(-1) {
		if x := l.Value(col).Float(); x > top {
			best, top, ok = l, x, true
		}
	}
	return best, ok
}

func temporalCard(list []tables.Table, _ report.Names) card {
	t := &list[0]
	c := card{Key: []keyEntry{{"gpu_compute", "computation"}, {"communication", "communication"}, {"copy", "copies"}, {"nothing", "idle"}}}
	c.Says = "There is work from the first operation to the last."
	if l, ok := largest(t, "idle_ns"); ok {
		c.Says = gpu(l).Text + " has nothing to do for " + l.Share("idle_ns", "span_ns") + " of the time between its first and its last operation. Time in which several kinds of work run counts as computation."
	}
	c.Grids = []grid{makeGrid(t, cardRows, "devices", label("device", gpu),
		bars("", func(l tables.Line) []part {
			span := l.Value("span_ns").Int()
			return without([]part{stretch(l, "gpu_compute", "computation", "computation_ns", span), stretch(l, "communication", "communication", "communication_ns", span),
				stretch(l, "copy", "copies", "copies_ns", span), stretch(l, "nothing", "idle", "idle_ns", span)})
		}),
		shareOf("computation", "computation_ns", "span_ns"), shareOf("communication", "communication_ns", "span_ns"),
		extra(shareOf("copies", "copies_ns", "span_ns")), shareOf("idle", "idle_ns", "span_ns"), extra(figure(t, "span", "span_ns")))}
	return c
}

func componentCard(list []tables.Table, _ report.Names) card {
	t := &list[0]
	c := card{Key: []keyEntry{{"communication", "communication alone"}, {"overlap", "several at once"}, {"gpu_compute", "computation alone"}, {"cpu", "host alone"}, {"nothing", "nothing"}}}
	if l, ok := largest(t, "communication_only_ns"); ok {
		c.Says = "Time in which communication runs and nothing else does is what better overlap can hide: most of it in " + report.Plain(l.Str("step")) + ", " + l.Show("communication_only_ns") + "."
	} else if most(t, "computation_only_ns") > 0 || most(t, "overlap_ns") > 0 {
		c.Says = "No communication runs alone: there is nothing that better overlap could hide."
	} else {
		return card{} // of a CPU alone the strip says more
	}
	rows := cardRows
	if t.Rows <= maxBars {
		rows = maxBars
	} else {
		t = t.Sorted("communication_only_ns")
	}
	c.Grids = []grid{makeGrid(t, rows, "steps", label("step", func(l tables.Line) gridCell { return gridCell{Text: report.Plain(l.Str("step"))} }),
		bars("", func(l tables.Line) []part {
			d := l.Value("duration_ns").Int()
			return without([]part{stretch(l, "communication", "communication alone", "communication_only_ns", d), stretch(l, "overlap", "several at once", "overlap_ns", d),
				stretch(l, "gpu_compute", "computation alone", "computation_only_ns", d), stretch(l, "cpu", "host alone", "host_only_ns", d), stretch(l, "nothing", "nothing", "free_ns", d)})
		}),
		figure(t, "communication alone", "communication_only_ns"), shareOf("of the step", "communication_only_ns", "duration_ns"), extra(figure(t, "overlap", "overlap_ratio")))}
	return c
}

func overlapCard(list []tables.Table, _ report.Names) card {
	t := &list[0]
	l, ok := largest(t, "communication_ns")
	if !ok {
		return card{}
	}
	return card{Key: []keyEntry{{"communication", "exposed"}, {"hidden", "hidden"}},
		Says: l.Show("exposed_ns") + " of the communication of " + gpu(l).Text + " runs with no computation beside it; " + l.Show("ratio") + " of it is hidden.",
		Grids: []grid{makeGrid(t, cardRows, "devices", label("device", gpu),
			bars("", func(l tables.Line) []part {
				whole := l.Value("communication_ns").Int()
				return without([]part{stretch(l, "communication", "exposed", "exposed_ns", whole), stretch(l, "hidden", "hidden", "hidden_ns", whole)})
			}),
			figure(t, "exposed", "exposed_ns"), figure(t, "hidden", "hidden_ns"), figure(t, "hidden share", "ratio"))}}
}

// causes are the causes of idle time: colour, words, and what they mean.
var causes = map[string]struct{ kind, word, means string }{
	"host_wait":   {"cpu", "host wait", "the next operation was launched after the one before had ended, so the host is what limits the stream"},
	"kernel_wait": {"launch", "kernel wait", "operations were queued, and the gaps between them are short ones that many small kernels leave"},
	"other":       {"untraced", "other", "operations were queued and waited for something else, another stream as a rule"},
}

// mainCause is the cause of most of the idle time of a stream.
func mainCause(list []tables.Table, stream tables.Line) (top tables.Line, ok bool) {
	of := tables.Find(list, "idle_causes")
	if of == nil {
		return top, false
	}
	for x := range of.By("device", "stream")(stream) {
		if x.Value("ns").Int() > 0 && (!ok || x.Value("ns").Int() > top.Value("ns").Int()) {
			top, ok = x, true
		}
	}
	return top, ok
}

// busiest is the stream that was idle for the shortest time of those that were; false when none was.
func busiest(idle *tables.Table) (least tables.Line, ok bool) {
	for l := range idle.Lines(-1) {
		if ns := l.Value("idle_ns").Int(); ns > 0 && (!ok || ns < least.Value("idle_ns").Int()) {
			least, ok = l, true
		}
	}
	return least, ok
}

// idleBecause says why the busiest stream was idle; "" when nothing says it.
func idleBecause(list []tables.Table) string {
	idle := tables.Find(list, "idle")
	if idle == nil {
		return ""
	}
	l, ok := busiest(idle)
	if !ok {
		return ""
	}
	top, ok := mainCause(list, l)
	if !ok {
		return ""
	}
	is := causes[top.Str("cause")]
	return "mostly " + is.word + ": " + is.means
}

func idleCard(list []tables.Table, _ report.Names) card {
	t, of := &list[0], tables.Find(list, "idle_causes")
	l, ok := busiest(t)
	if !ok || of == nil {
		return card{}
	}
	causesOf := of.By("device", "stream")
	c := card{Key: []keyEntry{{"cpu", "host wait"}, {"launch", "kernel wait"}, {"untraced", "other"}}}
	if top, ok := mainCause(list, l); ok {
		is := causes[top.Str("cause")]
		c.Says = "Of the idle time of " + stream(l).Text + ", " + top.Show("share") + " is " + is.word + ": " + is.means + "."
	}
	longest := most(t, "idle_ns")
	cause := func(name string) column {
		return column{gridColumn{Head: causes[name].word, Number: true, Unit: tables.NS}, func(l tables.Line) (cell gridCell) {
			for x := range causesOf(l) {
				if x.Str("cause") == name {
					cell = gridCell{Text: x.Show("ns"), Exact: x.Exact("ns"), Title: x.Show("share")}
				}
			}
			return cell
		}}
	}
	c.Grids = []grid{makeGrid(t, cardRows, "streams", label("stream", stream),
		bars("", func(l tables.Line) (parts []part) {
			for x := range causesOf(l) {
				is := causes[x.Str("cause")]
				parts = append(parts, part{is.kind, ratio(x.Value("ns").Float(), longest), is.word + " " + x.Show("share") + ", " + x.Show("ns")})
			}
			return without(parts)
		}),
		cause("host_wait"), cause("kernel_wait"), extra(cause("other")), figure(t, "idle", "idle_ns"))}
	return c
}

func queueCard(list []tables.Table, _ report.Names) card {
	t := &list[0]
	if most(t, "outstanding_max") == 0 {
		return card{}
	}
	c := card{Key: []keyEntry{{"cpu", "mean"}, {"pale", "most"}}, Says: "No call found a queue full. A queue that is empty most of the time says that the GPU waits for the host."}
	if l, ok := largest(t, "calls_that_blocked"); ok {
		c.Says = counted(l, "calls_that_blocked", "call") + " found the queue of " + stream(l).Text + " full and blocked until there was room: the host is ahead of the GPU, and does not limit it."
	}
	longest := most(t, "outstanding_max")
	c.Grids = []grid{makeGrid(t, cardRows, "streams", label("stream", stream),
		bars("", func(l tables.Line) []part {
			mean, top := l.Value("outstanding_mean").Float(), l.Value("outstanding_max").Float()
			return without([]part{{"cpu", ratio(mean, longest), "mean " + meanCount(l) + " operations"}, {"pale", ratio(top-mean, longest), "most " + counted(l, "outstanding_max", "operation")}})
		}),
		column{gridColumn{Head: "operations, mean", Number: true, Unit: tables.Count}, func(l tables.Line) gridCell {
			return gridCell{Text: meanCount(l), Exact: l.Exact("outstanding_mean")}
		}},
		figure(t, "operations, most", "outstanding_max"), extra(figure(t, "time at the limit", "at_limit_ns")), figure(t, "calls that blocked", "calls_that_blocked"))}
	return c
}

// meanCount is a mean length of a queue.
func meanCount(l tables.Line) string { return tables.Fixed(l.Value("outstanding_mean").Float(), 1) }

func launchCard(list []tables.Table, _ report.Names) card {
	t, h := &list[0], tables.Find(list, "launch_delay_histogram")
	l := t.Line(0)
	if l.Value("pairs").Int() == 0 || h == nil {
		return card{}
	}
	longest := most(h, "count")
	return card{
		Says: "Half of the operations start within " + l.Show("delay_p50") + " of the end of the call that launched them. A delay far above 10 µs is no slow launch: the operation waited in the queue.",
		Grids: []grid{makeGrid(h, 64, "buckets",
			label("delay", func(l tables.Line) gridCell {
				from := l.Value("from_ns").Int()
				if from == 0 {
					return gridCell{Text: "below 1.0 µs", Exact: "0"}
				}
				return gridCell{Text: "from " + l.Show("from_ns"), Exact: l.Exact("from_ns")}
			}),
			bars("", func(l tables.Line) []part {
				return []part{{"launch", ratio(l.Value("count").Float(), longest), counted(l, "count", "operation")}}
			}),
			figure(h, "operations", "count"))}}
}

package report

import (
	"slices"

	"overlay/internal/tables"
)

// causes are the causes of idle time: colour, words, and what they mean.
var causes = map[string]struct{ kind, word, means string }{
	"host_wait":   {"cpu", "host wait", "the next operation was launched after the one before had ended, so the host is what limits the stream"},
	"kernel_wait": {"launch", "kernel wait", "operations were queued, and the gaps between them are short ones that many small kernels leave"},
	"other":       {"untraced", "other", "operations were queued and waited for something else, another stream as a rule"},
}

// idleBecause is the stream that was idle for the shortest time of those that were, with what caused most of that; false where there is none.
func idleBecause(list []tables.Table) (least, top tables.Line, ok bool) {
	idle, of := tables.Find(list, "idle"), tables.Find(list, "idle_causes")
	if idle == nil || of == nil {
		return least, top, false
	}
	for l := range idle.Lines(-1) {
		if ns := l.Value("idle_ns").Int(); ns > 0 && (!ok || ns < least.Value("idle_ns").Int()) {
			least, ok = l, true
		}
	}
	if !ok {
		return least, top, false
	}
	ok = false
	for x := range of.By("device", "stream")(least) {
		if x.Value("ns").Int() > 0 && (!ok || x.Value("ns").Int() > top.Value("ns").Int()) {
			top, ok = x, true
		}
	}
	return least, top, ok
}

func idle(list []tables.Table, _ Names) (s Section) {
	t := &list[0]
	l, top, ok := idleBecause(list)
	if !ok {
		return s
	}
	is := causes[top.Str("cause")]
	s.Says = say(l, "Of the idle time of "+stream+", ") + say(top, "{share} is "+is.word+": "+is.means+".")
	causesOf, longest := tables.Find(list, "idle_causes").By("device", "stream"), most(t, "idle_ns")
	cause := func(name string) Column {
		return Column{Head: causes[name].word, Number: true, Unit: tables.NS, cell: func(l tables.Line) (cell Cell) {
			for x := range causesOf(l) {
				if x.Str("cause") == name {
					cell = Cell{Text: x.Show("ns"), Exact: x.Exact("ns"), Title: x.Show("share")}
				}
			}
			return cell
		}}
	}
	s.Grids = []Grid{gridOf(t, cardRows, "streams", textual("stream", stream),
		inWords(bars("", func(l tables.Line) (parts []Part) {
			for x := range causesOf(l) {
				is := causes[x.Str("cause")]
				parts = append(parts, Part{is.kind, ratio(x.Value("ns").Float(), longest), say(x, is.word+" {share}, {ns}")})
			}
			return parts
		}, Key{"cpu", "host wait"}, Key{"launch", "kernel wait"}, Key{"untraced", "other"})),
		cause("host_wait"), cause("kernel_wait"), extra(cause("other")), figure(t, "idle", "idle_ns"))}
	return s
}

// timeline draws each device as curves, a letter a slot.
func (t *text) timeline() {
	slotsOf := t.table("timeline_slots").By("device")
	for d := range t.table("timeline").Lines(-1) {
		for _, c := range [...][2]string{{"computation_ns", "computation"}, {"communication_ns", "communication"}, {"copies_ns", "copies"}, {"outstanding_max", "queue"}} {
			var at, full []int64
			for l := range slotsOf(d) {
				at, full = append(at, l.Value(c[0]).Int()), append(full, l.Value("duration_ns").Int())
			}
			most, last := slices.Max(at), ""
			if most == 0 {
				continue
			}
			if c[1] == "queue" {
				full, last = slices.Repeat([]int64{most}, len(at)), "  most "+tables.Grouped(most)
			}
			t.line("%s %-13s %s%s", say(d, "  GPU {device}"), c[1], curve(at, full, t.width-36), last)
		}
	}
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

package frompftrace

import (
	"cmp"
	"slices"
	"strconv"

	"overlay/internal/chrome"
)

// flowPhases appends the flow events of the trace: for each flow its slices in order of time, as Perfetto joins them.
// What a flow means is told by what it joins: calls and operations ("ac2g"), operations of graphs (the same with ids from
// firstMade on), ops of threads ("fwdbwd"). The arrows that a run of this program drew come last; their number is noted.
func (w *writer) flowPhases() {
	r := w.r
	list := r.flows
	slices.SortStableFunc(list, func(a, b flowEnd) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(r.recs[a.rec].ts, r.recs[b.rec].ts), cmp.Compare(a.rec, b.rec))
	})
	distinct := 0
	for i := range list {
		if i == 0 || list[i].id != list[i-1].id {
			distinct++
		}
	}
	drawn, _ := r.attr("overlay.flows_drawn")
	ordinal := 0
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].id == list[0].id {
			n++
		}
		ordinal++
		w.flow(list[:n], int64(ordinal), int64(ordinal) > int64(distinct)-drawn)
		list = list[n:]
	}
}

// flow appends one flow. Its slices come in order of time; added says that it is an arrow of an earlier run.
func (w *writer) flow(ends []flowEnd, id int64, added bool) {
	if len(ends) < 2 {
		return
	}
	first, second := w.r.recs[ends[0].rec].is, w.r.recs[ends[1].rec].is
	category, name := "ac2g", "ac2g"
	switch {
	case added:
		category, name = "critical_path", "critical_path"
	case first.Device() && second.Device():
		id += firstMade
	case first.Host() && second.Host():
		category, name = "fwdbwd", "fwdbwd"
	}
	for i, e := range ends {
		ph := byte('t')
		switch i {
		case 0:
			ph = 's'
		case len(ends) - 1:
			ph = 'f'
		}
		ts := w.r.recs[e.rec].ts
		if i == 0 && id >= firstMade {
			ts = w.r.recs[e.rec].end // an edge of a graph begins where the operation ends
		}
		w.flowEvent(ph, category, name, id, w.row(&w.r.recs[e.rec]).head, ts)
	}
}

func (w *writer) flowEvent(ph byte, category, name string, id int64, row []byte, ts int64) {
	w.startEvent()
	w.buf = append(append(w.buf, `{"ph":"`...), ph)
	w.buf = append(append(w.buf, `","cat":"`...), category...)
	w.buf = append(append(w.buf, `","name":"`...), name...)
	w.buf = append(w.buf, `","id":`...)
	w.buf = strconv.AppendInt(w.buf, id, 10)
	w.buf = append(append(w.buf, ','), row...)
	w.buf = chrome.AppendMicros(append(w.buf, `,"ts":`...), ts-w.r.base)
	if ph == 'f' {
		w.buf = append(w.buf, `,"bp":"e"`...)
	}
	w.buf = append(w.buf, '}')
}

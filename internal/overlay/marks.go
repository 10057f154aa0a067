package overlay

import (
	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// Marks say what is written on each input event: its part of the path, and its node of the aggregated graph. They are
// put together when asked for: most events have one.
type Marks struct {
	path   critpath.Marks
	node   []nodes.ID         // per event
	totals []int64            // critical time of an event and of what it encloses, ns, by event
	above  *critpath.EventSet // the events of totals: those of which it is more than their own time
}

// Replayed says of an operation of a replayed graph where it stands there, and what the capture of the graph recorded of it; nothing of others.
// It may be asked by several goroutines.
func (d *Drawing) Replayed(tr *trace.Trace, id trace.EventID, say func(key, text string)) {
	if !tr.Events[id].Kind.Device() {
		return
	}
	place, o := d.places.Name(id), tr.Origin(id)
	if place == "" {
		return
	}
	if say(ArgPlace, place); o == nil {
		return
	}
	for _, x := range [...]struct{ key, text string }{{ArgOperator, tr.Str(o.Operator)}, {ArgModule, tr.Str(o.Module)}, {ArgLine, tr.Str(o.Line)}, {ArgShapes, o.Shapes()}} {
		if x.text != "" {
			say(x.key, x.text)
		}
	}
}

func newMarks(y *graph.Layout, p *critpath.Path) Marks {
	ms := Marks{path: p.Marks, above: critpath.NewEventSet(len(y.Trace.Events)), node: y.NodeOf}
	total := enclosed(y, p)
	for _, m := range p.Marks.All() {
		if a := y.ActOf[m.Event]; a != cdg.NoAct && total[a] == m.NS {
			total[a] = 0
		}
	}
	for a, ns := range total {
		if ns > 0 {
			ms.above.Add(y.Acts[a].Event)
		}
	}
	ms.totals = make([]int64, ms.above.Freeze())
	for a, ns := range total {
		if ns > 0 {
			ms.totals[ms.above.Place(y.Acts[a].Event)] = ns
		}
	}
	return ms
}

// Events is how many events may have marks.
func (ms *Marks) Events() int { return len(ms.node) }

// Of returns the mark of an event, if it has one.
func (ms *Marks) Of(e trace.EventID) (m Mark, ok bool) {
	if int(e) >= len(ms.node) {
		return m, false
	}
	m = Mark{Event: e, ID: -1, Next: -1, Node: int32(ms.node[e])}
	if own, ok := ms.path.Of(e); ok {
		m.NS, m.ID, m.Next, m.TotalNS = own.NS, own.ID, own.Next, own.NS
	}
	if ms.above.Has(e) {
		m.TotalNS = ms.totals[ms.above.Place(e)]
	}
	return m, m.Critical() || m.TotalNS > 0 || m.Node >= 0
}

// id is the critical_id of an event, 0 without: HTA's path has segments of events that it does not mark.
func (ms *Marks) id(e trace.EventID) int32 {
	m, _ := ms.path.Of(e)
	return m.ID
}

// enclosed sums for each activity the critical time of itself and of what it encloses on its thread.
func enclosed(y *graph.Layout, p *critpath.Path) []int64 {
	d := y
	total := make([]int64, len(d.Acts))
	for _, m := range p.Marks.All() {
		if a := d.ActOf[m.Event]; a != cdg.NoAct {
			total[a] += m.NS
		}
	}
	for a := len(d.Acts) - 1; a >= 0; a-- { // a parent stands before its children
		if up := d.Parent[a]; up != cdg.NoAct {
			total[up] += total[a]
		}
	}
	return total
}

// MarksOf returns the marks of a list that is sorted by event, on a trace of so many events, without a path.
func MarksOf(events int, list []Mark) Marks {
	ms := Marks{above: critpath.NewEventSet(events), node: make([]nodes.ID, events)}
	for i := range ms.node {
		ms.node[i] = nodes.None
	}
	var path []critpath.Mark
	for _, m := range list {
		path = append(path, critpath.Mark{Event: m.Event, NS: m.NS, ID: m.ID, Next: m.Next})
		ms.node[m.Event] = nodes.ID(m.Node)
		if m.TotalNS > m.NS {
			ms.above.Add(m.Event)
			ms.totals = append(ms.totals, m.TotalNS)
		}
	}
	ms.path = critpath.MarksOf(path)
	ms.above.Freeze()
	return ms
}

package relations

import (
	"overlay/internal/cdg/nodes"
	"overlay/internal/cdg/phases"
	"overlay/internal/columns"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

var nodeColumns = []columns.Column{
	rising(num("cdg_node", columns.Int32, tables.ID, "number of the node")),
	text("kind", "cpu or gpu"),
	text("phase", "training phase"),
	num("track", columns.Int32, tables.ID, "the stream, or the thread of its first event"),
	rising(num("ts_ns", columns.Int64, tables.Time, "start")),
	num("dur_ns", columns.Int64, tables.NS, "length"),
	num("busy_ns", columns.Int64, tables.NS, "covered by its events, once"),
	num("events", columns.Int32, tables.Count, "how many it holds"),
	num("critical_ns", columns.Int64, tables.NS, "time on the path of its events: already in critical_ns of the table events, so never add the two"),
}

var nodeKinds = []string{"cpu", "gpu"}

func (m *maker) nodes() (int, []columns.Data) {
	n := m.g.Nodes
	critical := make([]int64, len(n))
	for _, x := range m.p.Marks.All() {
		if id := m.g.NodeOf[x.Event]; id != nodes.None {
			critical[id] += x.NS
		}
	}
	return len(n), []columns.Data{
		ints(func(i int) int64 { return int64(i) }),
		{Syms: nodeKinds, Sym: func(i int) (uint32, bool) {
			if n[i].GPU {
				return 1, true
			}
			return 0, true
		}},
		words(int(phases.NumPhases), func(i int) phases.Phase { return phases.Phase(i) }, func(i int) int { return int(n[i].Phase) }),
		ints(func(i int) int64 { return int64(m.g.Lanes[n[i].Lane].Track) }),
		ints(func(i int) int64 { return n[i].Start }),
		ints(func(i int) int64 { return n[i].End - n[i].Start }),
		ints(func(i int) int64 { return n[i].Busy }),
		ints(func(i int) int64 { return int64(n[i].Events) }),
		ints(func(i int) int64 { return critical[i] }),
	}
}

var stepColumns = func() []columns.Column {
	cols := []columns.Column{
		null(num("step", columns.Int32, tables.ID, "number of the ProfilerStep; null before the first and after the last")),
		text("name", "ProfilerStep#N, before or after"),
		rising(num("ts_ns", columns.Int64, tables.Time, "start")),
		num("dur_ns", columns.Int64, tables.NS, "length: to the start of the next step"),
		text("bound_by", "the class with most time"),
	}
	for c := range critpath.NumClasses {
		cols = append(cols, num(c.String()+"_ns", columns.Int64, tables.NS, "time of the path: "+c.Words()))
	}
	return cols
}()

func (m *maker) steps() (int, []columns.Data) {
	lines := critpath.StepTable(m.g.Steps, m.p)
	var names dict
	name := make([]uint32, len(lines))
	for i := range lines {
		name[i] = names.add(lines[i].Name)
	}
	data := []columns.Data{
		{Int: func(i int) (int64, bool) {
			if lines[i].Step < 0 {
				return 0, false
			}
			return m.stepAt(lines[i].Start)
		}},
		names.data(func(i int) uint32 { return name[i] }),
		ints(func(i int) int64 { return lines[i].Start }),
		ints(func(i int) int64 { return lines[i].End - lines[i].Start }),
		words(int(critpath.NumClasses), func(i int) critpath.Class { return critpath.Class(i) }, func(i int) int { return int(critpath.BoundBy(&lines[i].Class)) }),
	}
	for c := range critpath.NumClasses {
		data = append(data, ints(func(i int) int64 { return lines[i].Class[c] }))
	}
	return len(lines), data
}

var trackColumns = []columns.Column{
	rising(num("track", columns.Int32, tables.ID, "number of the row")),
	null(text("process", "name of the process or device")),
	null(text("thread", "name of the thread or stream")),
	text("pid", "as written"),
	text("tid", "as written"),
	text("class", "thread, stream, gpu_annotation, sync, span, overhead, device, other"),
	null(num("device", columns.Int32, tables.ID, "number of the GPU")),
	null(num("stream", columns.Int64, tables.ID, "of the GPU")),
}

func (m *maker) tracks() (int, []columns.Data) {
	rows := m.rows
	return len(rows), []columns.Data{
		ints(func(i int) int64 { return int64(i) }),
		m.names.data(func(i int) uint32 { return rows[i].process }),
		m.names.data(func(i int) uint32 { return rows[i].thread }),
		m.names.data(func(i int) uint32 { return rows[i].pid }),
		m.names.data(func(i int) uint32 { return rows[i].tid }),
		words(int(trace.DeviceTrack)+1, func(i int) trace.TrackClass { return trace.TrackClass(i) }, func(i int) int { return int(m.tr.Tracks[i].Class) }),
		ids(func(i int) int64 { return m.deviceOf(trace.TrackID(i)) }),
		ids(func(i int) int64 { return m.tr.Tracks[i].Stream }),
	}
}

var counterColumns = []columns.Column{
	num("ts_ns", columns.Int64, tables.Time, "when it was counted"),
	text("counter", "name of the counter"),
	null(num("track", columns.Int32, tables.ID, "row that it belongs to")),
	num("value", columns.Float64, tables.Count, "what it was, in its own unit"),
	text("series", "name of the value, where a counter has several"),
	num("event", columns.Int32, tables.Ref, "position in traceEvents"),
}

func (m *maker) counters() (int, []columns.Data) {
	type row struct {
		event  trace.EventID
		series uint32
		value  float64
	}
	var rows []row
	var series dict
	for i := range m.tr.Events {
		if m.tr.Events[i].Ph != 'C' {
			continue
		}
		depth := 0
		m.tr.Args(trace.EventID(i), func(key string, v trace.Value) bool {
			switch v.Kind {
			case trace.Object, trace.Array:
				depth++
			case trace.End:
				depth--
			default:
				if x, ok := v.AsFloat(); ok && depth == 0 {
					rows = append(rows, row{trace.EventID(i), series.add(key), x})
				}
			}
			return true
		})
	}
	return len(rows), []columns.Data{
		ints(func(i int) int64 { return m.event(rows[i].event).Start }),
		m.syms(func(i int) trace.Sym { return m.event(rows[i].event).Name }),
		ids(func(i int) trace.TrackID { return m.event(rows[i].event).Track }),
		{Float: func(i int) (float64, bool) { return rows[i].value, true }},
		series.data(func(i int) uint32 { return rows[i].series }),
		ints(func(i int) int64 { return int64(rows[i].event) }),
	}
}

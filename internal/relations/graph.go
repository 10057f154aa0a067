package relations

import (
	"overlay/internal/cdg/nodes"
	"overlay/internal/cdg/phases"
	"overlay/internal/columns"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

var nodeKinds = []string{"cpu", "gpu"}

func (m *maker) nodes() (int, []column) {
	n := m.g.Nodes
	critical := make([]int64, len(n))
	for _, x := range m.p.Marks.All() {
		if id := m.g.NodeOf[x.Event]; id != nodes.None {
			critical[id] += x.NS
		}
	}
	return len(n), []column{
		rising(int32s("cdg_node", tables.ID, "number of the node", func(i int) int64 { return int64(i) })),
		text("kind", "cpu or gpu", columns.Data{Syms: nodeKinds, Sym: func(i int) (uint32, bool) {
			if n[i].GPU {
				return 1, true
			}
			return 0, true
		}}),
		text("phase", "training phase", words(phases.NumPhases, func(i int) phases.Phase { return n[i].Phase })),
		int32s("track", tables.ID, "the stream, or the thread of its first event", func(i int) int64 { return int64(m.g.Lanes[n[i].Lane].Track) }),
		rising(int64s("ts_ns", tables.Time, "start", func(i int) int64 { return n[i].Start })),
		int64s("dur_ns", tables.NS, "length", func(i int) int64 { return n[i].End - n[i].Start }),
		int64s("busy_ns", tables.NS, "covered by its events, once", func(i int) int64 { return n[i].Busy }),
		int32s("events", tables.Count, "how many it holds", func(i int) int64 { return int64(n[i].Events) }),
		int64s("critical_ns", tables.NS, "time on the path of its events: already in critical_ns of the table events, so never add the two", func(i int) int64 { return critical[i] }),
	}
}

// iterationTypes are the words of the types.
var iterationTypes = func() (list []string) {
	for t := range trace.NumIterationTypes {
		list = append(list, t.String())
	}
	return list
}()

func (m *maker) steps() (int, []column) {
	lines := critpath.StepTable(m.g.Steps, m.p)
	var names dict
	name := make([]uint32, len(lines))
	for i := range lines {
		name[i] = names.add(lines[i].Name)
	}
	of := func(i int) *trace.Iteration {
		if lines[i].Step < 0 {
			return &trace.Iteration{Batch: -1, Tokens: -1}
		}
		return &m.g.Steps[lines[i].Step].Of
	}
	told := func(n int64, it *trace.Iteration) (int64, bool) { return n, it.Type != trace.NoIteration && n >= 0 }
	cols := []column{
		maybe32("step", tables.ID, "number of the ProfilerStep, or of the iteration of a server; null before the first and after the last", func(i int) (int64, bool) {
			if lines[i].Step < 0 {
				return 0, false
			}
			return m.stepAt(lines[i].Start)
		}),
		text("name", "ProfilerStep#N, the type and number of an iteration as decode#N, before or after", names.data(func(i int) uint32 { return name[i] })),
		rising(int64s("ts_ns", tables.Time, "start", func(i int) int64 { return lines[i].Start })),
		int64s("dur_ns", tables.NS, "length: to the start of the next step", func(i int) int64 { return lines[i].End - lines[i].Start }),
		text("bound_by", "the class with most time", words(critpath.NumClasses, func(i int) critpath.Class { return critpath.BoundBy(&lines[i].Class) })),
	}
	cols = append(cols,
		null(text("type", "of an iteration of a server: prefill, decode, mixed, verify, draft, image, idle, or iteration", columns.Data{Syms: iterationTypes,
			Sym: func(i int) (uint32, bool) { t := of(i).Type; return uint32(t), t != trace.NoIteration }})),
		maybe64("batch", tables.Count, "its requests", func(i int) (int64, bool) { return told(of(i).Batch, of(i)) }),
		maybe64("tokens", tables.Count, "that it computes", func(i int) (int64, bool) { return told(of(i).Tokens, of(i)) }),
		maybe64("marker_ns", tables.NS, "length of the annotation that names it", func(i int) (int64, bool) {
			if it := of(i); it.Type != trace.NoIteration {
				return m.tr.Dur(m.event(it.Event)), true
			}
			return 0, false
		}))
	for c := range critpath.NumClasses {
		cols = append(cols, int64s(c.String()+"_ns", tables.NS, "time of the path: "+c.Words(), func(i int) int64 { return lines[i].Class[c] }))
	}
	return len(lines), cols
}

func (m *maker) tracks() (int, []column) {
	rows := m.rows
	return len(rows), []column{
		rising(int32s("track", tables.ID, "number of the row", func(i int) int64 { return int64(i) })),
		null(text("process", "name of the process or device", m.names.data(func(i int) uint32 { return rows[i].process }))),
		null(text("thread", "name of the thread or stream", m.names.data(func(i int) uint32 { return rows[i].thread }))),
		text("pid", "as written", m.names.data(func(i int) uint32 { return rows[i].pid })),
		text("tid", "as written", m.names.data(func(i int) uint32 { return rows[i].tid })),
		text("class", "thread, stream, gpu_annotation, sync, span, overhead, device, other", words(trace.DeviceTrack+1, func(i int) trace.TrackClass { return m.tr.Tracks[i].Class })),
		ids32("device", tables.ID, "number of the GPU", func(i int) int64 { return m.deviceOf(trace.TrackID(i)) }),
		ids64("stream", tables.ID, "of the GPU", func(i int) int64 { return m.tr.Tracks[i].Stream }),
	}
}

func (m *maker) counters() (int, []column) {
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
		m.tr.TopArgs(trace.EventID(i), func(key string, v trace.Value) bool {
			if x, ok := v.AsFloat(); ok {
				rows = append(rows, row{trace.EventID(i), series.add(key), x})
			}
			return true
		})
	}
	return len(rows), []column{
		int64s("ts_ns", tables.Time, "when it was counted", func(i int) int64 { return m.event(rows[i].event).Start }),
		text("counter", "name of the counter", m.syms(func(i int) trace.Sym { return m.event(rows[i].event).Name })),
		ids32("track", tables.ID, "row that it belongs to", func(i int) trace.TrackID { return m.event(rows[i].event).Track }),
		floats("value", tables.Count, "what it was, in its own unit", func(i int) (float64, bool) { return rows[i].value, true }),
		text("series", "name of the value, where a counter has several", series.data(func(i int) uint32 { return rows[i].series })),
		int32s("event", tables.Ref, "position in traceEvents", func(i int) int64 { return int64(rows[i].event) }),
	}
}

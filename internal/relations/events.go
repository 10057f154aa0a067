package relations

import (
	"cmp"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/cdg/phases"
	"overlay/internal/columns"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// events has a row for each complete event, and for each begin with its end.
func (m *maker) events() (int, []column) {
	rows, lasts := m.completeEvents()
	ofTrack := func(f func(t trace.TrackID) int64) func(i int) int64 {
		return func(i int) int64 {
			if t := m.event(rows[i]).Track; t != trace.NoTrack {
				return f(t)
			}
			return -1
		}
	}
	named := func(f func(r *trackRow) uint32) columns.Data {
		return m.names.data(func(i int) uint32 {
			if t := m.event(rows[i]).Track; t != trace.NoTrack {
				return f(&m.rows[t])
			}
			return noText
		})
	}
	self, places := m.selfTimes(), cdg.PlacesIn(m.tr)
	return len(rows), []column{
		rising(int32s("event", tables.Ref, "position in traceEvents", func(i int) int64 { return int64(rows[i]) })),
		near(int64s("ts_ns", tables.Time, "start", func(i int) int64 { return m.event(rows[i]).Start })),
		int64s("dur_ns", tables.NS, "length", func(i int) int64 {
			if d, ok := lasts[rows[i]]; ok {
				return d
			}
			return m.tr.Dur(m.event(rows[i]))
		}),
		text("name", "of the event", m.syms(func(i int) trace.Sym { return m.event(rows[i]).Name })),
		text("cat", "category as written", m.syms(func(i int) trace.Sym { return trace.Sym(m.event(rows[i]).Cat) })),
		text("kind", "what it is, with all generations of categories folded: cpu_op, annotation, python, runtime, driver, kernel, memcpy, memset, …", words(trace.NumKinds, func(i int) trace.Kind { return m.event(rows[i]).Kind })),
		text("phase", "training phase: DataLoad, Forward, Loss, Backward, Communication, Update, Other", words(phases.NumPhases, func(i int) phases.Phase { return m.g.Phases[rows[i]] })),
		null(text("process", "name of the process or device", named(func(r *trackRow) uint32 { return r.process }))),
		null(text("pid", "as written", named(func(r *trackRow) uint32 { return r.pid }))),
		null(text("tid", "as written", named(func(r *trackRow) uint32 { return r.tid }))),
		null(text("thread", "name of the thread or stream", named(func(r *trackRow) uint32 { return r.thread }))),
		ids32("track", tables.ID, "row on which it lies, see the table tracks", ofTrack(func(t trace.TrackID) int64 { return int64(t) })),
		maybe32("step", tables.ID, "number of the ProfilerStep in which it starts", func(i int) (int64, bool) { return m.stepAt(m.event(rows[i]).Start) }),
		ids32("device", tables.ID, "number of the GPU", ofTrack(m.deviceOf)),
		maybe64("stream", tables.ID, "of the GPU", func(i int) (int64, bool) { return m.streamOf(rows[i]) }),
		maybe64("correlation", tables.ID, "shared by a launch call and what it launched", func(i int) (int64, bool) { e := m.event(rows[i]); return m.tr.Corr(e), e.Flags&trace.HasCorr != 0 }),
		maybe64("external_id", tables.ID, "shared by an op and what it caused", func(i int) (int64, bool) { return m.tr.ExternalID(rows[i]), m.event(rows[i]).Flags&trace.HasExt != 0 }),
		ids32("launch_event", tables.Ref, "the call that launched the operation; an event of the same run and rank", func(i int) trace.EventID { return m.tr.Launch(rows[i]) }),
		ids32("parent_event", tables.Ref, "the slice of the thread around it; an event of the same run and rank", func(i int) trace.EventID {
			if a := m.g.ActOf[rows[i]]; a != cdg.NoAct {
				return m.actEvent(m.g.Parent[a])
			}
			return trace.NoEvent
		}),
		ids32("cdg_node", tables.ID, "aggregated node, see the table nodes", func(i int) int32 { return int32(m.g.NodeOf[rows[i]]) }),
		int64s("critical_ns", tables.NS, "time of the window that the path attributes to the event itself; 0 when it is not on the path. Sums to covered_ns of the run with method exact", func(i int) int64 { return m.criticalNS(rows[i]) }),
		ids32("critical_id", tables.ID, "its first segment on the path", func(i int) int32 {
			if x, ok := m.p.Marks.Of(rows[i]); ok {
				return x.ID
			}
			return -1
		}),
		ids32("critical_next", tables.ID, "critical_id of the event that the path enters next; null on the last", func(i int) int32 {
			if x, ok := m.p.Marks.Of(rows[i]); ok {
				return x.Next
			}
			return -1
		}),
		maybe64("self_ns", tables.NS, "time inside the window in which no slice within it ran on its thread; null outside the window", func(i int) (int64, bool) {
			if a := m.g.ActOf[rows[i]]; a != cdg.NoAct {
				return self[a], true
			}
			return 0, false
		}),
		null(text("graph", "of an operation of a replayed graph: the number of the graph, as recorded or among those of the trace, and the place in it", columns.Data{Str: func(i int) (string, bool) {
			s := places.Name(rows[i])
			return s, s != ""
		}})),
		null(text("operator", "of an operation of a replayed graph: the operator that launched it when the graph was captured (--capture)", m.origin(rows, func(o *trace.Origin) trace.Sym { return o.Operator }))),
		null(text("module", "the same: the call of an nn.Module around that", m.origin(rows, func(o *trace.Origin) trace.Sym { return o.Module }))),
		null(text("line", "the same: the innermost Python frame of the user's files around that; of compiled code the line of the model, or the file that inductor wrote the kernel to", m.origin(rows, func(o *trace.Origin) trace.Sym { return cmp.Or(o.Line, o.File) }))),
		null(text("shapes", "of the same, and of kernels that inductor wrote: of the operator's inputs", columns.Data{Str: func(i int) (string, bool) {
			if o := m.tr.Origin(rows[i]); o != nil {
				s := o.Shapes()
				return s, s != ""
			}
			return "", false
		}})),
		null(text("args", "arguments as JSON", columns.Data{Str: func(i int) (string, bool) { return m.argsOf(rows[i]) }})),
	}
}

// origin is what a capture recorded of operations.
func (m *maker) origin(rows []trace.EventID, of func(*trace.Origin) trace.Sym) columns.Data {
	return columns.Data{Syms: m.tr.Syms, Sym: func(i int) (uint32, bool) {
		o := m.tr.Origin(rows[i])
		if o == nil {
			return 0, false
		}
		s := of(o)
		return uint32(s), s != 0
	}}
}

// completeEvents are the events that have a row, and how long those last that are a begin with an end.
func (m *maker) completeEvents() (rows []trace.EventID, lasts map[trace.EventID]int64) {
	events := m.tr.Events
	n := 0
	var halves []int32
	for i := range events {
		switch events[i].Ph {
		case 'X':
			n++
		case 'B', 'E':
			if events[i].Track != trace.NoTrack {
				halves = append(halves, int32(i))
			}
		}
	}
	m.tr.ByThread(halves, func(row []int32) {
		trace.Pair(events, row, func(begin, end int32) {
			if begin < 0 || end < 0 {
				return
			}
			if lasts == nil {
				lasts = map[trace.EventID]int64{}
			}
			lasts[trace.EventID(begin)] = events[end].Start - events[begin].Start
		})
	})
	rows = make([]trace.EventID, 0, n+len(lasts))
	for i := range events {
		_, joined := lasts[trace.EventID(i)]
		if joined || events[i].Ph == 'X' {
			rows = append(rows, trace.EventID(i))
		}
	}
	return rows, lasts
}

// deviceOf is the number of the device of a row, -1 of a thread.
func (m *maker) deviceOf(t trace.TrackID) int64 {
	if x := &m.tr.Tracks[t]; x.Class.OnDevice() {
		return m.tr.Procs[x.Proc].Device
	}
	return -1
}

// streamOf is the stream on which an operation ran: that of its row, unless it is drawn elsewhere.
func (m *maker) streamOf(e trace.EventID) (int64, bool) {
	if n, ok := m.tr.CUDAStream(e); ok {
		return n, true
	}
	if t := m.event(e).Track; t != trace.NoTrack && m.tr.Tracks[t].Stream >= 0 {
		return m.tr.Tracks[t].Stream, true
	}
	return 0, false
}

// selfTimes is per activity the time of the window in which it owned its row: of a slice the pieces that are its own, of
// an operation all of it.
func (m *maker) selfTimes() []int64 {
	g := m.g
	self := make([]int64, len(g.Acts))
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		if lane.Stream {
			for a := lane.First; a < lane.Limit; a++ {
				act := &g.Acts[a]
				self[a] = max(0, min(act.End, g.Window.End)-max(act.Start, g.Window.Start))
			}
			continue
		}
		for i := g.PieceFirst[l]; i < g.PieceFirst[l+1]; i++ {
			p := g.Pieces[i]
			if p.Owner == cdg.NoAct {
				continue
			}
			end := g.Window.End
			if i+1 < g.PieceFirst[l+1] {
				end = g.Pieces[i+1].Start
			}
			self[p.Owner] += max(0, min(end, g.Acts[p.Owner].End, g.Window.End)-max(p.Start, g.Window.Start))
		}
	}
	return self
}

// argsOf writes the arguments of an event as JSON, in their order. Values stand as in the input, but for bare words that
// JSON lacks, which become texts.
func (m *maker) argsOf(id trace.EventID) (string, bool) {
	if m.event(id).Flags&trace.HasArgs == 0 {
		return "", false
	}
	var b strings.Builder
	open := []byte{'}'}
	first := true
	b.WriteByte('{')
	m.tr.Args(id, func(key string, v trace.Value) bool {
		if v.Kind == trace.End {
			b.WriteByte(open[len(open)-1])
			open, first = open[:len(open)-1], false
			return true
		}
		if !first {
			b.WriteByte(',')
		}
		if first = false; open[len(open)-1] == '}' {
			quoteJSON(&b, key)
			b.WriteByte(':')
		}
		switch v.Kind {
		case trace.Object:
			b.WriteByte('{')
			open, first = append(open, '}'), true
		case trace.Array:
			b.WriteByte('[')
			open, first = append(open, ']'), true
		case trace.String, trace.Word:
			quoteJSON(&b, v.Text)
		case trace.Null:
			b.WriteString("null")
		default:
			writeNumber(&b, v)
		}
		return true
	})
	b.WriteByte('}')
	return b.String(), true
}

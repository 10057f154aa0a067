package relations

import (
	"overlay/internal/cdg"
	"overlay/internal/columns"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

func (m *maker) segments() (int, []column) {
	s := m.p.Segments.List()
	var kinds dict // names of segments without an event, after the symbols of the trace
	names := append(m.tr.Syms[:len(m.tr.Syms):len(m.tr.Syms)], make([]string, critpath.NumSegmentKinds)...)
	for k := range critpath.NumSegmentKinds {
		kinds.add(k.String())
		names[len(m.tr.Syms)+int(k)] = k.String()
	}
	return len(s), []column{
		rising(int32s("critical_id", tables.ID, "place on the path, from 0", func(i int) int64 { return int64(i) })),
		rising(int64s("ts_ns", tables.Time, "start", func(i int) int64 { return s[i].Start })),
		int64s("dur_ns", tables.NS, "length", func(i int) int64 { return s[i].End - s[i].Start }),
		text("kind", "what it is made of: cpu, runtime, python, compute, comm, memcpy, memset, launch_delay, …", columns.Data{Syms: kinds.list, Sym: func(i int) (uint32, bool) { return uint32(s[i].Kind), true }}),
		text("class", "what a person would say bounds the run: cpu, gpu_compute, communication, copy, launch, sync, handoff, unexplained, untraced, idle", words(critpath.NumClasses, func(i int) critpath.Class { return s[i].Kind.Class() })),
		text("evidence", "how the step into it is known; api and aligned are inferred", words(cdg.NumEvidence, func(i int) cdg.Evidence { return s[i].Evidence })),
		ids32("event", tables.Ref, "whose time it is; null for delays, hand-offs and untraced time", func(i int) trace.EventID { return s[i].Event }),
		ids32("track", tables.ID, "row on which it lies", func(i int) trace.TrackID { return s[i].Track }),
		maybe32("step", tables.ID, "number of the ProfilerStep in which it starts", func(i int) (int64, bool) { return m.stepAt(s[i].Start) }),
		text("name", "of the event, else the kind", columns.Data{Syms: names, Sym: func(i int) (uint32, bool) {
			if s[i].Owned() {
				return uint32(m.event(s[i].Event).Name), true
			}
			return uint32(len(m.tr.Syms)) + uint32(s[i].Kind), true
		}}),
	}
}

// edgeRow is one stored dependency.
type edgeRow struct {
	wait          cdg.WaitID
	to            trace.EventID // NoEvent: a gap
	track         trace.TrackID // of what waited
	bound, onPath bool
}

// storedWaits lists every wait for something known once: those of activities, then those at borders between pieces of
// threads and inside of pieces. What ends a blocking call is stored at the border, where it bound, and among all that
// the call would have waited for: it is one row.
func (m *maker) storedWaits() []edgeRow {
	g := m.g
	rows := make([]edgeRow, 0, len(g.Waits))
	place := make([]int32, len(g.Waits)) // row of a wait, plus 1
	add := func(w cdg.WaitID, to trace.EventID, track trace.TrackID) {
		if w != cdg.NoWait && place[w] == 0 && g.Waits[w].From != cdg.NoAct {
			rows = append(rows, edgeRow{w, to, track, g.Waits[w].Bound, false})
			place[w] = int32(len(rows))
		}
	}
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		for a := lane.First; a < lane.Limit; a++ {
			for w := g.First[a]; w < g.First[a+1]; w++ {
				add(cdg.WaitID(w), g.Acts[a].Event, lane.Track)
			}
		}
	}
	// border adds what a thread waited for between two slices, either of which may be a gap.
	border := func(id cdg.WaitID, before, after cdg.ActID, lane *cdg.Lane) {
		if id == cdg.NoWait || place[id] > 0 {
			return
		}
		w := &g.Waits[id]
		if w.Rule.Waits() == cdg.SliceWaits && before != cdg.NoAct { // the slice that ends waited
			for own := g.First[before]; own < g.First[before+1]; own++ {
				if x := &g.Waits[own]; x.From == w.From && x.Rule == w.Rule && place[own] > 0 {
					rows[place[own]-1].wait, rows[place[own]-1].bound = id, true
					place[id] = place[own]
					return
				}
			}
			after = before
		}
		add(id, m.actEvent(after), lane.Track)
	}
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		if lane.Stream {
			continue
		}
		before := cdg.NoAct
		for i := g.PieceFirst[l]; i < g.PieceFirst[l+1]; i++ {
			border(g.Pieces[i].Begun, before, g.Pieces[i].Owner, lane)
			before = g.Pieces[i].Owner
		}
	}
	for _, x := range g.Inside {
		owner := cdg.NoAct
		if i := g.PieceAt(x.Lane, x.At); i >= 0 {
			owner = g.Pieces[i].Owner
		}
		border(x.Wait, owner, owner, &g.Lanes[x.Lane])
	}
	m.findOnPath(rows)
	return rows
}

// findOnPath marks the dependencies over which the path runs: those that bound, between two events that the path joins.
func (m *maker) findOnPath(rows []edgeRow) {
	joined := map[[2]trace.EventID]bool{}
	for _, e := range m.p.Edges.All() {
		if e.Type != critpath.OperatorEdge {
			joined[[2]trace.EventID{e.From, e.To}] = true
		}
	}
	for i := range rows {
		w := &m.g.Waits[rows[i].wait]
		rows[i].onPath = rows[i].bound && joined[[2]trace.EventID{m.actEvent(w.From), rows[i].to}]
	}
}

func (m *maker) edges() (int, []column) {
	rows := m.storedWaits()
	w := func(i int) *cdg.Wait { return &m.g.Waits[rows[i].wait] }
	return len(rows), []column{
		int32s("from_event", tables.Ref, "what was waited for", func(i int) int64 { return int64(m.actEvent(w(i).From)) }),
		ids32("to_event", tables.Ref, "what waited; null for a gap of a thread", func(i int) trace.EventID { return rows[i].to }),
		text("rule", "why: stream_order, launch, event_wait, graph_order, sync, queue_full, handoff, polled_wait, before_recording", words(cdg.NumRules, func(i int) cdg.Rule { return w(i).Rule })),
		text("evidence", "how it is known: correlation, stream, sync_event, graph, and api and aligned, which are inferred", words(cdg.NumEvidence, func(i int) cdg.Evidence { return w(i).Evidence })),
		int64s("gap_ns", tables.NS, "from when the source was ready until what waited went on", func(i int) int64 { return w(i).Lag }),
		flags("on_path", "the path runs over it", func(i int) bool { return rows[i].onPath }),
		int64s("ts_ns", tables.Time, "when the source was ready", func(i int) int64 { return w(i).At }),
		flags("bound", "of all that was waited for at this point it was over last", func(i int) bool { return rows[i].bound }),
		int32s("track", tables.ID, "row of what waited", func(i int) int64 { return int64(rows[i].track) }),
	}
}

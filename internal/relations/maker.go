package relations

import (
	"sort"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// maker holds what several tables ask for.
type maker struct {
	Source
	tr *trace.Trace
	g  *graph.Graph
	p  *critpath.Path

	rows      []trackRow // per track
	names     dict       // of rows
	stepSpans []stepSpan

	said      *trace.Collectives // what events say of theirs
	comms     []collective       // once somebody has asked for them
	commTexts dict               // their texts
}

// trackRow is what a row is called, as numbers in maker.names; noText where it has no such name.
type trackRow struct{ process, thread, pid, tid uint32 }

// stepSpan is a step with its number.
type stepSpan struct{ start, end, number int64 }

func newMaker(s Source) *maker {
	m := &maker{Source: s, tr: s.Graph.Trace, g: s.Graph, p: s.Path, said: s.Graph.Trace.Collectives()}
	for i := range m.tr.Tracks {
		m.rows = append(m.rows, m.trackRow(&m.tr.Tracks[i]))
	}
	for _, x := range m.g.Steps {
		if x.Number >= 0 && x.Number < 1<<31 {
			m.stepSpans = append(m.stepSpans, stepSpan{x.Start, x.End, x.Number})
		}
	}
	return m
}

func (m *maker) criticalNS(e trace.EventID) int64 {
	x, _ := m.p.Marks.Of(e)
	return x.NS
}

func (m *maker) event(e trace.EventID) *trace.Event { return &m.tr.Events[e] }

// inWindow reports whether what starts at a time belongs to the analysed interval.
func (m *maker) inWindow(t int64) bool { return t >= m.g.Window.Start && t <= m.g.Window.End }

// stepAt is the number of the step in which a time lies.
func (m *maker) stepAt(t int64) (int64, bool) {
	i := sort.Search(len(m.stepSpans), func(i int) bool { return m.stepSpans[i].end > t })
	if i == len(m.stepSpans) || m.stepSpans[i].start > t {
		return 0, false
	}
	return m.stepSpans[i].number, true
}

// trackRow names a row as the viewer does.
func (m *maker) trackRow(t *trace.Track) trackRow {
	p := &m.tr.Procs[t.Proc]
	process, thread := strings.TrimSpace(p.Name), strings.TrimSpace(t.Name) // Kineto writes "stream 7 "
	if p.IsDevice {
		process = m.tr.DeviceName(p)
	}
	if thread == "" && t.Class == trace.DeviceStream {
		thread = m.tr.StreamName(t)
	}
	r := trackRow{process: noText, thread: noText, pid: m.names.add(m.tr.TokenText(p.PID)), tid: m.names.add(m.tr.TokenText(t.TID))}
	if process != "" {
		r.process = m.names.add(process)
	}
	if thread != "" {
		r.thread = m.names.add(thread)
	}
	return r
}

// actEvent is the event of an activity, NoEvent of none.
func (m *maker) actEvent(a cdg.ActID) trace.EventID {
	if a == cdg.NoAct {
		return trace.NoEvent
	}
	return m.g.Acts[a].Event
}

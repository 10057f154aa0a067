package overlay

import (
	"overlay/internal/cdg"
	"overlay/internal/critpath"
)

// MarksOf returns marks, sorted by event, of a trace of so many events.
func MarksOf(events int, list []Mark) Marks {
	ms := Marks{on: critpath.NewEventSet(events), above: critpath.NewEventSet(events), node: make([]cdg.NodeID, events)}
	for i := range ms.node {
		ms.node[i] = cdg.NoNode
	}
	for _, m := range list {
		ms.on.Add(m.Event)
		ms.path = append(ms.path, critpath.Mark{Event: m.Event, NS: m.NS, ID: m.ID, Next: m.Next})
		ms.node[m.Event] = cdg.NodeID(m.Node)
		if m.TotalNS > m.NS {
			ms.above.Add(m.Event)
			ms.totals = append(ms.totals, m.TotalNS)
		}
	}
	ms.on.Freeze()
	ms.above.Freeze()
	return ms
}

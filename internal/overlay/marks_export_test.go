package overlay

import (
	"overlay/internal/cdg"
	"overlay/internal/critpath"
)

// MarksOf returns marks, sorted by event, of a trace of so many events.
func MarksOf(events int, list []Mark) Marks {
	ms := Marks{on: critpath.NewEventSet(events), node: make([]cdg.NodeID, events), actOf: make([]cdg.ActID, events)}
	for i := range ms.node {
		ms.node[i], ms.actOf[i] = cdg.NoNode, cdg.NoAct
	}
	for _, m := range list {
		ms.on.Add(m.Event)
		ms.path = append(ms.path, critpath.Mark{Event: m.Event, NS: m.NS, ID: m.ID, Next: m.Next})
		ms.node[m.Event] = cdg.NodeID(m.Node)
		ms.actOf[m.Event] = cdg.ActID(len(ms.total))
		ms.total = append(ms.total, m.TotalNS)
	}
	ms.on.Freeze()
	return ms
}

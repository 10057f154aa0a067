package whatif

import (
	"sync"

	"overlay/internal/graph"
	"overlay/internal/par"
)

// New makes a graph ready for replays. The graph stays as it is and has to stay so.
func New(g *graph.Graph) *Model {
	m := &Model{g: g, t0: g.Window.Start, t1: g.Window.End, slots: make(chan struct{}, mostBrief)}
	b := &modelBuilder{m: m, g: g.Graph, pieceHint: make([]int32, len(g.Lanes)), borderHint: make([]int32, len(g.Lanes))}
	m.own = sync.OnceValue(m.ownTimes)
	m.class = sync.OnceValue(func() []Class { return m.classes(g.Acts) })
	m.opClass = sync.OnceValue(func() []Class { return m.classes(g.Acts[m.firstOp:]) })
	for q := range m.delayed {
		m.delayed[q] = sync.OnceValue(func() *plan { return m.findDelayed(q) })
	}
	m.moments = sync.OnceValue(m.findMoments)
	m.returning = sync.OnceValue(m.findReturns)
	b.holds = g.Holds()
	b.findMeant()
	b.countLaunches()
	b.markBorders()
	related := par.Beside(b.relate) // points are numbered by one processor
	b.layPoints()
	related()
	b.layDeps()
	b.forget()
	orderer{b}.order()
	b.findEnds()
	m.nothing = m.unplanned()
	return m
}

package whatif

import (
	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// moved is how many bytes an operation moves over a link, 0 when the trace does not say: of a collective what its args, or
// those of the op that asked for it, tell of the message, times what a link carries of each byte; of a copy its bytes.
func (m *Model) moved(op cdg.ActID) int64 {
	g := m.g
	if !g.Lanes[g.Acts[op].Lane].Stream {
		return 0
	}
	id := g.Acts[op].Event
	class := m.opClass()[op-m.firstOp]
	if class == CopyClass {
		n, _ := g.Trace.ArgInt(id, "bytes")
		return max(n, 0)
	}
	if class != CommClass {
		return 0
	}
	if n := messageBytes(g.Trace, id); n > 0 {
		return n
	}
	call := g.Trace.Launch(id)
	if call == trace.NoEvent {
		return 0
	}
	for a := g.ActOf[call]; a != cdg.NoAct; a = g.Parent[a] {
		if n := messageBytes(g.Trace, g.Acts[a].Event); n > 0 {
			return n
		}
	}
	return 0
}

func messageBytes(tr *trace.Trace, id trace.EventID) int64 {
	c, ok := tr.Collective(id)
	if !ok || c.Bytes() <= 0 {
		return 0
	}
	ranks := c.Group.Size
	if ranks < 0 {
		ranks = tr.Distributed.World
	}
	return int64(float64(c.Bytes()) * trace.BusFactor(c.Name, ranks))
}

// movers is the operations of a set of which the trace says how much they move.
func (m *Model) movers(on Set) Set {
	out := m.NewSet()
	on.Each(func(a cdg.ActID) {
		if m.pointOf(a) != none && m.moved(a) > 0 {
			out.Add(a)
		}
	})
	return out
}

// bandwidth gives each operation of a change the time that its bytes take.
func (p *plan) bandwidth(m *Model, c *Change) {
	c.On.Each(func(a cdg.ActID) {
		if n := m.moved(a); n > 0 {
			p.set(m, a, m.ownOf(a), ratio{c.Den, c.Num}.of(n))
		}
	})
}

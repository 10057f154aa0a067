package whatif

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
)

// layDeps gives each point its sources.
func (b *modelBuilder) layDeps() {
	g, m := b.g, b.m
	m.depFrom = make([]int32, 1, len(m.at)+1)
	m.depFrom = append(m.depFrom, 0) // the origin has none
	b.joinCalls()
	points, waits := 0, len(b.opDeps) // of threads; of operations
	for l := range m.border {
		points += len(m.border[l])
	}
	for i, p := range m.opPoint {
		if k := m.firstOp + cdg.ActID(i); p != none {
			waits += int(g.First[k+1] - g.First[k])
		}
	}
	m.deps = make([]dep, 0, points)
	streams := false
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		if lane.Stream && !streams { // the first: no thread comes after it
			streams = true
			b.g.Pieces, b.g.Inside = nil, nil
			m.deps = slices.Grow(m.deps, waits)
		}
		if lane.Stream {
			for a := lane.First; a < lane.Limit; a++ {
				if m.pointOf(a) != none {
					b.operationDeps(a)
					m.depFrom = append(m.depFrom, int32(len(m.deps)))
				}
			}
			continue
		}
		for _, x := range m.border[l] {
			b.borderDeps(cdg.LaneID(l), m.at[x])
			m.depFrom = append(m.depFrom, int32(len(m.deps)))
		}
	}
}

func (b *modelBuilder) fixed(at int64, rule cdg.Rule) {
	b.m.deps = append(b.m.deps, b.after(at, dep{wait: none, rule: rule, flag: bound}))
}

// borderDeps gives a point of a thread the source that did bind, and what the call that ends there would wait for.
func (b *modelBuilder) borderDeps(l cdg.LaneID, at int64) {
	g, m := b.g, b.m
	if at <= m.t0 {
		b.fixed(at, cdg.Program)
		return
	}
	piece := b.pieceAt(l, at)
	if piece < 0 {
		first := g.PieceFirst[l]
		d, ok := b.onRequest(first, at)
		if !ok {
			d = b.source(g.Pieces[first].Begun)
		}
		m.deps = append(m.deps, d)
		return
	}
	if w := b.waitFor(l, piece, at); w != cdg.NoWait {
		d := b.source(w)
		if owner := g.Pieces[piece].Owner; d.src > 0 && d.rule == cdg.Sync && owner != cdg.NoAct {
			b.besides(&d, owner, g.Waits[w].From)
		}
		m.deps = append(m.deps, d)
	} else if d, ok := b.heldUntil(l, at); ok {
		m.deps = append(m.deps, d)
	}
	if d, ok := b.onRequest(int32(piece+1), at); ok {
		m.deps = append(m.deps, d)
	}
	if more := b.callDeps[callEnd{l, at}]; more != nil {
		m.deps = append(m.deps, more...)
	}
}

// source is the wait that did bind: with the delay that was recorded.
func (b *modelBuilder) source(id cdg.WaitID) dep {
	g, m := b.g, b.m
	w := &g.Waits[id]
	d := dep{wait: int32(id), rule: w.Rule, kind: ruleKind[w.Rule], flag: bound}
	switch w.Note {
	case cdg.Late:
		d.kind = unknownDelay
	case cdg.RecordsLost, cdg.Unrecorded:
		d.kind = lostDelay
	}
	if w.From == cdg.NoAct {
		d.kind = fixedDelay
		return b.after(w.At+w.Lag, d) // nothing is known: it happens when it happened
	}
	from, lag := &g.Acts[w.From], w.At+w.Lag
	if g.Lanes[from.Lane].Stream {
		if p := m.pointOf(w.From); p != none {
			d.src, lag = p, lag-from.End
		}
	} else if p := b.borderAt(from.Lane, w.At); p != none && w.At > m.t0 {
		d.src, lag = p, w.Lag
	}
	if d.src == 0 {
		d.kind = fixedDelay // before the window
	}
	return b.after(lag, d)
}

// operationDeps gives an operation its sources: the one that did bind with its delay, all others with what is typical.
func (b *modelBuilder) operationDeps(k cdg.ActID) {
	g, m := b.g, b.m
	act := &g.Acts[k]
	m.cost.set(m.pointOf(k), act.End-max(act.Start, m.t0))
	if act.Start <= m.t0 {
		b.fixed(m.t0, cdg.Program)
		return
	}
	row := g.Sources(k)
	for i := range row {
		if row[i].Bound { // it comes first: where two are over at once, what did bind binds
			m.deps = append(m.deps, b.source(cdg.WaitID(g.First[k]+int32(i))))
		}
	}
	for i := range row {
		w := &row[i]
		if w.Bound {
			continue
		}
		from := &g.Acts[w.From]
		d := dep{wait: g.First[k] + int32(i), rule: w.Rule, kind: ruleKind[w.Rule], typical: b.typicalOf(w)}
		lag := int64(0)
		if w.Rule == cdg.Launch {
			p := b.borderAt(from.Lane, w.At)
			if p == none || w.At <= m.t0 {
				continue
			}
			d.src, lag = p, act.Start-w.At
		} else {
			p := m.pointOf(w.From)
			if p == none || from.Start >= act.Start {
				continue
			}
			d.src, lag = p, act.Start-from.End
		}
		m.deps = append(m.deps, b.after(min(m.typical[d.typical], lag), d))
	}
	i, _ := slices.BinarySearchFunc(b.opDeps, k, func(x opDep, k cdg.ActID) int { return cmp.Compare(x.op, k) })
	for ; i < len(b.opDeps) && b.opDeps[i].op == k; i++ {
		m.deps = append(m.deps, b.opDeps[i].dep)
	}
}

// joinCalls finds the border at which each call returns that would wait for something.
func (b *modelBuilder) joinCalls() {
	g, m := b.g, b.m
	b.callDeps = map[callEnd][]dep{}
	for _, h := range b.holds {
		c, op := &g.Acts[h.Call], &g.Acts[h.Op]
		p := m.pointOf(h.Op)
		if p == none || c.End <= m.t0 || c.End > m.t1 || b.borderAt(c.Lane, c.End) == none {
			continue
		}
		key := callEnd{c.Lane, c.End}
		d := b.after(min(m.typical[postLag], c.End-op.End), dep{src: p, wait: none, rule: cdg.Sync, kind: syncDelay, typical: postLag, flag: held})
		b.besides(&d, h.Call, h.Op)
		b.callDeps[key] = append(b.callDeps[key], d)
	}
}

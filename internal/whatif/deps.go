package whatif

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/par"
)

// pointsRange is about how many points one processor works at in one go. Tests make it small.
var pointsRange = 1 << 14

// depLayer gives some points their sources: neighbours of one lane. It looks at what the builder knows and changes nothing of it.
type depLayer struct {
	modelBuilder
	lane   cdg.LaneID
	points []int32   // of a thread
	first  cdg.ActID // of a stream: its operations from here on
	limit  cdg.ActID
	deps   []dep
	counts []int32 // per point: how many
	later  []laterBeside
	costs  []longCost
}

// longCost is the time of an operation that has no room for it.
type longCost struct {
	point int32
	ns    int64
}

// setCost says how long an operation lasts.
func (b *depLayer) setCost(point int32, ns int64) {
	if ns >= 0 && ns < spanLimit {
		b.m.cost.short[point] = uint32(ns)
	} else {
		b.costs = append(b.costs, longCost{point, ns})
	}
}

// laterBeside is a source that may turn out to be one of a thread beside, see besides.
type laterBeside struct {
	dep      int // index into depLayer.deps
	call, op cdg.ActID
}

// layDeps gives each point its sources, those of threads first, and beside them adds up what lies between these.
func (b *modelBuilder) layDeps() {
	m := b.m
	b.joinCalls()
	b.callFar, b.far = b.far, nil
	m.depFrom = make([]int32, 2, len(m.at)+1) // the origin has none
	threads, streams := b.depLayers()
	parts := par.Beside(b.layParts)
	b.layAll(threads)
	parts()
	b.layAll(streams)
}

// depLayers shares out the points, in their order.
func (b *modelBuilder) depLayers() (threads, streams []depLayer) {
	g, m := b.g, b.m
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		if lane.Stream {
			for a := lane.First; a < lane.Limit; a += cdg.ActID(pointsRange) {
				streams = append(streams, depLayer{modelBuilder: *b, lane: cdg.LaneID(l), first: a, limit: min(lane.Limit, a+cdg.ActID(pointsRange))})
			}
			continue
		}
		for points := range slices.Chunk(m.border[l], pointsRange) {
			threads = append(threads, depLayer{modelBuilder: *b, lane: cdg.LaneID(l), points: points})
		}
	}
	return threads, streams
}

// group puts layers together that one processor works at: it keeps something for each lane, so a group has as many points as there are lanes.
func (b *modelBuilder) group(layers []depLayer) (groups [][]depLayer) {
	least := max(pointsRange, len(b.g.Lanes))
	for from, to := 0, 0; from < len(layers); from = to {
		for n := 0; to < len(layers) && n < least; to++ {
			n += len(layers[to].points) + int(layers[to].limit-layers[to].first)
		}
		groups = append(groups, layers[from:to])
	}
	return groups
}

// layAll lets layers work side by side, and puts what they laid behind what is there.
func (b *modelBuilder) layAll(layers []depLayer) {
	m := b.m
	n, room := len(m.deps), 0
	for i := range layers {
		room += layers[i].room()
	}
	m.deps = slices.Grow(m.deps, room)
	at := n
	for i := range layers {
		x := &layers[i]
		x.deps = m.deps[at : at : at+x.room()]
		at += x.room()
	}
	groups := b.group(layers)
	par.Each(len(groups), func(i int) {
		pieces, borders := make([]int32, len(b.g.Lanes)), make([]int32, len(b.g.Lanes))
		for k := range groups[i] {
			x := &groups[i][k]
			x.pieceHint, x.borderHint = pieces, borders
			x.lay()
		}
	})
	inPlace := true
	for i := range layers {
		inPlace = inPlace && len(layers[i].deps) <= layers[i].room()
		for _, c := range layers[i].counts {
			n += int(c)
			m.depFrom = append(m.depFrom, int32(n))
		}
	}
	to := m.deps // they move to the front of the memory in which they are
	if !inPlace {
		to = append(make([]dep, 0, n), m.deps...)
	}
	for i := range layers {
		at, x := len(to), &layers[i]
		to = append(to, x.deps...)
		if len(x.far) > 0 {
			for k := range to[at:] {
				if d := &to[at+k]; d.flag&distant != 0 {
					d.lag += int32(len(m.far))
				}
			}
			m.far = append(m.far, x.far...)
		}
		for _, y := range x.later {
			b.besides(&to[at+y.dep], y.call, y.op)
		}
		for _, y := range x.costs {
			m.cost.set(y.point, y.ns)
		}
	}
	m.deps = to
}

// room is for how many sources there is room: those of operations are waits of the graph, and few points of threads have several.
func (b *depLayer) room() int {
	return len(b.points) + int(b.g.First[b.limit]-b.g.First[b.first]) + int(b.limit-b.first)/16
}

func (b *depLayer) lay() {
	b.counts = make([]int32, 0, len(b.points)+int(b.limit-b.first))
	done := func(before int) { b.counts = append(b.counts, int32(len(b.deps)-before)) }
	for _, x := range b.points {
		before := len(b.deps)
		b.borderDeps(b.lane, x)
		done(before)
	}
	for a := b.first; a < b.limit; a++ {
		if b.m.pointOf(a) != none {
			before := len(b.deps)
			b.operationDeps(a)
			done(before)
		}
	}
}

func (b *depLayer) fixed(at int64, rule cdg.Rule) {
	b.deps = append(b.deps, b.after(at, dep{wait: none, rule: rule, flag: bound}))
}

// borderDeps gives a point of a thread the source that did bind, and what the call that ends there would wait for.
func (b *depLayer) borderDeps(l cdg.LaneID, point int32) {
	g, m := b.g, b.m
	at := m.at[point]
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
		b.deps = append(b.deps, d)
		return
	}
	if w := b.waitFor(l, piece, at); w != cdg.NoWait {
		d := b.source(w)
		if owner := g.Pieces[piece].Owner; d.src > 0 && d.rule == cdg.Sync && owner != cdg.NoAct {
			b.later = append(b.later, laterBeside{len(b.deps), owner, g.Waits[w].From})
		}
		b.deps = append(b.deps, d)
	} else if d, ok := b.heldUntil(point); ok {
		b.deps = append(b.deps, d)
	}
	if d, ok := b.onRequest(int32(piece+1), at); ok {
		b.deps = append(b.deps, d)
	}
	if b.called.Has(cdg.ActID(point)) {
		i, _ := slices.BinarySearchFunc(b.callDeps, point, func(x callDep, point int32) int { return cmp.Compare(x.border, point) })
		for ; i < len(b.callDeps) && b.callDeps[i].border == point; i++ {
			d := b.callDeps[i].dep
			b.deps = append(b.deps, b.after(d.lagOf(b.callFar), d))
		}
	}
}

// source is the wait that did bind: with the delay that was recorded.
func (b *modelBuilder) source(id cdg.WaitID) dep {
	g, m := b.g, b.m
	w := &g.Waits[id]
	d := dep{wait: int32(id), rule: w.Rule, kind: kindOf(w.Rule), flag: bound}
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
func (b *depLayer) operationDeps(k cdg.ActID) {
	g, m := b.g, b.m
	act := &g.Acts[k]
	b.setCost(m.pointOf(k), act.End-max(act.Start, m.t0))
	if act.Start <= m.t0 {
		b.fixed(m.t0, cdg.Program)
		return
	}
	row := g.Sources(k)
	for i := range row {
		if row[i].Bound { // it comes first: where two are over at once, what did bind binds
			b.deps = append(b.deps, b.source(cdg.WaitID(g.First[k]+int32(i))))
		}
	}
	for i := range row {
		w := &row[i]
		if w.Bound {
			continue
		}
		from := &g.Acts[w.From]
		d := dep{wait: g.First[k] + int32(i), rule: w.Rule, kind: kindOf(w.Rule), typical: b.typicalOf(w)}
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
		b.deps = append(b.deps, b.after(min(g.Usual[d.typical].Median, lag), d))
	}
	b.meantDeps(k, row)
}

// joinCalls finds the border at which each call returns that would wait for something.
func (b *modelBuilder) joinCalls() {
	g, m := b.g, b.m
	b.callDeps, b.held, b.called = make([]callDep, 0, len(b.holds)), map[int32]cdg.ActID{}, make(Set, (len(m.at)+63)/64)
	for _, h := range g.Held {
		c := &g.Acts[h.Call]
		if border := b.borderAt(c.Lane, c.End); border != none {
			b.held[border] = h.Op
			b.called.Add(cdg.ActID(border))
		}
	}
	for _, h := range b.holds {
		c, op := &g.Acts[h.Call], &g.Acts[h.Op]
		p, border := m.pointOf(h.Op), b.borderAt(c.Lane, c.End)
		if p == none || c.End <= m.t0 || c.End > m.t1 || border == none {
			continue
		}
		d := b.after(min(g.Usual[cdg.ReturnLag].Median, c.End-op.End), dep{src: p, wait: none, rule: cdg.Sync, kind: syncDelay, typical: cdg.ReturnLag, flag: held})
		b.besides(&d, h.Call, h.Op)
		b.called.Add(cdg.ActID(border))
		b.callDeps = append(b.callDeps, callDep{border, d})
	}
	cdg.SortRuns(b.callDeps, func(x, y *callDep) bool { return x.border < y.border })
}

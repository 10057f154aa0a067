package whatif

import (
	"slices"
	"sort"

	"overlay/internal/cdg"
	"overlay/internal/par"
)

// modelBuilder holds what is needed while a model is made.
type modelBuilder struct {
	meant map[cdg.ActID][]cdg.ActID // what operations wait for by what their makers do
	m     *Model
	g     *cdg.Graph
	holds []cdg.Hold // by call

	held  map[int32]cdg.ActID // of borders at which launch calls return that waited for room: what ended
	asked map[int32]asking    // per piece: the gap before it ended because a batch was asked for

	real   Set       // of pieces: their start is a border that was waited for
	start  Set       // of pieces: their start is a point
	marker           // of what is marked by one goroutine
	inside [][]int32 // per lane: of Graph.Inside those that waited, by time

	ops []uint8 // per activity of a thread: of a launch call, how many operations it launched, at most severalOps

	pieceHint  []int32 // per lane: where lookUp found a piece last
	borderHint []int32 // the same of borders

	set  cdg.LaneSets // lanes that belong together, see relate
	lane []cdg.LaneID // per point of a thread

	callDeps []callDep // further sources of borders, by border
	called   Set       // the borders that have them, or are in held
	far      []int64   // delays that sources have no room for
	callFar  []int64   // those of callDeps
}

// forget lets go of what the points and their sources were made from: what brings them into order needs room.
func (b *modelBuilder) forget() {
	b.holds, b.held, b.meant, b.asked, b.real, b.start, b.marker, b.inside, b.ops, b.callDeps, b.called, b.callFar = nil, nil, nil, nil, nil, nil, marker{}, nil, nil, nil, nil, nil
}

// callDep is a source of the border at which a call returns.
type callDep struct {
	border int32
	dep    dep
}

// waited reports whether a wait says when a thread goes on: untraced time passes by itself.
func (b *modelBuilder) waited(id cdg.WaitID) bool {
	return id != cdg.NoWait && b.g.Waits[id].Rule != cdg.Untraced
}

// markBorders finds the points of threads: where they waited, and where something comes from. All other borders follow
// from those by own time.
func (b *modelBuilder) markBorders() {
	g, m := b.g, b.m
	b.real, b.start = make(Set, (len(g.Pieces)+63)/64), make(Set, (len(g.Pieces)+63)/64)
	b.inside = make([][]int32, len(g.Lanes))
	inRanges(len(g.Pieces), func(from, to int) {
		b.eachPiece(from, to, func(i int, l cdg.LaneID) {
			if first := i == int(g.PieceFirst[l]); first || b.waited(g.Pieces[i].Begun) {
				b.real.addShared(cdg.ActID(i))
				b.start.addShared(cdg.ActID(i))
				if !first {
					b.start.addShared(cdg.ActID(i - 1))
				}
			}
		})
	})
	b.marker = b.newMarker()
	for l := range g.Lanes {
		if !g.Lanes[l].Stream {
			b.mark(cdg.LaneID(l), m.t0)
			b.mark(cdg.LaneID(l), m.t1)
			b.mark(cdg.LaneID(l), b.lastEnd(cdg.LaneID(l), b.m.t1))
			if own := b.ownEnd(); own < b.m.t1 {
				b.mark(cdg.LaneID(l), b.lastEnd(cdg.LaneID(l), own))
			}
		}
	}
	for i := range g.Inside {
		x := &g.Inside[i]
		if x.Wait == cdg.NoWait || x.At >= m.t1 {
			continue
		}
		if w := &g.Waits[x.Wait]; w.Rule == cdg.Untraced || w.Rule == cdg.Unexplained || w.Rule == cdg.BeforeRecording {
			continue
		}
		piece := b.pieceAt(x.Lane, x.At)
		if piece < int(g.PieceFirst[x.Lane]) {
			continue
		}
		b.start.Add(cdg.ActID(piece))
		b.mark(x.Lane, x.At)
		b.inside[x.Lane] = append(b.inside[x.Lane], int32(i))
	}
	b.markAll(len(g.Waits), func(x *marker, i int) {
		if w := &g.Waits[i]; w.Rule == cdg.Launch || w.Rule == cdg.Handoff {
			x.mark(g.Acts[w.From].Lane, w.At)
		}
	})
	b.markAll(len(b.holds), func(x *marker, i int) {
		c := &g.Acts[b.holds[i].Call]
		x.mark(c.Lane, c.Start)
		x.mark(c.Lane, c.End)
	})
	for i := range g.HostCollectives {
		x := &g.HostCollectives[i]
		b.mark(g.Acts[x.Act].Lane, x.Start)
		b.mark(g.Acts[x.Act].Lane, x.End)
	}
	b.findAsked()
	b.markHeld()
	for l := range b.inner {
		slices.Sort(b.inner[l])
		b.inner[l] = slices.Compact(b.inner[l])
	}
}

// marker marks points of threads. Several may do so at once.
type marker struct {
	of    *modelBuilder
	hint  []int32   // per lane: where lookUp found a piece last
	inner [][]int64 // per lane: points inside pieces; when all are marked, ascending
}

func (b *modelBuilder) newMarker() marker {
	return marker{b, make([]int32, len(b.g.Lanes)), make([][]int64, len(b.g.Lanes))}
}

// markAll lets do mark points because of each of n things.
func (b *modelBuilder) markAll(n int, do func(x *marker, i int)) {
	parts := make([]marker, par.Ranges(n, max(pointsRange, 8*len(b.g.Lanes))))
	par.EachRange(n, len(parts), func(part, from, to int) {
		x := b.newMarker()
		for i := from; i < to; i++ {
			do(&x, i)
		}
		parts[part] = x
	})
	for i := range parts {
		for l, list := range parts[i].inner {
			b.inner[l] = append(b.inner[l], list...)
		}
	}
}

// ownEnd is until when the CPU's work belongs to the window: where the window is an annotation whose operations outlast it, to the end of
// the annotation. Later work of threads belongs to the next step: nothing in the window waits for it.
func (b *modelBuilder) ownEnd() int64 {
	if body := b.g.Window.Body; body > b.m.t0 {
		return min(body, b.m.t1)
	}
	return b.m.t1
}

// lastEnd is when the last activity of a thread ends in the window, at limit or before; the start of the window without any.
func (b *modelBuilder) lastEnd(l cdg.LaneID, limit int64) int64 {
	last := b.m.t0
	lane := &b.g.Lanes[l]
	for a := lane.First; a < lane.Limit; a++ {
		if e := b.g.Acts[a].End; e <= limit && e > last {
			last = e
		}
	}
	return last
}

// mark makes a time of a thread a point, if it lies in the window and not before the thread's first piece.
func (x *marker) mark(l cdg.LaneID, t int64) {
	b, g := x.of, x.of.g
	first, limit := int(g.PieceFirst[l]), int(g.PieceFirst[l+1])
	n := first + lookUp(&x.hint[l], limit-first, func(i int) bool { return g.Pieces[first+i].Start > t })
	if n == first || t < b.m.t0 || t > b.m.t1 {
		return
	}
	if g.Pieces[n-1].Start == t {
		b.start.addShared(cdg.ActID(n - 1))
		return
	}
	x.inner[l] = append(x.inner[l], t)
}

// lookUp returns the first of n ascending items that is behind what is looked for; n for none. It begins at *hint,
// which says where the look-up before ended, and goes on in steps that double: most are asked for in order of time.
func lookUp(hint *int32, n int, behind func(i int) bool) int {
	low := min(int(*hint), n)
	high, step := low, 1
	if low == 0 || !behind(low-1) {
		for low+step <= n && !behind(low+step-1) {
			low += step
			step *= 2
		}
		high = min(low+step-1, n)
	} else {
		high--
		for step <= high && behind(high-step) {
			high -= step
			step *= 2
		}
		low = max(high-step+1, 0)
	}
	for low < high { // it is one of low to high
		if mid := int(uint(low+high) >> 1); behind(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	*hint = int32(low)
	return low
}

// pieceAt is Graph.PieceAt.
func (b *modelBuilder) pieceAt(l cdg.LaneID, t int64) int {
	first, limit := int(b.g.PieceFirst[l]), int(b.g.PieceFirst[l+1])
	n := lookUp(&b.pieceHint[l], limit-first, func(i int) bool { return b.g.Pieces[first+i].Start >= t })
	if n == 0 {
		return -1
	}
	return first + n - 1
}

// layPoints numbers the points: the origin, then those of threads lane by lane, then the operations.
func (b *modelBuilder) layPoints() {
	g, m := b.g, b.m
	add := func(at int64) int32 {
		m.at = append(m.at, at)
		return int32(len(m.at) - 1)
	}
	room := 1
	for l := range g.Lanes {
		room += b.pointsOf(cdg.LaneID(l))
	}
	m.at = make([]int64, 0, room)
	add(0)
	m.border = make([][]int32, len(g.Lanes))
	m.opPoint = make([]int32, len(g.Acts)-int(m.firstOp))
	for i := range m.opPoint {
		m.opPoint[i] = none
	}
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		if lane.Stream {
			for a := lane.First; a < lane.Limit; a++ {
				if act := &g.Acts[a]; act.Start < m.t1 && act.End > m.t0 || act.Start == act.End && act.Start >= m.t0 && act.Start <= m.t1 {
					m.opPoint[a-m.firstOp] = add(act.End)
				}
			}
			continue
		}
		inner := b.inner[l]
		m.border[l] = make([]int32, 0, b.pointsOf(cdg.LaneID(l)))
		note := func(t int64) {
			if t >= m.t0 && t <= m.t1 {
				m.border[l] = append(m.border[l], add(t))
			}
		}
		for i := int(g.PieceFirst[l]); i < int(g.PieceFirst[l+1]); i++ {
			for len(inner) > 0 && inner[0] < g.Pieces[i].Start {
				note(inner[0])
				inner = inner[1:]
			}
			if b.start.Has(cdg.ActID(i)) {
				note(g.Pieces[i].Start)
			}
		}
		for _, t := range inner {
			note(t)
		}
	}
	m.cost.short = make([]uint32, len(m.at))
}

// pointsOf is how many points a lane has at most.
func (b *modelBuilder) pointsOf(l cdg.LaneID) int {
	if lane := &b.g.Lanes[l]; lane.Stream {
		return int(lane.Limit - lane.First)
	}
	n := len(b.inner[l])
	for i := b.g.PieceFirst[l]; i < b.g.PieceFirst[l+1]; i++ {
		if b.start.Has(cdg.ActID(i)) {
			n++
		}
	}
	return n
}

// pointOf is the point of an operation, or none; that of a slice of a thread is none.
func (m *Model) pointOf(a cdg.ActID) int32 {
	if a < m.firstOp {
		return none
	}
	return m.opPoint[a-m.firstOp]
}

// borderAt returns the point of a thread at a recorded time, or none.
func (b *modelBuilder) borderAt(l cdg.LaneID, t int64) int32 {
	return b.m.borderAt(l, t, &b.borderHint[l])
}

// borderAt returns the point of a thread at a recorded time, or none. hint is where the look-up before ended.
func (m *Model) borderAt(l cdg.LaneID, t int64, hint *int32) int32 {
	list := m.border[l]
	i := lookUp(hint, len(list), func(i int) bool { return m.at[list[i]] >= t })
	if i == len(list) || m.at[list[i]] != t {
		return none
	}
	return list[i]
}

// intervals calls visit for each stretch of a thread in the window that lies in one piece between neighbouring points:
// where it begins and ends, and the point at its end, or none where it goes on in the next piece.
func (m *Model) intervals(l cdg.LaneID, visit func(piece int, from, to int64, end int32)) {
	g := m.g
	list := m.border[l]
	if len(list) == 0 {
		return
	}
	t, k := m.at[list[0]], 1
	i := sort.Search(int(g.PieceFirst[l+1]-g.PieceFirst[l]), func(i int) bool { return g.Pieces[int(g.PieceFirst[l])+i].Start > t }) + int(g.PieceFirst[l]) - 1
	for k < len(list) {
		to, last := m.at[list[k]], true
		if i+1 < int(g.PieceFirst[l+1]) && g.Pieces[i+1].Start < to {
			to, last = g.Pieces[i+1].Start, false
		}
		if last {
			visit(i, t, to, list[k])
			k++
		} else {
			visit(i, t, to, none)
		}
		t = to
		for i+1 < int(g.PieceFirst[l+1]) && g.Pieces[i+1].Start <= t {
			i++
		}
	}
}

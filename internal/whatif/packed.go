package whatif

import (
	"maps"
	"math"

	"overlay/internal/cdg"
)

// A model and each of its replays have as many times as the trace has events, so each lies in 32 bits. What does not fit
// stands in a table beside the others. Tests lower what fits, so that more stands there.
var spanLimit, partLimit, lagLimit int64 = longSpan, longPart, math.MaxInt32

// spans are lengths of time, ns.
type spans struct {
	short []uint32
	long  map[int32]int64 // by index: where short says longSpan
}

const longSpan = math.MaxUint32

// of is the i-th.
func (s *spans) of(i int32) int64 {
	if ns := s.short[i]; ns != longSpan {
		return int64(ns)
	}
	return s.long[i]
}

func (s *spans) set(i int32, ns int64) {
	if ns >= 0 && ns < spanLimit {
		s.short[i] = uint32(ns)
		return
	}
	if s.long == nil {
		s.long = map[int32]int64{}
	}
	s.short[i], s.long[i] = longSpan, ns
}

// copyOf makes s a copy in the room that it has.
func (s *spans) copyOf(t *spans) {
	s.short, s.long = append(s.short[:0], t.short...), maps.Clone(t.long)
}

// part is own time of a thread that lies before a point.
type part struct {
	act  cdg.ActID // whose time; NoAct for a gap, idleGap for one in which the thread waited for work
	time uint32    // ns, or longPart; with lastPart where the next part lies before the next point
}

// idleGap is a gap of a thread of a pool that waited for work: it is as long as it was, whatever untraced time takes.
const idleGap = cdg.NoAct - 1

const (
	lastPart = 1 << 31
	longPart = lastPart - 1
)

// addPart adds own time; last says that a point ends it.
func (m *Model) addPart(a cdg.ActID, ns int64, last bool) {
	x := part{a, longPart}
	if ns >= 0 && ns < partLimit {
		x.time = uint32(ns)
	} else {
		if m.long == nil {
			m.long = map[int32]int64{}
		}
		m.long[int32(len(m.parts))] = ns
	}
	if last {
		x.time |= lastPart
	}
	m.parts = append(m.parts, x)
}

// partNS is how long the i-th part is.
func (m *Model) partNS(i int32) int64 {
	if ns := m.parts[i].time & longPart; ns != longPart {
		return int64(ns)
	}
	return m.long[i]
}

// setLag gives a source a delay. far is the table of those that do not fit, which it returns.
func (d *dep) setLag(ns int64, far []int64) []int64 {
	if d.flag &^= distant; -lagLimit <= ns && ns < lagLimit {
		d.lag = int32(ns)
		return far
	}
	d.flag |= distant
	d.lag = int32(len(far))
	return append(far, ns)
}

// lagOf is the delay of a source.
func (d *dep) lagOf(far []int64) int64 {
	if d.flag&distant != 0 {
		return far[d.lag]
	}
	return int64(d.lag)
}

// after gives a source that is being made a delay.
func (b *modelBuilder) after(ns int64, d dep) dep {
	b.far = d.setLag(ns, b.far)
	return d
}

// waitOf is the wait that says that a point has a source, or none.
func (m *Model) waitOf(d *dep) int32 {
	if d.flag&moving != 0 {
		return m.beside[d.wait].wait
	}
	return d.wait
}

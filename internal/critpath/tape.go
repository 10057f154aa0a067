package critpath

import (
	"encoding/binary"

	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// tape holds what a walk finds, from the last to the first, in few bytes: a path has about as many segments and edges
// as a trace has events, nobody knows how many before the end of the walk, and a slice that grows, or one that is
// turned around, needs the room twice.
type tape struct {
	full  [][]byte
	block []byte
	n     int // records
}

const (
	tapeBlock = 1 << 16
	maxRecord = 5 * binary.MaxVarintLen64
)

// record returns the bytes to append a record to; keep takes them back.
func (t *tape) record() []byte {
	if len(t.block)+maxRecord > cap(t.block) {
		n := tapeBlock
		if t.block == nil {
			n = 1 << 10 // small traces
		} else {
			t.full = append(t.full, t.block)
		}
		t.block = make([]byte, 0, n)
	}
	return t.block
}

func (t *tape) keep(b []byte) {
	t.block = b
	t.n++
}

// player reads a tape in the order in which it was written.
type player struct{ left [][]byte }

func (t *tape) play() *player { return &player{append(t.full, t.block)} }

// next returns the bytes from the next record on; the caller says with used how long it was.
func (p *player) next() []byte {
	for len(p.left[0]) == 0 {
		p.left = p.left[1:]
	}
	return p.left[0]
}

func (p *player) used(rest []byte) { p.left[0] = rest }

func uvarint(b []byte) (uint64, []byte) {
	if b[0] < 0x80 {
		return uint64(b[0]), b[1:]
	}
	v, n := binary.Uvarint(b)
	return v, b[n:]
}

func varint(b []byte) (int64, []byte) {
	v, b := uvarint(b)
	return int64(v>>1) ^ -int64(v&1), b
}

// segmentTape holds segments that tile a window.
type segmentTape struct {
	tape
	event trace.EventID // of the last owned segment
}

func (t *segmentTape) add(s *Segment) {
	b := binary.AppendUvarint(t.record(), uint64(s.End-s.Start))
	b = binary.AppendVarint(b, int64(s.Track))
	head := (uint64(s.Kind)*uint64(cdg.NumEvidence) + uint64(s.Evidence)) * 2
	if s.Owned() {
		b = binary.AppendUvarint(b, head+1)
		b = binary.AppendVarint(b, int64(s.Event)-int64(t.event))
		t.event = s.Event
	} else {
		b = binary.AppendUvarint(b, head)
	}
	t.keep(b)
}

// forward returns the segments up to end from the first to the last, and forgets them.
func (t *segmentTape) forward(end int64) []Segment {
	out := make([]Segment, t.n)
	p := t.play()
	event := int64(0)
	for i := t.n - 1; i >= 0; i-- {
		b := p.next()
		dur, b := uvarint(b)
		track, b := varint(b)
		head, b := uvarint(b)
		s := Segment{Start: end - int64(dur), End: end, Event: trace.NoEvent, Track: trace.TrackID(track),
			Kind: SegmentKind(head / 2 / uint64(cdg.NumEvidence)), Evidence: cdg.Evidence(head / 2 % uint64(cdg.NumEvidence))}
		if head%2 == 1 {
			var d int64
			d, b = varint(b)
			event += d
			s.Event = trace.EventID(event)
		}
		p.used(b)
		end = s.Start
		out[i] = s
	}
	*t = segmentTape{}
	return out
}

// edgeTape holds edges of which each leads to the event from which the one before it on the tape comes.
type edgeTape struct {
	tape
	last, event trace.EventID // where the path ends; where it comes from
}

func (t *edgeTape) add(e *Edge) {
	if t.n == 0 {
		t.last, t.event = e.To, e.To
	}
	if e.To != t.event {
		panic("critpath: internal error: the edges are no chain")
	}
	b := binary.AppendVarint(t.record(), int64(e.From)-int64(e.To))
	b = binary.AppendUvarint(b, uint64(e.Weight))
	sides := byte(0)
	for i, set := range [...]bool{e.FromEnd, e.ToEnd, e.Row} {
		if set {
			sides |= 1 << i
		}
	}
	t.keep(append(b, sides, byte(e.Type), byte(e.Evidence)))
	t.event = e.From
}

// forward returns the edges from the first to the last, and forgets them.
func (t *edgeTape) forward() []Edge {
	out := make([]Edge, t.n)
	p := t.play()
	to := t.last
	for i := t.n - 1; i >= 0; i-- {
		d, b := varint(p.next())
		weight, b := uvarint(b)
		from := to + trace.EventID(d)
		out[i] = Edge{From: from, To: to, Weight: int64(weight), FromEnd: b[0]&1 != 0, ToEnd: b[0]&2 != 0, Row: b[0]&4 != 0,
			Type: EdgeType(b[1]), Evidence: cdg.Evidence(b[2])}
		p.used(b[3:])
		to = from
	}
	*t = edgeTape{}
	return out
}

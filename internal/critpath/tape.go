package critpath

import (
	"encoding/binary"
	"iter"
	"slices"
	"sort"

	"overlay/internal/cdg"
	"overlay/internal/par"
	"overlay/internal/trace"
)

// tape holds what a walk finds, from the last to the first, in few bytes: a path has about as many segments and edges
// as a trace has events, and as structs they take a third of the memory that events take. What stands in a block can be
// read without the others.
type tape struct {
	blocks []block
	n      int // records
}

// block is a stretch of a tape.
type block struct {
	bytes []byte
	n     int // records
	first int // records of blocks before it on the tape
}

const (
	tapeBlock = 1 << 14
	maxRecord = 6 * binary.MaxVarintLen64
)

// room returns the block to append a record to, and whether the record is its first.
func (t *tape) room() (b *block, first bool) {
	if k := len(t.blocks) - 1; k >= 0 && len(t.blocks[k].bytes)+maxRecord <= cap(t.blocks[k].bytes) {
		return &t.blocks[k], false
	}
	n := tapeBlock
	if t.blocks == nil {
		n = 1 << 10 // small traces
	}
	t.blocks = append(t.blocks, block{bytes: make([]byte, 0, n), first: t.n})
	return &t.blocks[len(t.blocks)-1], true
}

func (t *tape) keep(b *block, bytes []byte) {
	b.bytes = bytes
	b.n++
	t.n++
}

// Len is how many there are.
func (t *tape) Len() int { return t.n }

// window reads blocks of a tape; the one that was read last stays unpacked.
type window[T any] struct {
	of   *tape
	read func(*block, []T)
	k    int // block that is unpacked, or -1
	list []T // what stands in it
	from int // the number of the first
}

func newWindow[T any](t *tape, read func(*block, []T)) *window[T] {
	return &window[T]{of: t, read: read, k: -1}
}

// forward visits blocks from the k-th on, as they lie on the tape, down to the first: what was found last comes first.
func (w *window[T]) forward(k int) iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		for k := k; k >= 0; k-- {
			w.unpack(k)
			for j := range w.list {
				if !yield(w.from+j, &w.list[j]) {
					return
				}
			}
		}
	}
}

func (w *window[T]) unpack(k int) {
	if k == w.k {
		return
	}
	b := &w.of.blocks[k]
	w.list = slices.Grow(w.list[:0], b.n)[:b.n]
	w.read(b, w.list)
	w.k, w.from = k, w.of.n-b.first-b.n
}

// at returns the record with a number.
func (w *window[T]) at(i int) *T {
	if j := i - w.from; j < 0 || j >= len(w.list) {
		blocks := w.of.blocks
		w.unpack(sort.Search(len(blocks), func(k int) bool { return w.of.n-blocks[k].first-blocks[k].n <= i }))
	}
	return &w.list[i-w.from]
}

// list unpacks all blocks of a tape, side by side.
func list[T any](t *tape, read func(*block, []T)) []T {
	out := make([]T, t.n)
	par.Each(len(t.blocks), func(k int) {
		b := &t.blocks[k]
		read(b, out[t.n-b.first-b.n:t.n-b.first])
	})
	return out
}

// varints are the numbers of a block, of which the next one stands at at. Their methods are inlined, those of the library are not.
type varints struct {
	bytes []byte
	at    int
}

func (r *varints) unsigned() (v uint64) {
	for shift := 0; ; shift += 7 {
		b := r.bytes[r.at]
		r.at++
		if v |= uint64(b&0x7f) << (shift & 63); b < 0x80 {
			return v
		}
	}
}

func (r *varints) signed() int64 {
	v := r.unsigned()
	return int64(v>>1) ^ -int64(v&1)
}

// Segments are segments in order of time, in some four or five bytes each.
type Segments struct {
	tape
	start int64         // of the segment that was added last
	track trace.TrackID // of that one
	event trace.EventID // of the last owned one
}

// SegmentsOf packs a list.
func SegmentsOf(list []Segment) Segments {
	var t Segments
	for i := len(list) - 1; i >= 0; i-- {
		t.add(&list[i])
	}
	return t
}

// All visits the segments from the first to the last, each with its number. The segment is valid until the next one.
func (t *Segments) All() iter.Seq2[int, *Segment] {
	return newWindow(&t.tape, readSegments).forward(len(t.blocks) - 1)
}

// After returns a look-up, for one goroutine, that visits the segments that end after a time. It is quick for times in ascending order.
// No segment may end later than the one after it.
func (t *Segments) After() func(at int64) iter.Seq2[int, *Segment] {
	w := newWindow(&t.tape, readSegments)
	return func(at int64) iter.Seq2[int, *Segment] {
		return func(yield func(int, *Segment) bool) {
			k := sort.Search(len(t.blocks), func(k int) bool { return t.blocks[k].end() <= at }) - 1
			if k < 0 {
				return
			}
			w.unpack(k)
			for j := sort.Search(len(w.list), func(j int) bool { return w.list[j].End > at }); j < len(w.list); j++ {
				if !yield(w.from+j, &w.list[j]) {
					return
				}
			}
			w.forward(k - 1)(yield)
		}
	}
}

// Reader returns a look-up by number, for one goroutine. It is quick for numbers that lie near the one before. The segment is
// valid until the next call.
func (t *Segments) Reader() func(i int) *Segment { return newWindow(&t.tape, readSegments).at }

// List unpacks the segments.
func (t *Segments) List() []Segment {
	return list(&t.tape, readSegments)
}

// What stands in the head of a segment besides its kind and evidence.
const (
	segmentOwned = 1 << iota // it has an event
	segmentMoved             // it does not end where the one after it starts
	segmentTrack             // its row is another one
	segmentHeads = iota
)

// add puts a segment before all others.
func (t *Segments) add(s *Segment) {
	to, first := t.room()
	if first {
		t.start, t.track, t.event = 0, 0, 0
	}
	head := (uint64(s.Kind)*uint64(cdg.NumEvidence) + uint64(s.Evidence)) << segmentHeads
	if s.Owned() {
		head |= segmentOwned
	}
	if first || s.End != t.start {
		head |= segmentMoved
	}
	if s.Track != t.track {
		head |= segmentTrack
	}
	b := binary.AppendUvarint(to.bytes, head)
	if head&segmentMoved != 0 {
		b = binary.AppendVarint(b, s.End-t.start)
	}
	b = binary.AppendUvarint(b, uint64(s.End-s.Start))
	if head&segmentTrack != 0 {
		b = binary.AppendVarint(b, int64(s.Track))
	}
	if s.Owned() {
		b = binary.AppendVarint(b, int64(s.Event)-int64(t.event))
		t.event = s.Event
	}
	t.start, t.track = s.Start, s.Track
	t.keep(to, b)
}

// end is where the last segment of a block ends.
func (b *block) end() int64 {
	r := varints{bytes: b.bytes}
	r.unsigned()
	return r.signed()
}

func readSegments(from *block, out []Segment) {
	r, end, track, event := varints{bytes: from.bytes}, int64(0), int64(0), int64(0)
	for i := len(out) - 1; i >= 0; i-- {
		head := r.unsigned()
		if head&segmentMoved != 0 {
			end += r.signed()
		}
		dur := r.unsigned()
		if head&segmentTrack != 0 {
			track = r.signed()
		}
		what := head >> segmentHeads
		s := &out[i]
		s.Start, s.End, s.Event, s.Track = end-int64(dur), end, trace.NoEvent, trace.TrackID(track)
		s.Kind, s.Evidence = SegmentKind(what/uint64(cdg.NumEvidence)), cdg.Evidence(what%uint64(cdg.NumEvidence))
		if head&segmentOwned != 0 {
			event += r.signed()
			s.Event = trace.EventID(event)
		}
		end = s.Start
	}
}

// Edges are edges in the order of a path, in some three to five bytes each.
type Edges struct {
	tape
	event trace.EventID // where the edge that was added last comes from
}

// EdgesOf packs a list.
func EdgesOf(list []Edge) Edges {
	var t Edges
	for i := len(list) - 1; i >= 0; i-- {
		t.add(&list[i])
	}
	return t
}

// All visits the edges from the first to the last, each with its number. The edge is valid until the next one.
func (t *Edges) All() iter.Seq2[int, *Edge] {
	return newWindow(&t.tape, readEdges).forward(len(t.blocks) - 1)
}

// List unpacks the edges.
func (t *Edges) List() []Edge {
	return list(&t.tape, readEdges)
}

// What stands in the head of an edge besides its type and evidence: its sides, whether it leads elsewhere than to where the one after
// it begins, and whether it weighs anything.
const (
	edgeFromEnd = 1 << iota
	edgeToEnd
	edgeRow
	edgeMoved
	edgeWeighs
	edgeHeads = iota
)

// add puts an edge before all others.
func (t *Edges) add(e *Edge) {
	to, first := t.room()
	if first {
		t.event = 0
	}
	head := (uint64(e.Type)*uint64(cdg.NumEvidence) + uint64(e.Evidence)) << edgeHeads
	for i, set := range [...]bool{e.FromEnd, e.ToEnd, e.Row, first || e.To != t.event, e.Weight != 0} {
		if set {
			head |= 1 << i
		}
	}
	b := binary.AppendUvarint(to.bytes, head)
	if head&edgeMoved != 0 {
		b = binary.AppendVarint(b, int64(e.To)-int64(t.event))
	}
	b = binary.AppendVarint(b, int64(e.From)-int64(e.To))
	if head&edgeWeighs != 0 {
		b = binary.AppendUvarint(b, uint64(e.Weight))
	}
	t.event = e.From
	t.keep(to, b)
}

func readEdges(from *block, out []Edge) {
	r, to := varints{bytes: from.bytes}, trace.EventID(0)
	for i := len(out) - 1; i >= 0; i-- {
		head, weight := r.unsigned(), uint64(0)
		if head&edgeMoved != 0 {
			to += trace.EventID(r.signed())
		}
		d := r.signed()
		if head&edgeWeighs != 0 {
			weight = r.unsigned()
		}
		what := head >> edgeHeads
		e := &out[i]
		e.From, e.To, e.Weight = to+trace.EventID(d), to, int64(weight)
		e.FromEnd, e.ToEnd, e.Row = head&edgeFromEnd != 0, head&edgeToEnd != 0, head&edgeRow != 0
		e.Type, e.Evidence = EdgeType(what/uint64(cdg.NumEvidence)), cdg.Evidence(what%uint64(cdg.NumEvidence))
		to = e.From
	}
}

package kineto

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"

	"overlay/internal/trace"
)

// The text of events is not kept where they fit a template: it is made again from the template and the numbers that stood in its holes.
// That takes a tenth of the room and less. Of other events the text stays.

// Span is where a text keeps an event: the offset among its numbers, and in the lower spanFit bits which of alike it is of.
type Span uint64

const (
	spanFit = 24
	maxText = 1 << 40
)

// alike are events of one template that have the same commas and blanks behind them. Without a template it is events that fit none: their
// numbers are where they stand, with what is behind them, and how long they are.
type alike struct {
	tp  *template
	gap string
	raw []byte // nil: the text that was kept
}

// walker goes through the numbers of an event.
type walker struct {
	*alike
	numbers []byte // those that are left, and more
	hole    int32  // the next one
}

// walk begins at an event.
func (x *Text) walk(id trace.EventID) walker {
	s := x.Spans[id]
	return walker{alike: &x.alike[s&(1<<spanFit-1)], numbers: x.numbers[s>>spanFit:]}
}

// A number takes as many bytes as it has groups of seven bits. The zeros at the low end of the first byte say how many follow; beyond eight
// groups that is a byte of 0, and eight bytes with the number. Eight bytes can be read from every place.
const numberRoom = 9

// putNumber writes a number to where numberRoom bytes are, and says how many it took.
func putNumber(dst []byte, v uint64) int {
	n := max(1, (bits.Len64(v)+6)/7)
	if n > 8 {
		dst[0] = 0
		binary.LittleEndian.PutUint64(dst[1:], v)
		return numberRoom
	}
	binary.LittleEndian.PutUint64(dst, (v<<1|1)<<(n-1))
	return n
}

// appendNumbers appends numbers.
func appendNumbers(dst []byte, numbers ...uint64) []byte {
	n := len(dst)
	dst = slices.Grow(dst, numberRoom*len(numbers))[:n+numberRoom*len(numbers)]
	for _, v := range numbers {
		n += putNumber(dst[n:], v)
	}
	return dst[:n]
}

// fold makes small numbers of small differences of either sign.
func fold(d uint64) uint64 { return d<<1 ^ uint64(int64(d)>>63) }

// unfold is the difference that fold made a number of.
func unfold(v uint64) uint64 { return v>>1 ^ -(v & 1) }

// number is what stands in the next hole of the template.
func (w *walker) number() uint64 {
	first := w.tp.first[w.hole]
	return first + unfold(w.next())
}

func (w *walker) next() (v uint64) {
	w.hole++
	v = binary.LittleEndian.Uint64(w.numbers)
	n := bits.TrailingZeros8(uint8(v)) + 1
	if n == numberRoom {
		v = binary.LittleEndian.Uint64(w.numbers[1:])
	} else {
		v = v << (64 - 8*n) >> (64 - 7*n)
	}
	w.numbers = w.numbers[n:]
	return v
}

// skip goes on to a hole.
func (w *walker) skip(hole int32) {
	for ; w.hole < hole; w.hole++ {
		w.numbers = w.numbers[bits.TrailingZeros8(w.numbers[0])+1:]
	}
}

// append appends the text between two spots.
func (w *walker) append(dst []byte, from, to spot) []byte {
	w.skip(from.hole)
	lits := w.tp.lits
	if from.hole == to.hole {
		return append(dst, lits[from.hole][from.off:to.off]...)
	}
	dst = append(dst, lits[from.hole][from.off:]...)
	for {
		if w.tp.kinds[w.hole] == anyDigits {
			dst = trace.AppendDigits(dst, w.number())
		} else {
			dst = strconv.AppendUint(dst, w.number(), 10)
		}
		if w.hole == to.hole {
			return append(dst, lits[to.hole][:to.off]...)
		}
		dst = append(dst, lits[w.hole]...)
	}
}

// text is the text between two spots.
func (w *walker) text(from, to spot) []byte { return w.append(make([]byte, 0, 64), from, to) }

// verbatim is the text of an event without template, and what stands behind it up to the next one.
func (x *Text) verbatim(w *walker) []byte {
	from := w.next()
	to := from + w.next()
	if w.raw == nil {
		return x.Src[from:to]
	}
	return w.raw[from:to]
}

// Append appends the text of an event to dst, and says where in what it appended the args stand, 0 for none.
func (x *Text) Append(dst []byte, id trace.EventID) (text []byte, args int) {
	w := x.walk(id)
	if w.tp == nil {
		raw := x.verbatim(&w)
		raw = raw[:trimmed(raw)]
		return append(dst, raw...), argsIn(raw)
	}
	start := len(dst)
	dst = w.append(dst, spot{}, w.tp.args)
	args = len(dst) - start
	return w.append(dst, w.tp.args, w.tp.end()), args
}

// Row gives the first pid and the first tid of an event as written, nil for one that it has not, and appends to dst what it needs for that. It
// reports false where it does not know: then the text says it.
func (x *Text) Row(dst []byte, id trace.EventID) (room, pid, tid []byte, ok bool) {
	w := x.walk(id)
	if w.tp == nil {
		return dst, nil, nil, false
	}
	for i := range w.tp.fields {
		f, from := &w.tp.fields[i], len(dst)
		switch {
		case f.what == rolePID && pid == nil:
			dst = w.append(dst, f.from, f.to)
			pid = dst[from:]
		case f.what == roleTID && tid == nil:
			dst = w.append(dst, f.from, f.to)
			tid = dst[from:]
		}
	}
	return dst, pid, tid, true
}

// Gap is what stands between an event and the next one, or the end of the list: commas and blanks, unless something is broken.
func (x *Text) Gap(id trace.EventID) []byte {
	w := x.walk(id)
	if w.tp != nil {
		return []byte(w.gap)
	}
	raw := x.verbatim(&w)
	return raw[trimmed(raw):]
}

// trimmed is how long the text of an event is without the commas and blanks behind it.
func trimmed(raw []byte) int {
	end := len(raw)
	for end > 1 && (isBlank(raw[end-1]) || raw[end-1] == ',') {
		end--
	}
	return end
}

// argsIn is where the args stand in the text of an event, 0 for none.
func argsIn(raw []byte) (args int) {
	for m := Members(raw); m.Next(); {
		if string(m.Key) == "args" && m.Value[0] == '{' { // of several, the last one counts
			args = m.m.at - len(m.Value)
		}
	}
	return args
}

// Add notes that the next event stands at these bytes of what becomes Src.
func (x *Text) Add(from, to int) {
	if x.alike == nil {
		x.alike, x.EventsOff = []alike{{}}, int64(from)
	}
	x.EventsEnd = int64(to)
	numbers := x.numbers[:max(0, len(x.numbers)-8)]
	x.Spans = append(x.Spans, Span(len(numbers))<<spanFit)
	x.numbers = append(appendNumbers(numbers, uint64(from), uint64(to-from)), make([]byte, 8)...)
}

package perfetto

import (
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Program is the arguments of slices that differ in numbers alone: bytes with holes. It holds for the sequence in which it was recorded, whose
// strings are numbered.
type Program struct {
	lits []byte
	ops  []op
	last []uint64 // what stood in the holes of texts before
}

// op fills a hole, or begins or ends a Dict or an Array.
type op struct {
	kind  opKind
	back  uint8  // so many bytes before the end of its literal stands the length of the argument
	lit   int32  // bytes of the literal before it
	first int32  // its numbers, see Hole
	count int32  // how many
	text  int32  // see Hole
	last  int32  // of a text: where in Program.last its numbers begin
	value uint64 // of a text: what they became
}

type opKind uint8

const (
	opInt opKind = iota
	opNegative
	opString
	opFloat
	opOpen
	opClose
)

// Hole says where the numbers of a value stand among those that Play gets, and by which number Play asks for its text.
type Hole struct{ First, Count, Text int }

// TooLarge is a number that programs leave alone: from there on integers may need another type.
const TooLarge = 1e18

// Record begins to record arguments, until Recorded. Whatever differs from slice to slice is added by methods with a Hole.
func (b *Body) Record(p *Program) { b.program, b.from = p, len(b.ev) }

// Recorded ends what Record began.
func (b *Body) Recorded() {
	b.program.lits = append(b.program.lits, b.ev[b.from:]...)
	b.program = nil
}

// IntHole adds an integer argument that is a number, or minus that.
func (b *Body) IntHole(key string, v uint64, negative bool, h Hole) {
	at, kind := len(b.ev)+1, opInt
	if negative {
		v, kind = -v, opNegative
	}
	b.Int(key, int64(v))
	b.record(at, protowire.SizeVarint(v), kind, h)
}

// StrHole adds a string argument.
func (b *Body) StrHole(key, v string, h Hole) {
	at := len(b.ev) + 1
	b.Str(key, v)
	b.record(at, protowire.SizeVarint(b.intern(&b.strs, v)), opString, h)
}

// FloatHole adds a floating point argument.
func (b *Body) FloatHole(key string, v float64, h Hole) {
	at := len(b.ev) + 1
	b.Float(key, v)
	b.record(at, 8, opFloat, h)
}

// record ends a literal before the last size bytes, which are not part of it. at is where the length of the argument stands.
func (b *Body) record(at, size int, kind opKind, h Hole) {
	p, end := b.program, len(b.ev)-size
	o := op{kind: kind, back: uint8(end - at), lit: int32(end - b.from), first: int32(h.First), count: int32(h.Count), text: int32(h.Text), last: int32(len(p.last))}
	p.lits = append(p.lits, b.ev[b.from:end]...)
	switch b.from = len(b.ev); kind {
	case opFloat:
		p.last = slices.Grow(p.last, h.Count)[:len(p.last)+h.Count]
	case opString:
		p.last = slices.Grow(p.last, h.Count)[:len(p.last)+h.Count]
		fallthrough
	case opInt, opNegative:
		p.lits[len(p.lits)-int(o.back)] = o.back // with one byte more
	}
	p.ops = append(p.ops, o)
}

// Play adds the arguments of a program with other numbers; text appends the text of a hole. It adds nothing and reports false where a number is
// TooLarge.
func (b *Body) Play(p *Program, numbers []uint64, text func(dst []byte, hole int) []byte) bool {
	start, ev, lits := len(b.ev), b.ev, p.lits
	open := b.at[:0]
	for i := range p.ops {
		o := &p.ops[i]
		ev, lits = append(ev, lits[:o.lit]...), lits[o.lit:]
		at := len(ev) - int(o.back)
		v := uint64(0)
		switch o.kind {
		case opOpen:
			open = append(open, at)
			continue
		case opClose:
			ev = finish(ev, open[len(open)-1])
			open = open[:len(open)-1]
			continue
		case opInt, opNegative:
			if v = numbers[o.first]; v >= TooLarge {
				b.ev, b.at = ev[:start], open
				return false
			}
			if o.kind == opNegative {
				v = -v
			}
		default:
			own, last := numbers[o.first:o.first+o.count], p.last[o.last:o.last+o.count]
			if !slices.Equal(own, last) || o.value == 0 {
				copy(last, own)
				b.text = text(b.text[:0], int(o.text))
				if o.kind == opString {
					o.value = b.internBytes(&b.strs, b.text)
				} else {
					f, _ := strconv.ParseFloat(string(b.text), 64) // an infinity where that is an error
					o.value = math.Float64bits(f)
				}
			}
			if v = o.value; o.kind == opFloat {
				ev = protowire.AppendFixed64(ev, v)
				continue
			}
		}
		for ; v >= 0x80; v >>= 7 {
			ev = append(ev, byte(v)|0x80)
			ev[at]++
		}
		ev = append(ev, byte(v))
	}
	b.ev, b.at = append(ev, lits...), open
	return true
}

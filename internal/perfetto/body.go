package perfetto

import (
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Body is the description of one slice or instant, given by what Track.Fill returns: its name, category, colour, flows, and its
// arguments in order. Arguments nest: between Dict (or Array) and End they are entries of it; entries of an array
// take "" as their key. Strings that are not valid UTF-8 are mended.
type Body struct {
	ev []byte // the TrackEvent so far
	in []byte // the InternedData that it needs and that its sequence has not sent yet

	names, cats, keys, strs, colors table

	tag  byte // field of DebugAnnotation or TrackEvent that the next argument goes to
	open []frame

	program *Program // that is recorded; nil for none
	from    int      // where in ev begins what is not recorded yet
	at      []int    // of what Play has open: where its length stands
	text    []byte   // that Play asked for
}

// frame is an open Dict or Array.
type frame struct {
	at    int  // of the length byte
	empty int  // length of ev while it has no entry
	tag   byte // to go back to
	dict  bool

	ops, lits, from int // what was recorded before
}

// Tags of the fields that hold annotations.
const (
	topArg    = 4<<3 | 2  // TrackEvent.debug_annotations
	dictEntry = 11<<3 | 2 // DebugAnnotation.dict_entries
	element   = 12<<3 | 2 // DebugAnnotation.array_values
)

func newBody() *Body {
	b := &Body{tag: topArg}
	b.reset()
	return b
}

// reset forgets the strings: a new sequence begins.
func (b *Body) reset() {
	b.cats.reset(1<<3 | 2)
	b.names.reset(2<<3 | 2)
	b.keys.reset(3<<3 | 2)
	b.strs.reset(29<<3 | 2)
	b.colors.reset(43<<3 | 2)
}

// Name sets the name. Every slice and instant needs one; "" is a name.
func (b *Body) Name(s string) {
	b.ev = appendVarint(append(b.ev, 10<<3), b.intern(&b.names, s))
}

// Category sets the category.
func (b *Body) Category(s string) {
	b.ev = appendVarint(append(b.ev, 3<<3), b.intern(&b.cats, s))
}

// Color sets the string whose hash the viewer takes as colour, instead of the name's.
func (b *Body) Color(s string) {
	b.ev = protowire.AppendVarint(b.ev, 54<<3)
	b.ev = appendVarint(b.ev, b.intern(&b.colors, s))
}

// Flow adds an end of a flow. The viewer joins the slices that carry one id in order of time.
func (b *Body) Flow(id uint64) {
	b.ev = protowire.AppendVarint(b.ev, 47<<3|1)
	b.ev = protowire.AppendFixed64(b.ev, id)
}

// Int adds an integer argument.
func (b *Body) Int(key string, v int64) { b.varint(key, 4<<3, uint64(v)) }

// Uint adds an integer argument that may exceed an int64.
func (b *Body) Uint(key string, v uint64) { b.varint(key, 3<<3, v) }

// shortArg is room for an annotation with one number: two tags and a length, a key and a value with their tags. It is a
// power of two so that places in it need no check.
const shortArg = 32

// varint adds an annotation with one number: always short enough for one byte of length.
func (b *Body) varint(key string, tag byte, v uint64) {
	var id uint64
	if b.tag != element {
		id = b.intern(&b.keys, key)
	}
	n := len(b.ev)
	ev := slices.Grow(b.ev, shortArg)[:n+shortArg]
	to := (*[shortArg]byte)(ev[n:])
	to[0] = b.tag
	k := 2
	if b.tag != element {
		to[2] = 1 << 3
		k = putVarint(to, 3, id)
	}
	to[k%shortArg] = tag
	k = putVarint(to, k+1, v)
	to[1] = byte(k - 2)
	b.ev = ev[:n+k]
}

// putVarint writes v to place k and returns the place behind it.
func putVarint(to *[shortArg]byte, k int, v uint64) int {
	for ; v >= 0x80; v >>= 7 {
		to[k%shortArg] = byte(v) | 0x80
		k++
	}
	to[k%shortArg] = byte(v)
	return k + 1
}

// Float adds a floating point argument.
func (b *Body) Float(key string, v float64) {
	at := b.begin(key)
	b.ev = append(b.ev, 5<<3|1)
	b.ev = protowire.AppendFixed64(b.ev, math.Float64bits(v))
	b.ev = finish(b.ev, at)
}

// Bool adds a boolean argument.
func (b *Body) Bool(key string, v bool) {
	at := b.begin(key)
	b.ev = append(b.ev, 2<<3, byte(protowire.EncodeBool(v)))
	b.ev = finish(b.ev, at)
}

// Str adds a string argument.
func (b *Body) Str(key, v string) {
	at := b.begin(key)
	b.str(v)
	b.ev = finish(b.ev, at)
}

func (b *Body) str(v string) {
	if v == "" { // shorter than a number, and the most frequent string of all: the type of what is no tensor
		b.ev = append(b.ev, 6<<3|2, 0)
		return
	}
	b.ev = appendVarint(append(b.ev, 17<<3&0x7f|0x80, 17<<3>>7), b.intern(&b.strs, v))
}

// Dict opens an argument that holds named arguments, up to End.
func (b *Body) Dict(key string) { b.nest(key, dictEntry) }

// Array opens an argument that holds arguments without names, up to End.
func (b *Body) Array(key string) { b.nest(key, element) }

func (b *Body) nest(key string, tag byte) {
	f := frame{at: b.begin(key), empty: len(b.ev), tag: b.tag, dict: tag == dictEntry}
	if p := b.program; p != nil {
		f.ops, f.lits, f.from = len(p.ops), len(p.lits), b.from
		b.record(f.at, 0, opOpen, Hole{})
	}
	b.open = append(b.open, f)
	b.tag = tag
}

// End closes the innermost Dict or Array. An empty one becomes the text {} or []: the importer would drop it, and in
// an array would give its index to the next element.
func (b *Body) End() {
	f := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	b.tag = f.tag
	if len(b.ev) == f.empty {
		if f.dict {
			b.str("{}")
		} else {
			b.str("[]")
		}
	}
	p := b.program
	varies := p != nil && len(p.ops) > f.ops+1
	if varies {
		b.record(len(b.ev), 0, opClose, Hole{})
	}
	b.ev = finish(b.ev, f.at)
	if varies {
		b.from = len(b.ev)
	} else if p != nil {
		p.ops, p.lits, b.from = p.ops[:f.ops], p.lits[:f.lits], f.from
	}
}

// begin starts an annotation and returns the place of its length.
func (b *Body) begin(key string) int {
	at := len(b.ev) + 1
	if b.tag == element {
		b.ev = append(b.ev, b.tag, 0)
	} else {
		b.ev = appendVarint(append(b.ev, b.tag, 0, 1<<3), b.intern(&b.keys, key))
	}
	return at
}

// appendVarint is protowire.AppendVarint with a short way for short numbers.
func appendVarint(b []byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	return protowire.AppendVarint(b, v)
}

// finish writes the length of an annotation at its place, moving the annotation when one byte is not enough.
func finish(ev []byte, at int) []byte {
	n := len(ev) - at - 1
	if n < 0x80 {
		ev[at] = byte(n)
		return ev
	}
	extra := protowire.SizeVarint(uint64(n)) - 1
	ev = append(ev, "\x00\x00\x00\x00"[:extra]...)
	copy(ev[at+1+extra:], ev[at+1:at+1+n])
	protowire.AppendVarint(ev[:at], uint64(n))
	return ev
}

// Package wire walks the fields of protobuf messages where they lie: nothing is copied, and what is broken ends the walk.
package wire

import "encoding/binary"

// Fields walks the fields of one message. A field that is broken ends the walk and sets Bad.
type Fields struct {
	B   []byte
	I   int // where the next field begins
	Num uint32
	Typ uint8  // wire type
	V   uint64 // of a varint or a fixed number
	S   []byte // of a length-delimited field
	Bad bool
}

// Wire types.
const (
	Varint  = 0
	Fixed64 = 1
	Bytes   = 2
	Fixed32 = 5
)

// Over starts at the fields of a message.
func Over(b []byte) Fields { return Fields{B: b} }

// Each calls do for each field of a message, and reports whether the message is whole.
func Each(b []byte, do func(f *Fields)) bool {
	f := Over(b)
	for f.Next() {
		do(&f)
	}
	return !f.Bad
}

// Next moves to the next field.
func (f *Fields) Next() bool {
	if f.I >= len(f.B) {
		return false
	}
	tag, i := Uvarint(f.B, f.I)
	if i < 0 || tag>>3 == 0 || tag>>3 >= 1<<29 {
		f.Bad = true
		return false
	}
	f.Num, f.Typ = uint32(tag>>3), uint8(tag&7)
	f.V, f.S = 0, nil
	switch f.Typ {
	case Varint:
		f.V, i = Uvarint(f.B, i)
	case Bytes:
		var n uint64
		if n, i = Uvarint(f.B, i); i >= 0 {
			if n > uint64(len(f.B)-i) {
				i = -1
				break
			}
			f.S = f.B[i : i+int(n)]
			i += int(n)
		}
	case Fixed64:
		if i+8 > len(f.B) {
			i = -1
			break
		}
		f.V = binary.LittleEndian.Uint64(f.B[i:])
		i += 8
	case Fixed32:
		if i+4 > len(f.B) {
			i = -1
			break
		}
		f.V = uint64(binary.LittleEndian.Uint32(f.B[i:]))
		i += 4
	default:
		i = -1
	}
	if i < 0 {
		f.Bad = true
		return false
	}
	f.I = i
	return true
}

// Skip passes over fields that follow each other with one tag of one byte, all length-delimited, and reports whether
// there were any.
func (f *Fields) Skip(tag byte) bool {
	i := f.I
	for i < len(f.B) && f.B[i] == tag {
		n, next := Uvarint(f.B, i+1)
		if next < 0 || n > uint64(len(f.B)-next) {
			break
		}
		i = next + int(n)
	}
	skipped := i > f.I
	f.I = i
	return skipped
}

// Uvarint reads a varint at i and returns the position after it; -1 when it is broken or cut.
func Uvarint(b []byte, i int) (uint64, int) {
	if i < len(b) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		if i >= len(b) {
			return 0, -1
		}
		c := b[i]
		i++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, i
		}
	}
	return 0, -1
}

// Repeated calls visit for the numbers of a repeated field, which may come one by one or packed. fixed says that packed
// ones take eight bytes each.
func (f *Fields) Repeated(fixed bool, visit func(v uint64)) {
	switch {
	case f.Typ != Bytes:
		visit(f.V)
	case fixed:
		for s := f.S; len(s) >= 8; s = s[8:] {
			visit(binary.LittleEndian.Uint64(s))
		}
	default:
		for i := 0; i < len(f.S); {
			v, n := Uvarint(f.S, i)
			if n < 0 {
				f.Bad = true
				return
			}
			visit(v)
			i = n
		}
	}
}

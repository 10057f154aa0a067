package frompftrace

import "encoding/binary"

// fields walks the fields of one message. A field that is broken ends the walk and sets bad.
type fields struct {
	b   []byte
	i   int
	num uint32
	typ uint8  // wire type
	v   uint64 // of a varint or a fixed number
	s   []byte // of a length-delimited field
	bad bool
}

// Wire types.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// over starts at the fields of a message.
func over(b []byte) fields { return fields{b: b} }

// next moves to the next field.
func (f *fields) next() bool {
	if f.i >= len(f.b) {
		return false
	}
	tag, i := uvarint(f.b, f.i)
	if i < 0 || tag>>3 == 0 || tag>>3 >= 1<<29 {
		f.bad = true
		return false
	}
	f.num, f.typ = uint32(tag>>3), uint8(tag&7)
	f.v, f.s = 0, nil
	switch f.typ {
	case wireVarint:
		f.v, i = uvarint(f.b, i)
	case wireBytes:
		var n uint64
		if n, i = uvarint(f.b, i); i >= 0 {
			if n > uint64(len(f.b)-i) {
				i = -1
				break
			}
			f.s = f.b[i : i+int(n)]
			i += int(n)
		}
	case wireFixed64:
		if i+8 > len(f.b) {
			i = -1
			break
		}
		f.v = binary.LittleEndian.Uint64(f.b[i:])
		i += 8
	case wireFixed32:
		if i+4 > len(f.b) {
			i = -1
			break
		}
		f.v = uint64(binary.LittleEndian.Uint32(f.b[i:]))
		i += 4
	default:
		i = -1
	}
	if i < 0 {
		f.bad = true
		return false
	}
	f.i = i
	return true
}

// skip passes over fields that follow each other with one tag of one byte, all length-delimited, and reports whether
// there were any.
func (f *fields) skip(tag byte) bool {
	i := f.i
	for i < len(f.b) && f.b[i] == tag {
		n, next := uvarint(f.b, i+1)
		if next < 0 || n > uint64(len(f.b)-next) {
			break
		}
		i = next + int(n)
	}
	skipped := i > f.i
	f.i = i
	return skipped
}

// uvarint reads a varint at i and returns the position after it; -1 when it is broken or cut.
func uvarint(b []byte, i int) (uint64, int) {
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

// repeated calls visit for the numbers of a repeated field, which may come one by one or packed. fixed says that packed
// ones take eight bytes each.
func (f *fields) repeated(fixed bool, visit func(v uint64)) {
	switch {
	case f.typ != wireBytes:
		visit(f.v)
	case fixed:
		for s := f.s; len(s) >= 8; s = s[8:] {
			visit(binary.LittleEndian.Uint64(s))
		}
	default:
		for i := 0; i < len(f.s); {
			v, n := uvarint(f.s, i)
			if n < 0 {
				f.bad = true
				return
			}
			visit(v)
			i = n
		}
	}
}

package perfetto

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one decoded field of a message.
type field struct {
	num protowire.Number
	typ protowire.Type
	v   uint64 // varint and fixed
	b   []byte // length-delimited
}

var errWire = errors.New("malformed field")

// next cuts the first field off a message.
func next(m []byte) (f field, rest []byte, err error) {
	num, typ, n := protowire.ConsumeTag(m)
	if n < 0 {
		return f, nil, errWire
	}
	f.num, f.typ, m = num, typ, m[n:]
	switch typ {
	case protowire.VarintType:
		f.v, n = protowire.ConsumeVarint(m)
	case protowire.Fixed64Type:
		f.v, n = protowire.ConsumeFixed64(m)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(m)
		f.v = uint64(v)
	case protowire.BytesType:
		f.b, n = protowire.ConsumeBytes(m)
	default:
		return f, nil, errWire
	}
	if n < 0 {
		return f, nil, errWire
	}
	return f, m[n:], nil
}

// fields calls do for each field of a message, and reports whether the message is well-formed.
func fields(m []byte, do func(field)) bool {
	for len(m) > 0 {
		f, rest, err := next(m)
		if err != nil {
			return false
		}
		do(f)
		m = rest
	}
	return true
}

package fromxplane

import (
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"overlay/internal/kineto"
	"overlay/internal/wire"
)

// Field numbers of XSpace, XPlane, XLine, XEvent, XStat and their metadata (tsl/profiler/protobuf/xplane.proto).
const (
	spacePlanes = 1

	planeName, planeLines, planeEventNames, planeStatNames, planeStats = 2, 3, 4, 5, 6

	lineID, lineName, lineStart, lineEvents, lineShownID, lineShownName = 1, 2, 3, 4, 10, 11

	eventName, eventOffset, eventDur, eventStats = 1, 2, 3, 4

	statName, statDouble, statUint, statInt, statText, statBytes, statRef = 1, 2, 3, 4, 5, 6, 7

	entryKey, entryValue               = 1, 2
	metaName, metaShownName, metaStats = 2, 4, 5
)

// Is tells the format by its first bytes, and from Perfetto's format, which begins with the same byte: the first message is
// a plane, which has a number at most and then its name.
func Is(src []byte) bool {
	num, typ, n := protowire.ConsumeTag(src)
	if n < 0 || num != spacePlanes || typ != protowire.BytesType {
		return false
	}
	src = src[n:]
	if _, n = protowire.ConsumeVarint(src); n < 0 { // the length: the plane may be longer than what is looked at
		return false
	}
	src = src[n:]
	if num, typ, n = protowire.ConsumeTag(src); n > 0 && num == 1 && typ == protowire.VarintType {
		_, m := protowire.ConsumeVarint(src[n:])
		if m < 0 {
			return false
		}
		src = src[n+m:]
		num, typ, n = protowire.ConsumeTag(src)
	}
	if n < 0 || num != planeName || typ != protowire.BytesType {
		return false
	}
	name, n := protowire.ConsumeString(src[n:])
	return n > 0 && name != "" && utf8.ValidString(name) && name[0] > ' ' && name[0] < 0x7f
}

// stat is a value with its name.
type stat struct {
	name string
	text string
	kind uint8 // one of the fields of values; 0 for none
	num  int64
}

// isText reports whether the value is a text.
func (s *stat) isText() bool { return s.kind == statText || s.kind == statRef }

// number is the value as a whole number, also one written as a text.
func (s *stat) number() int64 {
	if s.isText() {
		return kineto.Int([]byte(s.text))
	}
	if s.kind == statDouble {
		return int64(math.Float64frombits(uint64(s.num)))
	}
	return s.num
}

// readStat reads a value of a plane.
func (p *plane) readStat(b []byte) (s stat) {
	wire.Each(b, func(f *wire.Fields) {
		switch f.Num {
		case statName:
			s.name = p.statNames[int64(f.V)]
		case statDouble, statUint, statInt:
			s.kind, s.num = uint8(f.Num), int64(f.V)
		case statText:
			s.kind, s.text = statText, string(f.S)
		case statRef:
			s.kind, s.text = statRef, p.statNames[int64(f.V)]
		}
	})
	return s
}

package frompftrace

import (
	"encoding/binary"
	"strconv"

	"overlay/internal/chrome"
)

// text is a string of the input. Plain ones need no escapes in JSON.
type text struct {
	raw   []byte
	plain bool
	known bool
}

func newText(raw []byte) text { return text{raw, isPlain(raw), true} }

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// isPlain reports whether a string stands in JSON as it is.
func isPlain(s []byte) bool {
	for len(s) >= 8 {
		x := binary.LittleEndian.Uint64(s)
		q, b, d := x^0x22*lowBits, x^0x5c*lowBits, x^0x7f*lowBits
		if ((q-lowBits)&^q|(b-lowBits)&^b|(d-lowBits)&^d|(x-0x20*lowBits)&^x|x)&highBits != 0 {
			return false
		}
		s = s[8:]
	}
	for _, c := range s {
		if c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// appendText appends the string as JSON.
func appendText(dst []byte, t text) []byte {
	if t.plain {
		dst = append(dst, '"')
		dst = append(dst, t.raw...)
		return append(dst, '"')
	}
	return chrome.AppendString(dst, string(t.raw))
}

// appendString appends a string as JSON. Bytes that are no UTF-8 become U+FFFD.
func appendString(dst, s []byte) []byte {
	if isPlain(s) {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	return chrome.AppendString(dst, string(s))
}

// appendFloat appends a number so that it stays a floating point number; what JSON has no word for becomes a string.
func appendFloat(dst []byte, v float64) []byte {
	at := len(dst)
	dst = strconv.AppendFloat(dst, v, 'g', -1, 64)
	for _, c := range dst[at:] {
		switch c {
		case '.', 'e':
			return dst
		case 'N', 'I':
			return append(append(append(dst[:at:at], '"'), dst[at:]...), '"')
		}
	}
	return append(dst, ".0"...)
}

// isInteger reports whether a string is a decimal integer that JSON would write in the same way.
func isInteger(s []byte) bool {
	if len(s) > 0 && s[0] == '-' {
		s = s[1:]
	}
	if len(s) == 0 || len(s) > 18 || s[0] == '0' && len(s) > 1 {
		return false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

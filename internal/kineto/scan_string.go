package kineto

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// strFlags says what a string holds beyond plain ASCII.
type strFlags uint8

const (
	strEscape  strFlags = 1 << iota // a backslash
	strHigh                         // bytes of 0x80 and more
	strControl                      // raw bytes below 0x20
	strQuote                        // a quote that does not end it
	strBadEscape
	strBadUTF8
)

// broken are the flags that make a string invalid JSON.
const broken = strControl | strQuote | strBadEscape | strBadUTF8

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// special marks the bytes of x that need a look: quote, backslash, control, 0x80 and more. The lowest mark is right; above
// it a byte may be marked that needs none.
func special(x uint64) uint64 {
	q := x ^ 0x22*lowBits
	b := x ^ 0x5c*lowBits
	return ((q - lowBits) | (b - lowBits) | (x - 0x20*lowBits) | x) & highBits
}

// scanString scans the string whose opening quote is at i. It returns the position of the closing quote; when there is
// none up to the end of the input or the limit of a string, ^j of the position j it came to. A quote ends the string
// only where JSON could go on after it; Kineto wrote names with quotes in them (pytorch#113001). key says that a colon
// must follow.
func scanString(s []byte, i int, key, inObject bool) (end int, f strFlags) {
	return scanStringFrom(s, i, i+1, key, inObject)
}

// scanStringFrom goes on at j in the string that starts at i.
func scanStringFrom(s []byte, i, j int, key, inObject bool) (end int, f strFlags) {
	for {
		for j+8 <= len(s) {
			m := special(binary.LittleEndian.Uint64(s[j:]))
			if m != 0 {
				j += bits.TrailingZeros64(m) >> 3
				break
			}
			j += 8
		}
		if j >= len(s) || j-i > maxString {
			return ^j, f
		}
		switch c := s[j]; {
		case c == '"':
			if closes(s, j+1, key, inObject) {
				if f&strHigh != 0 && !utf8.Valid(s[i+1:j]) {
					f |= strBadUTF8
				}
				return j, f
			}
			f |= strQuote
			j++
		case c == '\\':
			f |= strEscape
			n := escapeLen(s, j)
			if n == 0 {
				f |= strBadEscape
				n = 1
			}
			j += n
		case c < 0x20:
			f |= strControl
			j++
		case c >= 0x80:
			f |= strHigh
			j++
		default:
			j++
		}
	}
}

// escapeLen is the length of the escape at j, 0 for one that JSON does not know.
func escapeLen(s []byte, j int) int {
	if j+1 >= len(s) {
		return 0
	}
	switch s[j+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if j+6 <= len(s) && isHex(s[j+2]) && isHex(s[j+3]) && isHex(s[j+4]) && isHex(s[j+5]) {
			return 6
		}
	}
	return 0
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// closes reports whether JSON could go on at j, right after a quote. At the end of the input it could not: then what
// the string is in has no end.
func closes(s []byte, j int, key, inObject bool) bool {
	if key {
		j = skipSpace(s, j)
		return j < len(s) && s[j] == ':'
	}
	if j < len(s) && s[j] == ',' && !inObject {
		return true
	}
	j = skipSpace(s, j)
	if j >= len(s) {
		return false
	}
	switch s[j] {
	case '}', ']':
		return true
	case ',':
		if !inObject {
			return true
		}
		j = skipSpace(s, j+1)
		return j < len(s) && (s[j] == '"' || s[j] == '}')
	}
	return false
}

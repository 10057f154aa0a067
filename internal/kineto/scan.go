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

// special marks the bytes of x that need a look: quote, backslash, control, 0x80 and more.
func special(x uint64) uint64 {
	q := x ^ 0x22*lowBits
	b := x ^ 0x5c*lowBits
	return ((q-lowBits)&^q | (b-lowBits)&^b | (x-0x20*lowBits)&^x | x) & highBits
}

func skipSpace(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
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

// scanner walks values and counts what it had to mend.
type scanner struct {
	s       []byte
	dirty   bool // the value scanned last is not valid JSON
	repairs repairs
	open    [3]span // by what may follow a string: one that was scanned last and found no end
	far     int     // the value that was looked at last starts here
}

// span is a range of bytes.
type span struct{ from, to int }

// str is scanString in linear time: a string that starts inside one without an end has no end there either, since the
// same quotes were looked at. Only a quote behind a backslash may not have been.
func (p *scanner) str(i int, key, inObject bool) (end int, f strFlags) {
	open := &p.open[0]
	if key {
		open = &p.open[1]
	} else if inObject {
		open = &p.open[2]
	}
	if i > open.from && i < open.to && p.s[i-1] != '\\' {
		if end, _ := scanStringFrom(p.s, i, open.to, key, inObject); end < 0 {
			open.to = max(open.to, ^end)
			return end, 0
		}
	}
	if end, f = scanString(p.s, i, key, inObject); end < 0 {
		*open = span{i, ^end}
	}
	return end, f
}

func (p *scanner) mend(reason string, at int) {
	p.repairs.add(reason, int64(at))
}

func (p *scanner) mendString(f strFlags, at int) {
	p.dirty = true
	if f&strControl != 0 {
		p.mend(RepairControl, at)
	}
	if f&strQuote != 0 {
		p.mend(RepairQuote, at)
	}
	if f&strBadEscape != 0 {
		p.mend(RepairEscape, at)
	}
	if f&strBadUTF8 != 0 {
		p.mend(RepairUTF8, at)
	}
}

// skipString returns the position after the string at i, -1 at the end of the input.
func (p *scanner) skipString(i int, inObject bool) int {
	end, f := p.str(i, false, inObject)
	if end < 0 {
		return -1
	}
	if f&broken != 0 {
		p.mendString(f, i)
	}
	return end + 1
}

// skipValue returns the position after the value at i; -1 when the input ends inside or nothing can be made of it.
func (p *scanner) skipValue(i int, inObject bool, depth int) int {
	if i >= len(p.s) || depth > maxDepth {
		return -1
	}
	switch p.s[i] {
	case '"':
		return p.skipString(i, inObject)
	case '{':
		return p.skipObject(i, depth)
	case '[':
		return p.skipArray(i, depth)
	}
	return p.skipScalar(i)
}

// skipScalar skips a number or a word; words that JSON does not know are mended.
func (p *scanner) skipScalar(i int) int {
	j := i
	for j < len(p.s) && !ends[p.s[j]] {
		j++
	}
	if j == i {
		return -1
	}
	if j == len(p.s) {
		return j
	}
	if w := p.s[i:j]; !isNumber(w) && string(w) != "true" && string(w) != "false" && string(w) != "null" {
		if !isBareWord(w) {
			return -1
		}
		p.dirty = true
		p.mend(RepairBareWord, i)
	}
	return j
}

// ends are the bytes that end a number or a word.
var ends = [256]bool{',': true, '}': true, ']': true, ' ': true, '\n': true, '\t': true, '\r': true, ':': true, '"': true, '{': true, '[': true}

// isNumber follows the grammar of JSON.
func isNumber(w []byte) bool {
	i := 0
	if i < len(w) && w[i] == '-' {
		i++
	}
	if i < len(w) && w[i] == '0' {
		i++
	} else if n := digits(w, i); n > i {
		i = n
	} else {
		return false
	}
	if i < len(w) && w[i] == '.' {
		n := digits(w, i+1)
		if n == i+1 {
			return false
		}
		i = n
	}
	if i < len(w) && w[i]|0x20 == 'e' {
		i++
		if i < len(w) && (w[i] == '+' || w[i] == '-') {
			i++
		}
		n := digits(w, i)
		if n == i {
			return false
		}
		i = n
	}
	return i == len(w)
}

func digits(w []byte, i int) int {
	for i < len(w) && w[i] >= '0' && w[i] <= '9' {
		i++
	}
	return i
}

// isBareWord reports whether w could stand for a value: N/A, nan, -inf, 007, 0x1f.
func isBareWord(w []byte) bool {
	if len(w) > 64 {
		return false
	}
	for _, c := range w {
		if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '/' || c == '-' || c == '+' || c == '.' || c == '#' || c == '_') {
			return false
		}
	}
	return true
}

func (p *scanner) skipArray(i, depth int) int {
	j := skipSpace(p.s, i+1)
	for first := true; ; first = false {
		if j >= len(p.s) {
			return -1
		}
		if p.s[j] == ']' {
			if !first {
				p.dirty = true
				p.mend(RepairComma, j)
			}
			return j + 1
		}
		if j = p.skipValue(j, false, depth+1); j < 0 {
			return -1
		}
		j = skipSpace(p.s, j)
		if j >= len(p.s) {
			return -1
		}
		if p.s[j] == ']' {
			return j + 1
		}
		if p.s[j] != ',' {
			return -1
		}
		j = skipSpace(p.s, j+1)
	}
}

func (p *scanner) skipObject(i, depth int) int {
	m := members{p: p, at: i, depth: depth}
	for m.next() {
		if !m.skip() {
			return -1
		}
	}
	return m.end()
}

// members walks the members of the object at at. After next, key is the key as written and at the position of the
// value; the caller sets at to the position after the value, or calls skip.
type members struct {
	p     *scanner
	at    int
	depth int
	key   []byte
	state uint8 // 0 before the first member, 1 inside, 2 closed, 3 broken
}

// next moves to the next member; false at the end of the object, or when it is broken (end tells).
func (m *members) next() bool {
	s := m.p.s
	j := m.at
	if m.state == 0 {
		m.state = 1
		j = skipSpace(s, j+1)
		if j < len(s) && s[j] == '}' {
			m.at, m.state = j+1, 2
			return false
		}
	} else {
		j = skipSpace(s, j)
		if j >= len(s) {
			m.state = 3
			return false
		}
		switch s[j] {
		case '}':
			m.at, m.state = j+1, 2
			return false
		case ',':
			j = skipSpace(s, j+1)
			if j < len(s) && s[j] == '}' {
				m.p.dirty = true
				m.p.mend(RepairComma, j)
				m.at, m.state = j+1, 2
				return false
			}
		default:
			m.state = 3
			return false
		}
	}
	if j >= len(s) || s[j] != '"' {
		m.state = 3
		return false
	}
	end, f := m.p.str(j, true, true)
	if end < 0 {
		m.state = 3
		return false
	}
	if f&broken != 0 {
		m.p.mendString(f, j)
	}
	m.key = s[j+1 : end]
	j = skipSpace(s, end+1)
	if j >= len(s) || s[j] != ':' {
		m.state = 3
		return false
	}
	m.at = skipSpace(s, j+1)
	m.p.far = m.at
	return true
}

// skip moves past the value.
func (m *members) skip() bool {
	n := m.p.skipValue(m.at, true, m.depth+1)
	if n < 0 {
		m.state = 3
		return false
	}
	m.at = n
	return true
}

// end is the position after the object, -1 when it is broken.
func (m *members) end() int {
	if m.state != 2 {
		return -1
	}
	return m.at
}

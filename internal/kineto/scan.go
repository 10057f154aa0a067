package kineto

import "overlay/internal/trace"

func skipSpace(s []byte, i int) int {
	for i < len(s) && s[i] <= ' ' && isBlank(s[i]) {
		i++
	}
	return i
}

// scanner walks values and counts what it had to mend.
type scanner struct {
	s       []byte
	dirty   bool // the value scanned last is not valid JSON
	repairs repairs
	open    [3]span // by what may follow a string: one that was scanned last and found no end
	far     int     // the value that was looked at last starts here
	base    int64   // where s begins, for messages
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
	p.repairs.add(trace.Repair{Reason: reason, Count: 1, First: []int64{p.base + int64(at)}})
}

func (p *scanner) mendString(f strFlags, at int) {
	p.dirty = true
	for _, x := range [...]struct {
		flag   strFlags
		reason string
	}{{strControl, RepairControl}, {strQuote, RepairQuote}, {strBadEscape, RepairEscape}, {strBadUTF8, RepairUTF8}} {
		if f&x.flag != 0 {
			p.mend(x.reason, at)
		}
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

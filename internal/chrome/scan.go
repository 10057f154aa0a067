package chrome

import "bytes"

// Member is one key and value of a JSON object, by offsets into the object's bytes.
type Member struct {
	Key     []byte // between the quotes, escapes as written
	At, End int    // of the value
}

// NextMember reads the member that follows position i, which is behind the object's brace or behind a value. It
// reports false at the closing brace and where there is no member; i is then the position of what stands there.
func NextMember(b []byte, i int) (m Member, ok bool) {
	i = SkipSpace(b, i)
	if i < len(b) && b[i] == ',' {
		i = SkipSpace(b, i+1)
	}
	m.At, m.End = i, i
	if i >= len(b) || b[i] != '"' {
		return m, false
	}
	end := skipString(b, i)
	if end > len(b) || end-1 <= i {
		return m, false
	}
	m.Key = b[i+1 : end-1]
	i = SkipSpace(b, end)
	if i >= len(b) || b[i] != ':' {
		return m, false
	}
	m.At = SkipSpace(b, i+1)
	m.End = SkipValue(b, m.At)
	return m, m.End > m.At
}

// SkipSpace returns the position of the first byte at or after i that is no JSON white space.
func SkipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// SkipValue returns the position behind the value at i; len(b) when it is cut.
func SkipValue(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for i < len(b) && !delimits[b[i]] {
		i++
	}
	return i
}

// delimits are the bytes that end a number or a word.
var delimits = [256]bool{',': true, '}': true, ']': true, ' ': true, '\n': true, '\r': true, '\t': true}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(b)
}

// skipString returns the position behind the string that opens at i; len(b) when it is cut.
func skipString(b []byte, i int) int {
	for i++; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		k := i
		for b[k-1] == '\\' { // the opening quote stops it
			k--
		}
		i++
		if (i-1-k)%2 == 0 {
			return i
		}
	}
	return len(b)
}

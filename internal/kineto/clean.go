package kineto

import (
	"unicode/utf8"

	"overlay/internal/trace"
)

// Clean returns the bytes of an event, which is e, as valid JSON: broken strings are escaped anew, words that JSON does not know
// become strings, trailing commas go, a dur below 0 becomes 0. Of an element that could not be read it makes a metadata
// event that holds the bytes as text.
func (x *Text) Clean(id trace.EventID, e *trace.Event) []byte {
	raw := x.Raw(id)
	if e.Flags&trace.Dirty == 0 {
		return raw
	}
	if e.Ph == 0 && (len(raw) == 0 || raw[0] != '{' || skipsTo(raw) != len(raw)) {
		out := append([]byte(nil), `{"ph":"M","name":"broken_event","pid":0,"tid":0,"args":{"text":`...)
		return append(appendString(out, unquote(raw)), "}}"...)
	}
	c := cleaner{s: raw, negative: e.Flags&trace.Repaired != 0}
	c.value(0, true, 0)
	return c.out
}

// CleanField returns the value of a top-level member as valid JSON, mended as Clean mends events.
func (x *Text) CleanField(f Field) []byte {
	raw := x.Src[f.Off : f.Off+f.Len]
	if !f.Dirty {
		return raw
	}
	c := cleaner{s: raw}
	c.value(0, true, 0)
	return c.out
}

// skipsTo is the end of the value at the start of raw, -1 when it is broken.
func skipsTo(raw []byte) int {
	p := scanner{s: raw}
	return p.skipValue(0, true, 1)
}

// cleaner copies a value and mends it on the way; the scanner has been through it before, so positions fit.
type cleaner struct {
	s        []byte
	out      []byte
	negative bool // a dur below 0, or one that is no number, may be at the top
}

func (c *cleaner) value(i int, inObject bool, depth int) int {
	switch c.s[i] {
	case '"':
		return c.str(i, false, inObject)
	case '{':
		return c.object(i, depth)
	case '[':
		return c.array(i, depth)
	}
	p := scanner{s: c.s}
	end := p.skipScalar(i)
	if end < 0 {
		end = len(c.s)
		p.dirty = true
	}
	if p.dirty {
		c.out = appendString(c.out, string(c.s[i:end]))
	} else {
		c.out = append(c.out, c.s[i:end]...)
	}
	return end
}

func (c *cleaner) str(i int, key, inObject bool) int {
	end, f := scanString(c.s, i, key, inObject)
	if end < 0 {
		end = len(c.s) - 1
		f = strBadEscape
	}
	if f&broken == 0 {
		c.out = append(c.out, c.s[i:end+1]...)
	} else {
		c.out = appendString(c.out, unquote(c.s[i+1:end]))
	}
	return end + 1
}

// space copies blanks.
func (c *cleaner) space(i int) int {
	j := skipSpace(c.s, i)
	c.out = append(c.out, c.s[i:j]...)
	return j
}

func (c *cleaner) object(i, depth int) int {
	c.out = append(c.out, '{')
	i = c.space(i + 1)
	for first := true; i < len(c.s) && c.s[i] != '}'; first = false {
		if !first {
			j := skipSpace(c.s, i+1)
			if j < len(c.s) && c.s[j] == '}' { // a comma before the end
				i = j
				break
			}
			c.out = append(c.out, ',')
			i = c.space(i + 1)
		}
		if i >= len(c.s) || c.s[i] != '"' {
			break
		}
		at := i
		i = c.str(i, true, true)
		isDur := depth == 0 && c.negative && string(c.s[at:i]) == `"dur"`
		i = c.space(i)
		c.out = append(c.out, ':')
		i = c.space(i + 1)
		mark := len(c.out)
		i = c.value(i, true, depth+1)
		if isDur {
			if d, _ := unquote1(c.out[mark:]); len(d) == 0 || d[0] == '-' || !isNumber(d) {
				c.out = append(c.out[:mark], '0')
			}
		}
		i = c.space(i)
	}
	c.out = append(c.out, '}')
	return i + 1
}

func (c *cleaner) array(i, depth int) int {
	c.out = append(c.out, '[')
	i = c.space(i + 1)
	for first := true; i < len(c.s) && c.s[i] != ']'; first = false {
		if !first {
			j := skipSpace(c.s, i+1)
			if j < len(c.s) && c.s[j] == ']' {
				i = j
				break
			}
			c.out = append(c.out, ',')
			i = c.space(i + 1)
		}
		i = c.value(i, false, depth+1)
		i = c.space(i)
	}
	c.out = append(c.out, ']')
	return i + 1
}

// appendString writes s as a JSON string.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for i := 0; i < len(s); {
		b := s[i]
		switch {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b == '\n':
			out = append(out, '\\', 'n')
		case b == '\t':
			out = append(out, '\\', 't')
		case b < 0x20:
			out = append(out, '\\', 'u', '0', '0')
			out = append(out, "0123456789abcdef"[b>>4], "0123456789abcdef"[b&15])
		case b < utf8.RuneSelf:
			out = append(out, b)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			out = utf8.AppendRune(out, r)
			i += n
			continue
		}
		i++
	}
	return append(out, '"')
}

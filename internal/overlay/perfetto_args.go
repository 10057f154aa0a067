package overlay

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"overlay/internal/kineto"
	"overlay/internal/perfetto"
)

// args returns the bytes of an event's args value.
func (p *picture) args(id kineto.EventID) []byte {
	e := &p.tr.Events[id]
	if e.Args == 0 {
		return nil
	}
	return p.tr.Src[e.Off+int64(e.Args) : e.Off+int64(e.Len)]
}

// maxNesting bounds the depth of arguments; what lies deeper is left out.
const maxNesting = 64

// writeArgs adds the JSON object that src starts with as arguments, in their order, integers of the top level after all
// others: they differ from event to event, and what does not compresses best undivided (1 to 3 % of a .gz). Integers stay exact, null is
// left out (Perfetto has no such value), except in an array, where it becomes a text so that indices stay. Values
// that are no JSON (NaN, inf, N/A) are taken as what they mean. The object has been checked by the reader; what is
// broken all the same ends the arguments.
func writeArgs(b *perfetto.Body, src []byte, drop func(key string) bool) {
	a := argWriter{b: b, s: src, drop: drop}
	a.space()
	switch {
	case a.i >= len(a.s):
	case a.s[a.i] == '{':
		a.i++
		a.object(0)
		for i := range a.held[:a.n] {
			b.Int(a.held[i].key, a.held[i].v)
		}
	default:
		a.value("args", 0, false)
	}
}

type argWriter struct {
	b    *perfetto.Body
	s    []byte
	i    int
	drop func(key string) bool // of the top level; nil drops none
	held [24]intArg            // integers of the top level, as far as they fit
	n    int                   // of them
}

type intArg struct {
	key string
	v   int64
}

func (a *argWriter) space() {
	for a.i < len(a.s) && a.s[a.i] <= ' ' {
		a.i++
	}
}

// object writes the entries up to '}'; it reports whether the end was there.
func (a *argWriter) object(depth int) bool {
	for {
		a.space()
		if a.i >= len(a.s) {
			return false
		}
		switch a.s[a.i] {
		case '}':
			a.i++
			return true
		case ',':
			a.i++
			continue
		case '"':
		default:
			return false
		}
		key, ok := a.str()
		if !ok {
			return false
		}
		a.space()
		if a.i >= len(a.s) || a.s[a.i] != ':' {
			return false
		}
		a.i++
		a.space()
		if depth == 0 && a.drop != nil && a.drop(key) {
			skip := argWriter{b: nil, s: a.s, i: a.i}
			if !skip.skip(1) {
				return false
			}
			a.i = skip.i
			continue
		}
		if !a.value(key, depth+1, false) {
			return false
		}
	}
}

func (a *argWriter) array(depth int) bool {
	for {
		a.space()
		if a.i >= len(a.s) {
			return false
		}
		switch a.s[a.i] {
		case ']':
			a.i++
			return true
		case ',':
			a.i++
			continue
		}
		if !a.value("", depth+1, true) {
			return false
		}
	}
}

func (a *argWriter) value(key string, depth int, inArray bool) bool {
	if a.i >= len(a.s) {
		return false
	}
	if depth > maxNesting {
		return a.skip(depth)
	}
	switch c := a.s[a.i]; c {
	case '{':
		a.i++
		a.b.Dict(key)
		ok := a.object(depth)
		a.b.End()
		return ok
	case '[':
		a.i++
		a.b.Array(key)
		ok := a.array(depth)
		a.b.End()
		return ok
	case '"':
		s, ok := a.str()
		if ok {
			a.b.Str(key, s)
		}
		return ok
	}
	return a.scalar(key, depth, inArray)
}

// scalar writes a number or a word.
func (a *argWriter) scalar(key string, depth int, inArray bool) bool {
	start := a.i
	digits, integer := 0, true
	var v uint64
loop:
	for ; a.i < len(a.s); a.i++ {
		switch c := a.s[a.i]; {
		case c >= '0' && c <= '9':
			v = v*10 + uint64(c-'0')
			digits++
		case c == '-' && a.i == start:
		case c == ',' || c == '}' || c == ']' || c <= ' ':
			break loop
		default:
			integer = false
		}
	}
	tok := a.s[start:a.i]
	if len(tok) == 0 {
		return false
	}
	if integer && digits > 0 && digits <= 18 {
		n := int64(v)
		if tok[0] == '-' {
			n = -n
		}
		if depth == 1 && a.n < len(a.held) {
			a.held[a.n] = intArg{key, n}
			a.n++
			return true
		}
		a.b.Int(key, n)
		return true
	}
	a.word(key, text(tok), inArray)
	return true
}

// word writes a value that is no short integer.
func (a *argWriter) word(key, tok string, inArray bool) {
	switch tok {
	case "true", "false":
		a.b.Bool(key, tok == "true")
		return
	case "null":
		if inArray {
			a.b.Str(key, tok)
		}
		return
	}
	if !strings.ContainsAny(tok, ".eE") { // a failed attempt costs an error value
		if n, err := strconv.ParseInt(tok, 10, 64); err == nil {
			a.b.Int(key, n)
			return
		}
		if n, err := strconv.ParseUint(tok, 10, 64); err == nil {
			a.b.Uint(key, n)
			return
		}
	}
	if f, err := strconv.ParseFloat(tok, 64); err == nil || math.IsInf(f, 0) {
		a.b.Float(key, f)
	} else {
		a.b.Str(key, tok)
	}
}

// skip passes over a value.
func (a *argWriter) skip(depth int) bool {
	a.space()
	if a.i >= len(a.s) {
		return false
	}
	switch a.s[a.i] {
	case '"':
		_, ok := a.str()
		return ok
	case '{', '[':
		open := 0
		for a.i < len(a.s) {
			switch a.s[a.i] {
			case '"':
				if _, ok := a.str(); !ok {
					return false
				}
				continue
			case '{', '[':
				open++
			case '}', ']':
				open--
			}
			a.i++
			if open == 0 {
				return true
			}
		}
		return false
	}
	for a.i < len(a.s) && a.s[a.i] != ',' && a.s[a.i] != '}' && a.s[a.i] != ']' {
		a.i++
	}
	return true
}

// str reads the string at a.i. Without escapes it shares the bytes of the source.
func (a *argWriter) str() (string, bool) {
	a.i++
	start := a.i
	for a.i < len(a.s) {
		switch a.s[a.i] {
		case '"':
			s := text(a.s[start:a.i])
			a.i++
			return s, true
		case '\\':
			return a.escaped(start)
		}
		a.i++
	}
	return "", false
}

// escaped reads a string from its first backslash on.
func (a *argWriter) escaped(start int) (string, bool) {
	out := append([]byte(nil), a.s[start:a.i]...)
	for a.i < len(a.s) {
		c := a.s[a.i]
		a.i++
		if c == '"' {
			return string(out), true
		}
		if c != '\\' || a.i >= len(a.s) {
			out = append(out, c)
			continue
		}
		c = a.s[a.i]
		a.i++
		switch c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			out = a.unicode(out)
		default: // no escape: a path of Windows, say
			out = append(out, '\\', c)
		}
	}
	return "", false
}

// unicode reads the digits of an escape, and those of a second one that makes a pair with it.
func (a *argWriter) unicode(out []byte) []byte {
	r, ok := a.hex(a.i)
	if !ok {
		return append(out, '\\', 'u')
	}
	a.i += 4
	if utf16.IsSurrogate(r) {
		if a.i+1 < len(a.s) && a.s[a.i] == '\\' && a.s[a.i+1] == 'u' {
			if r2, ok := a.hex(a.i + 2); ok {
				if both := utf16.DecodeRune(r, r2); both != utf8.RuneError {
					a.i += 6
					return utf8.AppendRune(out, both)
				}
			}
		}
		r = utf8.RuneError
	}
	return utf8.AppendRune(out, r)
}

func (a *argWriter) hex(at int) (rune, bool) {
	if at+4 > len(a.s) {
		return 0, false
	}
	n, err := strconv.ParseUint(text(a.s[at:at+4]), 16, 32)
	return rune(n), err == nil
}

// text is the bytes of the source as a string without a copy: a frozen trace never changes them.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

package kineto

import (
	"math"
	"unsafe"

	"overlay/internal/trace"
)

// argReader tells the members of an args object one by one. The object has been through the scanner before, so only
// what the scanner accepts is met; what is broken all the same ends the args.
type argReader struct {
	s     []byte
	i     int
	visit func(key string, v trace.Value) bool
}

// readArgs tells what stands in the args value that raw begins with; see trace.Source.
func readArgs(raw []byte, visit func(key string, v trace.Value) bool) {
	a := argReader{s: raw, i: skipSpace(raw, 0), visit: visit}
	switch {
	case a.i >= len(raw):
	case raw[a.i] == '{':
		a.i++
		a.object(1)
	default:
		a.value("args", 1, false)
	}
}

// maxKnown bounds the texts of objects and arrays that are told: longer ones hardly ever come twice.
const maxKnown = 512

// told tells the args of an event by its template.
func (w *walker) told(known trace.Known, visit func(key string, v trace.Value) bool) {
	a := argReader{visit: visit}
	for i := 0; i < len(w.tp.told); i++ {
		x := &w.tp.told[i]
		ok := true
		switch {
		case x.nested && known != nil:
			last := &w.tp.told[x.row-1]
			w.skip(x.from.hole)
			rest := *w
			rest.skip(last.to.hole)
			row := trace.Row{Of: x.id, Numbers: borrow(w.numbers[:len(w.numbers)-len(rest.numbers)])}
			if !known.AgainRow(row) {
				known.BeginRow()
				for ; ok && i < x.row; i++ {
					ok = w.nested(&a, &w.tp.told[i], known)
				}
				known.EndRow()
			}
			*w = rest
			i = x.row - 1
		case x.fixed() && !x.nested:
			ok = visit(x.key, x.value)
		case x.number && known != nil:
			w.skip(x.from.hole)
			ok = visit(x.key, number(w.next()))
		case x.nested:
			a.s, a.i = w.text(x.from, x.to), 0
			ok = a.value(x.key, 1, false)
		default:
			ok = visit(x.key, value(w.text(x.from, x.to)))
		}
		if !ok {
			return
		}
	}
}

// nested tells an object or array that may be known.
func (w *walker) nested(a *argReader, x *templateArg, known trace.Known) bool {
	text := x.value.Text
	if !x.fixed() {
		text = borrow(w.text(x.from, x.to))
	}
	if known.Again(x.key, text) {
		return true
	}
	a.s, a.i = unsafe.Slice(unsafe.StringData(text), len(text)), 0
	if len(text) > maxKnown {
		text = ""
	}
	return a.nested(x.key, 1) && a.visit("", trace.Value{Kind: trace.End, Text: text})
}

// arg is the first argument with a key.
func (w *walker) arg(key string) (trace.Value, bool) {
	for i := range w.tp.told {
		if x := &w.tp.told[i]; x.key == key && x.fixed() {
			return x.value, true
		} else if x.key == key {
			return value(w.text(x.from, x.to)), true
		}
	}
	return trace.Value{}, false
}

// number is the value of digits, without their text.
func number(v uint64) trace.Value {
	if v > math.MaxInt64 {
		return trace.Value{Kind: trace.Uint, Bits: v}
	}
	return trace.Value{Kind: trace.Int, Bits: v}
}

// object tells the members up to '}'; false ends all.
func (a *argReader) object(depth int) bool {
	for {
		key, ok := a.key()
		if !ok {
			break
		}
		if !a.value(key, depth, true) {
			return false
		}
	}
	if a.i < len(a.s) && a.s[a.i] == '}' {
		a.i++
		return true
	}
	return false
}

// key reads the next key of an object and goes to its value. It reports false where there is none: before '}', or where all ends.
func (a *argReader) key() (string, bool) {
	for a.i = skipSpace(a.s, a.i); a.i < len(a.s) && a.s[a.i] == ','; a.i = skipSpace(a.s, a.i) {
		a.i++
	}
	if a.i >= len(a.s) || a.s[a.i] != '"' {
		return "", false
	}
	key, ok := a.str(true, true)
	if !ok {
		return "", false
	}
	if a.i = skipSpace(a.s, a.i); a.i >= len(a.s) || a.s[a.i] != ':' {
		return "", false
	}
	a.i = skipSpace(a.s, a.i+1)
	return key, true
}

func (a *argReader) array(depth int) bool {
	for {
		a.i = skipSpace(a.s, a.i)
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
		if !a.value("", depth, false) {
			return false
		}
	}
}

func (a *argReader) value(key string, depth int, inObject bool) bool {
	if a.i >= len(a.s) {
		return false
	}
	if depth > trace.MaxDepth {
		return a.skip(inObject)
	}
	switch a.s[a.i] {
	case '{', '[':
		return a.nested(key, depth) && a.visit("", trace.Value{Kind: trace.End})
	case '"':
		s, ok := a.str(false, inObject)
		return ok && a.visit(key, trace.Value{Kind: trace.String, Text: s})
	}
	return a.scalar(key)
}

// nested tells the object or array at a.i but for its end.
func (a *argReader) nested(key string, depth int) bool {
	a.i++
	if a.s[a.i-1] == '{' {
		return a.visit(key, trace.Value{Kind: trace.Object}) && a.object(depth+1)
	}
	return a.visit(key, trace.Value{Kind: trace.Array}) && a.array(depth+1)
}

// scalar tells a number or a word.
func (a *argReader) scalar(key string) bool {
	start := a.i
	for a.i < len(a.s) && a.s[a.i] != ',' && a.s[a.i] != '}' && a.s[a.i] != ']' && a.s[a.i] > ' ' {
		a.i++
	}
	return a.i > start && a.visit(key, trace.NumberValue(borrow(a.s[start:a.i])))
}

// skip passes over a value that lies too deep.
func (a *argReader) skip(inObject bool) bool {
	p := scanner{s: a.s}
	end := p.skipValue(a.i, inObject, 0)
	if end < 0 {
		return false
	}
	a.i = end
	return true
}

// str reads the string at a.i. Without escapes it shares the bytes of the text.
func (a *argReader) str(key, inObject bool) (string, bool) {
	start := a.i
	end, f := scanString(a.s, start, key, inObject)
	if end < 0 {
		return "", false
	}
	a.i = end + 1
	raw := a.s[start+1 : end]
	if f&(strEscape|strBadUTF8) != 0 {
		return unquote(raw), true
	}
	return borrow(raw), true
}

// borrow is the bytes of the text as a string without a copy: they never change.
func borrow(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

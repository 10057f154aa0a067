package kineto

import (
	"bytes"

	"overlay/internal/trace"
)

// argReader tells the members of an args object one by one. The object has been through the scanner before, so only
// what the scanner accepts is met; what is broken all the same ends the args.
type argReader struct {
	s     []byte
	i     int
	at    int // where the value begins that is told
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

// told tells the args of an event by its template.
func (w *walker) told(visit func(key string, v trace.Value) bool) {
	a := argReader{visit: visit}
	for i := range w.tp.told {
		x := &w.tp.told[i]
		ok := false
		switch {
		case x.nested:
			a.s, a.i = w.text(x.from, x.to), 0
			ok = a.value(x.key, 1, false)
		case x.fixed():
			ok = visit(x.key, x.value)
		default:
			ok = visit(x.key, value(w.text(x.from, x.to)))
		}
		if !ok {
			return
		}
	}
}

// pattern is what the arguments of events of the template have alike; nil where they have a number in an unusual form.
func (tp *template) pattern() []trace.Part {
	tp.once.Do(func() {
		if tp.event.Flags&trace.HasArgs == 0 {
			return
		}
		var text []byte // of an event whose numbers are all 1
		var holes []int // where they stand in it
		for k, lit := range tp.lits {
			if text = append(text, lit...); k < len(tp.kinds) {
				holes = append(holes, len(text))
				text = append(text, '1')
			}
		}
		at := int(tp.args.off)
		if h := tp.args.hole; h > 0 {
			at += holes[h-1] + 1
		}
		usual, next := true, 0
		a := argReader{s: text, i: at + 1}
		a.visit = func(key string, v trace.Value) bool {
			p := trace.Part{Key: key, Value: v}
			if v.Kind != trace.Object && v.Kind != trace.Array && v.Kind != trace.End {
				for next < len(holes) && holes[next] < a.at {
					next++
				}
				from, to := a.at, a.i
				if v.Kind == trace.String {
					from, to = from+1, to-1
				}
				p.First = next
				for ; next < len(holes) && holes[next] < to; next++ {
					p.Between = append(p.Between, content(text[from:holes[next]]))
					p.Holes, from = p.Holes+1, holes[next]+1
				}
				if p.Holes > 0 {
					p.Between, p.Whole = append(p.Between, content(text[from:to])), tp.kinds[p.First] == integer
					usual = usual && (v.Kind == trace.String || v.Kind == trace.Float || v.Kind == trace.Int && p.Whole)
				}
			}
			tp.parts = append(tp.parts, p)
			return usual
		}
		if !a.object(1) {
			tp.parts = nil
		}
	})
	return tp.parts
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

// content is a part of a text of a template without escapes.
func content(raw []byte) string {
	if bytes.IndexByte(raw, '\\') >= 0 {
		return unquote(raw)
	}
	return trace.Borrow(raw)
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
	a.at = a.i
	switch a.s[a.i] {
	case '{', '[':
		a.i++
		if a.s[a.at] == '{' {
			return a.visit(key, trace.Value{Kind: trace.Object}) && a.object(depth+1) && a.visit("", trace.Value{Kind: trace.End})
		}
		return a.visit(key, trace.Value{Kind: trace.Array}) && a.array(depth+1) && a.visit("", trace.Value{Kind: trace.End})
	case '"':
		s, ok := a.str(false, inObject)
		return ok && a.visit(key, trace.Value{Kind: trace.String, Text: s})
	}
	return a.scalar(key)
}

// scalar tells a number or a word.
func (a *argReader) scalar(key string) bool {
	start := a.i
	for a.i < len(a.s) && a.s[a.i] != ',' && a.s[a.i] != '}' && a.s[a.i] != ']' && a.s[a.i] > ' ' {
		a.i++
	}
	return a.i > start && a.visit(key, trace.NumberValue(trace.Borrow(a.s[start:a.i])))
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
	return trace.Borrow(raw), true
}

package kineto

import "overlay/internal/trace"

// argReader tells the members of an args object one by one. The object has been through the scanner before, so only
// what the scanner accepts is met; what is broken all the same ends the args.
type argReader struct {
	scanner
	at, end int // of the value that is told, but for objects and arrays
	visit   func(key string, v trace.Value) bool
}

// readArgs tells what stands in the args value that raw begins with; see trace.Source.
func readArgs(raw []byte, visit func(key string, v trace.Value) bool) {
	a := argReader{scanner: scanner{s: raw}, visit: visit}
	switch i := skipSpace(raw, 0); {
	case i >= len(raw):
	case raw[i] == '{':
		a.object(i, 1)
	default:
		a.value("args", i, 1, false)
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
			a.scanner = scanner{s: w.text(x.from, x.to)}
			ok = a.value(x.key, 0, 1, false) >= 0
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
		var sample []byte // of an event whose numbers are all 1
		var holes []int   // where they stand in it
		for k, lit := range tp.lits {
			if sample = append(sample, lit...); k < len(tp.kinds) {
				holes = append(holes, len(sample))
				sample = append(sample, '1')
			}
		}
		at := int(tp.args.off)
		if h := tp.args.hole; h > 0 {
			at += holes[h-1] + 1
		}
		usual, next := true, 0
		tp.parts = make([]trace.Part, 0, len(tp.told)+len(holes))
		a := argReader{scanner: scanner{s: sample}}
		a.visit = func(key string, v trace.Value) bool {
			p := trace.Part{Key: key, Value: v}
			if v.Kind != trace.Object && v.Kind != trace.Array && v.Kind != trace.End {
				for next < len(holes) && holes[next] < a.at {
					next++
				}
				from, to := a.at, a.end
				if v.Kind == trace.String {
					from, to = from+1, to-1
				}
				p.First = next
				for ; next < len(holes) && holes[next] < to; next++ {
					p.Between = append(p.Between, text(sample[from:holes[next]]))
					p.Holes, from = p.Holes+1, holes[next]+1
				}
				if p.Holes > 0 {
					p.Between, p.Whole = append(p.Between, text(sample[from:to])), tp.kinds[p.First] == integer
					usual = usual && (v.Kind == trace.String || v.Kind == trace.Float || v.Kind == trace.Int && p.Whole)
				}
			}
			tp.parts = append(tp.parts, p)
			return usual
		}
		if a.object(at, 1) < 0 {
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

// object tells the members of the object at i, and returns the position behind it; -1 ends all.
func (a *argReader) object(i, depth int) int {
	m := members{p: &a.scanner, at: i, depth: depth}
	for m.next() {
		if m.at = a.value(text(m.key), m.at, depth, true); m.at < 0 {
			return -1
		}
	}
	return m.end()
}

func (a *argReader) array(i, depth int) int {
	for i++; ; {
		switch i = skipSpace(a.s, i); {
		case i >= len(a.s):
			return -1
		case a.s[i] == ']':
			return i + 1
		case a.s[i] == ',':
			i++
		default:
			if i = a.value("", i, depth, false); i < 0 {
				return -1
			}
		}
	}
}

// value tells the value at i, and returns the position behind it; -1 ends all. What lies too deep is passed over.
func (a *argReader) value(key string, i, depth int, inObject bool) int {
	if i < len(a.s) && depth <= trace.MaxDepth && (a.s[i] == '{' || a.s[i] == '[') {
		kind, inside := trace.Object, a.object
		if a.s[i] == '[' {
			kind, inside = trace.Array, a.array
		}
		if !a.visit(key, trace.Value{Kind: kind}) {
			return -1
		}
		if i = inside(i, depth+1); i >= 0 && !a.visit("", trace.Value{Kind: trace.End}) {
			return -1
		}
		return i
	}
	a.at, a.end = i, a.skipValue(i, inObject, 0)
	if a.end >= 0 && depth <= trace.MaxDepth && !a.visit(key, value(a.s[i:a.end])) {
		return -1
	}
	return a.end
}

// text is what stands between the quotes of a string. Where it means its own bytes it shares them.
func text(raw []byte) string {
	if plain(raw) {
		return trace.Borrow(raw)
	}
	return unquote(raw)
}

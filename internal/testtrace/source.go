package testtrace

import "overlay/internal/trace"

// Renumbered is the source of a trace whose events stand at other positions than in the trace that it was made from.
type Renumbered struct {
	trace.Source                 // of the other trace
	Of           []trace.EventID // per event: its position there
}

// Args gives the arguments of the event in the other trace.
func (r Renumbered) Args(id trace.EventID, visit func(key string, v trace.Value) bool) {
	r.Source.Args(r.Of[id], visit)
}

// Pattern gives the pattern of the event in the other trace.
func (r Renumbered) Pattern(id trace.EventID, numbers []uint64) (of int, parts []trace.Part, own []uint64) {
	return r.Source.Pattern(r.Of[id], numbers)
}

// Arg gives an argument of the event in the other trace.
func (r Renumbered) Arg(id trace.EventID, key string) (trace.Value, bool) {
	return r.Source.Arg(r.Of[id], key)
}

// Member gives a member of the event in the other trace.
func (r Renumbered) Member(id trace.EventID, path ...string) (trace.Value, bool) {
	return r.Source.Member(r.Of[id], path...)
}

// Args is the source of a trace that a test made by hand: the arguments of each event, in their order.
type Args map[trace.EventID][]Arg

// Arg is one argument. That of kind Object or Array has members, those of an array without keys.
type Arg struct {
	Key     string
	Value   trace.Value
	Members []Arg
}

// Args gives the arguments of an event.
func (a Args) Args(id trace.EventID, visit func(key string, v trace.Value) bool) {
	tell(a[id], visit)
}

// Pattern gives none.
func (a Args) Pattern(_ trace.EventID, numbers []uint64) (of int, parts []trace.Part, own []uint64) {
	return 0, nil, numbers
}

// tell visits arguments and what they hold; false when the visit ended early.
func tell(args []Arg, visit func(key string, v trace.Value) bool) bool {
	for _, arg := range args {
		if !visit(arg.Key, arg.Value) {
			return false
		}
		if arg.nests() && !(tell(arg.Members, visit) && visit("", trace.Value{Kind: trace.End})) {
			return false
		}
	}
	return true
}

func (a Arg) nests() bool { return a.Value.Kind == trace.Object || a.Value.Kind == trace.Array }

// Arg gives an argument of an event, one that nests as its text.
func (a Args) Arg(id trace.EventID, key string) (trace.Value, bool) {
	for _, arg := range a[id] {
		if arg.Key != key {
			continue
		}
		if arg.nests() {
			return trace.Value{Kind: arg.Value.Kind, Text: string(arg.appendText(nil))}, true
		}
		return arg.Value, true
	}
	return trace.Value{}, false
}

// appendText appends the value as JSON.
func (a Arg) appendText(dst []byte) []byte {
	ends := "[]"
	switch a.Value.Kind {
	case trace.Object:
		ends = "{}"
	case trace.Array:
	case trace.String:
		return appendString(dst, a.Value.Text)
	default:
		return append(dst, a.Value.Text...)
	}
	dst = append(dst, ends[0])
	for i, m := range a.Members {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if a.Value.Kind == trace.Object {
			dst = append(appendString(dst, m.Key), ": "...)
		}
		dst = m.appendText(dst)
	}
	return append(dst, ends[1])
}

// Member gives nothing: the events say no more.
func (a Args) Member(trace.EventID, ...string) (trace.Value, bool) { return trace.Value{}, false }

// Digest is that of no input.
func (a Args) Digest() [2]uint32 { return [2]uint32{} }

// Size is that of no input.
func (a Args) Size() int64 { return 0 }

package kineto

import (
	"cmp"
	"hash/crc32"
	"sync"

	"overlay/internal/trace"
)

// Text is the JSON that a trace came from: the source of its args, and what writers that copy or rewrite the text work
// on.
//
// Invariants (testtrace/textcheck): a span for each event; spans lie inside Src, in order, and do not overlap; a span has Args exactly
// where its event has the flag HasArgs.
type Text struct {
	Src    []byte  // decompressed; spans and fields point into it
	From   int64   // bytes of the file of another format that Src was made from; 0 for none
	Form   string  // what that file is, for people
	Spans  []Span  // per event
	Fields []Field // top-level keys in file order, without traceEvents

	ArrayForm        bool  // top level is an array
	EventsEnd        int64 // behind the last event; commas and blanks may stand before it
	ListOff, ListEnd int64 // '[' of the event list, and its ']' (len(Src) when cut)
	Mended           bool  // what stands around the events cannot be copied: it is not valid JSON, or holds a second list

	templates []*template // of Spans; some stand there several times

	fracs  fraction // how decimals of times are written
	digest sync.Once
	sums   [2]uint32 // when digest is done
}

// EndOf is the byte after an event.
func (x *Text) EndOf(id trace.EventID) int64 {
	end := x.EventsEnd
	if next := int(id) + 1; next < len(x.Spans) {
		end = x.Spans[next].Off()
	}
	for first := x.Spans[id].Off() + 1; end > first && (isBlank(x.Src[end-1]) || x.Src[end-1] == ','); {
		end--
	}
	return end
}

// ArgsAt is how far behind the start of an event its args stand; 0 when it has none.
func (x *Text) ArgsAt(id trace.EventID) (args int) {
	if w := x.walk(id); w.tp != nil {
		return w.at(w.tp.args) - int(x.Spans[id].Off())
	}
	for m := Members(x.Raw(id)); m.Next(); {
		if string(m.Key) == "args" && m.Value[0] == '{' { // of several, the last one counts
			args = m.m.at - len(m.Value)
		}
	}
	return args
}

// Span is where an event stands in the text: the offset of its '{', and in the lower spanFit bits which of the templates it fits, from
// 1 on. Where it ends is not kept: before the commas and blanks that lead to the next one.
type Span uint64

const (
	spanFit = 24
	maxText = 1 << (64 - spanFit)
)

// SpanAt is the span of an event at off.
func SpanAt(off int64) Span { return Span(off) << spanFit }

// Off is where an event starts.
func (s Span) Off() int64 { return int64(s >> spanFit) }

func (s Span) fit() int { return int(s & (1<<spanFit - 1)) }

// Field is a top-level key of the object form other than traceEvents, by its bytes.
type Field struct {
	Key   string
	Off   int64 // of the value in Src
	Len   int64
	Dirty bool // key or value are not valid JSON as written; see CleanField
}

// TextOf is the text that a trace was read from, nil for a trace of another format.
func TextOf(t *trace.Trace) *Text {
	x, _ := t.Source.(*Text)
	return x
}

// Raw returns the bytes of an event, from '{' to '}'. The caller must not change them.
func (x *Text) Raw(id trace.EventID) []byte {
	return x.Src[x.Spans[id].Off():x.EndOf(id)]
}

// rawArgs returns the bytes from the args value of an event to the end of the event.
func (x *Text) rawArgs(id trace.EventID) []byte {
	args := x.ArgsAt(id)
	if args == 0 {
		return nil
	}
	return x.Raw(id)[args:]
}

// Args calls visit for each argument of an event; see trace.Source.
func (x *Text) Args(id trace.EventID, visit func(key string, v trace.Value) bool) {
	x.ArgsBut(id, nil, visit)
}

// ArgsBut calls visit for the arguments of an event that are not known; see trace.Source.
func (x *Text) ArgsBut(id trace.EventID, known func(key, text string) bool, visit func(key string, v trace.Value) bool) {
	if w := x.walk(id); w.tp != nil {
		w.told(known, visit)
	} else {
		readArgs(x.rawArgs(id), visit)
	}
}

// walk begins at an event, without template where it fits none.
func (x *Text) walk(id trace.EventID) walker {
	s := x.Spans[id]
	if s.fit() == 0 {
		return walker{}
	}
	return walker{tp: x.templates[s.fit()-1], s: x.Src, end: int(s.Off())}
}

// Arg returns an argument of an event; see trace.Source.
func (x *Text) Arg(id trace.EventID, key string) (trace.Value, bool) {
	if w := x.walk(id); w.tp != nil {
		return w.arg(key)
	}
	v := arg(x.rawArgs(id), key)
	if v == nil {
		return trace.Value{}, false
	}
	return value(v), true
}

// value is the typed value of the text of a JSON value.
func value(raw []byte) trace.Value {
	switch raw[0] {
	case '"':
		return trace.Value{Kind: trace.String, Text: Unquoted(raw)}
	case '{':
		return trace.Value{Kind: trace.Object, Text: borrow(raw)}
	case '[':
		return trace.Value{Kind: trace.Array, Text: borrow(raw)}
	}
	return trace.NumberValue(borrow(raw))
}

// Size is the length of the text in bytes.
func (x *Text) Size() int64 { return cmp.Or(x.From, int64(len(x.Src))) }

// scanChunk is how much is scanned at a time: a collection of garbage waits for the end of such a loop.
const scanChunk = 128 << 10

// Digest is the CRC-32 of the text by two polynomials.
func (x *Text) Digest() [2]uint32 {
	x.digest.Do(func() { x.sums = checksums(x.Src) })
	return x.sums
}

func checksums(src []byte) (sums [2]uint32) {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	for len(src) > 0 {
		n := min(len(src), scanChunk)
		sums[0] = crc32.Update(sums[0], castagnoli, src[:n])
		sums[1] = crc32.Update(sums[1], crc32.IEEETable, src[:n])
		src = src[n:]
	}
	return sums
}

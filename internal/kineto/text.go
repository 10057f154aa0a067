package kineto

import (
	"cmp"
	"hash/crc32"
	"io"
	"sync"

	"overlay/internal/trace"
)

// Text is the JSON that a trace came from: the source of its args, and what writers that copy or rewrite the text work
// on.
//
// Invariants (testtrace/textcheck): a span for each event; an event has args exactly where it has the flag HasArgs; what stands before the
// events, the events with what is between them, and what stands behind them are the input.
type Text struct {
	Src    []byte  // decompressed, but for events of which all that matters is kept elsewhere; fields point into it
	From   int64   // bytes of the file of another format that Src was made from; 0 for none
	Form   string  // what that file is, for people
	Spans  []Span  // per event
	Fields []Field // top-level keys in file order, without traceEvents

	ArrayForm            bool  // top level is an array
	ListOff, ListEnd     int64 // '[' of the event list, and its ']' (len(Src) when cut)
	EventsOff, EventsEnd int64 // where the first event begins, and what is behind the last one and its gap
	Mended               bool  // what stands around the events cannot be copied: it is not valid JSON, or holds a second list

	alike   []alike
	numbers []byte // in the order of Spans, and eight bytes more
	gone    int64  // bytes of events that were there before EventsOff and are not in Src

	fracs  fraction // how decimals of times are written
	digest sync.Once
	sums   [2]uint32 // when digest is done, or bytes are gone
}

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

// Raw returns the bytes of an event, from '{' to '}'.
func (x *Text) Raw(id trace.EventID) []byte {
	raw, _ := x.Append(nil, id)
	return raw
}

// rawArgs returns the bytes from the args value of an event to the end of the event.
func (x *Text) rawArgs(id trace.EventID) []byte {
	raw, args := x.Append(nil, id)
	if args == 0 {
		return nil
	}
	return raw[args:]
}

// WriteTo writes the text.
func (x *Text) WriteTo(to io.Writer) (n int64, err error) {
	dst := append(make([]byte, 0, 2*scanChunk), x.Src[:x.EventsOff]...)
	flush := func(least int) {
		if err == nil && len(dst) >= least {
			var k int
			k, err = to.Write(dst)
			n, dst = n+int64(k), dst[:0]
		}
	}
	for i := range x.Spans {
		dst, _ = x.Append(dst, trace.EventID(i))
		dst = append(dst, x.Gap(trace.EventID(i))...)
		flush(scanChunk)
	}
	dst = append(dst, x.Src[x.EventsEnd:]...)
	flush(1)
	return n, err
}

// Args calls visit for each argument of an event; see trace.Source.
func (x *Text) Args(id trace.EventID, visit func(key string, v trace.Value) bool) {
	if w := x.walk(id); w.tp != nil {
		w.told(visit)
	} else {
		readArgs(x.rawArgs(id), visit)
	}
}

// Pattern returns what the arguments of an event have alike with those of others; see trace.Source.
func (x *Text) Pattern(id trace.EventID, numbers []uint64) (of int, parts []trace.Part, own []uint64) {
	w := x.walk(id)
	if w.tp == nil {
		return 0, nil, numbers
	}
	if parts = w.tp.pattern(); parts != nil {
		for _, first := range w.tp.first {
			numbers = append(numbers, first+unfold(w.next()))
		}
	}
	return int(x.Spans[id] & (1<<spanFit - 1)), parts, numbers
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
		return trace.Value{Kind: trace.String, Text: text(raw[1 : len(raw)-1])}
	case '{':
		return trace.Value{Kind: trace.Object, Text: trace.Borrow(raw)}
	case '[':
		return trace.Value{Kind: trace.Array, Text: trace.Borrow(raw)}
	}
	return trace.NumberValue(trace.Borrow(raw))
}

// Size is the length of the text in bytes.
func (x *Text) Size() int64 { return cmp.Or(x.From, x.Length()) }

// Length is how many bytes the text has.
func (x *Text) Length() int64 { return int64(len(x.Src)) + x.gone }

// Offset is where in the text an event begins.
func (x *Text) Offset(id trace.EventID) int64 {
	at := x.EventsOff
	for i := range id {
		at += int64(len(x.Raw(i)) + len(x.Gap(i)))
	}
	return at
}

// EventAt is the event that stands at an offset of the text, or the last one before it; -1 for none.
func (x *Text) EventAt(off int64) int {
	i, next := -1, x.EventsOff
	for ; i+1 < len(x.Spans) && next <= off; i++ {
		next += int64(len(x.Raw(trace.EventID(i+1))) + len(x.Gap(trace.EventID(i+1))))
	}
	return i
}

// scanChunk is how much is scanned at a time: a collection of garbage waits for the end of such a loop.
const scanChunk = 128 << 10

// Digest is the CRC-32 of the text by two polynomials.
func (x *Text) Digest() [2]uint32 {
	x.digest.Do(func() {
		if x.gone == 0 {
			x.sums = checksums(x.sums, x.Src)
		}
	})
	return x.sums
}

// checksums goes on with checksums over more of a text.
func checksums(sums [2]uint32, src []byte) [2]uint32 {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	for len(src) > 0 {
		n := min(len(src), scanChunk)
		sums[0] = crc32.Update(sums[0], castagnoli, src[:n])
		sums[1] = crc32.Update(sums[1], crc32.IEEETable, src[:n])
		src = src[n:]
	}
	return sums
}

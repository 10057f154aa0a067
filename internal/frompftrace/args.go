package frompftrace

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"overlay/internal/wire"
)

// Fields of DebugAnnotation.
const (
	argKeyIID    = 1
	argBool      = 2
	argUint      = 3
	argInt       = 4
	argDouble    = 5
	argString    = 6
	argPointer   = 7
	argJSON      = 9
	argKey       = 10
	argDict      = 11
	argArray     = 12
	argStringIID = 17
)

// annotation appends a DebugAnnotation as `"key":value`, with a comma before all but the first. Nearly all have the same
// form: the name, then one value.
func (w *writer) annotation(st *state, data []byte) {
	key, i := st.leadingKey(data)
	if !key.known || i >= len(data) {
		w.unusual(st, data)
		return
	}
	tag := data[i]
	v, end := wire.Uvarint(data, i+1)
	if end < 0 {
		w.unusual(st, data)
		return
	}
	switch tag {
	case argInt<<3 | wire.Varint, argUint<<3 | wire.Varint, argStringIID<<3 | wire.Varint:
		if end < len(data) {
			break
		}
		switch tag {
		case argInt<<3 | wire.Varint:
			w.member(w.kinetoKey(key))
			w.buf = strconv.AppendInt(w.buf, int64(v), 10)
			return
		case argUint<<3 | wire.Varint:
			w.member(w.kinetoKey(key))
			w.buf = strconv.AppendUint(w.buf, v, 10)
			return
		}
		if s := st.strs.get(v); s.known {
			w.member(w.kinetoKey(key))
			w.text(s)
			return
		}
	case argString<<3 | wire.Bytes:
		if v == uint64(len(data)-end) {
			w.member(w.kinetoKey(key))
			w.buf = appendString(w.buf, data[end:])
			return
		}
	case argArray<<3 | wire.Bytes, argDict<<3 | wire.Bytes:
		w.member(w.kinetoKey(key))
		w.known.write(w, st, data, i)
		return
	}
	w.unusual(st, data)
}

// leadingKey is the name of an annotation that begins with it, and the position after it.
func (st *state) leadingKey(data []byte) (text, int) {
	v, i := wire.Uvarint(data, 1)
	switch {
	case i < 0:
	case data[0] == argKeyIID<<3|wire.Varint:
		return st.keys.get(v), i
	case data[0] == argKey<<3|wire.Bytes && v <= uint64(len(data)-i):
		return newText(data[i : i+int(v)]), i + int(v)
	}
	return text{}, 0
}

// unusual appends an annotation of any form.
func (w *writer) unusual(st *state, data []byte) {
	key, ok := w.key(st, data)
	if !ok {
		w.mend(ReasonBrokenArgument)
		return
	}
	w.member(w.kinetoKey(key))
	w.value(st, data, 1)
}

// key is the name of an annotation.
func (w *writer) key(st *state, data []byte) (text, bool) {
	var key text
	f := wire.Over(data)
	for f.Next() {
		switch f.Num {
		case argKeyIID:
			if key = st.keys.get(f.V); !key.known {
				w.mend(ReasonUnknownName)
				key = unknownText
			}
		case argKey:
			key = newText(f.S)
		}
	}
	return key, key.known && !f.Bad
}

// unknownText stands for a string that was never sent.
var unknownText = newText([]byte("(unknown)"))

// member starts a member of the args.
func (w *writer) member(key text) {
	if w.args == 0 {
		w.buf = append(w.buf, `,"args":{`...)
	} else {
		w.buf = append(w.buf, ',')
	}
	w.args++
	w.text(key)
	w.buf = append(w.buf, ':')
}

var (
	keyCorrelation = newText([]byte("correlation"))
	keyStream      = newText([]byte("stream"))
	keyDevice      = newText([]byte("device"))
	keyContext     = newText([]byte("context"))
	keyOriginal    = newText([]byte("original_stream"))
	keyValue       = newText([]byte("value"))
	keyGrid        = newText([]byte("grid"))
	keyBlock       = newText([]byte("block"))
	keyRegisters   = newText([]byte("registers per thread"))
)

// kinetoKey is Kineto's name for an argument, and notes what it tells of the event.
func (w *writer) kinetoKey(key text) text {
	switch string(key.raw) {
	case "correlation":
		w.seen |= seenCorrelation
	case "corr_id", "correlation_id":
		if w.seen&seenCorrelation == 0 {
			w.seen |= seenCorrelation
			return keyCorrelation
		}
	case "stream_ID", "stream_id":
		if !w.hasStream {
			w.hasStream = true
			return keyStream
		}
	case "stream":
		w.hasStream = true
	case "cuda_sync_kind":
		w.seen |= seenSyncKind
	case "cbid":
		w.seen |= seenCallback
	case "Python id":
		w.seen |= seenPython
	case "grid", "registers per thread":
		w.seen |= seenLaunch
	case "copy kind", "src kind", "copy_kind":
		w.seen |= seenCopy
	}
	return key
}

// value appends the value of an annotation.
func (w *writer) value(st *state, data []byte, depth int) {
	if depth > maxDepth {
		w.mend(ReasonTooDeep)
		w.buf = append(w.buf, "null"...)
		return
	}
	at := len(w.buf)
	open := byte(0) // of what is being written
	put := func(c byte) {
		if open == 0 {
			open = c
			w.buf = append(w.buf, c)
		} else {
			w.buf = append(w.buf, ',')
		}
	}
	f := wire.Over(data)
	for f.Next() {
		if open != 0 && f.Num != argDict && f.Num != argArray || open == 0 && len(w.buf) > at && f.Num != argKey && f.Num != argKeyIID {
			continue // one annotation holds one value: the first
		}
		switch f.Num {
		case argBool:
			w.buf = strconv.AppendBool(w.buf, f.V != 0)
		case argUint:
			w.buf = strconv.AppendUint(w.buf, f.V, 10)
		case argInt:
			w.buf = strconv.AppendInt(w.buf, int64(f.V), 10)
		case argDouble:
			w.buf = appendFloat(w.buf, math.Float64frombits(f.V))
		case argString:
			w.buf = appendString(w.buf, f.S)
		case argStringIID:
			s := st.strs.get(f.V)
			if !s.known {
				w.mend(ReasonUnknownName)
				s = unknownText
			}
			w.text(s)
		case argPointer:
			w.buf = append(w.buf, `"0x`...)
			w.buf = strconv.AppendUint(w.buf, f.V, 16)
			w.buf = append(w.buf, '"')
		case argJSON:
			if json.Valid(f.S) && !nestsDeep(f.S) {
				w.buf = append(w.buf, f.S...)
			} else {
				w.buf = appendString(w.buf, f.S)
			}
		case argDict:
			if open == '[' {
				continue
			}
			key, ok := w.key(st, f.S)
			if !ok {
				w.mend(ReasonBrokenArgument)
				continue
			}
			put('{')
			w.text(key)
			w.buf = append(w.buf, ':')
			w.value(st, f.S, depth+1)
		case argArray:
			if open == '{' {
				continue
			}
			put('[')
			w.value(st, f.S, depth+1)
		}
	}
	if f.Bad {
		w.mend(ReasonBrokenArgument)
	}
	switch {
	case open != 0:
		w.buf = append(w.buf, open+2) // ']' and '}' stand two behind '[' and '{'
	case len(w.buf) == at:
		w.buf = append(w.buf, "null"...)
	}
}

// nestsDeep reports whether a JSON value may nest deeper than is read.
func nestsDeep(s []byte) bool {
	depth, most := 0, 0
	for _, c := range s {
		switch c {
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	}
	return most > maxDepth/2
}

// knownValues are values of annotations that a worker has written: shapes and types of inputs come again and again, and
// to look one up costs a tenth of taking it apart.
type knownValues struct {
	of    *state // whose numbers stand for strings in them
	texts map[string][]byte
	size  int
}

// Limits of what is kept: the length of one annotation, and of all values of a worker.
const (
	maxKnownLen  = 512
	maxKnownSize = 1 << 20
)

// write appends the value of an annotation that is an array or a dict; what it begins with at i is the value. What had to
// be mended is not kept, since each case counts.
func (k *knownValues) write(w *writer, st *state, data []byte, i int) {
	if k.of != st || k.size > maxKnownSize {
		*k = knownValues{of: st, texts: map[string][]byte{}}
	}
	if text, ok := k.texts[string(data[i:])]; ok {
		w.buf = append(w.buf, text...)
		return
	}
	at, mended := len(w.buf), w.mended
	w.value(st, data, 1)
	if len(data) > maxKnownLen || w.mended != mended {
		return
	}
	text := bytes.Clone(w.buf[at:])
	k.texts[string(data[i:])] = text
	k.size += len(data) + len(text)
}

package frompftrace

import (
	"math"
	"strconv"

	"overlay/internal/wire"
)

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

// nested appends a NestedValue, the old form of dicts and arrays.
func (w *writer) nested(data []byte, depth int) {
	if depth > maxDepth {
		w.mend(ReasonTooDeep)
		w.buf = append(w.buf, "null"...)
		return
	}
	var keys, values, elements [][]byte
	typ := uint64(0)
	at := len(w.buf)
	f := wire.Over(data)
	for f.Next() {
		switch f.Num {
		case 1:
			typ = f.V
		case 2:
			keys = append(keys, f.S)
		case 3:
			values = append(values, f.S)
		case 4:
			elements = append(elements, f.S)
		}
		if len(w.buf) > at {
			continue
		}
		switch f.Num {
		case 5:
			w.buf = strconv.AppendInt(w.buf, int64(f.V), 10)
		case 6:
			w.buf = appendFloat(w.buf, math.Float64frombits(f.V))
		case 7:
			w.buf = strconv.AppendBool(w.buf, f.V != 0)
		case 8:
			w.buf = appendString(w.buf, f.S)
		}
	}
	switch {
	case len(w.buf) > at:
	case typ == 1:
		w.buf = append(w.buf, '{')
		for i := range min(len(keys), len(values)) {
			if i > 0 {
				w.buf = append(w.buf, ',')
			}
			w.buf = append(appendString(w.buf, keys[i]), ':')
			w.nested(values[i], depth+1)
		}
		w.buf = append(w.buf, '}')
	default:
		w.buf = append(w.buf, '[')
		for i, e := range elements {
			if i > 0 {
				w.buf = append(w.buf, ',')
			}
			w.nested(e, depth+1)
		}
		w.buf = append(w.buf, ']')
	}
}

package frompftrace

import "bytes"

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

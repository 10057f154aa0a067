// Package textcheck holds the texts of traces to their invariants, for tests.
package textcheck

import (
	"bytes"
	"fmt"

	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// Check verifies the invariants of the text of a trace.
func Check(t *trace.Trace) error {
	x := kineto.TextOf(t)
	if len(x.Spans) != len(t.Events) {
		return fmt.Errorf("kineto: %d spans for %d events", len(x.Spans), len(t.Events))
	}
	length := x.EventsOff + int64(len(x.Src)) - x.EventsEnd
	for i := range len(x.Spans) {
		id := trace.EventID(i)
		raw, args := x.Append(nil, id)
		length += int64(len(raw) + len(x.Gap(id)))
		switch {
		case len(raw) == 0 || args >= len(raw):
			return fmt.Errorf("kineto: event %d: args outside of it", i)
		case args != 0 != (t.Events[i].Flags&trace.HasArgs != 0):
			return fmt.Errorf("kineto: event %d: args and the flag that it has some disagree", i)
		}
	}
	if length != x.Length() {
		return fmt.Errorf("kineto: the text has %d bytes, its parts have %d", x.Length(), length)
	}
	return nil
}

// Bytes is the text of a trace.
func Bytes(t *trace.Trace) []byte {
	var b bytes.Buffer
	kineto.TextOf(t).WriteTo(&b)
	return b.Bytes()
}

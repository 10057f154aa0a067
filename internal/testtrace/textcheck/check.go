// Package textcheck holds the texts of traces to their invariants, for tests.
package textcheck

import (
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
	end := x.ListOff
	for i := range len(x.Spans) {
		id := trace.EventID(i)
		from, next := x.Spans[i].Off(), x.EventsEnd
		if i+1 < len(x.Spans) {
			next = x.Spans[i+1].Off()
		}
		if from < end || next <= from || next > int64(len(x.Src)) {
			return fmt.Errorf("kineto: event %d: at byte %d, the event before ends at %d, the next starts at %d, the input ends at %d", i, from, end, next, len(x.Src))
		}
		end = x.EndOf(id)
		switch args := x.ArgsAt(id); {
		case from+int64(args) >= end:
			return fmt.Errorf("kineto: event %d: args outside of it", i)
		case args != 0 != (t.Events[i].Flags&trace.HasArgs != 0):
			return fmt.Errorf("kineto: event %d: args and the flag that it has some disagree", i)
		}
	}
	return nil
}

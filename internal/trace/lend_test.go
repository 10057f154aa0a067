package trace_test

import (
	"testing"
	"unsafe"

	"overlay/internal/trace"
)

// TestRoom: room lies in what is lent, of the right size, and in memory of its own where nothing is lent.
func TestRoom(t *testing.T) {
	var lent []byte
	lend := func(n int) []byte {
		lent = make([]byte, n)
		return lent
	}
	if room := trace.Room[trace.Event](lend, 3); len(room) != 3 || len(lent) != 3*int(unsafe.Sizeof(trace.Event{})) || unsafe.Pointer(&room[0]) != unsafe.Pointer(&lent[0]) {
		t.Errorf("room for %d events in %d bytes", len(room), len(lent))
	}
	lent = nil
	if room := trace.Room[trace.Event](lend, 0); len(room) != 0 || lent != nil {
		t.Errorf("room for %d events, %d bytes lent for none", len(room), len(lent))
	}
	for _, none := range []trace.Lender{nil, func(int) []byte { return nil }} {
		if room := trace.Room[int32](none, 5); len(room) != 5 {
			t.Errorf("room for %d numbers", len(room))
		}
	}
}

package perfetto

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestAppendVarint: the short way for short numbers writes what the library writes, at the borders of one and two bytes too.
func TestAppendVarint(t *testing.T) {
	for _, v := range []uint64{0, 1, 127, 128, 129, 255, 256, 16383, 16384, 1<<63 - 1, 1<<64 - 1} {
		if got, want := appendVarint(nil, v), protowire.AppendVarint(nil, v); !bytes.Equal(got, want) {
			t.Errorf("%d is written as %x, not %x", v, got, want)
		}
	}
}

package pftrace

import (
	"encoding/binary"
	"hash/fnv"
	"testing"
)

// TestDigest compares with the standard library.
func TestDigest(t *testing.T) {
	got, want := digestStart, fnv.New64a()
	for _, v := range []int64{0, 1, -1, 1 << 40, 0x0102030405060708, -1 << 63} {
		got.word(v)
		want.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
		got.text("naïve\xff")
		want.Write([]byte("naïve\xff\x00"))
		if uint64(got) != want.Sum64() {
			t.Fatalf("after %d: %x, want %x", v, uint64(got), want.Sum64())
		}
	}
}

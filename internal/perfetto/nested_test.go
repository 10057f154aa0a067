package perfetto

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
)

// TestAgain writes traces with nested arguments that come again, some of them more than are kept and in several
// sequences: with what was kept, the bytes are those without.
func TestAgain(t *testing.T) {
	var again atomic.Int32
	for _, c := range []struct{ items, texts, size int }{{10, 3, 4}, {300, 40, 100}, {3 * mostKept, 2 * mostKept, pieceItems}, {mostKept + 300, 1, 500}} {
		random := rand.New(rand.NewPCG(1, uint64(c.items)))
		of := make([]int, c.items)
		for i := range of {
			of[i] = random.IntN(c.texts)
		}
		write := func(keep bool) []byte {
			tr := &Trace{Tracks: []Track{{Kind: Thread, Parent: -1, Name: "row", PID: 1, TID: 1, Fill: same(func(b *Body, i int32) {
				n := of[i]
				text := fmt.Sprintf("text %d of the same length but for its middle %d", n/10, n%10)
				if n%4 == 0 {
					text = fmt.Sprint(n)
				}
				key := fmt.Sprint("key ", i%3)
				b.Name(fmt.Sprint("name ", i%7))
				if keep && b.Again(key, text) {
					again.Add(1)
				} else {
					if n%2 == 0 {
						b.Array(key)
					} else {
						b.Dict(key)
					}
					for k := range n % 5 { // none of some
						b.Str(fmt.Sprint("member ", k), fmt.Sprint("string ", n+k))
						b.Array(fmt.Sprint("inner ", k))
						b.Int("", int64(n)<<(3*k))
						b.End()
					}
					if n%50 == 7 {
						for k := range 200 { // longer than one byte of length can say
							b.Int("many", int64(k))
						}
					}
					if keep {
						b.EndKeep(text)
					} else {
						b.End()
					}
				}
				b.Int("last", int64(i))
			})}}}
			for i := range of {
				tr.Tracks[0].Items = append(tr.Tracks[0].Items, Item{Start: int64(10 * i), Dur: 5, Ref: int32(i)})
			}
			var buf bytes.Buffer
			if _, err := writePieces(&buf, tr, c.size); err != nil {
				t.Fatal(err)
			}
			return buf.Bytes()
		}
		if !bytes.Equal(write(false), write(true)) {
			t.Errorf("%+v: other bytes", c)
		}
	}
	if again.Load() == 0 {
		t.Error("nothing came again")
	}
}

// TestKeptIsBounded keeps more, and more of it, than there is room for.
func TestKeptIsBounded(t *testing.T) {
	var k kept
	k.reset()
	for i := range 3 * mostKept {
		text := fmt.Sprint("text ", i)
		k.add(text, bytes.Repeat([]byte{byte(i)}, i%300))
		if got := k.find(text); len(got) != i%300 || len(got) > 0 && got[0] != byte(i) {
			t.Fatalf("%s: %d bytes", text, len(got))
		}
		if len(k.spans) > mostKept || len(k.bytes) > mostBytes || len(k.ids) > mostKept {
			t.Fatalf("%d texts, %d bytes kept", len(k.spans), len(k.bytes))
		}
	}
}

// TestInternSharedMemory interns strings that begin at one address.
func TestInternSharedMemory(t *testing.T) {
	b := newBody()
	const s = "abcdefghijklmnopqrst"
	for range 2 {
		for n := range len(s) {
			if id := b.intern(&b.names, s[:n]); id != uint64(n)+1 {
				t.Fatalf("%q has the number %d", s[:n], id)
			}
		}
	}
}

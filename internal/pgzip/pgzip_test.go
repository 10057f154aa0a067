package pgzip

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
)

// sample is compressible bytes with long-range repeats, n of them.
func sample(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]byte, 0, n+64)
	for len(out) < n {
		if len(out) > 100 && r.IntN(3) > 0 {
			at := max(0, len(out)-1-r.IntN(min(len(out)-64, 60000)))
			out = append(out, out[at:min(at+r.IntN(60), len(out))]...)
		} else {
			out = append(out, byte(r.Uint32()), byte(r.Uint32()))
		}
	}
	return out[:n]
}

func compress(t testing.TB, data []byte, level, cpus, step int) []byte {
	t.Helper()
	var buf bytes.Buffer
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cpus))
	z, err := NewWriter(&buf, level)
	if err != nil {
		t.Fatal(err)
	}
	for p := data; len(p) > 0; {
		k := min(step, len(p))
		if _, err := z.Write(p[:k]); err != nil {
			t.Fatal(err)
		}
		p = p[k:]
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestRoundTripAndDeterminism(t *testing.T) {
	sizes := []int{0, 1, blockSize - 1, blockSize, blockSize + 1, 5*blockSize + 77}
	if testing.Short() {
		sizes = []int{1, 3*blockSize + 77} // the race detector needs more blocks than one
	}
	for _, n := range sizes {
		for _, level := range []int{1, 6} {
			data := sample(n)
			want := compress(t, data, level, 1, 1<<20)
			for _, c := range [][2]int{{1, 77_777}, {2, 1 << 20}, {5, 99_991}} {
				if got := compress(t, data, level, c[0], c[1]); !bytes.Equal(got, want) {
					t.Fatalf("%d bytes, level %d: %d CPUs in steps of %d give other bytes than one", n, level, c[0], c[1])
				}
			}
			gz, err := gzip.NewReader(bytes.NewReader(want)) // the standard library's: other code than ours
			if err != nil {
				t.Fatal(err)
			}
			gz.Multistream(false)
			got, err := io.ReadAll(gz)
			if err != nil || !bytes.Equal(got, data) {
				t.Fatalf("%d bytes, level %d: round trip gives %d bytes, %v", n, level, len(got), err)
			}
		}
	}
}

// TestDictionary: cutting into blocks costs little, since each block knows the end of the one before.
func TestDictionary(t *testing.T) {
	data := sample(4 * blockSize)
	var whole bytes.Buffer
	gz, _ := gzip.NewWriterLevel(&whole, 6)
	gz.Write(data)
	gz.Close()
	if got := len(compress(t, data, 6, 2, 1<<20)); got > whole.Len()*110/100 {
		t.Errorf("%d bytes in blocks, %d in one piece by the standard library", got, whole.Len())
	}
}

type failAt struct{ n int }

var errDisk = errors.New("no space left")

func (f *failAt) Write(p []byte) (int, error) {
	if len(p) > f.n {
		n := f.n
		f.n = 0
		return n, errDisk
	}
	f.n -= len(p)
	return len(p), nil
}

func TestErrors(t *testing.T) {
	data := sample(3 * blockSize)
	full := len(compress(t, data, 1, 2, 1<<20))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	places := 50
	if testing.Short() {
		places = 5 // the race detector takes seconds for each
	}
	for n := 0; n < full; n += 1 + full/places {
		z, err := NewWriter(&failAt{n}, 1)
		if err == nil {
			_, err = z.Write(data)
			if cerr := z.Close(); err == nil {
				err = cerr
			}
		}
		if !errors.Is(err, errDisk) {
			t.Fatalf("failure after %d of %d bytes: %v", n, full, err)
		}
	}
	if _, err := NewWriter(io.Discard, 42); err == nil {
		t.Error("level 42 was accepted")
	}
}

// FuzzRoundTrip: what is written in any pieces, at any level, on any number of CPUs comes back.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte(""), uint8(6), uint8(1), uint16(1))
	f.Add(sample(3000), uint8(9), uint8(4), uint16(700))
	f.Add(bytes.Repeat([]byte{0}, 5000), uint8(1), uint8(2), uint16(4999))
	f.Fuzz(func(t *testing.T, data []byte, level, cpus uint8, step uint16) {
		for range 9 { // a block is larger than what the fuzzer makes
			data = append(data, data...)
			if len(data) > 300_000 {
				break
			}
		}
		z := compress(t, data, 1+int(level)%9, 1+int(cpus)%5, 1+int(step)*16)
		r, err := gzip.NewReader(bytes.NewReader(z))
		if err != nil {
			t.Fatal(err)
		}
		back, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(back, data) {
			t.Fatalf("%d bytes came back as %d, %v", len(data), len(back), err)
		}
	})
}

package kineto

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// FuzzDecompress: any bytes are data, cut data or an error, never more than the limit; and what was compressed comes back.
func FuzzDecompress(f *testing.F) {
	plain := []byte(`{"traceEvents":[]}`)
	gz, zs := packed(f, plain)
	for _, seed := range [][]byte{nil, plain, gz, zs, gz[:12], zs[:7], append(bytes.Clone(gz), gz...), []byte("PK\x03\x04"), []byte("\n\x05{abc")} {
		f.Add(seed)
	}
	const limit = 1 << 16
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Decompress(bytes.NewReader(data), "f", Options{MaxExpand: limit}, &memory{})
		var out []byte
		if got != nil {
			out = got.Bytes
		}
		form := Sniff(data[:min(len(data), 16)])
		switch {
		case err != nil && got != nil:
			t.Errorf("%d bytes beside the error %v", len(got.Bytes), err)
		case err == nil && (form == Gzip || form == Zstd) && len(out) > limit:
			t.Errorf("%d bytes above the limit", len(out))
		case err == nil && form != Gzip && form != Zstd && !bytes.Equal(out, data):
			t.Errorf("plain bytes changed")
		}
		gz, zs := packed(t, data)
		for _, z := range [][]byte{gz, zs} {
			back, err := Decompress(bytes.NewReader(z), "f", Options{}, &memory{})
			if err != nil || back.Cut || !bytes.Equal(back.Bytes, data) {
				t.Fatalf("%d bytes came back otherwise: %+v, %v", len(data), back, err)
			}
		}
	})
}

// packed compresses in both forms that the reader knows.
func packed(t testing.TB, data []byte) (gz, zs []byte) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return b.Bytes(), z.EncodeAll(data, nil)
}

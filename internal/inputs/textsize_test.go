package inputs

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func TestTextSize(t *testing.T) {
	text := append([]byte(`{"traceEvents":[`), bytes.Repeat([]byte(`{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1},`), 40_000)...)
	gz := func(b []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		w.Write(b)
		w.Close()
		return out.Bytes()
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var stream bytes.Buffer // says nothing of its length
	s, err := zstd.NewWriter(&stream)
	if err != nil {
		t.Fatal(err)
	}
	s.Write(text[:1000])
	s.Flush()
	s.Write(text[1000:])
	s.Close()
	n := int64(len(text))
	two := append(gz(text), gz(text[:100])...)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		content     []byte
		least, most int64
	}{
		"plain":        {text, n, n},
		"gzip":         {gz(text), n, n},
		"two members":  {two, leastPacked * int64(len(two)), leastPacked * int64(len(two))},
		"zstd":         {z.EncodeAll(text, nil), n, n},
		"zstd, a pipe": {stream.Bytes(), oftenPacked * int64(stream.Len()), oftenPacked * int64(stream.Len())},
		"database":     {[]byte("SQLite format 3\x00 and pages"), 4 * 26, 4 * 26},
		"perfetto":     {append([]byte{0x0a, 0x20, 0x40, 0x01}, make([]byte, 30)...), 4 * 34, 4 * 34},
		"cut gzip":     {gz(text)[:12], 1, 1 << 32},
		"one byte":     {[]byte{0x1f}, 1, 1},
		"empty":        {nil, 0, 0},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := textSize(path); got < c.least || got > c.most {
			t.Errorf("%s: %d, want %d to %d", name, got, c.least, c.most)
		}
	}
	for _, name := range []string{"none", "."} {
		if got := textSize(filepath.Join(dir, name)); got != 0 {
			t.Errorf("%s: %d", name, got)
		}
	}
}

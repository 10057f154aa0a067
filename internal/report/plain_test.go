package report

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However a document is cut into writes, it says the same and shows nothing that a terminal obeys.
func TestPlainJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := []string{"plain", "\n", "\x7f", "\u0085", "\u202e", "ä", "訓練", "\U0001f680", "\U000e0001", "\ufffd", "\\\\", "\u200b"}
		want := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "text"), "")
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		w := PlainJSON(&out)
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "written")
			if wrote, err := w.Write(rest[:n]); err != nil || wrote != n {
				t.Fatalf("wrote %d of %d bytes: %v", wrote, n, err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := json.Unmarshal([]byte(out.String()), &got); err != nil || got != want {
			t.Errorf("%q became %q: %v", text, out.String(), err)
		}
		if shown := out.String(); Plain(shown) != shown {
			t.Errorf("%q is shown as it is", shown)
		}
	})
}

// Bytes that are no UTF-8 become one visible character each, also where a write ends within them.
func TestPlainJSONBroken(t *testing.T) {
	for _, writes := range [][]string{{"\"a\xe8b\""}, {"\"a\xe8", "b\""}, {"\"a", "\xe8", "b\""}} {
		var out strings.Builder
		w := PlainJSON(&out)
		for _, text := range writes {
			if _, err := w.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if out.String() != "\"a\ufffdb\"" {
			t.Errorf("%q became %q", writes, out.String())
		}
	}
	var out strings.Builder
	w := PlainJSON(&out)
	for _, text := range []string{"\xe8", "\xe8\xa8", "x\xe8"} {
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil || out.String() != "\ufffd\ufffd\ufffdx\ufffd" {
		t.Errorf("%q: %v", out.String(), err)
	}
}

package anonymize

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/kineto"
)

// TestUnquoted compares the two readers of texts: the page's program has one, all others the other.
func TestUnquoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("a\"\\/\n\t\x00\x7fé\u2028😀<>&")))).Draw(t, "text")
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := unquoted(b), kineto.Unquoted(b); a != b {
			t.Fatalf("%q: %q and %q", want, a, b)
		}
	})
}

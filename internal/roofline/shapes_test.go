package roofline

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestTexts wants lists of strings read as encoding/json reads them, and the same refused.
func TestTexts(t *testing.T) {
	for _, s := range []string{"", "[]", "[ ]", `[""]`, `["float"]`, `["float","",  "[1, 1]"]`, `["float", "c10::Half", "Scalar", ""]`, `[ "a"]`, `["a" ,"b"]`, `["a", "b"] `,
		`["a\"b", "c"]`, `["a", "\u00fc"]`, `["ü", "b"]`, `["a", 3]`, `["a", null]`, `["a",]`, `["a"`, `["a`, `["a"]]`, `["a", "b" "c"]`, `["a", ["b"]]`, "[\"a\tb\"]", "[\"a\xff\"]", `[,"a"]`, `"a"`, "null"} {
		var want []string
		fits := json.Unmarshal([]byte(s), &want) == nil
		if got, ok := texts(s); ok != fits || !slices.Equal(got, want) {
			t.Errorf("texts(%q) = %q, %v; want %q, %v", s, got, ok, want, fits)
		}
	}
}

package kineto

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestSkipSearch compares with the library, on texts of few letters: there are many near misses.
func TestSkipSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]byte(`ph"`))
		src := rapid.SliceOfN(letters, 0, 60).Draw(t, "src")
		want := rapid.SliceOfN(letters, 1, 5).Draw(t, "want")
		s := newSkipSearch(want)
		if got, lib := s.index(src), bytes.Index(src, want); got != lib {
			t.Errorf("%q in %q: at %d, want %d", want, src, got, lib)
		}
	})
}

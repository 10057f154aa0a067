package chromejson_test

import (
	"io"
	"testing"

	"overlay/internal/overlay"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// BenchmarkWriteChrome writes the largest trace of the corpus with its overlay, on one worker.
func BenchmarkWriteChrome(b *testing.B) {
	tr := testtrace.Read(b, corpus.Files(b, "SAF__amg_example__asdf_False.*")[0])
	g, p, _ := testtrace.Analyse(b, tr)
	b.Run("annotate", func(b *testing.B) {
		for b.Loop() {
			overlay.Annotate(g.Layout(), p, overlay.Options{})
		}
	})
	ov := overlay.Annotate(g.Layout(), p, overlay.Options{})
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			if _, err := chromejson.Write(io.Discard, tr, ov); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package overlay_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/kineto"
	"overlay/internal/overlay"
)

// BenchmarkWriteChrome writes the largest trace of the corpus with its overlay, on one worker.
func BenchmarkWriteChrome(b *testing.B) {
	dir := os.Getenv("OVERLAY_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "traces")
	}
	r, err := os.Open(filepath.Join(dir, "SAF__amg_example__asdf_False.c51dc12.json.gz"))
	if err != nil {
		b.Skip(err)
	}
	defer r.Close()
	tr, err := kineto.Read(r, "", kineto.Options{})
	if err != nil {
		b.Fatal(err)
	}
	g, err := cdg.Build(tr, cdg.Options{})
	if err != nil {
		b.Fatal(err)
	}
	p, err := critpath.Exact(g, critpath.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("annotate", func(b *testing.B) {
		for b.Loop() {
			overlay.Annotate(g.Layout, p, overlay.Options{})
		}
	})
	ov := overlay.Annotate(g.Layout, p, overlay.Options{})
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			if _, err := overlay.WriteChrome(io.Discard, tr, ov, overlay.WriteOptions{Jobs: 1}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

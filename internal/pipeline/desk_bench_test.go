package pipeline_test

import (
	"testing"

	"overlay/internal/pipeline"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// BenchmarkDesk is a replay that a slider asks for.
func BenchmarkDesk(b *testing.B) {
	run, err := pipeline.Solve(testtrace.Read(b, corpus.Files(b, "*asdf_False*")[0]), pipeline.Options{}, false)
	if err != nil {
		b.Fatal(err)
	}
	d := run.Desk()
	for b.Loop() {
		if _, err := d.Ask("class:cpu=0.7;class:compute=0.5"); err != nil {
			b.Fatal(err)
		}
	}
}

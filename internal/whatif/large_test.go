package whatif_test

import (
	"bytes"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/whatif"
)

// BenchmarkReplayLarge replays a made trace of five million events, if OVERLAY_LONG is set.
func BenchmarkReplayLarge(b *testing.B) {
	corpus.Heavy(b)
	var text bytes.Buffer
	if err := testtrace.Large(&text, 5_000_000, true); err != nil {
		b.Fatal(err)
	}
	tr := testtrace.Parse(b, text.Bytes())
	g := testtrace.Graph(b, tr)
	m := whatif.New(g)
	sc, err := whatif.NewSelector(m, nil).Scenario("class:cpu=0.5")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		m.Replay(&sc)
	}
}

package overlay_test

import (
	"bytes"
	"fmt"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/kineto"
	"overlay/internal/overlay"
	"overlay/internal/perfetto"
	"overlay/internal/testtrace"
)

// TestWrittenNames: reports name a copy as Kineto would have; the output names it as the input does, on its row.
func TestWrittenNames(t *testing.T) {
	b := testtrace.New()
	b.Thread(1, 1, "").Launch("cudaMemcpyAsync", 0, 40_000, 7)
	b.Slice("gpu_memcpy", "Memcpy", 0, 7, 5_000, 30_000).Arg("device", 0).Arg("stream", 7).Arg("correlation", 7).
		Arg("copy kind", "DtoH").Arg("src kind", "device").Arg("dst kind", "pageable")
	tr := b.Parse(t)
	g, p, ov := annotate(t, tr, overlay.Options{})
	if spots := critpath.Hotspots(g, p); len(spots) == 0 || spots[0].Name != testtrace.DtoHPageable {
		t.Errorf("hotspots %+v", spots)
	}
	var out bytes.Buffer
	if _, err := overlay.WritePerfetto(&out, tr, ov, overlay.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	im, err := perfetto.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]int{}
	for _, s := range im.Slices {
		names[s.Name]++
	}
	if names["Memcpy"] != 1 {
		t.Errorf("slices %v", names)
	}
	// The anonymous copy of the trace is written with the same name too.
	g2, p2 := overlay.Anonymize(g, p)
	text, _ := write(t, g2.Trace, overlay.Annotate(g2.Trace, g2, p2, overlay.Options{}))
	if !bytes.Contains(text, []byte(`"name": "Memcpy"`)) {
		t.Errorf("anonymous: %s", text)
	}
}

// TestSlimGraphEdges: a slim trace keeps the recorded edges of graphs, and gives the same path again.
func TestSlimGraphEdges(t *testing.T) {
	b := testtrace.New()
	b.NoFlows = true
	main := b.Thread(1, 1, "")
	id := int64(1) << 40
	for replay := range int64(5) {
		at, corr := 200_000*replay, replay+1
		main.Launch("cudaGraphLaunch", at, 4_000, corr)
		node := func(name string, stream, start, dur int64) {
			b.Slice("kernel", name, 0, stream, at+start, dur).Arg("device", 0).Arg("stream", stream).Arg("correlation", corr).Arg("graph node id", start)
		}
		node("a", 7, 5_000, 20_000)
		node("c", 9, 5_000, 22_000)
		node("d", 8, 28_000, 10_000)
		for _, f := range []struct {
			ph         string
			stream, ts int64
		}{{"s", 7, at + 25_000}, {"f", 8, at + 28_000}} {
			b.Element(fmt.Sprintf(`{"ph": %q, "id": %d, "pid": 0, "tid": %d, "ts": %d, "cat": "ac2g", "name": "ac2g", "bp": "e"}`, f.ph, id, f.stream, f.ts/1000))
		}
		id++
	}
	tr := b.Parse(t)
	if len(tr.GraphEdges) != 5 {
		t.Fatalf("edges %v", tr.GraphEdges)
	}
	g, p, ov := annotate(t, tr, overlay.Options{})
	overlay.Slim(g, p, ov)
	out, _ := write(t, tr, ov)
	slim, err := kineto.Parse(out, "slim", kineto.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(slim.GraphEdges) == 0 {
		t.Error("no recorded edge in the slim trace")
	}
	rec, err := overlay.ReadRecord(slim)
	if err != nil {
		t.Fatal(err)
	}
	g2, err := cdg.Build(slim, cdg.Options{Recorded: &rec.Recorded})
	if err != nil {
		t.Fatal(err)
	}
	p2, err := critpath.Exact(g2, critpath.Options{})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "segments", segmentTexts(tr, p), segmentTexts(slim, p2))
}

package pftrace_test

import (
	"bytes"
	"testing"

	"overlay/internal/anonymize"
	"overlay/internal/critpath"
	"overlay/internal/overlay"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/viewer"
)

// TestWrittenNames: reports name a copy as Kineto would have; the output names it as the input does, on its row.
func TestWrittenNames(t *testing.T) {
	b := testtrace.New()
	b.Thread(1, 1, "").Launch("cudaMemcpyAsync", 0, 40_000, 7)
	b.Slice("gpu_memcpy", "Memcpy", 0, 7, 5_000, 30_000).Arg("device", 0).Arg("stream", 7).Arg("correlation", 7).
		Arg("copy kind", "DtoH").Arg("src kind", "device").Arg("dst kind", "pageable")
	tr := b.Parse(t)
	g, p, _ := testtrace.Analyse(t, tr)
	ov := overlay.Annotate(g.Layout(), p, overlay.Options{})
	if spots := critpath.Hotspots(g, p); len(spots) == 0 || spots[0].Name != testtrace.DtoHPageable {
		t.Errorf("hotspots %+v", spots)
	}
	var out bytes.Buffer
	if _, err := pftrace.Write(&out, tr, ov); err != nil {
		t.Fatal(err)
	}
	im, err := viewer.Parse(out.Bytes())
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
	g2, p2, err := anonymize.Graph(g, p)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := chromejson.Write(&text, g2.Trace, overlay.Annotate(g2.Layout(), p2, overlay.Options{})); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text.Bytes(), []byte(`"name": "Memcpy"`)) {
		t.Errorf("anonymous: %s", text.Bytes())
	}
}

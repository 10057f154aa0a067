package overlay_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath/hta"
	"overlay/internal/kineto"
	"overlay/internal/overlay"
)

// TestPeerOverlay: with the peer's method our Chrome output has the arrows by type and the marked events of the peer's
// own overlay of the same trace.
func TestPeerOverlay(t *testing.T) {
	dir := os.Getenv("OVERLAY_CORPUS")
	if dir == "" {
		dir = "../shared/traces"
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("../..", dir)
	}
	const name = "HTA__critical_path__end_to_end__simple_add__"
	open := func(file string) *kineto.Trace {
		f, err := os.Open(filepath.Join(dir, name+file))
		if err != nil {
			t.Skipf("%v: set OVERLAY_CORPUS to run this test", err)
		}
		defer f.Close()
		tr, err := kineto.Read(f, file, kineto.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	tr, peer := open("input__trace.json.gz"), open("output__overlaid_critical_path_trace.json.gz")
	h, err := hta.Find(tr, hta.Options{First: -1, DataLoad: []string{"data_load"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := cdg.Build(tr, cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := write(t, tr, overlay.Annotate(g.Layout, h.AsPath(), overlay.Options{}))
	got, want := drawnBy(t, out), drawnBy(t, peer.Src)
	if len(want) < 7 || !maps.Equal(got, want) {
		t.Errorf("drawn %v, the peer has %v", got, want)
	}
}

// drawnBy counts critical flow events by type and letter, and marked complete events.
func drawnBy(t *testing.T, src []byte) map[string]int {
	var top struct {
		TraceEvents []struct {
			Ph, Cat string
			Args    map[string]any
		}
	}
	if err := json.Unmarshal(src, &top); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range top.TraceEvents {
		if typ, ok := e.Args["type"].(string); ok && e.Cat == "critical_path" && e.Ph != "X" {
			count[typ+" "+e.Ph]++
		}
		if e.Ph == "X" && e.Args["critical"] == 1.0 {
			count["marked"]++
		}
	}
	return count
}

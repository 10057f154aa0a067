package chromejson_test

import (
	"encoding/json"
	"maps"
	"testing"

	"overlay/internal/critpath/hta"
	"overlay/internal/overlay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/textcheck"
)

// TestPeerOverlay: with the peer's method our Chrome output has the arrows by type and the marked events of the peer's
// own overlay of the same trace.
func TestPeerOverlay(t *testing.T) {
	const name = "HTA__critical_path__end_to_end__simple_add__"
	tr := testtrace.Read(t, corpus.Files(t, name+"input__trace.json.gz")[0])
	peer := testtrace.Read(t, corpus.Files(t, name+"output__overlaid_critical_path_trace.json.gz")[0])
	h, err := hta.Find(tr, hta.Options{First: -1, DataLoad: []string{"data_load"}})
	if err != nil {
		t.Fatal(err)
	}
	g := testtrace.Graph(t, tr)
	out, _ := write(t, tr, overlay.Annotate(g.Layout(), h.AsPath(), overlay.Options{}))
	got, want := drawnBy(t, out), drawnBy(t, textcheck.Bytes(peer))
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

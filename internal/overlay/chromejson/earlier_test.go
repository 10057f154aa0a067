package chromejson_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/overlay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// TestEarlierHTA wants the same path from HTA's overlay of a trace as from the trace, and nothing of HTA's in the output.
func TestEarlierHTA(t *testing.T) {
	paths := map[string]string{}
	for _, which := range []string{"input", "output"} {
		tr := testtrace.Read(t, corpus.Files(t, "*end_to_end__simple_add__"+which+"*")[0])
		p, ov := annotate(t, tr, overlay.Options{})
		paths[which] = fmt.Sprint(segmentTexts(tr, p))
		out, st := write(t, tr, ov)
		marked, arrows := 0, 0
		for _, raw := range elements(t, out) {
			var e struct {
				Ph, Cat string
				Args    map[string]any
			}
			if err := json.Unmarshal(raw, &e); err != nil {
				t.Fatal(err)
			}
			if e.Ph == "X" && e.Args["critical"] != nil {
				marked++
			}
			if e.Cat == "critical_path" && e.Ph == "s" {
				arrows++
			}
		}
		if marked != p.Marks.Len() || arrows != st.Arrows {
			t.Errorf("%d events marked, %d arrows; want %d and %d", marked, arrows, p.Marks.Len(), st.Arrows)
		}
		if removed := ov.EarlierRemoved > 0; removed != (which == "output") {
			t.Errorf("%d removed", ov.EarlierRemoved)
		}
		plain, _ := write(t, tr, nil)
		if which == "output" && !strings.Contains(string(plain), `"critical_path"`) {
			t.Error("convert does not keep the earlier overlay")
		}
	}
	if paths["input"] != paths["output"] {
		t.Error("other path with HTA's overlay on the trace")
	}
}

func segmentTexts(tr *trace.Trace, p *critpath.Path) []string {
	var out []string
	for _, s := range p.Segments.All() {
		name := ""
		if s.Owned() {
			name = tr.Name(s.Event)
		}
		out = append(out, fmt.Sprintf("%d %d %s %s", s.Start, s.End, s.Kind, name))
	}
	return out
}

// TestEarlierOurs draws on a small trace, parses it, and wants StripEarlier to find everything that was added.
func TestEarlierOurs(t *testing.T) {
	const src = `[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":0,"dur":5,"args":{"critical":1,"critical_ns":5,"critical_id":0,"cdg_node":3,"External id":7}},
{"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":6,"dur":5,"args":{"note":"\"critical\""}},
{"ph":"X","cat":"critical_path","name":"a","pid":9,"tid":2,"ts":0,"dur":5},
{"ph":"X","cat":"cdg","name":"Other","pid":9,"tid":3,"ts":0,"dur":5},
{"ph":"s","id":1,"cat":"critical_path","name":"critical_path","pid":1,"tid":1,"ts":1},
{"ph":"M","cat":"critical_path_summary","name":"process_name","pid":9,"tid":0,"ts":0,"args":{"name":"Critical path"}}]`
	tr := testtrace.Parse(t, []byte(src))
	ov := &overlay.Drawing{}
	overlay.StripEarlier(tr, ov)
	if got := fmt.Sprint(ov.Keep, ov.EarlierRemoved); got != "[true true false false false false] 5" {
		t.Error(got)
	}
	out, _ := write(t, tr, ov)
	var doc struct {
		TraceEvents []struct {
			Name string
			Args map[string]any
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(doc.TraceEvents[0].Args, doc.TraceEvents[1].Args); got != `map[External id:7] map[note:"critical"]` {
		t.Error(got)
	}
}

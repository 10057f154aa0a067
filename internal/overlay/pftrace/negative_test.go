package pftrace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"overlay/internal/advise"
	"overlay/internal/analyses"
	"overlay/internal/overlay"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/viewer"
	"overlay/internal/whatif"
)

// TestBeforeZero moves the demo trace so that time 0 lies before, inside and after it. Perfetto's format has no time
// before 0: what is added stops there, and the reader finds nothing wrong.
func TestBeforeZero(t *testing.T) {
	src := corpus.Text(t, corpus.Demo(t))
	for _, part := range []float64{-0.1, 0.01, 0.5, 0.999, 1.1} {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			var doc map[string]any
			if err := json.Unmarshal(src, &doc); err != nil {
				t.Fatal(err)
			}
			first, last := math.Inf(1), math.Inf(-1)
			each := func(visit func(ts float64) float64) {
				for _, e := range doc["traceEvents"].([]any) {
					if ev := e.(map[string]any); ev["ph"] != "M" {
						ev["ts"] = visit(ev["ts"].(float64))
					}
				}
			}
			each(func(ts float64) float64 { first, last = min(first, ts), max(last, ts); return ts })
			zero := math.Round(first + part*(last-first))
			each(func(ts float64) float64 { return math.Round((ts-zero)*1000) / 1000 })
			moved, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			tr := testtrace.Parse(t, moved)
			g, p, _ := testtrace.Analyse(t, tr)
			ov := overlay.Annotate(g.Layout(), p, overlay.Options{Rows: analyses.Run(g, p, analyses.Names, analyses.Options{}).Rows, Advice: advise.Find(g, p, func() *whatif.Model { return whatif.New(g) })})
			var out bytes.Buffer
			st, err := pftrace.Write(&out, tr, ov)
			if err != nil {
				t.Fatal(err)
			}
			if (st.Negative > 0) != (part > 0) {
				t.Errorf("%d events before 0", st.Negative)
			}
			im, err := viewer.Parse(out.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			for name, n := range im.Problems {
				t.Errorf("%s: %d", name, n)
			}
		})
	}
}

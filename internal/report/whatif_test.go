package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"overlay/internal/report"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/reported"
	"overlay/internal/whatif"
)

const whatIfSchemaFile = "../../docs/reference/whatif.schema.json"

// TestWhatIfSchemaFile: the schema in docs says what the types say.
func TestWhatIfSchemaFile(t *testing.T) {
	s := schemaOf(reflect.TypeFor[report.WhatIf]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = report.WhatIfSchema
	s["description"] = "The answers of overlay whatif. Times are integers in ns, shares are ratios; a share below 0 is a loss."
	s["properties"].(map[string]any)["schema"] = map[string]any{"const": report.WhatIfSchema}
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	reported.Golden(t, whatIfSchemaFile, append(b, '\n'), *update)
}

// TestJobWhatIfSchemaFile: the same over ranks.
func TestJobWhatIfSchemaFile(t *testing.T) {
	s := schemaOf(reflect.TypeFor[report.JobWhatIf]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = report.JobWhatIfSchema
	s["description"] = "The answers of overlay whatif on the traces or summaries of a job. Times are integers in ns, shares are ratios; a share below 0 is a loss."
	s["properties"].(map[string]any)["schema"] = map[string]any{"const": report.JobWhatIfSchema}
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	reported.Golden(t, "../../docs/reference/whatif-job.schema.json", append(b, '\n'), *update)
}

// TestWhatIfForms asks the same of every own trace: the JSON follows its schema, and the text has no line beyond its width
// and a verdict for each scenario.
func TestWhatIfForms(t *testing.T) {
	raw, err := os.ReadFile(whatIfSchemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	for name, tr := range reported.Traces(t) {
		g, p := testtrace.Exact(t, tr)
		m := whatif.New(g)
		sc, err := whatif.NewSelector(m, report.Readable).Scenario("class:cpu=0.5")
		if err != nil {
			t.Fatal(err)
		}
		w, err := report.NewWhatIf(report.Source{Name: name, Graph: g, Path: p}, m.ReplayAll([]whatif.Scenario{sc}))
		if err != nil {
			t.Fatal(err)
		}
		check := func() {
			t.Helper()
			var b, text bytes.Buffer
			if err := w.WriteJSON(&b); err != nil {
				t.Fatal(err)
			}
			d := json.NewDecoder(&b)
			d.UseNumber()
			var v any
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			for _, e := range follow(schema, v, "") {
				t.Errorf("%s: %s", name, e)
			}
			if err := w.WriteText(&text, report.TextOptions{Width: 100}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(text.String()) {
				if len([]rune(strings.TrimSuffix(line, "\n"))) > 100 {
					t.Errorf("%s: a line of %d columns: %s", name, len([]rune(line)), line)
				}
			}
			if n := strings.Count(text.String(), " saved"); n == 0 {
				t.Errorf("%s: no verdict in %s", name, text.String())
			}
		}
		check()
		w.AddBest(m.ReplayAll(m.Best(p, 3, report.NamesOf(tr).Hotspot)), p)
		if len(w.Scenarios) < 3 {
			t.Errorf("%s: %d scenarios", name, len(w.Scenarios))
		}
		for i := 2; i < len(w.Scenarios); i++ {
			if w.Scenarios[i].Saved > w.Scenarios[i-1].Saved {
				t.Errorf("%s: hotspots are not in the order of what they save", name)
			}
		}
		check()
	}
}

package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"overlay/internal/advise"
	"overlay/internal/analyses"
	"overlay/internal/report"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/reported"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

const adviceSchemaFile = "../../docs/reference/advise.schema.json"

// TestAdviceSchemaFile: the schema in docs says what the types say.
func TestAdviceSchemaFile(t *testing.T) {
	s := schemaOf(reflect.TypeFor[report.Advice]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = advise.Schema
	s["description"] = "The answer of overlay advise. Times are integers in ns, shares are ratios, events are zero-based positions in traceEvents. Without advice the input is a slim trace."
	s["properties"].(map[string]any)["schema"] = map[string]any{"const": advise.Schema}
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	reported.Golden(t, adviceSchemaFile, append(b, '\n'), *update)
}

const jobAdviceSchemaFile = "../../docs/reference/advise-job.schema.json"

// TestJobAdviceSchemaFile: the schema in docs says what the types say.
func TestJobAdviceSchemaFile(t *testing.T) {
	s := schemaOf(reflect.TypeFor[report.JobAdvice]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = report.JobAdviceSchema
	s["description"] = "The answer of overlay advise on the traces of a job. Times are integers in ns, shares are ratios; gains over the ranks are bounds. What is said of the rank itself is as overlay advise says of its trace."
	s["properties"].(map[string]any)["schema"] = map[string]any{"const": report.JobAdviceSchema}
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	reported.Golden(t, jobAdviceSchemaFile, append(b, '\n'), *update)
}

func adviceOf(t *testing.T, name string, tr *trace.Trace) *report.Advice {
	g, p := testtrace.Exact(t, tr)
	return report.NewAdvice(report.Source{Name: name, Version: "test", Graph: g, Path: p, Advice: advise.Find(g, p, func() *whatif.Model { return whatif.New(g) }), Analyses: analyses.Run(g, p, []string{"roofline"}, analyses.Options{})})
}

// TestAdviceForms: the JSON of the advice on each own trace follows its schema; the text keeps to its width, names every
// finding, and says what to do about it.
func TestAdviceForms(t *testing.T) {
	raw, err := os.ReadFile(adviceSchemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	found := 0
	own := reported.Traces(t)
	own["shapes"] = reported.Shaped(t)
	for name, tr := range own {
		a := adviceOf(t, name, tr)
		var js bytes.Buffer
		if err := a.WriteJSON(&js); err != nil {
			t.Fatal(err)
		}
		var v any
		d := json.NewDecoder(&js)
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		for _, e := range follow(schema, v, "") {
			t.Errorf("%s: %s", name, e)
		}
		detached, err := a.Detached()
		if err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{60, 80, 120} {
			var text, same bytes.Buffer
			if err := a.WriteText(&text, report.TextOptions{Width: width}); err != nil {
				t.Fatal(err)
			}
			if err := detached.WriteText(&same, report.TextOptions{Width: width}); err != nil {
				t.Fatal(err)
			}
			if same.String() != text.String() {
				t.Errorf("%s: the advice without its trace reads otherwise", name)
			}
			for l := range strings.Lines(text.String()) {
				if n := utf8.RuneCountInString(strings.TrimRight(l, "\n")); n > width {
					t.Errorf("%s: %d columns where there are %d: %s", name, n, width, l)
				}
			}
			for i := range a.Advice.Findings {
				f := &a.Advice.Findings[i]
				found++
				if !strings.Contains(text.String(), "\n  rule       "+f.ID+"\n") || !strings.Contains(text.String(), "do         ") {
					t.Errorf("%s: no finding %s in\n%s", name, f.ID, text.String())
				}
			}
		}
	}
	if found == 0 {
		t.Fatal("no finding in any trace")
	}
}

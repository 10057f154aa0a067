package report_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/report"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/reported"
)

// withSteps is a report whose window holds steps of some lengths, all of one class, ms.
func withSteps(kind string, ms ...int64) *report.Report {
	r := &report.Report{}
	for i, d := range ms {
		ns := d * 1_000_000
		r.Steps = append(r.Steps, report.Step{Name: fmt.Sprint(kind, i), Duration: ns, ByClass: map[string]int64{"cpu": ns}})
		r.Window.Duration += ns
	}
	r.Steps = append(r.Steps, report.Step{Name: "after", Duration: 5_000_000, ByClass: map[string]int64{"sync": 5_000_000}})
	r.Window.Duration += 5_000_000
	r.Path.ByClass, r.Path.BoundBy = map[string]int64{"cpu": r.Window.Duration - 5_000_000, "sync": 5_000_000}, "cpu"
	return r
}

func TestComparePerStep(t *testing.T) {
	const step = "ProfilerStep#"
	both := withSteps("decode ", 10, 10, 10)
	both.Steps = append(both.Steps, withSteps(step, 100, 100).Steps[:2]...)
	more := withSteps("decode ", 20, 20, 20, 20)
	more.Steps = append(more.Steps, withSteps(step, 100, 100).Steps[:2]...)
	for _, c := range []struct {
		name          string
		before, after *report.Report
		verdict       string
		percent       float64
		apart         string
	}{
		{"four against six", withSteps(step, 60, 62, 62, 64), withSteps(step, 62, 62, 62, 62, 62, 62), "4 steps against 6; a step takes 62.00 ms → 62.00 ms (0.0 %, noise ± 1.4)", 0, ""},
		{"slower", withSteps(step, 50, 50), withSteps(step, 60, 60, 60), "2 steps against 3; a step takes 50.00 ms → 60.00 ms (+20.0 %, noise ± 0.0)", 20, ""},
		{"warming up", withSteps(step, 500, 50, 50, 50), withSteps(step, 40, 40, 40), "4 steps against 3; a step takes 50.00 ms → 40.00 ms (-20.0 %, noise ± 0.0)", -20, "the first step before took 500.00 ms and stands apart"},
		{"a first step of two", withSteps(step, 500, 50), withSteps(step, 50, 50, 50), "2 steps against 3; a step takes 275.00 ms → 50.00 ms (-81.8 %, noise ± 65.0)", -100 * 225. / 275, ""},
		{"one step", withSteps(step, 50), withSteps(step, 50, 50), "1 step against 2; a step takes 50.00 ms → 50.00 ms (0.0 %, noise ± 0.0)", 0, ""},
		{"as many", withSteps(step, 50, 50), withSteps(step, 60, 60), "2 steps against 2; a step takes 50.00 ms → 60.00 ms (+20.0 %, noise ± 0.0)", 20, ""},
		{"none on one side", withSteps(step), withSteps(step, 60), "the window is 1200.0 % longer", 1200, ""},
		{"other kinds", withSteps(step, 50, 50), withSteps("decode ", 50), "the window is 47.6 % shorter", -100 * 50. / 105, ""},
		{"two kinds", both, more, "3 steps against 4 of decode, 2 steps against 2 of ProfilerStep; a step takes 46.00 ms → 52.00 ms (+13.0 %, noise ± 0.0)", 100 * 6. / 46,
			"decode takes 10.00 ms → 20.00 ms; ProfilerStep takes 100.00 ms → 100.00 ms"},
	} {
		d := report.CompareRuns([]*report.Report{c.before}, []*report.Report{c.after})
		if d.Verdict() != c.verdict || d.Apart() != c.apart || d.Slower < c.percent-1e-9 || d.Slower > c.percent+1e-9 {
			t.Errorf("%s: %q, apart %q, %v %%; want %q, %q, %v", c.name, d.Verdict(), d.Apart(), d.Slower, c.verdict, c.apart, c.percent)
		}
		var sum int64
		for _, x := range d.Classes {
			sum += x.Effect
		}
		if sum != d.Window.Effect {
			t.Errorf("%s: classes make %d ns of %d", c.name, sum, d.Window.Effect)
		}
	}
}

// TestCompareCut: a run against a part of itself takes as long a step, and a run slowed down is as much slower whatever was cut.
func TestCompareCut(t *testing.T) {
	name := corpus.Files(t, "kineto__tb_plugin__samples__resnet50_num_workers_0__*")[0]
	var whole map[string]any
	if err := json.Unmarshal(corpus.Text(t, name), &whole); err != nil {
		t.Fatal(err)
	}
	events := whole["traceEvents"].([]any)
	at := func(e map[string]any) (from, to float64) {
		from, _ = e["ts"].(float64)
		dur, _ := e["dur"].(float64)
		return from, from + dur
	}
	var end float64
	for _, e := range events {
		if e := e.(map[string]any); e["name"] == "ProfilerStep#8" && e["ph"] == "X" {
			_, end = at(e)
		}
	}
	var kept []any
	for _, e := range events {
		e := e.(map[string]any)
		if _, to := at(e); to <= end || e["ph"] == "M" {
			kept = append(kept, e)
		}
	}
	whole["traceEvents"] = kept
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if err := json.NewEncoder(z).Encode(whole); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	four := filepath.Join(t.TempDir(), "four.json.gz")
	if err := os.WriteFile(four, packed.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	a, b := reported.File(t, four, cdg.Options{}), reported.File(t, name, cdg.Options{})
	d := report.CompareRuns([]*report.Report{a}, []*report.Report{b})
	if s := d.Verdict(); !strings.HasPrefix(s, "4 steps against 6; a step takes ") || d.Slower > 1 || d.Slower < -1 {
		t.Errorf("%s (%.1f %%)", s, d.Slower)
	}
	var text, js bytes.Buffer
	if d.WriteText(&text, report.TextOptions{}, 10) != nil || d.WriteJSON(&js) != nil {
		t.Fatal("not written")
	}
	for _, want := range []string{"before  four.json.gz, 4 steps in ", " 6 steps in ", "of a step in the middle"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, &text)
		}
	}
	if !strings.Contains(js.String(), `"per_step": [`) || !strings.Contains(js.String(), `"after_steps": 6`) {
		t.Error("the JSON does not say that steps are compared")
	}
}

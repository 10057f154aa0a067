package pipeline_test

import (
	"bytes"
	"errors"
	"reflect"
	"runtime"
	"testing"

	"overlay/internal/analyses"
	"overlay/internal/anonymize"
	"overlay/internal/critpath"
	"overlay/internal/overlay"
	"overlay/internal/pipeline"
	"overlay/internal/report"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestAgain solves all made traces twice: the second report is like the first one, since solving changes no trace.
func TestAgain(t *testing.T) {
	o := pipeline.Options{Analyses: analyses.Names}
	for _, made := range testtrace.Made(t) {
		var reports [2]*report.Report
		for i := range reports {
			r, err := pipeline.Solve(made.Trace, o, false)
			if err != nil {
				t.Fatal(err)
			}
			reports[i] = r.Report(report.Source{Name: "x"})
		}
		if !reflect.DeepEqual(reports[0], reports[1]) {
			t.Errorf("%s: another report when it is solved again", made.Name)
		}
	}
	if _, err := pipeline.Solve(testtrace.Parse(t, []byte(`{"traceEvents":[]}`)), pipeline.Options{}, false); !errors.Is(err, pipeline.ErrNothing) {
		t.Errorf("a trace without events: %v", err)
	}
}

// TestMethods: a method that is asked for wins; a slim trace brings its own; else the exact one is taken.
func TestMethods(t *testing.T) {
	demo := testtrace.Made(t)[0].Trace
	methods := map[string]critpath.Method{"exact": critpath.Exact, "ctda": critpath.CTDA}
	method := func(tr *trace.Trace, o pipeline.Options) (string, bool) {
		o.Methods = methods
		r, err := pipeline.Solve(tr, o, false)
		if err != nil {
			t.Fatal(err)
		}
		return r.Report(report.Source{}).Method, r.Recorded
	}
	if m, recorded := method(demo, pipeline.Options{}); m != "exact" || recorded {
		t.Errorf("%s, recorded %v", m, recorded)
	}
	r, err := pipeline.Solve(demo, pipeline.Options{Method: critpath.CTDA}, true)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := r.Draw(overlay.Options{Slim: true}).Write(&out, pipeline.Chrome); err != nil {
		t.Fatal(err)
	}
	slim := testtrace.Parse(t, out.Bytes())
	if m, recorded := method(slim, pipeline.Options{}); m != "ctda" || !recorded {
		t.Errorf("slim: %s, recorded %v", m, recorded)
	}
	if m, _ := method(slim, pipeline.Options{Method: critpath.Exact}); m != "exact" {
		t.Errorf("slim, another method asked for: %s", m)
	}
}

// TestDrawEndsTheRun: after drawing, the run holds nothing that would keep the graph.
func TestDrawEndsTheRun(t *testing.T) {
	for _, anonymous := range []bool{false, true} {
		demo := testtrace.Made(t)[0].Trace
		var stages []string
		o := pipeline.Options{Stage: func(name string) { stages = append(stages, name) }}
		if anonymous {
			o.Anonymize = anonymize.Graph
		}
		r, err := pipeline.Solve(demo, o, true)
		if err != nil {
			t.Fatal(err)
		}
		d := r.Draw(overlay.Options{})
		if !reflect.DeepEqual(*r, pipeline.Run{}) {
			t.Error("the run holds on to something")
		}
		if (d.Trace == demo) == anonymous || len(stages) != 3 {
			t.Errorf("stages %v", stages)
		}
		var a, b bytes.Buffer
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		if st, err := d.Write(&a, pipeline.Perfetto); err != nil || st.Perfetto == nil || st.Perfetto.Slices == 0 {
			t.Errorf("written %+v, %v", st, err)
		}
		runtime.GOMAXPROCS(3)
		if _, err := d.Write(&b, pipeline.Perfetto); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("other bytes on three CPUs: %v", err)
		}
	}
}

// TestTaken: what is drawn after the advice is what is drawn without.
func TestTaken(t *testing.T) {
	made := testtrace.Made(t)[0]
	for _, slim := range []bool{false, true} {
		var pictures [2]bytes.Buffer
		for i := range pictures {
			r, err := pipeline.Solve(made.Trace, pipeline.Options{}, true)
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 && r.Findings() == nil {
				t.Fatal("no advice")
			}
			if _, err := r.Draw(overlay.Options{Slim: slim}).Write(&pictures[i], pipeline.Perfetto); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(pictures[0].Bytes(), pictures[1].Bytes()) {
			t.Errorf("slim %v: another picture when the graph was taken", slim)
		}
	}
}

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

// TestEach solves all made traces in one go and each of them alone: the reports are the same.
func TestEach(t *testing.T) {
	made := testtrace.Made(t)
	o := pipeline.Options{Analyses: analyses.Names}
	seen := 0
	err := pipeline.Each(len(made), o, func(i int) (*trace.Trace, error) { return made[i].Trace, nil }, func(i int, r *pipeline.Run) error {
		seen++
		alone, err := pipeline.Solve(made[i].Trace, o, false)
		if err != nil {
			return err
		}
		if a, b := r.Report(report.Source{Name: "x"}), alone.Report(report.Source{Name: "x"}); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: another report among others than alone", made[i].Name)
		}
		return nil
	})
	if err != nil || seen != len(made) {
		t.Errorf("%d of %d traces: %v", seen, len(made), err)
	}
}

// TestEachError says which trace holds nothing, and passes on what the callers' functions say.
func TestEachError(t *testing.T) {
	empty := testtrace.Parse(t, []byte(`{"traceEvents":[]}`))
	demo := testtrace.Made(t)[0].Trace
	err := pipeline.Each(2, pipeline.Options{}, func(i int) (*trace.Trace, error) { return []*trace.Trace{demo, empty}[i], nil }, func(int, *pipeline.Run) error { return nil })
	var side *pipeline.Error
	if !errors.As(err, &side) || side.Index != 1 || !errors.Is(err, pipeline.ErrNothing) {
		t.Errorf("error %v", err)
	}
	own := errors.New("of the caller")
	if err := pipeline.Each(1, pipeline.Options{}, func(int) (*trace.Trace, error) { return nil, own }, nil); err != own {
		t.Errorf("error of load: %v", err)
	}
	if err := pipeline.Each(1, pipeline.Options{}, func(int) (*trace.Trace, error) { return demo, nil }, func(int, *pipeline.Run) error { return own }); err != own {
		t.Errorf("error of use: %v", err)
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

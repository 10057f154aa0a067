package pftrace

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"overlay/internal/flame"
	"overlay/internal/overlay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/viewer"
)

// TestStackSamples reads the path's samples as the viewer does: they tile the window, and sum by stacks to what a flame graph of the path has,
// to the ns. No sample is longer than a thousandth of the window.
func TestStackSamples(t *testing.T) {
	for _, name := range append(corpus.Find(t, "*nccl_data*", "*mi300*"), corpus.Demo(t)) {
		g, p, ok := testtrace.Analyse(t, testtrace.Read(t, name))
		if !ok {
			t.Fatal(name)
		}
		x, list := flame.Samples(g, p)
		d := overlay.Annotate(g.Layout(), p, overlay.Options{Stacks: &overlay.Stacks{Graph: x, List: list}})
		var out bytes.Buffer
		if _, err := Write(&out, g.Trace, d); err != nil {
			t.Fatal(err)
		}
		if im, err := viewer.Parse(out.Bytes()); err != nil || len(im.Problems) > 0 {
			t.Errorf("%s: %v %v", name, err, im.Problems)
		}
		got, want, at := map[string]int64{}, map[string]int64{}, p.Window.Start
		for _, s := range viewer.Samples(out.Bytes()) {
			if s.TS != at || s.Weight > (p.Window.End-p.Window.Start)/1000 || s.Row != stacksName || s.Counter != "overlay: critical path in ns" {
				t.Fatalf("%s: %+v, the one before ends at %d", name, s, at)
			}
			got[s.Stack], at = got[s.Stack]+s.Weight, at+s.Weight
		}
		if at != p.Window.End || p.Duration != p.Window.End-p.Window.Start {
			t.Errorf("%s: samples end at %d, the window at %d", name, at, p.Window.End)
		}
		flame.Of(g, p).Stacks(func(stack []int32, _, ns int64) {
			frames := make([]string, len(stack))
			for i, f := range stack {
				frames[i] = x.Frames()[f]
			}
			want[strings.Join(frames, ";")] += ns
		})
		if !maps.Equal(got, want) {
			t.Errorf("%s: %d stacks, %d in the flame graph", name, len(got), len(want))
		}
	}
}

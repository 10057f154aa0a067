package chromejson_test

import (
	"testing"

	"overlay/internal/chrome/importer"
	"overlay/internal/overlay"
	"overlay/internal/testtrace"
)

// TestArrowToSliceWithChild: no time reaches a slice with which its first child starts, so the arrow into it waits for the
// slice that begins next. An arrow out of it has no such way, unless it can be turned around.
func TestArrowToSliceWithChild(t *testing.T) {
	b := testtrace.New()
	main := b.Thread(1, 1, "python")
	a := main.Op("before", 0, 1000).ID()
	p := main.Op("parent", 2000, 3000).ID()
	main.Op("child", 2000, 1000)
	c := main.Op("after", 6000, 1000).ID()
	tr := b.Parse(t)
	_, ov := annotate(t, tr, overlay.Options{Flows: overlay.FlowsNone})
	ov.Arrows = []overlay.Arrow{{From: a, To: p, FromEnd: true, Type: "critical_path_dependency"}, {From: p, To: c, FromEnd: true, Type: "critical_path_dependency"}, {From: p, To: a, Type: "critical_path_dependency"}}
	out, st := write(t, tr, ov)
	if st.Arrows != 2 || st.Unbindable != 1 {
		t.Errorf("%d arrows, %d without a time", st.Arrows, st.Unbindable)
	}
	after, err := importer.Import(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Flows) != 2 {
		t.Fatalf("%d arrows are read", len(after.Flows))
	}
	for _, f := range after.Flows {
		if from, to := after.Slices[f.Out].Name, after.Slices[f.In].Name; from != "before" || to != "parent" {
			t.Errorf("an arrow from %s to %s", from, to)
		}
	}
}

package chromejson_test

import (
	"fmt"
	"slices"
	"testing"

	"overlay/internal/overlay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/importer"
	"overlay/internal/trace"
)

// TestArrowToSliceWithChild: no time reaches a slice with which its first child starts, so the arrow into it waits for the
// slice that begins next. An arrow out of it has no such way, unless it can be turned around: it leaves from the segment.
func TestArrowToSliceWithChild(t *testing.T) {
	b := testtrace.New()
	main := b.Thread(1, 1, "python")
	before := main.Op("before", 0, 1000).ID()
	parent := main.Op("parent", 2000, 3000).ID()
	main.Op("child", 2000, 1000)
	after := main.Op("after", 6000, 1000).ID()
	wantArrows(t, b.Parse(t), []overlay.Arrow{{From: before, To: parent, FromEnd: true}, {From: parent, To: after, FromEnd: true}, {From: parent, To: before}},
		1, "before>parent", "before>parent", "segment parent>after")
}

// TestArrowAtOverlap: a slice that overlaps its row is moved by the viewer to where no time finds it, so its segment has
// its arrows.
func TestArrowAtOverlap(t *testing.T) {
	b := testtrace.New()
	main, stream := b.Thread(1, 1, "python"), b.Stream(0, 7)
	var call, kernel trace.EventID
	var arrows []overlay.Arrow
	for i := range int64(5) {
		call = main.Launch("cudaLaunchKernel", i*10, 5, i+1).ID()
		next := stream.Kernel(fmt.Sprint("k", i), 100+i*990, 1000, i+1).ID()
		switch i {
		case 3:
			arrows = append(arrows, overlay.Arrow{From: call, To: next})
		case 4:
			arrows = append(arrows, overlay.Arrow{From: kernel, To: next, FromEnd: true})
		}
		kernel = next
	}
	wantArrows(t, b.Parse(t), arrows, 2, "cudaLaunchKernel>segment k3", "segment k3>k4")
}

// wantArrows draws arrows on a trace and reads them as the viewer does.
func wantArrows(t *testing.T, tr *trace.Trace, arrows []overlay.Arrow, standIns int, want ...string) {
	t.Helper()
	_, ov := annotate(t, tr, overlay.Options{Flows: overlay.FlowsNone})
	ov.Arrows = arrows
	out, st := write(t, tr, ov)
	if st.Arrows != len(arrows) || st.StandIns != standIns || st.Unbindable != 0 {
		t.Errorf("%d arrows, %d at segments, %d without a time", st.Arrows, st.StandIns, st.Unbindable)
	}
	after, err := importer.Import(out)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range after.Flows {
		if f.Category == "critical_path" {
			got = append(got, sliceText(after, f.Out)+">"+sliceText(after, f.In))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("arrows %q, want %q", got, want)
	}
}

func sliceText(r *importer.Result, i int) string {
	if r.Slices[i].Category == "critical_path" {
		return "segment " + r.Slices[i].Name
	}
	return r.Slices[i].Name
}

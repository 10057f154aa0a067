package report

import (
	"strings"
	"testing"

	"overlay/internal/advise"
)

// TestBound: the verdict names one class where one holds most, and all that hold about as much where none does.
func TestBound(t *testing.T) {
	for _, c := range []struct {
		bound   string
		classes map[string]int64
		want    string
	}{
		{"gpu_compute", map[string]int64{"gpu_compute": 72, "cpu": 14, "communication": 13, "launch": 1}, "bound by GPU compute"},
		{"cpu", map[string]int64{"cpu": 51, "gpu_compute": 49}, "bound by CPU (51 %) and GPU compute (49 %)"},
		{"gpu_compute", map[string]int64{"gpu_compute": 40, "untraced": 35, "cpu": 21, "launch": 4}, "bound by GPU compute (40 %), host code that was not recorded (35 %) and CPU (21 %)"},
		{"cpu", map[string]int64{"cpu": 55, "communication": 36, "launch": 9}, "bound by CPU"},
		{"cpu", map[string]int64{"cpu": 45, "communication": 22, "copy": 22, "launch": 11}, "bound by CPU"},
		{"cpu", map[string]int64{"cpu": 4, "copy": 3}, "bound by CPU"}, // a path that explains little
		{"idle", map[string]int64{"idle": 68, "cpu": 31, "copy": 1}, "mostly waiting for work (68 %), then bound by CPU (31 %)"},
		{"idle", map[string]int64{"idle": 100}, "mostly waiting for work"},
		{"cpu", nil, "bound by CPU"},
	} {
		r := &Report{Window: Window{Duration: 100}, Path: Path{BoundBy: c.bound, ByClass: c.classes}}
		if got := r.Bound(); got != c.want {
			t.Errorf("%v: %s, want %s", c.classes, got, c.want)
		}
	}
}

// TestBlind: where an annotation holds the path, the trace says no more than its name.
func TestBlind(t *testing.T) {
	cpu := func(h Hotspot) *Report {
		return &Report{Window: Window{Duration: 100}, Path: Path{BoundBy: "cpu"}, Hotspots: []Hotspot{h}}
	}
	for name, c := range map[string]struct {
		r    *Report
		want string
	}{
		"an annotation": {cpu(Hotspot{Name: "## backward ##", Readable: "## backward ##", ShareOfWindow: 0.83, marked: true}), "83.0 % of the window is ## backward ## itself: what ran or waited there was not recorded"},
		"little of it":  {cpu(Hotspot{Name: "## backward ##", ShareOfWindow: 0.19, marked: true}), ""},
		"an operator":   {cpu(Hotspot{Name: "aten::mm", ShareOfWindow: 0.83}), ""},
		"a collective":  {cpu(Hotspot{Name: "gloo:all_reduce", ShareOfWindow: 0.83, marked: true}), ""},
		"a loader":      {cpu(Hotspot{Name: "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", ShareOfWindow: 0.83, marked: true}), ""},
		"waiting beside collectives": {func() *Report {
			r := cpu(Hotspot{Name: "## backward ##", ShareOfWindow: 0.83, marked: true})
			r.Advice = &advise.Advice{Findings: []advise.Finding{{ID: "comm-exposed", Share: 0.84, Saw: "1 s waited beside 10 collectives"}}}
			return r
		}(), "most of it is waiting: 1 s waited beside 10 collectives"},
		"a little of such waiting": {func() *Report {
			r := cpu(Hotspot{Name: "aten::mm", ShareOfWindow: 0.5})
			r.Advice = &advise.Advice{Findings: []advise.Finding{{ID: "comm-exposed", Share: 0.4, Saw: "1 s waited beside 10 collectives"}}}
			return r
		}(), ""},
		"collectives of a device": {func() *Report {
			r := cpu(Hotspot{Name: "aten::mm", ShareOfWindow: 0.5})
			r.Path.ByClass = map[string]int64{"cpu": 51, "communication": 49}
			r.Advice = &advise.Advice{Findings: []advise.Finding{{ID: "comm-exposed", Share: 0.84, Saw: "5 collectives"}}}
			return r
		}(), ""},
		"work not recorded": {&Report{Window: Window{Duration: 100}, Path: Path{BoundBy: "gpu_compute", ByKind: map[string]int64{"gpu_unrecorded": 49}}}, "49.0 % of the window is GPU work"},
		"a little of such":  {&Report{Window: Window{Duration: 100}, Path: Path{BoundBy: "gpu_compute", ByKind: map[string]int64{"gpu_unrecorded": 19}}}, ""},
	} {
		if got := c.r.Blind(); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestWrapText: code that is longer than a line is broken behind a sign, and nothing of it is lost.
func TestWrapText(t *testing.T) {
	const code = "profile(experimental_config=torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True))"
	for _, width := range []int{30, 60, 90, 200} {
		lines := wrapText("record "+code, width)
		if got := strings.Join(lines, ""); strings.ReplaceAll(got, " ", "") != "record"+code {
			t.Errorf("%d columns: %q", width, lines)
		}
		for i, l := range lines {
			if len(l) > width || width == 60 && i == 1 && !strings.HasSuffix(l, ".") {
				t.Errorf("%d columns: line %q", width, l)
			}
		}
	}
	if got := fitting([]string{"GPU compute 66 %", "communication 15 %", "copy 13 %"}, 40); got != "GPU compute 66 %, communication 15 %" {
		t.Error(got)
	}
}

// TestRemains: without devices it is not said what an infinitely fast CPU leaves, which is nothing.
func TestRemains(t *testing.T) {
	for _, c := range []struct {
		floor int64
		want  string
	}{{0, "together: 50 ns of 100 ns remain"}, {30, "together: 50 ns of 100 ns remain; an infinitely fast CPU alone: 30 ns"}} {
		if got := remains(&advise.Advice{Window: 100, Together: 50, Floor: c.floor}); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

package overlay

import (
	"testing"

	"overlay/internal/analyses"
)

func TestAnalysisTracks(t *testing.T) {
	rows := []analyses.AddedRow{
		{Group: "Queue length", Name: "waiting", Unit: "ops", Points: []analyses.Point{{TS: 5, Value: 2}}},
		{Group: "GPU analysis", Name: "idle", Slices: []analyses.Slice{{Interval: analyses.Interval{Start: 3, End: 9}, Name: "host_wait"}}},
		{Group: "Queue length", Name: "outstanding", Unit: "ops", Points: []analyses.Point{{TS: 5, Value: 2}, {TS: 8}}},
	}
	got := analysisTracks(rows, 10, 0)
	if len(got) != 5 || got[0].Name != "Queue length" || got[1].Name != "GPU analysis" {
		t.Fatalf("%+v", got)
	}
	for i, parent := range map[int]int{2: 10, 3: 11, 4: 10} {
		if got[i].Parent != parent || got[i].Category != "critical_path_analysis" {
			t.Errorf("track %d: %+v", i, got[i])
		}
	}
	if p := got[2].Points; len(p) != 2 || p[1].Value != 0 || !got[2].Counter {
		t.Errorf("a counter does not end with 0: %+v", p)
	}
	if p := got[4].Points; len(p) != 2 {
		t.Errorf("a counter that ends with 0 ends twice: %+v", p)
	}
	if s := got[3].Slices[0]; s.Dur != 6 || s.Color == "" || got[3].Counter {
		t.Errorf("%+v", s)
	}
	if analysisTracks(nil, 10, 0) != nil {
		t.Error("a group without rows")
	}
}

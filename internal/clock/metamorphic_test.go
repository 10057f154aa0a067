package clock_test

import (
	"path/filepath"
	"slices"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/clock"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// moved returns a trace whose devices have another clock: one that is ahead by some ns, and drifts. The grain of times stays.
func moved(tr *trace.Trace, ahead int64, drift float64) *trace.Trace {
	x := *tr
	x.Events = slices.Clone(tr.Events)
	first, grain := int64(1)<<62, int64(1000)
	var device []*trace.Event
	for i := range x.Events {
		e := &x.Events[i]
		if (e.Kind.Device() || e.Kind == trace.DeviceMark) && e.Track != trace.NoTrack && e.Flags&trace.ClampedTS == 0 {
			device, first = append(device, e), min(first, e.Start)
			if e.Start%1000 != 0 {
				grain = 1
			}
		}
	}
	for _, e := range device {
		e.Start += (ahead + int64(drift*float64(e.Start-first))) / grain * grain
	}
	return &x
}

// classes is what the path is made of, in points of the window, with the corrections that led to it.
func classes(t *testing.T, tr *trace.Trace) (points map[critpath.Class]float64, list []clock.Correction) {
	g, err := graph.BuildEvents(tr, cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if g.Window.End <= g.Window.Start {
		t.Skip("nothing to analyse")
	}
	p, err := critpath.Exact(g)
	if err != nil {
		t.Fatal(err)
	}
	points = map[critpath.Class]float64{}
	for _, s := range p.Segments.List() {
		points[s.Kind.Class()] += 100 * float64(s.End-s.Start) / float64(p.Window.End-p.Window.Start)
	}
	return points, g.Clock
}

// TestClockOfRealTraces moves the clocks of devices in real traces, which changes no class by more than a point: either the clock is put
// right, or what depends on it is too little.
func TestClockOfRealTraces(t *testing.T) {
	t.Parallel()
	files := corpus.Find(t, "*.json.gz")
	if len(files) == 0 {
		t.Skip("no real traces at hand: set OVERLAY_CORPUS")
	}
	files = append(files, corpus.Demo(t))
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			tr, err := kineto.Parse(corpus.Text(t, file), file, kineto.Options{})
			if err != nil {
				t.Skip(err)
			}
			if testing.Short() && len(tr.Events) > 50_000 {
				t.Skip("large")
			}
			was, list := classes(t, tr)
			if len(list) > 0 {
				t.Errorf("corrected as it is: %+v", list)
			}
			for _, m := range []struct{ us, ppm float64 }{{50, 0}, {-50, 0}, {20, 0}, {-20, 0}, {0, 20}, {0, -20}} {
				is, list := classes(t, moved(tr, int64(m.us*1000), m.ppm*1e-6))
				for class := range critpath.NumClasses {
					if d := is[class] - was[class]; max(d, -d) > 1 {
						t.Errorf("clock moved by %v µs, %v ppm: %v from %.2f to %.2f points, corrected %+v", m.us, m.ppm, class, was[class], is[class], list)
					}
				}
			}
		})
	}
}

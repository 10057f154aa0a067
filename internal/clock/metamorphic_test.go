package clock_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/clock"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/inputs"
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

// clockIsOff are recordings in which the clock of a device is off as it is.
var clockIsOff = []string{"nsys-ai__two_gpus_before.sqlite/gpu0", "nsys-ai__two_gpus_after.sqlite/gpu0"}

// nothingTells are recordings that say too little of their clocks: no call that waits, or one, behind a single launch of a graph.
var nothingTells = []string{"TraceLens__jax_gemm_mi300.xplane.pb", "attention-gym__chunk_before_after.pftrace", "attention-gym__chunk_two_processes.pftrace"}

// TestClockOfRealTraces moves the clocks of devices in real traces, which changes no class by more than a point: either the clock is put
// right, or what depends on it is too little. Recordings of testdata/real have no device.
func TestClockOfRealTraces(t *testing.T) {
	t.Parallel()
	files := append(corpus.Find(t), corpus.Demo(t))
	world, err := filepath.Glob(filepath.Join(corpus.WorldDir(t), "*__*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, slices.DeleteFunc(world, func(file string) bool { return !corpus.Small(file) })...) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if slices.Contains(nothingTells, filepath.Base(file)) {
				t.Skip("nothing tells where its clocks are")
			}
			load := func(process string) (*trace.Trace, error) {
				return inputs.NewReader(nil, 1, kineto.Options{Process: process}).Load(file)
			}
			tr, err := load("")
			if several := (*kineto.Several)(nil); errors.As(err, &several) {
				for _, part := range several.Parts {
					t.Run(part.Name, func(t *testing.T) {
						if tr, err = load(part.PID); err != nil {
							t.Fatal(err)
						}
						moveClock(t, tr, slices.Contains(clockIsOff, filepath.Base(file)+"/"+part.Name))
					})
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			moveClock(t, tr, slices.Contains(clockIsOff, filepath.Base(file)))
		})
	}
}

func moveClock(t *testing.T, tr *trace.Trace, off bool) {
	if testing.Short() && len(tr.Events) > 50_000 {
		t.Skip("large")
	}
	if !slices.ContainsFunc(tr.Events, func(e trace.Event) bool { return e.Kind.Device() }) {
		t.Skip("nothing of a device")
	}
	was, list := classes(t, tr)
	if off != (len(list) > 0) {
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
}

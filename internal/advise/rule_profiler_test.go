package advise

import (
	"slices"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/vendors"
	"overlay/internal/whatif"
)

// TestProfilerCostNamesWhatWasRecorded: nobody is told to leave out what was not recorded.
func TestProfilerCostNamesWhatWasRecorded(t *testing.T) {
	for key, want := range map[string][]string{
		"":           {"compare a step with and without a profiler by the clock"},
		"Input Dims": {"record with record_shapes=False", "compare a step with and without a profiler by the clock"},
		oldStacks:    {"record with with_stack=False", "compare a step with and without a profiler by the clock"},
	} {
		s := newScene()
		for range 100 {
			e := s.op("aten::view", 1500, nothing)
			if key != "" {
				e.Arg(key, testtrace.Raw(`[[2]]`))
			}
			s.op("aten::relu", 8000, func() { s.launch("relu", 2000) })
		}
		tr := s.b.Parse(t)
		if f := adviseOn(t, tr).find("profiler-cost"); f == nil || !slices.Equal(f.Action, want) {
			t.Errorf("%s: %+v, want %v", key, f, want)
		}
		tr.Recorder = vendors.NsightSystems // what its records cost was not measured
		if f := adviseOn(t, tr).find("profiler-cost"); f != nil {
			t.Errorf("another profiler: %+v", f)
		}
	}
}

// Without the CPU nothing is left of what recording cost it: that window is asked once, for the run that was recorded and for the one that nobody
// records.
func TestWithoutCPURecordingCostsNothing(t *testing.T) {
	s := newScene()
	for range 100 {
		s.op("aten::view", 1500, nothing)
		s.op("aten::relu", 8000, func() { s.launch("relu", 2000) })
	}
	g, p := testtrace.Exact(t, s.b.Parse(t))
	e := &engine{run: newRun(g, p), model: whatif.New(g)}
	cost := e.result(profilerCost)
	if cost == nil || e.replay(cost.change.changes) >= e.replay() {
		t.Fatalf("recording costs nothing: %+v", cost)
	}
	if got, want := e.replay(cost.change.changes, e.noCPU()), e.replay(e.noCPU()); got != want {
		t.Errorf("%d ns without the CPU and what recording cost it, %d without the CPU", got, want)
	}
}

// What recording costs the thread that launches is not what it costs one of which hardly anything is recorded: without that one the loop is as fast as
// without the recording.
func TestRecordingOfTwoThreads(t *testing.T) {
	s := newScene()
	s.fedBy(2_000_000, true, func() {
		for range 100 {
			s.op("aten::view", 1500, nothing)
			s.op("aten::relu", 8000, func() { s.launch("relu", 2000) })
		}
	})
	g, p := testtrace.Exact(t, s.b.Parse(t))
	a := Find(g, p, func() *whatif.Model { return whatif.New(g) })
	if f := a.find("host-code"); f == nil || f.Share < 0.8 {
		t.Errorf("the thread that feeds gains %+v", f)
	}
}

func init() {
	ops := func(view, other int64) func(*scene) {
		return func(s *scene) {
			for range 100 {
				s.op("aten::view", view, nothing)
				s.op("aten::relu", other, func() { s.launch("relu", 2000) })
			}
		}
	}
	cases["profiler-cost"] = ruleCase{planted: []func(*scene){ops(1500, 8000)},
		alike: []func(*scene){
			ops(1500, 800_000), // too little beside what is done
			ops(20_000, 25_000),
			func(s *scene) { s.work(50) },
		}}
}

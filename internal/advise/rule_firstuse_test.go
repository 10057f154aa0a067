package advise

import (
	"fmt"
	"testing"

	"overlay/internal/testtrace"
)

func init() {
	run := func(cat, name string, launches bool, mark bool) func(*scene) {
		return func(s *scene) {
			for range 3 {
				e := s.slice(cat, name, 20_000_000, func() {
					if launches {
						s.work(10)
					}
				})
				if mark {
					s.mark(e)
				}
				s.work(30)
			}
		}
	}
	convolutions := func(tries int, sync string, mark bool) func(*scene) {
		return func(s *scene) {
			for i := range 4 {
				e := s.op("aten::cudnn_convolution", 4000, func() {
					for range tries {
						s.launch("conv_candidate", 300_000)
						s.sync(sync)
					}
					s.launch("conv", 100_000)
				})
				if mark && i < 4 {
					s.mark(e)
				}
				s.work(3)
			}
		}
	}
	cases["cold-start"] = ruleCase{
		planted: []func(*scene){func(s *scene) {
			s.mark(s.call("cudaMalloc", "", 30_000_000))
			s.work(100)
		}, func(s *scene) { // a call that blocks: it makes the context
			for _, ms := range []int64{300, 1, 1} {
				if e := s.call("cudaFree", "", ms*100_000); ms > 1 {
					s.mark(e)
				}
			}
			s.work(100)
		}, func(s *scene) { // graphs are captured
			s.work(10)
			s.mark(s.slice("python_function", "runner.py(9): capture_all", 1_000_000, func() {
				s.call("cudaStreamBeginCapture", "", 3000)
				s.small(50, 2000)
				s.call("cudaStreamEndCapture", "", 3000)
			}))
			s.work(10)
		}, func(s *scene) {
			s.work(10)
			s.call("hipStreamBeginCapture", "", 3000)
			s.mark(s.op("aten::mm", 2_000_000, nothing))
			s.call("hipStreamEndCapture", "", 3000)
			s.work(10)
		}, func(s *scene) { // an annotation says that a server captures
			s.work(10)
			s.mark(s.annotate("capture_8_PIECEWISE", 3_000_000, func() {
				s.call("cudaStreamBeginCapture", "", 3000)
				s.call("cudaStreamEndCapture", "", 3000)
			}))
			s.work(10)
		}, func(s *scene) { // frames that only begin a capture
			s.work(10)
			s.mark(s.slice("python_function", "torch/cuda/graphs.py(240): __enter__", 2_000_000, func() {
				s.slice("python_function", "torch/cuda/graphs.py(98): capture_begin", 5000, func() { s.call("cudaStreamBeginCapture", "", 3000) })
			}))
			s.mark(s.op("aten::mm", 2_000_000, nothing))
			s.call("cudaStreamEndCapture", "", 3000)
			s.work(10)
		}, func(s *scene) { // recording begins in a capture
			s.mark(s.op("aten::mm", 2_000_000, nothing))
			s.call("hipStreamEndCapture", "", 3000)
			s.work(10)
		}, func(s *scene) { // and ends in one
			s.work(10)
			s.call("hipStreamBeginCapture", "", 3000)
			s.mark(s.op("aten::mm", 2_000_000, nothing))
		}, func(s *scene) { // one capture after the other, each after a run that warms up
			s.work(10)
			for i := range 4 {
				if e := s.op("warm", 2_000_000, nothing); i > 0 {
					s.mark(e)
				}
				s.call("cudaStreamBeginCapture", "", 3000)
				s.call("cudaStreamEndCapture", "", 3000)
			}
			s.work(10)
		}, convolutions(15, "cudaEventSynchronize", true), run("user_annotation", "compile_fx_inner", false, true), run("python_function", "torch/_dynamo/convert_frame.py(812): _compile", false, true)},
		alike: []func(*scene){
			func(s *scene) { // slow all over the run
				for range 40 {
					s.call("cudaMalloc", "", 2_000_000)
					s.work(4)
				}
			},
			func(s *scene) { // what was captured runs before the next capture
				s.work(10)
				for range 4 {
					s.call("cudaStreamBeginCapture", "", 3000)
					s.call("cudaStreamEndCapture", "", 3000)
					s.op("aten::mm", 2_000_000, func() { s.call("cudaGraphLaunch", "", 6000) })
				}
				s.work(10)
			},
			func(s *scene) { // no record of where a capture began or ended, and what is launched runs
				s.work(1)
				s.op("aten::mm", 2_000_000, nothing)
				s.call("cudaStreamEndCapture", "", 3000)
				s.work(10)
				s.call("cudaStreamBeginCapture", "", 3000)
				s.op("aten::mm", 2_000_000, nothing)
				s.work(10)
			},
			func(s *scene) { // no call of the API
				s.call("customCall", "", 30_000_000)
				s.work(100)
			},
			convolutions(15, "cudaStreamSynchronize", false),
			run("cpu_op", "CompiledFunction", true, false), run("python_function", "torch/_inductor/output_code.py(465): __call__", true, false),
			run("user_annotation", "compile_fx_inner", true, false)},
	}
	versions := func(n, steps int, mark bool) func(*scene) {
		return func(s *scene) {
			for step := range steps {
				s.annotate(fmt.Sprintf("ProfilerStep#%d", step), 10_000, func() {
					if e := s.annotate(fmt.Sprintf("Torch-Compiled Region: 3/%d", step%n), 10_000, func() { s.work(2) }); mark {
						s.mark(e)
					}
				})
			}
		}
	}
	cases["recompiled"] = ruleCase{planted: []func(*scene){versions(4, 4, true)}, alike: []func(*scene){versions(1, 4, false), versions(2, 2, false)}}
}

// TestFirstUseIsNoGain: what happens once is taken from the base, and is no part of what all changes together gain. A window that holds
// hardly anything else says no more than that, but for one with steps that hold none of it.
func TestFirstUseIsNoGain(t *testing.T) {
	for name, c := range map[string]struct {
		first int64
		steps int
		gains bool
	}{"little": {2_000_000, 0, true}, "nearly all": {40_000_000, 0, false}, "nearly all, then steps": {40_000_000, 3, true}} {
		s := newScene()
		s.call("cudaFree", "", c.first)
		s.work(1)
		for i := range max(c.steps, 1) {
			loop := func() {
				for range 10 {
					s.work(1)
					s.waitIn("aten::item")
					s.hostOps(20)
				}
				s.work(1)
			}
			if c.steps == 0 {
				loop()
			} else {
				s.annotate(fmt.Sprintf("ProfilerStep#%d", i), 1000, loop)
			}
		}
		tr := s.b.Parse(t)
		a := adviseOn(t, tr)
		f := a.find(coldStart.id)
		if f == nil || f.Group != Measurement || a.BaseBy != coldStart.id || a.Base > a.Window-c.first+100_000 || a.Together > a.Base {
			t.Errorf("%s: base %d of %d, together %d: %+v", name, a.Base, a.Window, a.Together, f)
		}
		if got := len(a.Top(10)) > 0; got != c.gains {
			t.Errorf("%s: %v", name, a.ids())
		}
		if !c.gains && a.Together != a.Base {
			t.Errorf("%s: together %d of %d", name, a.Together, a.Base)
		}
	}
}

// TestNothingAfterTheLastLaunch: waits after the last kernel was launched cannot be had back.
func TestNothingAfterTheLastLaunch(t *testing.T) {
	s := newScene()
	s.work(20)
	for range 10 {
		s.waitIn("aten::item")
		s.hostOps(30)
	}
	g, p := testtrace.Exact(t, s.b.Parse(t))
	r := newRun(g, p)
	x := r.scenario()
	if len(r.waits) == 0 {
		t.Fatal("no waits")
	}
	if x.noWait(r.waits); len(x.changes) != 0 || x.atMost() != 0 {
		t.Errorf("%d waits after the last launch are taken away", len(r.waits))
	}
}

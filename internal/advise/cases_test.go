package advise

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"overlay/internal/testtrace"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// scene writes a training process event by event: a thread that launches, and a stream that runs what it launched.
type scene struct {
	b       *testtrace.Builder
	main    *testtrace.Thread
	stream  *testtrace.Stream
	host    int64 // where the thread is, ns
	gpu     int64 // until when the stream is busy
	corr    int64
	planted []trace.EventID
}

func newScene() *scene {
	b := testtrace.New()
	b.NoFlows = true // so that args can be added to operations
	return &scene{b: b, main: b.Thread(100, 100, "python"), stream: b.Stream(0, 7)}
}

func (s *scene) mark(e *testtrace.Event) { s.planted = append(s.planted, e.ID()) }

// op runs body in an operator that takes so much of its own before and after.
func (s *scene) op(name string, own int64, body func()) *testtrace.Event {
	return s.slice("cpu_op", name, own, body)
}

// slice is written after what it encloses.
func (s *scene) slice(cat, name string, own int64, body func()) *testtrace.Event {
	start := s.host
	s.host += own / 2
	body()
	s.host += own - own/2
	return s.b.Slice(cat, name, 100, 100, start, s.host-start)
}

func (s *scene) annotate(name string, own int64, body func()) *testtrace.Event {
	return s.slice("user_annotation", name, own, body)
}

func nothing() {}

// run puts an operation on the stream: after its launch, and after what is there.
func (s *scene) run(dur int64) (start int64) {
	start = max(s.host+2000, s.gpu+1000)
	s.gpu = start + dur
	return start
}

// launch launches a kernel.
func (s *scene) launch(name string, dur int64) *testtrace.Event {
	s.corr++
	s.main.Launch("cudaLaunchKernel", s.host, 5000, s.corr)
	start := s.run(dur)
	s.host += 5000
	return s.stream.Kernel(name, start, dur, s.corr)
}

// kernel is an operator with one kernel.
func (s *scene) kernel(op, name string, dur int64) { s.op(op, 4000, func() { s.launch(name, dur) }) }

// copy copies; a call that waits returns when the copy is over.
func (s *scene) copy(name string, bytes, dur int64, waits bool) *testtrace.Event {
	s.corr++
	start := s.run(dur)
	call := int64(6000)
	if waits {
		call = s.gpu + 4000 - s.host
	}
	s.main.Launch("cudaMemcpyAsync", s.host, call, s.corr)
	s.host += call
	return s.stream.Memcpy(name, start, dur, s.corr).Arg("bytes", bytes)
}

// sync waits for the stream.
func (s *scene) sync(call string) *testtrace.Event {
	s.corr++
	start := s.host
	s.host = max(s.gpu, start) + 5000
	return s.main.Call(call, start, s.host-start, s.corr)
}

// work is computation of a step that keeps the GPU busy: large kernels.
func (s *scene) work(n int) {
	for range n {
		s.kernel("aten::mm", "gemm", 100_000)
	}
}

// adviseOn is the advice on a trace.
func adviseOn(t testing.TB, tr *trace.Trace) *Advice {
	t.Helper()
	g, p := testtrace.Exact(t, tr)
	m := whatif.New(g)
	a := Find(m.Graph(), p, func() *whatif.Model { return m })
	var all []whatif.Change
	for i := range a.Findings {
		all = append(all, a.Findings[i].changes...)
	}
	earlier := newRun(m.Graph(), p).earlier
	if together := m.Window(&whatif.Scenario{Changes: all}); together != a.Together+earlier {
		t.Errorf("together %d remain of %v, want %d", a.Together, a.ids(), together)
	}
	return a
}

func (a *Advice) find(id string) *Finding {
	for i := range a.Findings {
		if a.Findings[i].ID == id {
			return &a.Findings[i]
		}
	}
	return nil
}

// ids are the findings in order.
func (a *Advice) ids() (list []string) {
	for i := range a.Findings {
		f := &a.Findings[i]
		list = append(list, fmt.Sprintf("%s %.1f%%", f.ID, 100*f.Share))
	}
	return list
}

// ruleCase is how a rule is tested.
type ruleCase struct{ planted, alike []func(*scene) }

// cases are, for each rule, runs in which its cause is planted, and runs that look alike and have another reason. What is
// planted is found with those events among its evidence; what looks alike is not found by that rule. A rule with a file of its own has
// its cases in the test beside it.
var cases = map[string]ruleCase{
	"data-no-workers": {
		planted: []func(*scene){func(s *scene) {
			for range 4 {
				s.mark(s.annotate(fetchName, 5_000_000, nothing))
				s.work(10)
			}
		}},
		alike: []func(*scene){
			func(s *scene) { // a worker would take as long
				for range 4 {
					s.annotate(fetchName, 1_000_000, nothing)
					s.work(2)
				}
			},
			func(s *scene) {
				for range 4 {
					s.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 5_000_000, nothing)
					s.work(10)
				}
			},
		},
	},
	"copy-pageable-h2d": {
		planted: []func(*scene){func(s *scene) { s.batches(testtrace.HtoDPageable, 8<<20, 4_000_000, true, true) }},
		alike: []func(*scene){
			func(s *scene) { s.batches(testtrace.HtoDPinned, 8<<20, 800_000, false, false) },
			func(s *scene) { s.batches(testtrace.HtoDPageable, 4<<10, 2_000, true, false) },
		},
	},
	"copy-d2h": {
		planted: []func(*scene){func(s *scene) { s.batches(testtrace.DtoHPageable, 8<<20, 4_000_000, true, true) }, func(s *scene) { // a mask, and then what does not hang on it
			for range 10 {
				s.work(1)
				s.op("aten::to", 4000, func() { s.mark(s.copy(testtrace.DtoHPageable, 512, 2000, true)) })
				s.hostOps(10)
			}
			s.work(1)
		}, func(s *scene) { s.images(testtrace.DtoHPageable, 4_000_000, true) }},
		alike: []func(*scene){func(s *scene) { // how much each rank sends
			for range 10 {
				s.work(1)
				s.op("aten::to", 4000, func() { s.copy(testtrace.DtoHPageable, 512, 2000, true) })
				s.launch("ncclDevKernel_SendRecv", 10_000)
				s.hostOps(10)
			}
			s.work(1)
		}, func(s *scene) { // the result of the whole run
			s.work(20)
			s.op("aten::copy_", 4000, func() { s.copy(testtrace.DtoHPageable, 8<<20, 4_000_000, true) })
		}, func(s *scene) { s.images(testtrace.DtoHPinned, 200_000, false) }},
	},
	"copy-h2d-exposed": {
		planted: []func(*scene){func(s *scene) { s.inLine(8<<20, 500_000) }},
		alike:   []func(*scene){func(s *scene) { s.inLine(8<<10, 1_000) }, func(s *scene) { s.images(testtrace.DtoHPinned, 200_000, false) }},
	},
	"host-code": {
		planted: []func(*scene){func(s *scene) {
			for range 5 {
				s.python(2_000_000, true)
			}
		}, func(s *scene) { s.fed(2_000_000, true) }},
		alike: []func(*scene){func(s *scene) { s.python(20_000, false) }, func(s *scene) { s.queue(2_000_000) }, func(s *scene) { s.fed(2_000_000, false) }},
	},
	"anomaly-mode": {
		planted: []func(*scene){func(s *scene) { s.backward(30, "aten::isnan", "aten::_is_any_true", "aten::item") }, func(s *scene) { s.backward(20, "aten::isnan", "aten::_is_any_true", "aten::item") }},
		alike: []func(*scene){func(s *scene) { s.backward(30, "aten::add_") }, func(s *scene) { // a loss or two that the program itself looks at
			s.backward(19, "aten::isnan", "aten::_is_any_true", "aten::item")
		}},
	},
	"sync-host-tensor": {
		planted: []func(*scene){func(s *scene) { s.values(60, true) }, func(s *scene) { s.values(10, true) }, func(s *scene) { s.fills(true) }},
		alike:   []func(*scene){func(s *scene) { s.values(10, false) }, func(s *scene) { s.fills(false) }, func(s *scene) { s.images(testtrace.HtoDPageable, 500_000, false) }},
	},
	"sync-python-condition": syncCase("aten::is_nonzero", true),
	"sync-item":             syncCase("aten::item", true),
	"sync-dynamic-size":     syncCase("aten::nonzero", true),
	"sync-explicit": {
		planted: []func(*scene){func(s *scene) {
			for range 10 {
				s.work(2)
				s.mark(s.sync("cudaDeviceSynchronize"))
				s.hostOps(10)
			}
			s.work(1)
		}},
		alike: []func(*scene){func(s *scene) { // what measures waits before and after
			s.hostOps(10)
			s.work(10)
			s.sync("cudaDeviceSynchronize")
			s.hostOps(10)
		}, (*scene).events, func(s *scene) { // what was copied is read next
			for range 10 {
				s.work(1)
				s.copy("Memcpy DtoH (Device -> Pinned)", 64, 1000, false)
				s.sync("cudaStreamSynchronize")
				s.hostOps(10)
			}
			s.work(1)
		}},
	},
	"optimizer-loop": {
		planted: []func(*scene){func(s *scene) { s.optimizer("SGD", "aten::add_", "add", 200, true) }, func(s *scene) { s.optimizerOnCPU("AdamW", "aten::addcdiv_", true) },
			func(s *scene) { s.optimizer("AdamW", "aten::_foreach_add_", "multi_tensor_apply_kernel", 60, true) }},
		alike: []func(*scene){
			func(s *scene) { s.optimizerOnCPU("AdamW", "aten::_fused_adamw_", false) },
			func(s *scene) { s.optimizerOnCPU("LBFGS", "aten::add_", false) }, // which has no fused form
			func(s *scene) { s.optimizer("FusedAdam", "aten::add_", "add", 200, false) },
			func(s *scene) {
				s.optimizer("Shampoo", "aten::_foreach_add_", "multi_tensor_apply_kernel", 60, false)
			},
			func(s *scene) {
				s.optimizer("AdamW", "aten::_fused_adamw_", "multi_tensor_apply_kernel", 60, false)
			},
			func(s *scene) { s.optimizer("SGD", "aten::add_", "add", 10, false) },
		},
	},
	"zero-grad": {
		planted: []func(*scene){func(s *scene) {
			for range 3 {
				s.work(3)
				s.mark(s.annotate("Optimizer.zero_grad#SGD.zero_grad", 20_000, func() {
					for range 60 {
						s.kernel("aten::zero_", "fill", 3000)
					}
				}))
			}
		}},
		alike: []func(*scene){func(s *scene) {
			for range 3 {
				s.work(3)
				s.annotate("Optimizer.zero_grad#SGD.zero_grad", 1_000_000, nothing)
			}
		}},
	},
	"attention-unfused": {
		planted: []func(*scene){func(s *scene) { s.attention("aten::bmm", "softmax_warp_forward") }},
		alike: []func(*scene){
			func(s *scene) { s.attention("aten::addmm", "softmax_warp_forward") },
			func(s *scene) { s.attention("aten::bmm", "cunn_SoftMaxForward<LogSoftMaxForwardEpilogue>") },
		},
	},
	"small-pieces": {
		planted: []func(*scene){func(s *scene) { s.loop(30, 5, false) }},
		alike:   []func(*scene){func(s *scene) { s.loop(30, 5, true) }, func(s *scene) { s.loop(7, 5, false) }, func(s *scene) { s.loop(10, 60, false) }},
	},
	"fp64": {
		planted: []func(*scene){
			func(s *scene) { s.kernels("aten::add", "upsample_bilinear2d_out_frame<double, double>", 30, true) },
			func(s *scene) { s.onCPU("double", true) },
		},
		alike: []func(*scene){func(s *scene) { s.kernels("aten::add", "reduce_kernel<double_opmath>", 30, false) }, func(s *scene) { s.onCPU("float", false) }},
	},
	"layout": {
		planted: []func(*scene){func(s *scene) { s.kernels("aten::cudnn_convolution", "cudnn::ops::nchwToNhwcKernel<half>", 30, true) },
			func(s *scene) { s.kernels("aten::_conv_depthwise2d", "conv_depthwise2d_forward_kernel", 30, true) }},
		alike: []func(*scene){
			func(s *scene) { s.kernels("aten::transpose", "batched_transpose_32x32", 30, false) },
			func(s *scene) {
				s.kernels("aten::miopen_convolution", "SubTensorOpWithScalar tensorTransform", 30, false)
			},
		},
	},
	"elementwise-chain": {
		planted: []func(*scene){func(s *scene) {
			for range 10 {
				s.work(1)
				for range 4 {
					s.op("aten::mul", 4000, func() { s.mark(s.launch("vectorized_elementwise_kernel", 30_000)) })
				}
			}
		}, func(s *scene) { // a norm in eager mode
			for range 10 {
				s.work(1)
				for _, op := range []string{"aten::pow", "aten::mean", "aten::rsqrt", "aten::mul"} {
					s.op(op, 4000, func() { s.mark(s.launch("vectorized_elementwise_kernel", 30_000)) })
				}
			}
		}},
		alike: []func(*scene){func(s *scene) {
			for range 10 {
				s.work(1)
				s.kernel("aten::mul", "vectorized_elementwise_kernel", 30_000)
			}
		}, func(s *scene) { s.optimizer("SGD", "aten::mul_", "vectorized_elementwise_kernel", 30, false) }, func(s *scene) { // no program of PyTorch: what to do means nothing there
			for range 10 {
				s.op("PjitFunction(step)", 20_000, func() {
					s.launch("gemm_fusion", 100_000)
					for range 4 {
						s.launch("vectorized_elementwise_kernel", 30_000)
					}
				})
			}
		}},
	},
	"graph-input-copies": {
		planted: []func(*scene){func(s *scene) { s.graphs("CompiledFunction", true) }},
		alike:   []func(*scene){func(s *scene) { s.graphs("forward", false) }},
	},
	"ddp-bucket-copies": {
		planted: []func(*scene){func(s *scene) { s.buckets(60, true) }},
		alike:   []func(*scene){func(s *scene) { s.buckets(10, false) }},
	},
	"comm-wait": {
		planted: []func(*scene){func(s *scene) { s.allReduce(20_000_000, 1<<20, true) }},
		alike: []func(*scene){
			func(s *scene) { s.allReduce(20_000_000, 1<<32, false) }, // as long as it needs
			func(s *scene) { s.allReduce(20_000_000, 0, false) },     // nobody knows
			func(s *scene) { // the first one waits for ranks whose recording began later
				s.work(20)
				s.kernel("c10d::allreduce_", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", 50_000_000)
				s.work(20)
			},
		},
	},
	"comm-exposed": {
		planted: []func(*scene){
			func(s *scene) { s.allReduce(20_000_000, 1<<32, true) },
			func(s *scene) { s.allToAll(20_000_000) },
			func(s *scene) { s.gloo(9_000_000) },
			func(s *scene) { s.norms("SyncBatchNorm") },
		},
		alike: []func(*scene){
			func(s *scene) { s.allReduce(20_000_000, 1<<20, false) }, // another rank is late: that cannot be hidden
			func(s *scene) { s.gloo(300_000) },
		},
	},
	"host-bound": {
		planted: []func(*scene){func(s *scene) { s.small(300, 2_000) }},
		alike:   []func(*scene){func(s *scene) { s.small(300, 60_000) }, func(s *scene) { s.python(20_000, false) }},
	},
	"slow-host-ops": {
		planted: []func(*scene){func(s *scene) { s.views(20_000, true) }},
		alike:   []func(*scene){func(s *scene) { s.views(2_000, false) }},
	},
	"unseen-time": {
		planted: []func(*scene){func(s *scene) {
			s.work(1)
			s.mark(s.annotate("my phase", 5_000_000, nothing))
			s.work(1)
		}},
		alike: []func(*scene){func(s *scene) {
			s.work(1)
			s.annotate(fetchName, 5_000_000, nothing)
			s.work(1)
		}},
	},
	"records-lost-launch": {
		planted: []func(*scene){func(s *scene) { s.lost(20, true) }},
		alike:   []func(*scene){func(s *scene) { s.lost(5, false) }},
	},
}

const fetchName = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

// TestCases: every rule finds its cause where it was planted, shows the planted events, and gains no more than the
// window; it is silent on what looks alike.
func TestCases(t *testing.T) {
	for _, r := range rules {
		c, ok := cases[r.id]
		if !ok || len(c.planted) == 0 || len(c.alike) == 0 {
			t.Errorf("%s: a rule needs a case in which its cause is planted, and one that looks alike", r.id)
		}
		for i, plant := range c.planted {
			s := newScene()
			plant(s)
			a := adviseOn(t, s.b.Parse(t))
			f := a.find(r.id)
			if f == nil {
				t.Errorf("%s: planted cause %d is not found: %v below %v", r.id, i, a.ids(), a.Below)
				continue
			}
			if r.kind != None && (f.Gain <= 0 || f.Gain > a.Window || f.Share < r.least()) {
				t.Errorf("%s: planted cause %d gains %d of %d", r.id, i, f.Gain, a.Window)
			}
			if f.Total < len(s.planted) || len(f.Action) == 0 || f.Title == "" || f.Cause == "" || f.Verify == "" || f.Do == "" || len(f.Numbers) == 0 {
				t.Errorf("%s: planted cause %d: evidence or action is missing: %+v", r.id, i, f)
			}
			if room := map[bool]int{true: 52, false: 59}[f.Group == Specific && f.Confidence != High]; f.Kind != None && utf8.RuneCountInString(f.Do) > room {
				t.Errorf("%s: what to do is cut on the first screen, where there is room for %d letters: %s", r.id, room, f.Do)
			}
			shown := map[trace.EventID]bool{}
			for _, e := range f.Events {
				shown[trace.EventID(e)] = true
			}
			for _, e := range s.planted[:min(len(s.planted), maxEvents)] {
				if !shown[e] && f.Total <= maxEvents {
					t.Errorf("%s: planted cause %d: event %d is not shown among %v", r.id, i, e, f.Events)
				}
			}
		}
		for i, plant := range c.alike {
			s := newScene()
			plant(s)
			if a := adviseOn(t, s.b.Parse(t)); a.find(r.id) != nil {
				t.Errorf("%s: found in look-alike %d: %v", r.id, i, a.ids())
			}
		}
	}
	if len(cases) != len(rules) {
		t.Errorf("%d cases for %d rules", len(cases), len(rules))
	}
}

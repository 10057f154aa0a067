package critpath_test

import (
	"slices"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/pathcheck"
	"overlay/internal/trace"
)

// flow links two threads by a forward-backward flow.
func (m *traceMaker) flow(from, to int64, start, end int64, id int64) {
	cat := uint16(m.sym("fwdbwd"))
	for _, e := range []trace.Event{
		{Start: start, Track: m.track(false, from), Ph: 's'},
		{Start: end, Track: m.track(false, to), Ph: 'f'},
	} {
		e.Cat, e.Name = cat, m.sym("fwdbwd")
		m.tr.SetCorr(&e, id)
		m.tr.Events = append(m.tr.Events, e)
	}
}

// twoWorkers is a process whose two threads take turns by chance; with a blocking frame the main thread really waits.
func twoWorkers(frame string, linked bool) *trace.Trace {
	const us = 1000
	m := newTraceMaker()
	m.add(trace.Python, 1, frame, 0, 6000*us, 0)
	for i := range int64(30) {
		t := i * 200 * us
		m.add(trace.CPUOp, 1, "aten::a", t, t+80*us, 0)
		m.add(trace.CPUOp, 2, "aten::b", t+90*us, t+190*us, 0)
	}
	if linked {
		m.flow(1, 2, 0, 90*us, 1)
	}
	return m.tr
}

// overlapping is a process whose forward and backward run at once: no GIL.
func overlapping() *trace.Trace {
	const us = 1000
	m := newTraceMaker()
	m.add(trace.Annotation, 1, "train", 0, 6000*us, 0)
	for i := range int64(30) {
		t := i * 200 * us
		m.add(trace.CPUOp, 1, "aten::a", t, t+150*us, 0)
		m.add(trace.CPUOp, 2, "aten::b", t+50*us, t+190*us, 0)
	}
	m.flow(1, 2, 0, 50*us, 1)
	return m.tr
}

// engine is a main thread that blocks in run_backward while the autograd thread works, without flows.
func engine() *trace.Trace {
	const us = 1000
	m := newTraceMaker()
	m.add(trace.Annotation, 1, "train", 0, 1000*us, 0)
	m.add(trace.CPUOp, 1, "aten::forward", 10*us, 200*us, 0)
	m.add(trace.Python, 1, "<built-in method run_backward of torch._C._EngineBase object at 0x7f>", 205*us, 700*us, 0)
	m.add(trace.CPUOp, 2, "autograd::engine::evaluate_function: X", 220*us, 690*us, 0)
	m.add(trace.CPUOp, 1, "aten::step", 710*us, 900*us, 0)
	return m.tr
}

// pool is engine whose autograd thread begins long before, in an annotation that does not say whether it waits.
func pool() *trace.Trace {
	const us = 1000
	m := newTraceMaker()
	m.add(trace.Annotation, 1, "train", 0, 1000*us, 0)
	m.add(trace.CPUOp, 1, "aten::forward", 10*us, 200*us, 0)
	m.add(trace.Python, 1, "<built-in method run_backward of torch._C._EngineBase object at 0x7f>", 205*us, 700*us, 0)
	m.add(trace.Annotation, 2, "worker", 100*us, 695*us, 0)
	m.add(trace.CPUOp, 2, "autograd::engine::evaluate_function: X", 250*us, 690*us, 0)
	m.add(trace.CPUOp, 1, "aten::step", 710*us, 900*us, 0)
	return m.tr
}

func TestThreadModes(t *testing.T) {
	for _, c := range []struct {
		name     string
		tr       *trace.Trace
		mode     cdg.ThreadMode
		want     cdg.ThreadMode
		handoffs bool
	}{
		{"threads that take turns are read by time", twoWorkers("train.py(1): step", false), cdg.ThreadsAuto, cdg.ThreadsGIL, true},
		{"explicit: taking turns proves nothing", twoWorkers("train.py(1): step", false), cdg.ThreadsExplicit, cdg.ThreadsExplicit, false},
		{"explicit: a frame that blocks waits", twoWorkers("<built-in method acquire of _thread.lock object at 0x7f>", false), cdg.ThreadsExplicit, cdg.ThreadsExplicit, true},
		{"explicit: a join waits", twoWorkers("threading.py(1115): join", false), cdg.ThreadsExplicit, cdg.ThreadsExplicit, true},
		{"explicit: flows link threads", twoWorkers("train.py(1): step", true), cdg.ThreadsExplicit, cdg.ThreadsExplicit, true},
		{"explicit: the engine's thread works while run_backward blocks", engine(), cdg.ThreadsExplicit, cdg.ThreadsExplicit, true},
		{"explicit: a thread of the engine waits in an annotation", pool(), cdg.ThreadsExplicit, cdg.ThreadsExplicit, true},
		{"linked threads that run at once have no GIL", overlapping(), cdg.ThreadsAuto, cdg.ThreadsExplicit, false},
		{"and are parallel when read by time", overlapping(), cdg.ThreadsGIL, cdg.ThreadsGIL, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := graph.Build(c.tr, cdg.Options{Threads: c.mode})
			if err != nil {
				t.Fatal(err)
			}
			p := testtrace.Path(t, g)
			if err := pathcheck.Check(p, g); err != nil {
				t.Fatal(err)
			}
			classes, err := critpath.ExactClasses(g, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := classes.Strip(p.Window.Start, p.Window.End), critpath.NewClassPieces(p).Strip(p.Window.Start, p.Window.End); !slices.Equal(got, want) {
				t.Errorf("classes %v, want %v", got, want)
			}
			handoffs := false
			for _, e := range p.Edges.List() {
				handoffs = handoffs || e.Type == critpath.HandoffEdge
			}
			if g.Threads != c.want || handoffs != c.handoffs {
				var sb strings.Builder
				pathcheck.WritePath(&sb, p, g)
				t.Errorf("threads %s, want %s; hand-offs %v, want %v\n%s", g.Threads, c.want, handoffs, c.handoffs, sb.String())
			}
		})
	}
}

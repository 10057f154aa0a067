package critpath_test

import (
	"fmt"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/pathcheck"
	"overlay/internal/trace"
)

// backward is a main thread that works in an annotation with 2 µs between most of its ops and 6 µs between the others, hands over to the autograd engine
// and goes on when that is done; around says that it does so in the annotation. As far as borders show, both hand-offs
// take as long.
func backward(around bool, ops int64, took int64) *trace.Trace {
	const us = 1000
	m := newTraceMaker()
	if t := ops * 50 * us; around {
		m.add(trace.Annotation, 1, "train", 0, 2000*us, 0)
	} else {
		m.add(trace.Annotation, 1, "forward", 0, t, 0)
		m.add(trace.Annotation, 1, "step", t+200*us+2*took, 2000*us, 0)
	}
	t := int64(0)
	for i := range ops {
		between := int64(2)
		if i >= ops*5/8 {
			between = 6
		}
		m.add(trace.CPUOp, 1, "aten::forward", t+between*us, t+50*us, 0)
		t += 50 * us
	}
	m.add(trace.CPUOp, 2, "autograd::engine::evaluate_function: X", t+took, t+took+200*us, 0)
	t += took + 200*us
	m.add(trace.CPUOp, 1, "aten::step", t+took, t+took+100*us, 0)
	return m.tr
}

// Around a hand-off a slice owns what it usually takes between two borders; without enough of that to measure, or
// without a slice, nothing.
func TestOwnTimeAroundHandoffs(t *testing.T) {
	for _, c := range []struct {
		name string
		tr   *trace.Trace
		mode cdg.ThreadMode
		want [6]int64 // of both hand-offs: own time before, the hand-off, own time after, µs
	}{
		{"both ends lie in an annotation", backward(true, 8, 24_000), cdg.ThreadsGIL, [6]int64{6, 18, 0, 0, 18, 6}},
		{"no more than leaves as much to the hand-off", backward(true, 8, 8_000), cdg.ThreadsGIL, [6]int64{4, 4, 0, 0, 4, 4}},
		{"too few pieces to tell", backward(true, 3, 24_000), cdg.ThreadsGIL, [6]int64{0, 24, 0, 0, 24, 0}},
		{"no slice that could own it", backward(false, 8, 24_000), cdg.ThreadsGIL, [6]int64{0, 24, 0, 0, 24, 0}},
		{"in frames that block nothing is done", engine(), cdg.ThreadsExplicit, [6]int64{0, 15, 0, 0, 10, 0}},
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
			var got []int64
			list := p.Segments.List()
			for i, s := range list {
				if s.Kind != critpath.HandoffDelay {
					continue
				}
				before, after := int64(0), int64(0)
				if x := &list[i-1]; x.Owned() && x.Evidence == cdg.ByAlignment {
					before = x.End - x.Start
				}
				if x := &list[i+1]; x.Owned() && x.Evidence == cdg.ByAlignment {
					after = x.End - x.Start
				}
				got = append(got, before/1000, (s.End-s.Start)/1000, after/1000)
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				var sb strings.Builder
				pathcheck.WritePath(&sb, p, g)
				t.Errorf("own time, hand-off, own time: %v, want %v\n%s", got, c.want, sb.String())
			}
			for _, e := range p.Edges.List() {
				if c.mode == cdg.ThreadsGIL && e.Type == critpath.HandoffEdge && c.tr.Name(e.To) == "train" {
					t.Error("an arrow goes to the annotation, which has no border there")
				}
			}
		})
	}
}

package advise

import (
	"bytes"
	"reflect"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestActsInRanges: however small the ranges are that processors look at, rules see the same.
func TestActsInRanges(t *testing.T) {
	var text bytes.Buffer
	if err := testtrace.Large(&text, 20_000, false); err != nil {
		t.Fatal(err)
	}
	tr := testtrace.Parse(t, text.Bytes())
	g, err := graph.Build(tr, cdg.Options{Annotation: "ProfilerStep", Instance: "1:2"})
	if err != nil {
		t.Fatal(err)
	}
	p := testtrace.Path(t, g)
	want := newRun(g, p)
	defer func(was int) { actsRange = was }(actsRange)
	actsRange = 10
	if len(g.Acts) < 4*len(tr.Syms) {
		t.Fatalf("%d activities and %d names are one range", len(g.Acts), len(tr.Syms))
	}
	got := newRun(g, p)
	for _, x := range []struct {
		what      string
		got, want any
	}{
		{"names", got.names, want.names}, {"first", got.first, want.first}, {"list", got.list, want.list}, {"ops", got.ops, want.ops},
		{"waits", got.waits, want.waits}, {"waited", got.waited, want.waited}, {"own", own(got), own(want)}, {"kinds", got.kinds, want.kinds}, {"launches", got.launches, want.launches},
	} {
		if !reflect.DeepEqual(x.got, x.want) {
			t.Errorf("other %s in small ranges", x.what)
		}
	}
	for a := range cdg.ActID(len(g.Acts)) {
		l := cdg.NoAct
		if call := tr.Launch(g.Acts[a].Event); call != trace.NoEvent && want.inside(a) {
			l = g.ActOf[call]
		}
		if want.launch(a) != l {
			t.Fatalf("activity %d was launched by %d, not %d", a, l, want.launch(a))
		}
	}
	if len(got.list) == 0 || len(got.list) == len(g.Acts) || len(got.ops) == 0 {
		t.Errorf("%d of %d activities, %d operations in the window", len(got.list), len(g.Acts), len(got.ops))
	}
}

// own lists what activities have of their own.
func own(r *run) []int64 {
	out := make([]int64, len(r.g.Acts))
	for a := range out {
		out[a] = r.own(cdg.ActID(a))
	}
	return out
}

// TestOwn: what activities of a window have of their own is what their pieces have in it, and what operations that start in it have.
func TestOwn(t *testing.T) {
	for _, made := range testtrace.Made(t) {
		g, p := testtrace.Exact(t, made.Trace)
		checkOwn(t, made.Name, g, newRun(g, p))
	}
	var text bytes.Buffer
	if err := testtrace.Large(&text, 20_000, false); err != nil {
		t.Fatal(err)
	}
	g, err := graph.Build(testtrace.Parse(t, text.Bytes()), cdg.Options{Annotation: "ProfilerStep", Instance: "1:2"})
	if err != nil {
		t.Fatal(err)
	}
	checkOwn(t, "two steps", g, newRun(g, testtrace.Path(t, g)))
}

func checkOwn(t *testing.T, name string, g *graph.Graph, r *run) {
	t.Helper()
	want := make([]int64, len(g.Acts))
	for _, l := range g.Lanes {
		for a := l.First; l.Stream && a < l.Limit; a++ {
			if act := &g.Acts[a]; act.Start >= g.Window.Start && act.Start < g.Window.End {
				want[a] = min(act.End, g.Window.End) - act.Start
			}
		}
	}
	for i, x := range g.Pieces {
		if x.Owner != cdg.NoAct {
			want[x.Owner] += max(0, min(g.Pieces[i+1].Start, g.Window.End)-max(x.Start, g.Window.Start))
		}
	}
	if got := own(r); !reflect.DeepEqual(got, want) {
		t.Errorf("%s: other own times", name)
	}
}

// TestWithinNested: what lies in slices inside each other counts as in the outer one.
func TestWithinNested(t *testing.T) {
	s := newScene()
	s.mark(s.op("aten::outer", 4000, func() { s.mark(s.op("aten::inner", 2000, func() { s.work(1) })) }))
	s.work(1)
	g, p := testtrace.Exact(t, s.b.Parse(t))
	r := newRun(g, p)
	inner, outer := g.ActOf[s.planted[0]], g.ActOf[s.planted[1]]
	in := r.within([]cdg.ActID{inner, outer})
	n := 0
	for a := range in {
		if o := in.by(cdg.ActID(a)); o == outer {
			n++
		} else if o != cdg.NoAct {
			t.Errorf("activity %d counts as in %d", a, o)
		}
	}
	if in.by(inner) != outer || n < 4 { // both slices, a call and its kernel
		t.Errorf("%d activities in the outer slice, the inner one in %d", n, in.by(inner))
	}
}

// TestCopyFromBefore: a window may begin while a copy runs that a call in it waits for.
func TestCopyFromBefore(t *testing.T) {
	s := newScene()
	s.copy(testtrace.HtoDPageable, 8<<20, 500_000, false)
	s.annotate("window", 1000, func() {
		s.op("aten::to", 2000, func() { s.sync("cudaStreamSynchronize") })
		s.work(3)
	})
	g, err := graph.Build(s.b.Parse(t), cdg.Options{Annotation: "window"})
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(g, testtrace.Path(t, g))
	if len(r.waits) == 0 || r.inside(r.waits[0].for_) {
		t.Fatalf("no wait for a copy from before: %+v", r.waits)
	}
	if n := r.recordedBytes(r.waits[0].for_); n != notSaid || len(r.byCause()) == 0 {
		t.Errorf("%d bytes", n)
	}
}

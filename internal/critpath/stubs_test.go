package critpath_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// stubTraces are traces with collectives: ranks of simulated jobs.
func stubTraces(t *testing.T) []*trace.Trace {
	var list []*trace.Trace
	for i, kind := range testtrace.JobKinds {
		j := testtrace.NewJob(testtrace.JobOptions{Kind: kind, Seed: uint64(70 + i), World: 8, Steps: 3})
		for _, r := range []int32{0, 5} {
			tr := testtrace.Parse(t, j.JSON(r))
			list = append(list, tr)
		}
	}
	return list
}

// collectives are the communication kernels of a graph by start.
func collectives(g *graph.Graph) []cdg.ActID {
	var ops []cdg.ActID
	for l := range g.Lanes {
		for a := g.Lanes[l].First; g.Lanes[l].Stream && a < g.Lanes[l].Limit; a++ {
			if vendors.IsCollective(g.Trace.Name(g.Acts[a].Event)) {
				ops = append(ops, a)
			}
		}
	}
	slices.SortFunc(ops, func(x, y cdg.ActID) int {
		if d := g.Acts[x].Start - g.Acts[y].Start; d != 0 {
			return int(min(max(d, -1), 1))
		}
		return int(x - y)
	})
	return ops
}

// TestStubs: without operations the one stub is the exact path. With some, each stub tiles from its start to its end, the
// ends lead back, and the walk over stubs and operations gives the classes of the exact path.
func TestStubs(t *testing.T) {
	all, joins := 0, 0
	for _, tr := range stubTraces(t) {
		g, p := testtrace.Exact(t, tr)
		var whole []critpath.Segment
		critpath.Stubs(g, nil, func(_ int, s *critpath.Segment) { whole = append(whole, *s) })
		slices.Reverse(whole)
		if d := cmp.Diff(p.Segments.List(), whole); d != "" {
			t.Fatalf("one stub is not the path: %.1000s", d)
		}
		ops := collectives(g)
		runs := make([][]critpath.Segment, len(ops)+1)
		stubs := critpath.Stubs(g, ops, func(i int, s *critpath.Segment) { runs[i] = append(runs[i], *s) })
		from := func(i int) int64 {
			if i == len(ops) {
				return g.Window.End
			}
			return g.Acts[ops[i]].Start
		}
		for i, b := range stubs {
			at := from(i)
			for _, s := range runs[i] {
				if s.End != at || s.Start >= s.End {
					t.Fatalf("stub %d: [%d, %d] below %d", i, s.Start, s.End, at)
				}
				at = s.Start
			}
			ok := at == b.At
			switch b.End {
			case critpath.AtStart:
				ok = ok && at <= g.Window.Start
			case critpath.AtOperation:
				ok = ok && g.Acts[ops[b.Ref]].Start < at && g.Acts[ops[b.Ref]].End >= at
			case critpath.AtStub:
				ok = ok && int(b.Ref) < i && from(int(b.Ref)) >= at
				joins++
			}
			if !ok {
				t.Fatalf("stub %d ends at %d: %+v", i, at, b)
			}
			all++
		}
		compareStrung(t, g, p, ops, stubs, runs, from)
	}
	if all < 500 || joins < 50 {
		t.Errorf("only %d stubs, %d joins", all, joins)
	}
}

// compareStrung walks over stubs and operations from the end of the window, and compares the time of each class with
// the path.
func compareStrung(t *testing.T, g *graph.Graph, p *critpath.Path, ops []cdg.ActID, stubs []critpath.Stub, runs [][]critpath.Segment, from func(int) int64) {
	var got [critpath.NumClasses]int64
	at, stub := g.Window.End, len(ops)
	for steps := 0; at > g.Window.Start; steps++ {
		if steps > 10*len(stubs) {
			t.Fatal("the walk over stubs does not end")
		}
		for _, s := range runs[stub] {
			if s.Start < at {
				got[s.Kind.Class()] += at - s.Start
				at = s.Start
			}
		}
		b := stubs[stub]
		stub = int(b.Ref)
		if b.End == critpath.AtOperation {
			got[critpath.ClassComm] += at - from(stub)
			at = max(from(stub), g.Window.Start)
		}
		if b.End == critpath.AtStart {
			break
		}
	}
	want := critpath.Breakdown(p).Class
	for c := range want {
		if d := got[c] - want[c]; max(d, -d)*200 > g.Window.End-g.Window.Start {
			t.Errorf("%v: %d over stubs, %d on the path", critpath.Class(c), got[c], want[c])
		}
	}
}

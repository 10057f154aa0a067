package hta

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestMade holds what must be true of the peer's graph and path on made traces, whole and in windows. The peer refuses
// some of them.
func TestMade(t *testing.T) {
	found := map[string]int{}
	count := func(name string, tr *trace.Trace, o Options) {
		g, err := Find(tr, o)
		if err != nil {
			found["refused"]++
			return
		}
		found["graphs"]++
		checkInvariants(t, fmt.Sprintf("%s %+v", name, o), g, found)
	}
	for _, m := range testtrace.Made(t) {
		count(m.Name, m.Trace, Options{First: -1})
		count(m.Name, m.Trace, Options{First: -1, KeepLastStep: true, ZeroLaunch: true, DataLoad: []string{"DataLoader", "aten::to"}})
		count(m.Name, m.Trace, Options{Annotation: "ProfilerStep", First: -1})
		count(m.Name, m.Trace, Options{Annotation: "ProfilerStep", First: 0, Last: 1, KeepLastStep: true})
		checkRows(t, m.Name, m.Trace)
	}
	for _, m := range testtrace.Odd(t) {
		count(m.Name, m.Trace, Options{First: -1})
	}
	t.Logf("%v", found)
	for _, what := range []string{"graphs", "refused", "cpu_bound", "data_loading", "gpu_compute_bound", "gpu_communication_bound", "gpu_kernel_kernel_overhead",
		"gpu_kernel_launch_overhead", critpath.OperatorEdge.String(), critpath.DependencyEdge.String(), critpath.LaunchDelayEdge.String(), critpath.KernelDelayEdge.String(), critpath.SyncDependencyEdge.String()} {
		if found[what] == 0 {
			t.Errorf("no made trace gives %s: the test has looked at nothing", what)
		}
	}
	if found["graphs"] < 50 {
		t.Errorf("only %d graphs", found["graphs"])
	}
}

// checkInvariants compares the path with a longest path that is found in another way, and everything that is made of it.
func checkInvariants(t *testing.T, name string, g *Graph, found map[string]int) {
	t.Helper()
	if !slices.IsSortedFunc(g.Nodes, func(a, b Node) int { return cmp.Compare(a.TS, b.TS) }) {
		t.Errorf("%s: nodes are not sorted by time", name)
	}
	used := map[int32]bool{}
	for i := range g.Edges {
		e := &g.Edges[i]
		found[e.Type.String()]++
		used[e.From], used[e.To] = true, true
		if e.GraphWeight != 0 && e.GraphWeight != e.Weight || e.GraphWeight < 0 {
			t.Errorf("%s: edge %+v", name, *e)
		}
	}
	if len(used) != g.Used {
		t.Errorf("%s: %d nodes used, edges name %d", name, g.Used, len(used))
	}
	if want := longest(t, g); g.Weight != want {
		t.Errorf("%s: a path of %d ns, the longest has %d", name, g.Weight, want)
	}
	var weight int64
	for i, id := range g.Path {
		e := &g.Edges[id]
		weight += e.GraphWeight
		if e.From != g.PathNode[i] || e.To != g.PathNode[i+1] {
			t.Fatalf("%s: edge %d of the path joins %d and %d, its nodes are %d and %d", name, i, e.From, e.To, g.PathNode[i], g.PathNode[i+1])
		}
	}
	if weight != g.Weight || len(g.PathNode) != len(g.Path)+1 {
		t.Errorf("%s: edges of the path weigh %d of %d", name, weight, g.Weight)
	}
	p := g.AsPath()
	at := p.Window.Start
	var covered int64
	for _, s := range p.Segments.List() {
		if s.Start < at || s.End <= s.Start || s.End > p.Window.End {
			t.Fatalf("%s: segment [%d, %d] after %d in a window to %d", name, s.Start, s.End, at, p.Window.End)
		}
		if s.Kind.Class() == critpath.ClassLaunch && s.Event != trace.NoEvent {
			t.Errorf("%s: a gap belongs to event %d", name, s.Event)
		}
		at = s.End
		covered += s.End - s.Start
	}
	if covered != p.Covered || p.Edges.Len() != len(g.Path) {
		t.Errorf("%s: segments sum to %d, covered are %d; %d edges of %d", name, covered, p.Covered, p.Edges.Len(), len(g.Path))
	}
	events := map[trace.EventID]bool{}
	for _, n := range g.PathNode {
		events[g.Nodes[n].Event] = true
	}
	for _, m := range p.Marks.All() {
		if !events[m.Event] {
			t.Errorf("%s: mark %+v", name, m)
		}
	}
	if p.Marks.Len() != len(events) {
		t.Errorf("%s: %d marks for %d events", name, p.Marks.Len(), len(events))
	}
	var sum, want int64
	for _, s := range g.Summary() {
		found[s.Name]++
		sum += s.NS
	}
	for _, id := range g.Path {
		if e := &g.Edges[id]; e.Type == critpath.OperatorEdge || e.Type == critpath.KernelDelayEdge || e.Type == critpath.LaunchDelayEdge {
			want += e.Weight
		}
	}
	if sum != want {
		t.Errorf("%s: the summary holds %d ns, the edges of the path %d", name, sum, want)
	}
}

// longest is the weight of the heaviest path, by relaxing nodes that have no edge left into them.
func longest(t *testing.T, g *Graph) (best int64) {
	t.Helper()
	into, dist := make([]int, len(g.Nodes)), make([]int64, len(g.Nodes))
	out := make([][]int, len(g.Nodes))
	for i := range g.Edges {
		into[g.Edges[i].To]++
		out[g.Edges[i].From] = append(out[g.Edges[i].From], i)
	}
	var ready []int32
	for n := range into {
		if into[n] == 0 {
			ready = append(ready, int32(n))
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		n := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		best = max(best, dist[n])
		for _, i := range out[n] {
			e := &g.Edges[i]
			dist[e.To] = max(dist[e.To], dist[n]+e.GraphWeight)
			if into[e.To]--; into[e.To] == 0 {
				ready = append(ready, e.To)
			}
		}
	}
	if done != len(g.Nodes) {
		t.Errorf("the graph has a cycle: %d of %d nodes sorted", done, len(g.Nodes))
	}
	return best
}

// checkRows: every operation with a launch has the correlation of it, and times are those of the event within what
// rounding to µs takes.
func checkRows(t *testing.T, name string, tr *trace.Trace) {
	t.Helper()
	partners := 0
	for _, r := range Rows(tr, true) {
		e := &tr.Events[r.Event]
		if d := r.TS - e.Start; d <= -1000 || d >= 1000 || r.TS+r.Dur > tr.End(e)+1000 {
			t.Errorf("%s: event %d [%d, %d] became [%d, %d]", name, r.Event, e.Start, tr.End(e), r.TS, r.TS+r.Dur)
		}
		if r.Partner != trace.NoEvent {
			partners++
			if tr.Corr(&tr.Events[r.Partner]) != r.Corr {
				t.Errorf("%s: events %d and %d are partners", name, r.Event, r.Partner)
			}
		}
	}
	if partners == 0 {
		t.Errorf("%s: no launch has an operation", name)
	}
}

func TestShort(t *testing.T) {
	for _, c := range [][2]string{
		{"gemm", "gemm"},
		{"void at::native::kernel<4, f<int> >(int, float*)", "at::native::kernel"},
		{"Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)"},
		{"ncclDevKernel_AllReduce(ncclDevComm*)", "ncclDevKernel_AllReduce"},
		{"(anonymous)", "(anonymous)"},
		{"operator->(x) y", "y"},
	} {
		if got := short(c[0]); got != c[1] {
			t.Errorf("%q is %q, want %q", c[0], got, c[1])
		}
	}
	for name, want := range map[string]bool{"ncclDevKernel": true, "hccl_x": true, "myncclKernel": true, "gemm": false} {
		if isComm(name) != want {
			t.Errorf("%s: communication is %t", name, !want)
		}
	}
}

package cdg_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
)

func build(t *testing.T, tr *trace.Trace) *graph.Graph {
	t.Helper()
	g := testtrace.Graph(t, tr)
	return g
}

// dependsOn lists the dependencies of an event by a rule: "position evidence".
func dependsOn(g *graph.Graph, e *testtrace.Event, rule cdg.Rule) []string {
	var out []string
	for _, dep := range g.Sources(g.ActOf[e.ID()]) {
		if dep.Rule == rule {
			out = append(out, fmt.Sprint(g.Acts[dep.From].Event, " ", dep.Evidence))
		}
	}
	return out
}

func wants(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, wanted %q", what, got, want)
	}
}

// TestCopyWaits: whether an asynchronous copy call waited follows from the kinds of memory, and without them from the
// times alone.
func TestCopyWaits(t *testing.T) {
	for _, c := range []struct {
		name, copyKind, src, dst string
		callEnd, opEnd           int64 // µs; the call begins at 0, the copy at 5
		waits                    string
		against                  int
	}{
		{"unknown, returned later", "", "", "", 30, 20, "aligned", 0},
		{"unknown, returned together", "", "", "", 20, 20, "aligned", 0},
		{"unknown, returned before", "", "", "", 19, 20, "", 0},
		{"no kinds of memory", "DtoH", "", "", 30, 20, "aligned", 0},
		{"unknown memory", "DtoH", "device", "unknown", 10, 20, "", 0},
		{"words of another", "s_1", "s_2", "s_3", 30, 20, "aligned", 0},
		{"to pageable", "DtoH", "device", "pageable", 30, 20, "api", 0},
		{"to pageable, returned before", "DtoH", "device", "pageable", 10, 20, "", 1},
		{"from pageable", "HtoD", "pageable", "device", 30, 20, "api", 0},
		{"from pageable, staged", "HtoD", "pageable", "device", 10, 20, "", 0},
		{"to pinned", "DtoH", "device", "pinned", 10, 20, "", 0},
		{"to pinned, returned later", "DtoH", "device", "pinned", 30, 20, "", 1},
		{"on the device", "DtoD", "device", "device", 30, 20, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := testtrace.New()
			call := b.Thread(1, 1, "").Launch("cudaMemcpyAsync", 0, c.callEnd*1000, 7)
			op := b.Slice("gpu_memcpy", "Memcpy", 0, 7, 5_000, c.opEnd*1000-5_000).Arg("device", 0).Arg("stream", 7).Arg("correlation", 7)
			if c.copyKind != "" {
				op.Arg("copy kind", c.copyKind)
			}
			if c.src != "" {
				op.Arg("src kind", c.src).Arg("dst kind", c.dst)
			}
			g := build(t, b.Parse(t))
			want := []string{fmt.Sprint(op.ID(), " ", c.waits)}
			if c.waits == "" {
				want = nil
			}
			wants(t, "waits", dependsOn(g, call, cdg.Sync), want...)
			if n := g.Quality["copy_kind_against_times"]; n != c.against {
				t.Errorf("%d kinds against times, wanted %d", n, c.against)
			}
		})
	}
}

// TestLanesForTheEye puts operations of three streams on one row. What follows what is decided by the streams: an
// operation that a lane took from stream 7, which has a row, belongs to what stays there.
func TestLanesForTheEye(t *testing.T) {
	b := testtrace.New()
	main := b.Thread(1, 1, "")
	lane := func(name string, stream, start, dur, corr int64) *testtrace.Event {
		return b.Slice("kernel", name, 0, 1000, start, dur).Arg("device", 0).Arg("stream", 1000).Arg("original_stream", stream).
			Arg("correlation", corr).Arg("graph node id", corr)
	}
	main.Launch("cudaGraphLaunch", 0, 4_000, 1)
	first := b.Stream(0, 7).Kernel("on7", 5_000, 10_000, 1)
	on7 := lane("moved from 7", 7, 16_000, 10_000, 1)
	on8 := lane("a", 8, 5_000, 30_000, 1)
	next8 := lane("b", 8, 36_000, 4_000, 1)
	on9 := lane("c", 9, 37_000, 5_000, 1)
	sync := main.Call("cudaStreamSynchronize", 10_000, 35_000, 2)
	b.Stream(0, 9).SyncRecord(testtrace.StreamSync, 10_000, 35_000, 2, -1, -1)
	tr := b.Parse(t)
	g := build(t, tr)
	wants(t, "on stream 7", dependsOn(g, on7, cdg.StreamOrder), fmt.Sprint(first.ID(), " stream"))
	wants(t, "first on stream 8", dependsOn(g, on8, cdg.StreamOrder))
	wants(t, "next on stream 8", dependsOn(g, next8, cdg.StreamOrder), fmt.Sprint(on8.ID(), " stream"))
	wants(t, "on stream 9", dependsOn(g, on9, cdg.StreamOrder))
	wants(t, "synchronisation of stream 9", dependsOn(g, sync, cdg.Sync), fmt.Sprint(on9.ID(), " sync_event"))
	p := testtrace.Path(t, g)
	for _, s := range p.Segments.List() {
		if s.Event != trace.NoEvent && s.Track != tr.Events[s.Event].Track {
			t.Errorf("segment of event %d lies on row %d, its event on %d", s.Event, s.Track, tr.Events[s.Event].Track)
		}
	}
}

// graphTrace is one graph launch on two streams: a, then an event that is recorded, then d behind it on the other
// stream; c ended closer to d's start, but no edge leads from it. The last operation is a callback behind d.
func graphTrace(edges bool) (b *testtrace.Builder, a, c, d, host *testtrace.Event) {
	b = testtrace.New()
	b.NoFlows = true
	b.Thread(1, 1, "").Launch("cudaGraphLaunch", 0, 4_000, 1)
	node := func(category, name string, stream, start, dur int64) *testtrace.Event {
		return b.Slice(category, name, 0, stream, start, dur).Arg("device", 0).Arg("stream", stream).Arg("correlation", 1).
			Arg("graph id", 3).Arg("graph node id", start)
	}
	a = node("kernel", "a", 7, 5_000, 20_000)
	c = node("kernel", "c", 9, 5_000, 22_000)
	node("graph_event_node", "EventRecord", 7, 25_500, 0)
	d = node("kernel", "d", 8, 28_000, 10_000)
	host = node("graph_host_node", "HostNode", 8, 40_000, 30_000)
	if !edges {
		return
	}
	id := int64(1) << 40
	edge := func(from, fromTS, to, toTS int64) {
		b.Element(fmt.Sprintf(`{"ph": "s", "id": %d, "pid": 0, "tid": %d, "ts": %d.%03d, "cat": "ac2g", "name": "ac2g"}`, id, from, fromTS/1000, fromTS%1000))
		b.Element(fmt.Sprintf(`{"ph": "f", "id": %d, "pid": 0, "tid": %d, "ts": %d.%03d, "cat": "ac2g", "name": "ac2g", "bp": "e"}`, id, to, toTS/1000, toTS%1000))
		id++
	}
	edge(7, 25_000, 7, 25_500)
	edge(7, 25_500, 8, 28_000)
	edge(8, 38_000, 8, 40_000)
	return
}

// TestGraphEdges: recorded edges decide, also through nodes without length; without them times do.
func TestGraphEdges(t *testing.T) {
	b, _, c, d, _ := graphTrace(false)
	wants(t, "by times", dependsOn(build(t, b.Parse(t)), d, cdg.GraphOrder), fmt.Sprint(c.ID(), " graph"))

	b, a, c, d, host := graphTrace(true)
	tr := b.Parse(t)
	if err := tracecheck.Check(tr); err != nil || len(tr.GraphEdges) != 3 {
		t.Fatalf("edges %v, %v", tr.GraphEdges, err)
	}
	g := build(t, tr)
	wants(t, "d", dependsOn(g, d, cdg.GraphOrder), fmt.Sprint(a.ID(), " graph"))
	wants(t, "a root", dependsOn(g, c, cdg.GraphOrder))
	wants(t, "the callback", dependsOn(g, host, cdg.GraphOrder), fmt.Sprint(d.ID(), " graph"))
	wants(t, "launch of the callback", dependsOn(g, host, cdg.Launch), "0 correlation")
	p := testtrace.Path(t, g)
	var path []string
	for _, s := range p.Segments.List() {
		if s.Owned() {
			path = append(path, tr.Name(s.Event)+" "+s.Kind.String())
		}
	}
	wants(t, "path", path, "a compute", "d compute", "HostNode cpu")
}

// TestWaitWithoutStream: a cuda_sync record that names only the record of the event, not its stream. The operation
// behind the wait followed what was put last before the record on the stream to which the recording thread launched.
func TestWaitWithoutStream(t *testing.T) {
	for _, named := range []bool{false, true} {
		b := testtrace.New()
		main := b.Thread(1, 1, "")
		compute, other, side := b.Stream(0, 7), b.Stream(0, 9), b.Stream(0, 20)
		main.Launch("cudaLaunchKernel", 0, 4_000, 1)
		source := compute.Kernel("source", 10_000, 100_000, 1)
		b.Thread(1, 2, "").Launch("cudaLaunchKernel", 6_000, 4_000, 2)
		other.Kernel("ends later", 12_000, 150_000, 2)
		main.Call("cudaEventRecord", 12_000, 1_000, 3)
		main.Call("cudaStreamWaitEvent", 14_000, 1_000, 4)
		waitOn := int64(-1)
		if named {
			waitOn = 7
		}
		side.SyncRecord(testtrace.StreamWaitEvent, 14_000, 1_000, 4, waitOn, 3)
		main.Launch("cudaLaunchKernel", 16_000, 4_000, 5)
		waiter := side.Kernel("waiter", 165_000, 10_000, 5)
		evidence := map[bool]string{false: "api", true: "sync_event"}[named]
		wants(t, "stream named "+fmt.Sprint(named), dependsOn(build(t, b.Parse(t)), waiter, cdg.EventWait), fmt.Sprint(source.ID(), " ", evidence))
	}
}

// TestSyncWithoutStream is the same for an event that the host waits for.
func TestSyncWithoutStream(t *testing.T) {
	b := testtrace.New()
	main := b.Thread(1, 1, "")
	main.Launch("cudaLaunchKernel", 0, 4_000, 1)
	b.Stream(0, 7).Kernel("before", 10_000, 40_000, 1)
	main.Launch("cudaLaunchKernel", 5_000, 1_000, 2)
	source := b.Stream(0, 20).Kernel("source", 10_000, 85_000, 2)
	main.Call("cudaEventRecord", 8_000, 1_000, 3)
	main.Launch("cudaLaunchKernel", 10_000, 1_000, 4)
	b.Stream(0, 7).Kernel("after", 51_000, 46_000, 4)
	sync := main.Call("cudaEventSynchronize", 12_000, 88_000, 5)
	b.Stream(0, -1).SyncRecord(testtrace.EventSync, 12_000, 88_000, 5, -1, 3)
	wants(t, "event", dependsOn(build(t, b.Parse(t)), sync, cdg.Sync), fmt.Sprint(source.ID(), " api"))
}

// TestCuspyHints: check says who wrote the trace.
func TestCuspyHints(t *testing.T) {
	b, _, _, _, _ := graphTrace(true)
	if hints := strings.Join(kineto.Inspect(b.Parse(t)).Hints, ", "); !strings.Contains(hints, "Cuspy") || !strings.Contains(hints, "recorded edges") {
		t.Errorf("hints %s", hints)
	}
}

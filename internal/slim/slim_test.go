package slim_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/overlay"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/slim"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestSlimFixPoint wants the same segments and hotspots from the slim form of a trace as from the whole.
func TestSlimFixPoint(t *testing.T) {
	testtrace.Subjects(t, func(t *testing.T, tr *trace.Trace) {
		g, p, ok := testtrace.Analyse(t, tr)
		if !ok {
			t.Skip("nothing to analyse")
		}
		ov := overlay.Annotate(g.Layout(), p, overlay.Options{Slim: true})
		slim.Cut(g, p, ov)
		out, st := write(t, tr, ov)
		cut := testtrace.Parse(t, out)
		rec, err := slim.ReadRecord(cut)
		if rec == nil {
			t.Fatal("no record in the slim trace:", err)
		}
		if rec.Method != "exact" || rec.Delays != g.Delays || rec.Window != g.Window {
			t.Errorf("record %+v, wanted %+v and %+v", rec, g.Window, g.Delays)
		}
		g2, err := graph.Build(cut, cdg.Options{Recorded: &rec.Recorded})
		if err != nil {
			t.Fatal(err)
		}
		p2 := testtrace.Path(t, g2)
		compare(t, "segments", segmentTexts(tr, p), segmentTexts(cut, p2))
		compare(t, "hotspots", hotspotTexts(g, p), hotspotTexts(g2, p2))

		ov2 := overlay.Annotate(g2.Layout(), p2, overlay.Options{Attrs: slim.Attrs(&rec.Recorded)})
		out2, _ := write(t, cut, ov2)
		again := testtrace.Parse(t, out2)
		if rec, err := slim.ReadRecord(again); rec == nil {
			t.Error("the record is lost when a slim trace is drawn on again:", err)
		}
		t.Logf("%d of %d events, %d KB of %d KB", st.Events, len(tr.Events), len(out)/1000, len(kineto.TextOf(tr).Src)/1000)
	})
}

func write(t *testing.T, tr *trace.Trace, ov *overlay.Drawing) ([]byte, chromejson.Stats) {
	t.Helper()
	var b bytes.Buffer
	st, err := chromejson.Write(&b, tr, ov)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), st
}

func segmentTexts(tr *trace.Trace, p *critpath.Path) []string {
	var out []string
	for _, s := range p.Segments.List() {
		name := ""
		if s.Owned() {
			name = tr.Name(s.Event)
		}
		out = append(out, fmt.Sprint(s.Start, " ", s.End, " ", s.Kind, " ", s.Evidence, " ", name))
	}
	return out
}

func hotspotTexts(g *graph.Graph, p *critpath.Path) []string {
	var out []string
	for _, h := range critpath.Hotspots(g, p) {
		h.Event = 0 // positions differ
		out = append(out, fmt.Sprintf("%+v", h))
	}
	return out
}

// compare shows the first difference only: the lists are long.
func compare(t *testing.T, what string, want, got []string) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Errorf("%s differ from %d on: %s", what, i, cmp.Diff(want[i], got[i]))
			return
		}
	}
	if len(want) != len(got) {
		t.Errorf("%s: %d, wanted %d", what, len(got), len(want))
	}
}

// TestSlimGraphEdges: a slim trace keeps the recorded edges of graphs, and gives the same path again.
func TestSlimGraphEdges(t *testing.T) {
	b := testtrace.New()
	b.NoFlows = true
	main := b.Thread(1, 1, "")
	id := int64(1) << 40
	for replay := range int64(5) {
		at, corr := 200_000*replay, replay+1
		main.Launch("cudaGraphLaunch", at, 4_000, corr)
		node := func(name string, stream, start, dur int64) {
			b.Slice("kernel", name, 0, stream, at+start, dur).Arg("device", 0).Arg("stream", stream).Arg("correlation", corr).Arg("graph node id", start)
		}
		node("a", 7, 5_000, 20_000)
		node("c", 9, 5_000, 22_000)
		node("d", 8, 28_000, 10_000)
		for _, f := range []struct {
			ph         string
			stream, ts int64
		}{{"s", 7, at + 25_000}, {"f", 8, at + 28_000}} {
			b.Element(fmt.Sprintf(`{"ph": %q, "id": %d, "pid": 0, "tid": %d, "ts": %d, "cat": "ac2g", "name": "ac2g", "bp": "e"}`, f.ph, id, f.stream, f.ts/1000))
		}
		id++
	}
	tr := b.Parse(t)
	if len(tr.GraphEdges) != 5 {
		t.Fatalf("edges %v", tr.GraphEdges)
	}
	g, p, _ := testtrace.Analyse(t, tr)
	ov := overlay.Annotate(g.Layout(), p, overlay.Options{Slim: true})
	slim.Cut(g, p, ov)
	out, _ := write(t, tr, ov)
	cut := testtrace.Parse(t, out)
	if len(cut.GraphEdges) == 0 {
		t.Error("no recorded edge in the slim trace")
	}
	rec, err := slim.ReadRecord(cut)
	if err != nil {
		t.Fatal(err)
	}
	g2, err := graph.Build(cut, cdg.Options{Recorded: &rec.Recorded})
	if err != nil {
		t.Fatal(err)
	}
	p2 := testtrace.Path(t, g2)
	compare(t, "segments", segmentTexts(tr, p), segmentTexts(cut, p2))
}

// TestKept: of a trace stays what is on the path, what encloses and launched it, and what the waits of the path followed from; nothing else.
func TestKept(t *testing.T) {
	for _, c := range []struct {
		what, want string
		add        func(b *testtrace.Builder, main *testtrace.Thread)
	}{
		{"a call that waits for a stream", "first, cudaLaunchKernel, cudaDeviceSynchronize, last, gemm, ", func(b *testtrace.Builder, main *testtrace.Thread) {
			main.Call("cudaDeviceSynchronize", 60_000, 2_940_000, 9)
			b.Stream(0, 8).Kernel("beside", 1_000_000, 10_000, 0)
		}},
		{"a stream that waits for another one: with the operation before", "first, cudaLaunchKernel, cudaEventRecord, launch of before, cudaStreamWaitEvent, launch of after, cudaDeviceSynchronize, before, after, last, gemm, ",
			func(b *testtrace.Builder, main *testtrace.Thread) {
				main.Call("cudaEventRecord", 41_000, 1_000, 2)
				main.Launch("launch of before", 43_000, 2_000, 3)
				main.Call("cudaStreamWaitEvent", 46_000, 1_000, 4)
				main.Launch("launch of after", 48_000, 2_000, 5)
				main.Call("cudaDeviceSynchronize", 60_000, 2_990_000, 9)
				s := b.Stream(0, 8)
				s.Kernel("before", 1_000_000, 10_000, 3)
				s.Kernel("after", 2_993_000, 50_000, 5)
			}},
	} {
		b := testtrace.New()
		main, other := b.Thread(1, 1, ""), b.Thread(1, 2, "")
		other.Op("idle op", 0, 1_000)
		other.Op("other op", 2_000_000, 5_000).Arg("Sequence number", 3)
		main.Op("first", 0, 20_000).Arg("Sequence number", 1)
		main.Launch("cudaLaunchKernel", 5_000, 5_000, 1)
		main.Op("hidden", 30_000, 10_000)
		c.add(b, main)
		main.Op("last", 3_100_000, 50_000)
		b.Stream(0, 7).Kernel("gemm", 12_000, 2_980_000, 1)
		tr := b.Parse(t)
		g, p, ok := testtrace.Analyse(t, tr)
		if !ok {
			t.Fatal("nothing to analyse")
		}
		ov := overlay.Annotate(g.Layout(), p, overlay.Options{Slim: true})
		slim.Cut(g, p, ov)
		kept := ""
		for i, keep := range ov.Keep {
			if keep && tr.Events[i].Ph == 'X' {
				kept += tr.Name(trace.EventID(i)) + ", "
			}
		}
		if kept != c.want {
			t.Errorf("%s: %s; want %s", c.what, kept, c.want)
		}
	}
}

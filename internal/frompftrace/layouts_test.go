package frompftrace_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/frompftrace"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/overlay"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/textcheck"
	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
)

// spool keeps the text in memory.
type spool struct{ b []byte }

func (s *spool) Write(p []byte) (int, error) { s.b = append(s.b, p...); return len(p), nil }
func (s *spool) Bytes() ([]byte, error)      { return s.b, nil }
func (s *spool) String() string              { return string(s.b) }
func pos(tr *trace.Trace, id trace.EventID) string {
	if id == trace.NoEvent {
		return "-"
	}
	return tr.Name(id)
}

func parse(t testing.TB, src []byte, o kineto.Options) *trace.Trace {
	t.Helper()
	tr, err := frompftrace.Parse(src, "t.pftrace", o, kineto.NewSink(&spool{}, o))
	if err != nil {
		t.Fatal(err)
	}
	if err := tracecheck.Check(tr); err != nil {
		t.Fatal(err)
	}
	if err := textcheck.Check(tr); err != nil {
		t.Fatal(err)
	}
	return tr
}

// solved is a trace with its path.
type solved struct {
	*trace.Trace
	g *graph.Graph
	p *critpath.Path
}

// solve skips traces in which there is nothing to compare.
func solve(t *testing.T, tr *trace.Trace) *solved {
	t.Helper()
	g, p, ok := testtrace.Analyse(t, tr)
	if !ok {
		t.Skip("nothing to analyse")
	}
	return &solved{tr, g, p}
}

// samePath wants the window, all segments and the time per class of two traces to be equal. It returns the second one solved.
func samePath(t *testing.T, want *solved, got *trace.Trace) *solved {
	t.Helper()
	g, p := want.g, want.p
	g2, p2, ok := testtrace.Analyse(t, got)
	if !ok {
		t.Fatal("nothing to analyse in the .pftrace")
	}
	if g.Window.Start != g2.Window.Start || g.Window.End != g2.Window.End {
		t.Errorf("window %d to %d, want %d to %d", g2.Window.Start, g2.Window.End, g.Window.Start, g.Window.End)
	}
	var sums, sums2 [critpath.NumClasses]int64
	line := func(tr *trace.Trace, s *critpath.Segment) string {
		return fmt.Sprintf("%d..%d %v %s", s.Start, s.End, s.Kind, pos(tr, s.Event))
	}
	differ := 0
	list, list2 := p.Segments.List(), p2.Segments.List()
	for i := range max(len(list), len(list2)) {
		var a, b string
		if i < len(list) {
			a = line(want.Trace, &list[i])
			sums[list[i].Kind.Class()] += list[i].End - list[i].Start
		}
		if i < len(list2) {
			b = line(got, &list2[i])
			sums2[list2[i].Kind.Class()] += list2[i].End - list2[i].Start
		}
		if a != b {
			if differ++; differ <= 3 {
				t.Errorf("segment %d: %s, want %s", i, b, a)
			}
		}
	}
	if sums != sums2 {
		t.Errorf("ns by class %v, want %v", sums2, sums)
	}
	for _, r := range got.Repairs {
		if !slices.ContainsFunc(want.Repairs, func(o trace.Repair) bool { return o.Reason == r.Reason }) {
			t.Errorf("repair %+v", r)
		}
	}
	return &solved{got, g2, p2}
}

// writable skips traces with events that the format has no place for, or that it has in another form: events before
// time 0; begins and ends of their own, which JSON's analysis passes over and which are slices here.
func writable(t *testing.T, tr *trace.Trace) {
	t.Helper()
	for i := range tr.Events {
		switch e := &tr.Events[i]; {
		case e.Start < 0:
			t.Skip("events before time 0")
		case e.Ph == 'B' && e.Kind.Host():
			t.Skip("events of begin and end")
		}
	}
}

// TestPyTorch: what PyTorch's exporter writes of a trace gives the path of the JSON, however numbers are packed and
// wherever rows are described.
func TestPyTorch(t *testing.T) {
	testtrace.Subjects(t, func(t *testing.T, tr *trace.Trace) {
		if tr.LaunchByFlow {
			t.Skip("launches are known by flows, which this exporter never wrote")
		}
		want := solve(t, tr)
		samePath(t, want, parse(t, testtrace.Pftrace(tr, testtrace.PftraceOptions{}), kineto.Options{}))
		samePath(t, want, parse(t, testtrace.Pftrace(tr, testtrace.PftraceOptions{Packed: true, Late: true}), kineto.Options{}))
	})
}

// TestLive: the same for programs that use Perfetto's SDK while they run.
func TestLive(t *testing.T) {
	testtrace.Subjects(t, func(t *testing.T, tr *trace.Trace) {
		writable(t, tr)
		if tr.LaunchByFlow {
			t.Skip("launches are known by flows, which this layout leaves out")
		}
		samePath(t, solve(t, tr), parse(t, testtrace.Pftrace(tr, testtrace.PftraceOptions{Layout: testtrace.Live}), kineto.Options{}))
	})
}

// TestOwn: the same for what this program writes, drawn or not. Drawing on it gives what drawing on the JSON gives.
func TestOwn(t *testing.T) {
	testtrace.Subjects(t, func(t *testing.T, tr *trace.Trace) {
		writable(t, tr)
		want := solve(t, tr)
		var plain, drawn bytes.Buffer
		if _, err := pftrace.Write(&plain, tr, nil); err != nil {
			t.Fatal(err)
		}
		samePath(t, want, parse(t, plain.Bytes(), kineto.Options{}))
		drawing := overlay.Annotate(want.g.Layout(), want.p, overlay.Options{})
		if _, err := pftrace.Write(&drawn, tr, drawing); err != nil {
			t.Fatal(err)
		}
		again := samePath(t, want, parse(t, drawn.Bytes(), kineto.Options{}))
		second := overlay.Annotate(again.g.Layout(), again.p, overlay.Options{})
		overlay.StripEarlier(again.Trace, second)
		for i := range again.Events {
			cat := again.Category(trace.EventID(i))
			if own := strings.HasPrefix(cat, "critical_path") || cat == "cdg"; own == (second.Keep == nil || second.Keep[i]) {
				t.Fatalf("event %d of category %q: kept %v", i, cat, !own)
			}
		}
		if a, b := critical(drawing, tr), critical(second, again.Trace); a == 0 || a != b {
			t.Errorf("%d events are critical, want %d", b, a)
		}
	})
}

// critical counts the events that are marked.
func critical(d *overlay.Drawing, tr *trace.Trace) (n int) {
	for i := range tr.Events {
		if m, ok := d.Marks.Of(trace.EventID(i)); ok && m.Critical() {
			n++
		}
	}
	return n
}

// TestWithoutNames: PyTorch's exporter does not say which way a copy goes. Then the path is that of the JSON of the same
// backend where that does not say so either.
func TestWithoutNames(t *testing.T) {
	for _, m := range testtrace.Made(t) {
		if m.Trace.LaunchByFlow || m.Name == "vendors" || strings.HasPrefix(m.Name, "cuspy_copies") && m.Name != "cuspy_copies_1" {
			continue // copies have names of their own, or kinds that the rewriting leaves alone
		}
		t.Run(m.Name, func(t *testing.T) {
			text, err := testtrace.Cuspy(kineto.TextOf(m.Trace).Src, testtrace.CuspyOptions{NoKinds: true})
			if err != nil {
				t.Skip(err)
			}
			tr := testtrace.Parse(t, text)
			samePath(t, solve(t, tr), parse(t, testtrace.Pftrace(tr, testtrace.PftraceOptions{NoNames: true}), kineto.Options{}))
		})
	}
}

// only is a trace with the events of some kinds, at their times.
func only(tr *trace.Trace, kinds ...trace.Kind) *trace.Trace {
	out := *tr
	out.Events, out.Wide, out.GraphEdges = nil, slices.Clip(tr.Wide), nil
	var of []trace.EventID
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Ph == 'X' && slices.Contains(kinds, e.Kind) {
			of = append(of, trace.EventID(i))
			out.Events = append(out.Events, out.Unlaunched(tr, trace.EventID(i)))
		}
	}
	out.Source = testtrace.Renumbered{Source: tr.Source, Of: of}
	out.LinkLaunches()
	return &out
}

// TestRocprof: calls, markers and operations in the layout of rocprofv3 give the path of the same events in JSON.
func TestRocprof(t *testing.T) {
	ran := 0
	testtrace.Subjects(t, func(t *testing.T, tr *trace.Trace) {
		if tr.LaunchByFlow {
			t.Skip("launches are known by flows")
		}
		tr = only(tr, trace.Runtime, trace.Annotation, trace.CPUOp, trace.Kernel, trace.Memcpy)
		if !oneProcess(tr) {
			t.Skip("not one process of calls: rocprofv3 describes its own alone")
		}
		ran++
		samePath(t, solve(t, tr), parse(t, testtrace.Pftrace(tr, testtrace.PftraceOptions{Layout: testtrace.Rocprof}), kineto.Options{}))
	})
	if ran < 5 {
		t.Errorf("only %d traces compared", ran)
	}
}

func oneProcess(tr *trace.Trace) bool {
	procs := map[trace.ProcID]bool{}
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Kind.Host() && e.Track != trace.NoTrack {
			procs[tr.Tracks[e.Track].Proc] = true
		}
	}
	return len(procs) == 1
}

// TestPyTorchFirst: the first version of the exporter wrote no categories; they are told by rows and arguments.
func TestPyTorchFirst(t *testing.T) {
	for _, m := range testtrace.Made(t) {
		if m.Name != "demo" {
			continue
		}
		tr := only(m.Trace, trace.Runtime, trace.CPUOp, trace.Kernel, trace.Memcpy, trace.Memset, trace.SyncRecord)
		got := parse(t, testtrace.Pftrace(tr, testtrace.PftraceOptions{Layout: testtrace.PyTorchFirst}), kineto.Options{})
		count := func(tr *trace.Trace) (n [trace.NumKinds]int) {
			for i := range tr.Events {
				if tr.Events[i].Ph == 'X' {
					n[tr.Events[i].Kind]++
				}
			}
			return n
		}
		if a, b := count(tr), count(got); a != b {
			t.Errorf("events by kind %v, want %v", b, a)
		}
	}
}

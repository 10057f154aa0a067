package overlay

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
	"overlay/internal/cdg/phases"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// tiny is a hand-made trace: a thread with step [op [launch]] and a sync call, and a stream with one kernel.
//
//	thread   |step0 .................... 0..1000|
//	           op 100..300, launch 200..260     sync 400..900
//	stream             kernel 300..850
func tiny() (*trace.Trace, *graph.Layout, *critpath.Path) {
	tr := &trace.Trace{Syms: []string{"", "user_annotation", "cpu_op", "cuda_runtime", "kernel", "ProfilerStep#7", "aten::add", "cudaLaunchKernel",
		"add_kernel", "cudaStreamSynchronize", "1", "7", "0"}, Rank: -1, Source: testtrace.Args{}}
	ev := func(cat uint16, name trace.Sym, kind trace.Kind, track trace.TrackID, start, end int64) {
		e := trace.Event{Start: start, Cat: cat, Name: name, Kind: kind, Track: track, Ph: 'X', Flags: trace.HasDur}
		tr.SetDur(&e, end-start)
		tr.Events = append(tr.Events, e)
	}
	ev(1, 5, trace.Annotation, 0, 0, 1000)
	ev(2, 6, trace.CPUOp, 0, 100, 300)
	ev(3, 7, trace.Runtime, 0, 200, 260)
	ev(3, 9, trace.Runtime, 0, 400, 900)
	ev(4, 8, trace.Kernel, 1, 300, 850)
	tr.Procs = []trace.Process{{PID: trace.Token{Raw: 10, Num: 1, IsNum: true}, Device: -1}, {PID: trace.Token{Raw: 12, IsNum: true}, Device: 0, IsDevice: true}}
	tr.Tracks = []trace.Track{{Proc: 0, Class: trace.HostThread, TID: trace.Token{Raw: 10, Num: 1, IsNum: true}, Stream: -1},
		{Proc: 1, Class: trace.DeviceStream, TID: trace.Token{Raw: 11, Num: 7, IsNum: true}, Stream: 7}}
	tr.SetLaunch(4, 2)

	y := &graph.Layout{Layout: &cdg.Layout{Trace: tr, Window: cdg.Window{Start: 0, End: 1000},
		Steps:  []cdg.Step{{Name: "ProfilerStep#7", Event: 0, Start: 0, End: 1000}},
		Lanes:  []cdg.Lane{{Track: 0, First: 0, Limit: 4}, {Track: 1, Proc: 1, Stream: true, Number: 7, First: 4, Limit: 5}},
		ActOf:  []cdg.ActID{0, 1, 2, 3, 4},
		Parent: []cdg.ActID{-1, 0, 1, 0, -1}},
		Aggregated: &nodes.Aggregated{Nodes: []nodes.Node{{Phase: phases.Forward, Lane: 0, Start: 0, End: 400, Busy: 400, Events: 3},
			{GPU: true, Phase: phases.Forward, Lane: 1, Start: 300, End: 850, Busy: 550, Events: 1}, {Phase: phases.Update, Lane: 0, Start: 400, End: 1000, Busy: 600, Events: 1, Sync: true}},
			NodeOf: []nodes.ID{0, 0, 0, 2, 1}},
	}
	for i, e := range tr.Events {
		y.Acts = append(y.Acts, cdg.Act{Start: e.Start, End: tr.End(&e), Event: trace.EventID(i), Lane: cdg.LaneID(e.Track)})
	}
	p := &critpath.Path{Method: "exact", Window: y.Window, Duration: 1000,
		Segments: critpath.SegmentsOf([]critpath.Segment{
			{Start: 0, End: 100, Event: 0, Track: 0, Kind: critpath.CPU},
			{Start: 100, End: 200, Event: 1, Track: 0, Kind: critpath.CPU},
			{Start: 200, End: 300, Event: trace.NoEvent, Track: 1, Kind: critpath.LaunchDelay, Evidence: cdg.ByCorrelation},
			{Start: 300, End: 850, Event: 4, Track: 1, Kind: critpath.Compute, Evidence: cdg.ByCorrelation},
			{Start: 850, End: 900, Event: 3, Track: 0, Kind: critpath.SyncWait, Evidence: cdg.ByAPI},
			{Start: 900, End: 1000, Event: 0, Track: 0, Kind: critpath.CPU}}),
		Edges: critpath.EdgesOf([]critpath.Edge{
			{From: 0, To: 1, Type: critpath.OperatorEdge, Row: true},
			{From: 1, To: 2, Type: critpath.OperatorEdge, Row: true},
			{From: 2, To: 4, Type: critpath.LaunchDelayEdge, Weight: 100, Evidence: cdg.ByCorrelation},
			{From: 4, To: 3, FromEnd: true, ToEnd: true, Type: critpath.SyncDependencyEdge, Evidence: cdg.ByAPI},
			{From: 3, To: 0, FromEnd: true, ToEnd: true, Type: critpath.OperatorEdge, Row: true}}),
		Marks: critpath.MarksOf([]critpath.Mark{{Event: 0, NS: 200, ID: 0, Next: -1}, {Event: 1, NS: 100, ID: 1, Next: 3}, {Event: 3, NS: 50, ID: 4, Next: 0}, {Event: 4, NS: 550, ID: 3, Next: 4}})}
	return tr, y, p
}

// overlayText prints an overlay for comparison.
func overlayText(ov *Drawing) string {
	var b strings.Builder
	for i := range ov.Marks.Events() {
		m, ok := ov.Marks.Of(trace.EventID(i))
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "mark %d", m.Event)
		if m.Critical() {
			fmt.Fprintf(&b, " ns=%d id=%d next=%d", m.NS, m.ID, m.Next)
		}
		fmt.Fprintf(&b, " total=%d node=%d\n", m.TotalNS, m.Node)
	}
	for i, t := range ov.Tracks {
		fmt.Fprintf(&b, "track %d %q in %d (%s)\n", i, t.Name, t.Parent, t.Category)
		for k := range t.Len() {
			s := t.Slice(k)
			fmt.Fprintf(&b, "  [%d, %d] %s | %s", s.Start, s.Start+s.Dur, s.Name, s.Color)
			for _, a := range s.Args {
				if a.IsStr {
					fmt.Fprintf(&b, " %s=%s", a.Key, a.Str)
				} else {
					fmt.Fprintf(&b, " %s=%d", a.Key, a.Int)
				}
			}
			b.WriteByte('\n')
		}
	}
	for _, a := range ov.Arrows {
		fmt.Fprintf(&b, "arrow %d(%v) -> %d(%v) %s %d inferred=%v\n", a.From, a.FromEnd, a.To, a.ToEnd, a.Type, a.Weight, a.Inferred)
	}
	for _, a := range ov.Attrs {
		if a.IsStr {
			fmt.Fprintf(&b, "%s=%s\n", a.Key, a.Str)
		} else {
			fmt.Fprintf(&b, "%s=%d\n", a.Key, a.Int)
		}
	}
	return b.String()
}

var update = flag.Bool("update", false, "rewrite golden texts")

func TestAnnotate(t *testing.T) {
	_, y, p := tiny()
	got := overlayText(Annotate(y, p, Options{Version: "1.0"}))
	const golden = "testdata/annotate.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

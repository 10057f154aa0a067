package cdg_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestRanges: however small the ranges are that processors look at, the graph is the same.
func TestRanges(t *testing.T) {
	made := testtrace.Made(t)
	traces := make([]*trace.Trace, 0, 2*len(made))
	for _, m := range made {
		traces = append(traces, m.Trace, shuffled(m.Trace))
	}
	var large bytes.Buffer // more delays than a spread is made of
	if err := testtrace.Large(&large, 20_000, false); err != nil {
		t.Fatal(err)
	}
	tr := testtrace.Parse(t, large.Bytes())
	for _, tr := range append(traces, tr) {
		sameInRanges(t, tr)
	}
}

// TestRangesOfTies: the same where many things begin and end together, calls launch several operations, and operations overlap.
func TestRangesOfTies(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := testtrace.New()
		draw := func(name string, most int) int { return rapid.IntRange(0, most).Draw(r, name) }
		for i := range rapid.IntRange(2, 30).Draw(r, "events") {
			start, dur := int64(draw("start", 12)), int64(draw("dur", 6))
			switch draw("kind", 4) {
			case 0:
				b.Slice("cuda_runtime", "cudaLaunchKernel", 1, int64(1+draw("thread", 1)), start, dur).Arg("correlation", 1+draw("call", 4))
			case 1:
				b.Slice("user_annotation", "ProfilerStep#1", 1, int64(1+draw("thread", 1)), start, dur)
			case 2:
				b.Slice("mtia_ccp_events", []string{"event_wait", "event_record"}[draw("mark", 1)], 0, 7, start, dur).Arg("seq_num", draw("seq", 2))
			default:
				b.Slice("kernel", "k"+string(rune('a'+i)), 0, int64(7+draw("stream", 1)), start, dur).Arg("correlation", 1+draw("call", 6)).Arg("stream", 7)
			}
		}
		sameInRanges(r, b.Parse(t))
	})
}

func sameInRanges(t testtrace.T, tr *trace.Trace) {
	want, err := cdg.Build(tr, cdg.Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, size := range []int{1, 3, 100} {
		back := cdg.SmallRanges(size)
		got, err := cdg.Build(tr, cdg.Options{})
		back()
		if err != nil {
			t.Fatalf("%v", err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: another graph in ranges of %d", tr.File, size)
		}
		if !reflect.DeepEqual(got.Holds(), want.Holds()) {
			t.Fatalf("%s: other holds in ranges of %d", tr.File, size)
		}
	}
}

// shuffled is a trace with its events in another order, so that rows are many runs.
func shuffled(tr *trace.Trace) *trace.Trace {
	of := rand.New(rand.NewPCG(1, 2)).Perm(len(tr.Events))
	at := make([]trace.EventID, len(of))
	other := *tr
	other.Events, other.Wide = make([]trace.Event, len(of)), slices.Clip(tr.Wide)
	other.Ext = slices.Clone(tr.Ext)
	from := make([]trace.EventID, len(of))
	for i, old := range of {
		from[i], at[old] = trace.EventID(old), trace.EventID(i)
		other.Events[i] = other.Unlaunched(tr, trace.EventID(old))
		if tr.Ext != nil {
			other.Ext[i] = tr.Ext[old]
		}
	}
	for i, old := range of {
		if l := tr.Launch(trace.EventID(old)); l != trace.NoEvent {
			other.SetLaunch(trace.EventID(i), at[l])
		}
	}
	other.GraphEdges = nil // they name positions
	other.Source = testtrace.Renumbered{Source: tr.Source, Of: from}
	return &other
}

// TestSortRuns: it sorts as a stable sort does, in ranges of any size.
func TestSortRuns(t *testing.T) {
	type item struct{ key, place int }
	rapid.Check(t, func(t *rapid.T) {
		defer cdg.SmallRanges(rapid.IntRange(1, 20).Draw(t, "range"))()
		keys := rapid.SliceOfN(rapid.IntRange(0, rapid.IntRange(0, 30).Draw(t, "keys")), 0, 80).Draw(t, "list")
		for at := 0; at < len(keys); { // sorted runs of some length
			to := min(len(keys), at+rapid.IntRange(1, 40).Draw(t, "run"))
			slices.Sort(keys[at:to])
			at = to
		}
		got := make([]item, len(keys))
		for i, k := range keys {
			got[i] = item{k, i}
		}
		want := slices.Clone(got)
		slices.SortStableFunc(want, func(x, y item) int { return cmp.Compare(x.key, y.key) })
		cdg.SortRuns(got, func(x, y *item) bool { return x.key < y.key })
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// TestCallsThatLaunchSeveral: of a call that launches several operations none tells how long a launch takes, the last one no more than the first.
func TestCallsThatLaunchSeveral(t *testing.T) {
	b := testtrace.New()
	for i := range int64(3) {
		b.Slice("cuda_runtime", "cudaLaunchKernel", 1, 1, 100_000*i, 5_000).Arg("correlation", int(1+i))
		b.Slice("kernel", "k", 0, 7, 100_000*i+10_000, 20_000).Arg("correlation", int(1+i)).Arg("stream", 7)
	}
	b.Slice("kernel", "second of a call", 0, 8, 240_000, 20_000).Arg("correlation", 3).Arg("stream", 8)
	g, err := cdg.Build(b.Parse(t), cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := g.Delays.Launch.Samples; n != 2 {
		t.Errorf("%d launches tell how long one takes, want 2", n)
	}
}

package critpath

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// TestTapes packs lists and reads them back, with holes, overlaps and events in any order: as a whole, one by one, and
// the segments from a time on.
func TestTapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 2, 100, 5000}).Draw(t, "number")
		wide := rapid.Int64Range(1, 1<<40)
		event := rapid.Map(rapid.Int32Range(-1, 1<<30), func(e int32) trace.EventID { return trace.EventID(e) })
		some := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Segment {
			return Segment{Start: rapid.Int64Range(-3, 50).Draw(t, "hole"), End: rapid.OneOf(rapid.Int64Range(1, 99), wide).Draw(t, "dur"), Event: event.Draw(t, "event"),
				Track: trace.TrackID(rapid.Int32Range(-1, 1<<20).Draw(t, "track")), Kind: SegmentKind(rapid.IntRange(0, int(NumSegmentKinds)-1).Draw(t, "kind")),
				Evidence: cdg.Evidence(rapid.IntRange(0, int(cdg.NumEvidence)-1).Draw(t, "evidence"))}
		}), 1, 40).Draw(t, "segments")
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Edge {
			return Edge{From: event.Draw(t, "from"), To: event.Draw(t, "to"), Weight: wide.Draw(t, "weight"), FromEnd: rapid.Bool().Draw(t, "from end"), ToEnd: rapid.Bool().Draw(t, "to end"),
				Row: rapid.Bool().Draw(t, "row"), Type: EdgeType(rapid.IntRange(0, int(NumEdgeTypes)-1).Draw(t, "type")), Evidence: cdg.Evidence(rapid.IntRange(0, int(cdg.NumEvidence)-1).Draw(t, "evidence"))}
		}), 1, 40).Draw(t, "edges")
		segments, edges := make([]Segment, n), make([]Edge, n)
		at := rapid.Int64Range(-1000, 1<<50).Draw(t, "begin")
		for i := range n {
			s := some[i%len(some)]
			s.Start += at
			s.End += max(at, s.Start)
			at, segments[i] = s.End, s
			edges[i] = steps[i%len(steps)]
			if i > 0 && i%3 > 0 {
				edges[i].From = edges[i-1].To // as on a path
			}
		}
		packed, chain := SegmentsOf(segments), EdgesOf(edges)
		if packed.Len() != n || !slices.Equal(packed.List(), segments) || chain.Len() != n || !slices.Equal(chain.List(), edges) {
			t.Fatal("other lists")
		}
		seen := 0
		for i, s := range packed.All() {
			if i != seen || *s != segments[i] {
				t.Fatalf("segment %d: %+v", i, *s)
			}
			seen++
		}
		for i, e := range chain.All() {
			if *e != edges[i] {
				t.Fatalf("edge %d: %+v", i, *e)
			}
			seen++
		}
		if seen != 2*n {
			t.Fatalf("%d visited of twice %d", seen, n)
		}
		if n == 0 {
			return
		}
		read := packed.Reader()
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, n-1), 1, 5).Draw(t, "numbers") {
			for k := i; k < min(i+3, n); k++ {
				if s := read(k); *s != segments[k] {
					t.Fatalf("segment %d: %+v", k, *s)
				}
			}
		}
		after := packed.After()
		for _, k := range rapid.SliceOfN(rapid.IntRange(0, n-1), 1, 5).Draw(t, "from") {
			next := k
			for i, s := range after(segments[k].End - 1) {
				if i != next || *s != segments[i] {
					t.Fatalf("after %d: segment %d, want %d: %+v", segments[k].End-1, i, next, *s)
				}
				next++
			}
			if next != n {
				t.Fatalf("after %d: ends before segment %d of %d", segments[k].End-1, next, n)
			}
		}
	})
}

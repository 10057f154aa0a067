package critpath

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/cdg"
	"overlay/internal/graph"
)

// TestStripTiles checks the strip: it tiles what it was made of, sums are kept, and little is short.
func TestStripTiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var segments []Segment
		at := int64(1000)
		for range rapid.IntRange(1, 200).Draw(t, "segments") {
			d := rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1, 5000)).Draw(t, "dur")
			segments = append(segments, Segment{Start: at, End: at + d, Kind: SegmentKind(rapid.IntRange(0, int(NumSegmentKinds)-1).Draw(t, "kind"))})
			at += d
		}
		p := &Path{Window: cdg.Window{Start: 1000, End: at}, Segments: SegmentsOf(segments)}
		total := Breakdown(p)
		var sum [NumClasses]int64
		next := int64(1000)
		runs := NewClassPieces(p).Strip(1000, at)
		for i, r := range runs {
			if r.Start != next || r.End <= r.Start {
				t.Fatalf("run %d is [%d, %d] after %d", i, r.Start, r.End, next)
			}
			next = r.End
			own := int64(0)
			for c := range r.NS {
				sum[c] += r.NS[c]
				own += r.NS[c]
			}
			if own != r.Dur() || BoundBy(&r.NS) != r.Class {
				t.Fatalf("run %d: %+v", i, r)
			}
		}
		if next != at || sum != total.Class {
			t.Fatalf("ends at %d of %d, sums %v of %v", next, at, sum, total.Class)
		}
		if len(runs) > 2*Smoothing+1 {
			t.Fatalf("%d runs", len(runs))
		}
	})
}

// TestStripAtOnce: segments smoothed as they come, holes between them, give the strip of pieces that were joined before.
func TestStripAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var segments []Segment
		at := int64(0)
		for range rapid.IntRange(0, 60).Draw(t, "segments") {
			at += max(0, rapid.Int64Range(-30, 30).Draw(t, "hole"))
			d := rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1, 5000)).Draw(t, "dur")
			segments = append(segments, Segment{Start: at, End: at + d, Kind: SegmentKind(rapid.IntRange(0, 3).Draw(t, "kind"))})
			at += d
		}
		p := &Path{Window: cdg.Window{Start: 0, End: at + rapid.Int64Range(1, 100).Draw(t, "rest")}, Segments: SegmentsOf(segments)}
		g := &graph.Graph{Graph: &cdg.Graph{Layout: &cdg.Layout{}}}
		want := NewClassPieces(p).Strip(p.Window.Start, p.Window.End)
		if got := OutlineOf(g, p).Strip; !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

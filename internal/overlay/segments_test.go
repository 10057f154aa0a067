package overlay

import (
	"fmt"
	"sync"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/trace"
)

// TestSegmentsSideBySide reads a row of many segments on several goroutines, each with a maker of its own.
func TestSegmentsSideBySide(t *testing.T) {
	const n = 50_000
	list := make([]critpath.Segment, n)
	for i := range list {
		list[i] = critpath.Segment{Start: int64(10 * i), End: int64(10 * (i + 1)), Event: trace.NoEvent, Track: trace.NoTrack, Kind: critpath.SegmentKind(i % int(critpath.NumSegmentKinds))}
	}
	p := &critpath.Path{Method: "exact", Segments: critpath.SegmentsOf(list)}
	track := segmentsTrack(&trace.Trace{}, p, nil, true)
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			m := track.Maker.ForOne()
			for k := range n {
				i := (k + g*n/4) % n
				start, dur := m.Span(i)
				var args [MaxArgs]Arg
				if c := m.Args(i, &args); start != list[i].Start || dur != 10 || c < 2 || args[0].Str != list[i].Kind.String() {
					t.Errorf("slice %d is [%d, +%d] %v", i, start, dur, args[:c])
					return
				}
			}
		})
	}
	group.Wait()
}

// TestCoveredSegments leaves out segments under earlier ones, and cuts what lies partly there.
func TestCoveredSegments(t *testing.T) {
	var list []critpath.Segment
	for _, s := range [][2]int64{{0, 10}, {10, 30}, {15, 20}, {25, 40}, {50, 60}, {40, 60}, {60, 61}} {
		list = append(list, critpath.Segment{Start: s[0], End: s[1], Event: trace.NoEvent, Track: trace.NoTrack})
	}
	p := &critpath.Path{Method: "hta", Segments: critpath.SegmentsOf(list)}
	track := segmentsTrack(&trace.Trace{}, p, nil, true)
	got := ""
	for i := range track.Len() {
		start, dur := track.Span(i)
		got += fmt.Sprintf("%d+%d ", start, dur)
	}
	if want := "0+10 10+20 30+10 50+10 60+1 "; got != want {
		t.Errorf("drawn are %s, want %s", got, want)
	}
}

package overlay

import (
	"fmt"
	"sync"
	"testing"

	"overlay/internal/cdg"
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

// TestAlikeSegments: segments have one number only where their args have the same keys and the same texts.
func TestAlikeSegments(t *testing.T) {
	var list []critpath.Segment
	for kind := range critpath.NumSegmentKinds {
		for evidence := range cdg.NumEvidence {
			for track := range trace.TrackID(4) { // the first of them is none
				for event := range trace.EventID(3) {
					at := int64(len(list))
					list = append(list, critpath.Segment{Start: at, End: at + 1, Event: event - 1, Track: track - 1, Kind: kind, Evidence: evidence})
				}
			}
		}
	}
	tr := &trace.Trace{Syms: []string{"", "1", "2", "3"}, Tracks: make([]trace.Track, 3), Procs: make([]trace.Process, 1)}
	for i := range tr.Tracks {
		tr.Tracks[i] = trace.Track{Class: trace.HostThread, TID: trace.Token{Raw: trace.Sym(i + 1)}}
	}
	marks := MarksOf(2, nil)
	for _, slim := range []bool{false, true} {
		m := segmentsTrack(tr, &critpath.Path{Method: "exact", Segments: critpath.SegmentsOf(list)}, &marks, slim).Maker.(Alike)
		texts, different := map[int]string{}, map[string]bool{}
		for i := range list {
			var args [MaxArgs]Arg
			text := ""
			for _, a := range args[:m.Args(i, &args)] {
				text += fmt.Sprintf("%s=%s %v, ", a.Key, a.Str, a.IsStr)
			}
			of := m.Alike(i)
			if was, ok := texts[of]; ok && was != text {
				t.Fatalf("slim %v: %d stands for %s and for %s", slim, of, was, text)
			}
			texts[of], different[text] = text, true
		}
		if want := int(critpath.NumSegmentKinds) * int(cdg.NumEvidence) * 4; len(different) < want {
			t.Errorf("slim %v: %d different texts, want at least %d", slim, len(different), want)
		}
	}
}

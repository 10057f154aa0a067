package pftrace

import (
	"math"
	"slices"
	"sort"

	"overlay/internal/analyses"
	"overlay/internal/overlay"
	"overlay/internal/par"
	"overlay/internal/perfetto"
)

// addOverlay adds the rows of the overlay, and its attributes.
func (w *writer) addOverlay(rows []perfetto.Track) {
	first := len(w.out.Tracks)
	for i := range rows {
		if rows[i].Parent >= 0 {
			rows[i].Parent += first
		}
	}
	w.out.Tracks = append(w.out.Tracks, rows...)
	if w.drawing != nil {
		for _, a := range w.drawing.Attrs {
			w.out.Attrs = append(w.out.Attrs, perfetto.Attr(a))
		}
	}
}

// addedRows turns added tracks into rows whose parents are among them. Of added rows, as of the input, only what comes after
// time 0 can be drawn; a slice across it and the value of a counter begin there.
func addedRows(tracks []overlay.Track) []perfetto.Track {
	rows := make([]perfetto.Track, len(tracks))
	par.Each(len(tracks), func(i int) {
		t := &tracks[i]
		rows[i] = perfetto.Track{Kind: perfetto.Row, Parent: t.Parent, Name: t.Name, Description: t.Description, Explicit: true, Order: int32(i)}
		out := &rows[i]
		if t.Counter {
			out.Kind = perfetto.Counter
			out.Unit = t.Unit
			if t.Parent >= 0 {
				out.ShareKey = tracks[t.Parent].Name // one axis for a group: its rows compare
			}
			out.Points = points(t.Points)
			return
		}
		out.Items = make([]perfetto.Item, 0, t.Len())
		for k := range t.Len() {
			start, dur := t.Span(k)
			if start < 0 {
				if dur += start; dur <= 0 {
					continue
				}
				start = 0
			}
			out.Items = append(out.Items, perfetto.Item{Start: start, Dur: dur, Ref: int32(k)})
		}
		out.Fill = func() func(*perfetto.Body, int32) { return fillAdded(t) }
	})
	return rows
}

// fillAdded returns what describes the slices of an added track, for one goroutine.
func fillAdded(t *overlay.Track) func(b *perfetto.Body, k int32) {
	if t.Maker == nil {
		return func(b *perfetto.Body, k int32) {
			fillEnds(t, b, k)
			s := &t.Slices[k]
			look(t, b, s.Name, s.Color)
			addArgs(b, s.Args)
		}
	}
	maker := t.Maker.ForOne()
	var args [overlay.MaxArgs]overlay.Arg
	var numbers []uint64
	alike, _ := maker.(overlay.Alike)
	programs := map[int]*perfetto.Program{} // by what is alike
	return func(b *perfetto.Body, k int32) {
		fillEnds(t, b, k)
		name, color := maker.Look(int(k))
		look(t, b, name, color)
		list := args[:maker.Args(int(k), &args)]
		if alike == nil {
			addArgs(b, list)
			return
		}
		numbers = numbers[:0]
		for i := range list {
			if a := &list[i]; !a.IsStr {
				numbers = append(numbers, uint64(a.Int))
			}
		}
		of := alike.Alike(int(k))
		if p := programs[of]; p == nil || !b.Play(p, numbers, nil) {
			programs[of] = record(b, list)
		}
	}
}

// fillEnds adds the ends of arrows on an added slice.
func fillEnds(t *overlay.Track, b *perfetto.Body, k int32) {
	if len(t.Ends) == 0 {
		return
	}
	i := sort.Search(len(t.Ends), func(i int) bool { return t.Ends[i].Slice >= k })
	for ; i < len(t.Ends) && t.Ends[i].Slice == k; i++ {
		b.Flow(uint64(t.Ends[i].ID))
	}
}

func look(t *overlay.Track, b *perfetto.Body, name, color string) {
	b.Name(name)
	if t.Category != "" {
		b.Category(t.Category)
	}
	if color != "" {
		b.Color(color)
	}
}

func addArgs(b *perfetto.Body, args []overlay.Arg) {
	for i := range args {
		if a := &args[i]; a.IsStr {
			b.Str(a.Key, a.Str)
		} else {
			b.Int(a.Key, a.Int)
		}
	}
}

// record adds args, and makes the program that adds others with the same texts.
func record(b *perfetto.Body, args []overlay.Arg) *perfetto.Program {
	p, n := &perfetto.Program{}, 0
	b.Record(p)
	for i := range args {
		if a := &args[i]; a.IsStr {
			b.Str(a.Key, a.Str)
		} else {
			b.IntHole(a.Key, uint64(a.Int), false, perfetto.Hole{First: n, Count: 1})
			n++
		}
	}
	b.Recorded()
	return p
}

func points(in []analyses.Point) []perfetto.Point {
	out := make([]perfetto.Point, 0, len(in))
	for _, pt := range in {
		v := perfetto.Point{TS: pt.TS, Float: pt.Value}
		if pt.Value == math.Trunc(pt.Value) && math.Abs(pt.Value) < 1<<53 {
			v.Int, v.IsInt = int64(pt.Value), true
		}
		out = append(out, v)
	}
	slices.SortStableFunc(out, func(a, b perfetto.Point) int {
		switch {
		case a.TS < b.TS:
			return -1
		case a.TS > b.TS:
			return 1
		}
		return 0
	})
	before := 0 // values before time 0
	for before < len(out) && out[before].TS < 0 {
		before++
	}
	if before > 0 && (before == len(out) || out[before].TS > 0) {
		before--
		out[before].TS = 0
	}
	return out[before:]
}

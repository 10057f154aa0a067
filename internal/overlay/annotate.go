package overlay

import (
	"overlay/internal/analyses"
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/kineto"
)

// Flows says which critical edges become arrows.
type Flows uint8

// The choices of --flows.
const (
	FlowsCritical Flows = iota // every critical edge, within the limits that keep the viewer usable
	FlowsAll                   // every critical edge, whatever it costs
	FlowsNone
)

// Options of Annotate. The zero value is the default.
type Options struct {
	Flows   Flows
	Plain   bool           // leave the colours of input slices alone
	Version string         // of the tool, for the attribute overlay.version
	Rows    []analyses.Row // of the analyses, drawn in groups of their own
	Scan    *Scan          // of the trace; nil: it is scanned when needed
}

// Annotate decides what to draw on a trace: marks on its events, added rows, arrows and attributes. What an earlier
// overlay left in the trace is left out. p must belong to the same trace; neither is changed.
func Annotate(y *cdg.Layout, p *critpath.Path, o Options) *Overlay {
	tr := y.Trace
	ov := &Overlay{Plain: o.Plain, scan: o.Scan}
	wait := kineto.Beside(func() {
		ov.Marks = newMarks(y, p)
		ov.Tracks = append(ov.Tracks, verdictTrack(y, p), segmentsTrack(tr, p, &ov.Marks))
		ov.Tracks = append(ov.Tracks, nodeTracks(y, p, len(ov.Tracks), 0)...)
		ov.Tracks = append(ov.Tracks, analysisTracks(o.Rows, len(ov.Tracks), 0)...)
	})
	StripEarlier(tr, ov)
	arrows, all := chooseArrows(y, ov.Keep, p, o.Flows)
	ov.Arrows = arrows
	wait()
	ov.Attrs = attributes(p, o, len(arrows), all-len(arrows))
	if rec := ReadRecord(tr); rec != nil { // what is drawn on a slim trace is one too
		ov.Attrs = append(ov.Attrs, recordAttrs(&rec.Recorded)...)
	}
	return ov
}

// Keys of attributes, in both formats.
const (
	attrBoundBy  = "overlay.bound_by"
	attrMethod   = "overlay.method"
	attrWindow   = "overlay.window_ns"
	attrStart    = "overlay.window_start_ns"
	attrEnd      = "overlay.window_end_ns"
	attrSegments = "overlay.path_segments"
	attrDrawn    = "overlay.flows_drawn"
	attrLeftOut  = "overlay.flows_left_out"
	attrVersion  = "overlay.version"
	attrPrefix   = "overlay."

	attrAnnotation = "overlay.annotation"
	attrInstance   = "overlay.instance"
)

// attributes tell from outside what an overlaid trace shows.
func attributes(p *critpath.Path, o Options, drawn, leftOut int) []Attr {
	total := critpath.Breakdown(p)
	w := p.Window
	attrs := []Attr{
		{Key: attrVersion, Str: o.Version, IsStr: true},
		{Key: attrMethod, Str: p.Method, IsStr: true},
		{Key: attrBoundBy, Str: critpath.BoundBy(&total.Class).String(), IsStr: true},
		{Key: attrWindow, Int: w.End - w.Start},
		{Key: attrStart, Int: w.Start},
		{Key: attrEnd, Int: w.End},
		{Key: attrSegments, Int: int64(len(p.Segments))},
		{Key: attrDrawn, Int: int64(drawn)},
		{Key: attrLeftOut, Int: int64(leftOut)},
	}
	if o.Version == "" {
		attrs = attrs[1:]
	}
	if w.Annotation != "" {
		attrs = append(attrs, Attr{Key: attrAnnotation, Str: w.Annotation, IsStr: true})
		if w.Instance != "" {
			attrs = append(attrs, Attr{Key: attrInstance, Str: w.Instance, IsStr: true})
		}
	}
	return attrs
}

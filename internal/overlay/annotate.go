package overlay

import (
	"overlay/internal/advise"
	"overlay/internal/analyses"
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/par"
	"overlay/internal/trace"
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
	Flows      Flows
	Plain      bool                // leave the colours of input slices alone
	GPUCompute bool                // operations of devices also for the viewer's table of kernels
	Version    string              // of the tool, for the attribute overlay.version
	Rows       []analyses.AddedRow // of the analyses, drawn in groups of their own
	Attrs      []Attr              // further attributes
	Ghosts     []Ghost             // simulated runs, drawn below the recorded path
	Advice     *advise.Advice      // findings, drawn where they apply; nil for none
	Stacks     *Stacks             // the path as samples of stacks; nil for none
	Slim       bool                // for a trace of the path and its context: no numbers that join records
}

// Annotate decides what to draw on a trace: marks on its events, added rows, arrows and attributes. What an earlier
// overlay left in the trace is left out. p must belong to the same trace; neither is changed.
func Annotate(y *graph.Layout, p *critpath.Path, o Options) *Drawing {
	tr := y.Trace
	drawing := &Drawing{Plain: o.Plain, GPUCompute: o.GPUCompute, Stacks: o.Stacks, Slim: o.Slim, places: cdg.PlacesIn(tr)}
	marked := par.Beside(func() { drawing.Marks = newMarks(y, p) })
	added := par.Beside(func() {
		drawing.Tracks = append(drawing.Tracks, verdictTrack(y, p, o.Advice), segmentsTrack(tr, p, &drawing.Marks, o.Slim)) // which reads the marks when it is written
		drawing.Tracks = append(drawing.Tracks, nodeTracks(y, p, len(drawing.Tracks), 0)...)
		drawing.Tracks = append(drawing.Tracks, analysisTracks(o.Rows, len(drawing.Tracks), 0)...)
		drawing.Tracks = append(drawing.Tracks, adviceTracks(tr, o.Advice, p.Window, len(drawing.Tracks), o.Slim)...)
		for i := range o.Ghosts {
			drawing.Tracks = append(drawing.Tracks, ghostTracks(y.Layout, &o.Ghosts[i], len(drawing.Tracks))...)
		}
	})
	StripEarlier(tr, drawing)
	arrows, all := chooseArrows(y, drawing.Keep, p, o.Flows)
	drawing.Arrows, drawing.LeftOut = arrows, all-len(arrows)
	added()
	marked()
	drawing.Attrs = append(attributes(p, o, len(arrows), drawing.LeftOut), o.Attrs...)
	return drawing
}

// AnnotateEvents decides what to draw on the events of a trace: marks of a path that runs through it now and then, and arrows
// where it does. It adds no rows. y is nil where the path does not run through the trace, and p with it.
func AnnotateEvents(tr *trace.Trace, y *graph.Layout, p *critpath.Path, o Options) *Drawing {
	drawing := &Drawing{Plain: o.Plain, Slim: o.Slim, Marks: MarksOf(len(tr.Events), nil), places: cdg.PlacesIn(tr)}
	StripEarlier(tr, drawing)
	if y == nil {
		return drawing
	}
	none := drawing.Marks.node
	drawing.Marks = newMarks(y, p)
	drawing.Marks.node = none // there are no rows of nodes to find
	arrows, all := chooseArrows(y, drawing.Keep, p, o.Flows)
	drawing.Arrows, drawing.LeftOut = arrows, all-len(arrows)
	return drawing
}

// attributes tell from outside what an overlaid trace shows.
func attributes(p *critpath.Path, o Options, drawn, leftOut int) []Attr {
	total := critpath.Breakdown(p)
	w := p.Window
	attrs := []Attr{
		{Key: AttrVersion, Str: o.Version, IsStr: true},
		{Key: AttrMethod, Str: p.Method, IsStr: true},
		{Key: AttrBoundBy, Str: critpath.BoundBy(&total.Class).String(), IsStr: true},
		{Key: AttrWindow, Int: w.End - w.Start},
		{Key: AttrStart, Int: w.Start},
		{Key: AttrEnd, Int: w.End},
		{Key: AttrSegments, Int: int64(p.Segments.Len())},
		{Key: AttrDrawn, Int: int64(drawn)},
		{Key: AttrLeftOut, Int: int64(leftOut)},
	}
	if o.Version == "" {
		attrs = attrs[1:]
	}
	if w.Annotation != "" {
		attrs = append(attrs, Attr{Key: AttrAnnotation, Str: w.Annotation, IsStr: true})
		if w.Instance != "" {
			attrs = append(attrs, Attr{Key: AttrInstance, Str: w.Instance, IsStr: true})
		}
	}
	return attrs
}

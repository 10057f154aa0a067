package critpath

import "overlay/internal/graph"

// Outline is what the segments of a path say as a whole. They are unpacked once for all of it.
type Outline struct {
	Strip []Piece    // the window from left to right, smoothed to 1/400 of it, with holes where the method explains nothing
	Steps []StepLine // see StepTable
	Gaps  []Gap      // what no event owns, most time first
}

// OutlineOf reads the segments of a path in a graph.
func OutlineOf(g *graph.Graph, p *Path) Outline {
	strip, steps, gaps := newStripper(p.Window.End-p.Window.Start), newStepper(g.Steps, p.Window), newGapper(g)
	pieces := newClassPiecer(p.Window, strip.add)
	for _, s := range p.Segments.All() {
		pieces.add(s)
		steps.add(s)
		gaps.add(s)
	}
	pieces.done()
	return Outline{strip.done(), steps.lines, gaps.done()}
}

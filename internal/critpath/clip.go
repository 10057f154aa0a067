package critpath

import "overlay/internal/graph"

// Clip is the part of a path between two times of its window, as a path of its own. Segments that cross a border are cut there, so the
// parts of a window that is divided have its time between them. Edges are left out: they belong to no part.
func (p *Path) Clip(g *graph.Graph, from, to int64) *Path {
	out := &Path{Method: p.Method, Window: p.Window, Duration: to - from, Quality: p.Quality}
	out.Window.Start, out.Window.End, out.Window.CarriedIn = from, to, 0
	var list []Segment
	for _, s := range p.Segments.After()(from) {
		if s.Start >= to {
			break
		}
		if s.End > from {
			cut := *s
			cut.Start, cut.End = max(s.Start, from), min(s.End, to)
			list = append(list, cut)
		}
	}
	out.Segments = SegmentsOf(list)
	out.mark(len(g.Trace.Events))
	return out
}

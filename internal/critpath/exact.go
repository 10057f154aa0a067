package critpath

import (
	"fmt"
	"maps"
	"slices"

	"overlay/internal/graph"
)

// Method finds the critical path of a graph.
type Method func(*graph.Graph) (*Path, error)

// Exact walks backward from the end of the window over what did happen: which activity was running at each point,
// and what released it. The segments tile the window. It fails only on an empty window and on a trace without any
// activity, whose window can come from the record of a slim trace.
func Exact(g *graph.Graph) (*Path, error) {
	w, err := walked(g, nil)
	if err != nil {
		return nil, err
	}
	p := &Path{Method: "exact", Window: g.Window, Segments: w.segs, Edges: w.eds, Quality: map[string]int{}, Duration: g.Window.End - g.Window.Start}
	maps.Copy(p.Quality, g.Quality)
	for reason, n := range w.quality {
		p.Quality[reason] += n
	}
	p.mark(len(g.Trace.Events))
	return p, nil
}

// ExactClasses is the path that Exact finds, of which only the class of its time is kept: no edges, and nothing by event.
func ExactClasses(g *graph.Graph) (*ClassPieces, error) {
	c := &ClassPieces{window: g.Window.End - g.Window.Start}
	_, err := walked(g, func(s *Segment) {
		class := s.Kind.Class()
		if n := len(c.pieces); n > 0 && c.pieces[n-1].class == class {
			c.pieces[n-1].start = s.Start
			return
		}
		c.pieces = append(c.pieces, classPiece{start: s.Start, end: s.End, class: class})
	})
	slices.Reverse(c.pieces)
	return c, err
}

// walked is a walker at the start of the window. sink takes the segments, the latest first; nil: the walker keeps them, and the edges.
func walked(g *graph.Graph, sink func(*Segment)) (*walker, error) {
	if g.Window.End <= g.Window.Start || len(g.Acts) == 0 {
		return nil, fmt.Errorf("critical path: the window holds no activity")
	}
	w := newWalker(g, g.Window.End)
	w.sink = sink
	w.start()
	for w.t > w.t0 {
		w.advance()
	}
	w.close()
	return w, nil
}

// advance takes one step back.
func (w *walker) advance() {
	before := w.t
	jumps := w.jumps
	if w.g.Lanes[w.lane].Stream {
		w.stepStream()
	} else {
		w.stepThread()
	}
	if w.t > before {
		panic("critpath: internal error: the walk went forward")
	}
	if w.t == before && w.jumps == jumps {
		panic("critpath: internal error: the walk stands still")
	}
	if w.t == before {
		if w.still++; w.still > 4*len(w.g.Lanes)+8 {
			w.giveUp()
		}
	} else {
		w.still = 0
	}
}

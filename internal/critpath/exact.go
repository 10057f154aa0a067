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

// ExactClasses is the path that Exact finds, of which only the class of its time is kept: no edges, and nothing by event. It is made in the
// room of an earlier one, which is over, or of nil.
func ExactClasses(g *graph.Graph, room *ClassPieces) (*ClassPieces, error) {
	c := &ClassPieces{window: g.Window.End - g.Window.Start}
	if room != nil {
		c.pieces = room.pieces[:0]
	}
	_, err := walked(g, c)
	slices.Reverse(c.pieces)
	return c, err
}

// walked is a walker at the start of the window. classes takes the classes of its time, the latest first; nil: the walker keeps segments and edges.
func walked(g *graph.Graph, classes *ClassPieces) (*walker, error) {
	if g.Window.End <= g.Window.Start || len(g.Acts) == 0 {
		return nil, fmt.Errorf("critical path: the window holds no activity")
	}
	w := newWalker(g, g.Window.End)
	w.classes = classes
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

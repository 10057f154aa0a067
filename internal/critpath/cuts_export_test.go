package critpath

import (
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/graph"
)

// CutShort has walks cut into stretches of so many activities, where two walks meet within so many steps, and marks held in few bits,
// until back is called.
func CutShort(acts, steps int) (back func()) {
	a, s, l := stretchActs, meetWithin, markLimit
	stretchActs, meetWithin, markLimit = acts, steps, 3000
	return func() { stretchActs, meetWithin, markLimit = a, s, l }
}

// Cuts is at how many places the exact walk of a graph is cut, and how many of them it comes through.
func Cuts(g *graph.Graph) (cut, held int) {
	list := cuts(g)
	return len(list) - 1, len(walk(g, list)) - 1
}

// ExactCutAt is the exact path, with its walk cut where the path need not come through: some steps after the start of each of
// some activities. held is how many of the cuts it did come through.
func ExactCutAt(g *graph.Graph, acts []cdg.ActID, steps int) (p *Path, cut, held int) {
	first := newWalker(g, g.Window.End)
	first.start()
	list := []stretch{{walker: first}}
	acts = slices.Clone(acts)
	slices.SortFunc(acts, func(x, y cdg.ActID) int { return int(min(max(g.Acts[y].Start-g.Acts[x].Start, -1), 1)) })
	for _, k := range acts {
		w := runUp(g, g.Acts[k].Start)
		if w.t <= w.t0 || w.t >= g.Window.End {
			continue
		}
		if w.lane = g.Acts[k].Lane; g.Lanes[w.lane].Stream {
			w.released(k)
		}
		for i := 0; i < steps && w.t > w.t0; i++ {
			w.advance()
		}
		if w.t <= w.t0 {
			continue
		}
		w.quality["met before the stretch begins"]++
		if s := w.begin(); s.walker != nil {
			list = append(list, s)
		}
	}
	walks := walk(g, list)
	return pathOf(g, walks), len(list) - 1, len(walks) - 1
}

// Kinds are the kinds of segment in which the events of the marks spend most of their time.
func (p *Path) Kinds() []SegmentKind { return p.kinds }

package overlay

import "overlay/internal/critpath"

// Stretch is a piece of the window with the class that holds most of it.
type Stretch struct {
	Start, End int64
	Class      critpath.Class
}

// Strip is the class row of the picture: the window smoothed to 1/400 of it. It has holes where the method explains
// nothing.
func Strip(p *critpath.Path) []Stretch {
	var out []Stretch
	for _, r := range smooth(classRuns(p), p.Window.End-p.Window.Start) {
		out = append(out, Stretch{r.start, r.end, r.class})
	}
	return out
}

package page

import (
	"io"

	"overlay/internal/flame"
	"overlay/internal/report"
)

// side is a bar of a difference.
type side struct {
	Label string
	Parts []report.Part
}

// WriteDifference writes a difference as one page that needs nothing else, with a flame graph of both paths where there is one.
func WriteDifference(w io.Writer, c *report.Compared, stacks *flame.Graph) error {
	var bars []side
	for i, s := range c.Sides {
		bars = append(bars, side{c.Labels[i], report.ClassParts(s.ByClass, s.Length, max(c.Sides[0].Length, c.Sides[1].Length))})
	}
	return write(w, "difference", struct {
		*report.Compared
		Bars  []side
		Flame *flameView
	}{c, bars, flameOf(stacks)})
}

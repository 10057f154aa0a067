package page

import (
	"fmt"
	"io"
	"strings"

	"overlay/internal/critpath"
	"overlay/internal/report"
	"overlay/internal/tables"
)

// The measures of the picture, in pixels.
const (
	svgWidth  = 760
	svgBar    = 28
	svgLeft   = 80 // where bars begin
	svgRight  = 90 // for the length behind a bar
	svgLegend = 20 // a line of the legend
	svgColumn = 170
)

// DrawDifference draws both paths as bars by class, to one scale, the one before on top, with a legend. It needs no font or style of the place
// where it is shown, and reads on light and dark ground.
func DrawDifference(w io.Writer, d *report.Compared) error {
	var b strings.Builder
	classes := report.ByTime(d.Sides[0].ByClass)
	for _, c := range report.ByTime(d.Sides[1].ByClass) {
		if _, ok := d.Sides[0].ByClass[c]; !ok {
			classes = append(classes, c)
		}
	}
	columns := (svgWidth - svgLeft) / svgColumn
	height := 2*(svgBar+10) + svgLegend*((len(classes)+columns-1)/columns) + 20
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13" role="img">`+"\n", svgWidth, height, svgWidth, height)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>text { fill: #1f2328 } @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }</style>\n", escaped.Replace(d.Verdict))
	longest := max(d.Sides[0].Length, d.Sides[1].Length, 1)
	for i, side := range d.Sides {
		y := 8 + i*(svgBar+10)
		fmt.Fprintf(&b, `<text x="0" y="%d">%s</text>`+"\n", y+19, d.Labels[i])
		var at int64
		for _, c := range classes {
			ns := side.ByClass[c]
			fmt.Fprintf(&b, `<rect x="%s" y="%d" width="%s" height="%d" fill="%s"><title>%s %s</title></rect>`+"\n",
				pixels(svgX(at, longest)), y, pixels(svgX(at+ns, longest)-svgX(at, longest)), svgBar, critpath.ClassNamed(c).Hex(), escaped.Replace(report.ClassWords(c)), tables.Duration(ns))
			at += ns
		}
		fmt.Fprintf(&b, `<text x="%s" y="%d">%s</text>`+"\n", pixels(svgX(at, longest)+6), y+19, tables.Duration(side.Length))
	}
	for i, c := range classes {
		x, y := svgLeft+i%columns*svgColumn, 2*(svgBar+10)+20+i/columns*svgLegend
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="12" height="12" fill="%s"/><text x="%d" y="%d">%s</text>`+"\n", x, y, critpath.ClassNamed(c).Hex(), x+18, y+11, escaped.Replace(report.ClassWords(c)))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// svgX is where a time lies on the scale of the bars.
func svgX(ns, longest int64) float64 {
	return svgLeft + float64(svgWidth-svgLeft-svgRight)*float64(ns)/float64(longest)
}

func pixels(x float64) string { return tables.Fixed(x, 1) }

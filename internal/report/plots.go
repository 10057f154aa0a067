package report

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"regexp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// hex are the colours of classes and phases: those that the viewer gives them.
var hex = map[string]string{"cpu": "#2d6288", "gpu_compute": "#398f6f", "communication": "#a13bcc", "copy": "#cdc757", "launch": "#f4ad90",
	"sync": "#7acef3", "handoff": "#488dde", "unexplained": "#e645bf", "untraced": "#795826"}

func rgb(name string) color.Color {
	var r, g, b uint8
	if _, err := fmt.Sscanf(hex[name], "#%02x%02x%02x", &r, &g, &b); err != nil {
		return color.RGBA{128, 128, 128, 255}
	}
	return color.RGBA{r, g, b, 255}
}

// ink is what plots draw text and axes with; the page replaces it by the colour of its text, which dark mode changes.
var ink = color.RGBA{1, 2, 3, 255}

func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.Transparent
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Label.TextStyle.Color, a.Tick.Color, a.Tick.Label.Color = ink, ink, ink, ink
		a.Tick.Label.Font.Size = 10
		a.Label.TextStyle.Font.Size = 10
	}
	p.Title.TextStyle.Color, p.Legend.TextStyle.Color = ink, ink
	return p
}

// maxBars is how many bars a plot holds before the middle is left out.
const maxBars = 24

// stepsPlot stacks the classes of each step, ms.
func (r *Report) stepsPlot() (template.HTML, error) {
	steps := r.Steps
	if len(steps) > maxBars {
		steps = append(slices.Clone(steps[:maxBars/2]), steps[len(steps)-maxBars/2:]...)
	}
	if len(steps) == 0 {
		return "", nil
	}
	p := newPlot()
	p.X.Label.Text = "ms"
	names := make([]string, len(steps))
	var below *plotter.BarChart
	for _, c := range classList {
		v := make(plotter.Values, len(steps))
		some := false
		for i := range steps {
			k := len(steps) - 1 - i // the first step on top
			v[k] = float64(steps[i].ByClass[c]) / 1e6
			names[k] = Shorten(plain(steps[i].Name), 22)
			some = some || v[k] > 0
		}
		if !some {
			continue
		}
		b, err := plotter.NewBarChart(v, 12)
		if err != nil {
			return "", err
		}
		b.Color, b.LineStyle.Width, b.Horizontal = rgb(c), 0, true
		if below != nil {
			b.StackOn(below)
		}
		below = b
		p.Add(b)
	}
	p.NominalY(names...)
	return svg(p, 17*vg.Length(len(steps))+60)
}

// hotspotsPlot shows the hotspots as bars, ms.
func (r *Report) hotspotsPlot() (template.HTML, error) {
	spots := r.Hotspots[:min(len(r.Hotspots), maxBars)]
	if len(spots) == 0 {
		return "", nil
	}
	p := newPlot()
	p.X.Label.Text = "ms on the critical path"
	names := make([]string, len(spots))
	for i := range spots {
		k := len(spots) - 1 - i
		names[k] = Shorten(plain(spots[i].Readable), 44)
		v := make(plotter.Values, len(spots))
		v[k] = float64(spots[i].NS) / 1e6
		b, err := plotter.NewBarChart(v, 12)
		if err != nil {
			return "", err
		}
		b.Color, b.LineStyle.Width, b.Horizontal = rgb(kindClass[spots[i].Kind]), 0, true
		p.Add(b)
	}
	p.NominalY(names...)
	return svg(p, 17*vg.Length(len(spots))+60)
}

// phasesPlot shows the busy time of the aggregated nodes by phase, ms.
func (r *Report) phasesPlot() (template.HTML, error) {
	var names []string
	var v plotter.Values
	for _, ph := range []string{"Other", "Update", "Communication", "Backward", "Loss", "Forward", "DataLoad"} {
		if ns := r.CDG.ByPhase[ph]; ns > 0 {
			names, v = append(names, ph), append(v, float64(ns)/1e6)
		}
	}
	if len(v) == 0 {
		return "", nil
	}
	p := newPlot()
	p.X.Label.Text = "ms busy, CPU and GPU"
	b, err := plotter.NewBarChart(v, 12)
	if err != nil {
		return "", err
	}
	b.Color, b.LineStyle.Width, b.Horizontal = rgb("handoff"), 0, true
	p.Add(b)
	p.NominalY(names...)
	return svg(p, 17*vg.Length(len(v))+60)
}

var (
	svgHead = regexp.MustCompile(`(?s)^.*?<svg`)
	svgSize = regexp.MustCompile(` width="[^"]*" height="[^"]*"`)
)

// svg renders a plot for the page: no prologue, as wide as its column, text in the colour of the page.
func svg(p *plot.Plot, height vg.Length) (template.HTML, error) {
	c := vgsvg.New(720, height)
	p.Draw(plotCanvas(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	s := svgHead.ReplaceAll(b.Bytes(), []byte("<svg"))
	s = replaceOnce(s, svgSize, nil)
	s = bytes.ReplaceAll(s, []byte("#010203"), []byte("currentColor"))
	return template.HTML(s), nil // vgsvg escapes the text that it writes
}

func replaceOnce(s []byte, re *regexp.Regexp, with []byte) []byte {
	if at := re.FindIndex(s); at != nil {
		return append(append(bytes.Clone(s[:at[0]]), with...), s[at[1]:]...)
	}
	return s
}

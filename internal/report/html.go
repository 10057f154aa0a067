package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"overlay/internal/critpath"
)

//go:embed page.html
var pageText string

// kindClass is the class of each segment kind.
var kindClass = map[string]string{}

func init() {
	for k := range critpath.NumSegmentKinds {
		kindClass[k.String()] = k.Class().String()
	}
}

func plotCanvas(c *vgsvg.Canvas) draw.Canvas { return draw.New(c) }

// page is the template; every value goes through its escaping.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"ms": MS, "percent": Percent, "share": share, "group": func(n int) string { return group(int64(n)) },
	"word":     func(c string) string { return classWords[c] },
	"color":    func(c string) template.CSS { return template.CSS(hex[c]) }, // of our own table
	"classes":  byTime,
	"short":    func(n int, s string) string { return Shorten(plain(s), n) },
	"readable": Readable,
	"add":      func(a, b int64) int64 { return a + b },
	"signed":   signed,
	"sub":      func(a, b int64) int64 { return a - b },
	"words":    func(s string) string { return strings.ReplaceAll(s, "_", " ") },
	"width":    func(x float64) template.CSS { return template.CSS(fmt.Sprintf("%.3f%%", 100*x)) },
}).Parse(pageText))

// maxRows is how many rows the long tables of the page hold.
const maxRows = 200

// WriteHTML writes the report as one page that needs nothing else: no network, no other file.
func (r *Report) WriteHTML(w io.Writer) error {
	p := struct {
		*Report
		StepsPlot, HotspotsPlot, PhasesPlot template.HTML
		Nodes                               []Node
		NodesLeft                           int
		StepRows                            []Step
		StepsLeft                           int
		Sections                            []section
	}{Report: r}
	var err error
	if p.StepsPlot, err = r.stepsPlot(); err != nil {
		return fmt.Errorf("plot of the steps: %w", err)
	}
	if p.HotspotsPlot, err = r.hotspotsPlot(); err != nil {
		return fmt.Errorf("plot of the hotspots: %w", err)
	}
	if p.PhasesPlot, err = r.phasesPlot(); err != nil {
		return fmt.Errorf("plot of the phases: %w", err)
	}
	p.Nodes = r.CDG.Nodes[:min(len(r.CDG.Nodes), maxRows)]
	p.NodesLeft = len(r.CDG.Nodes) - len(p.Nodes)
	p.StepRows = r.Steps[:min(len(r.Steps), maxRows)]
	p.StepsLeft = len(r.Steps) - len(p.StepRows)
	p.Sections = r.sections()
	return page.Execute(w, p)
}

// section is an analysis as a table of its own JSON.
type section struct {
	Name    string
	Columns []string
	Rows    [][]string
}

// sections lays the analyses out as tables, a row an entry, columns by the fields that hold one value.
func (r *Report) sections() []section {
	if r.Analyses == nil {
		return nil
	}
	raw, err := json.Marshal(r.Analyses)
	if err != nil {
		panic("report: internal error: " + err.Error())
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		panic("report: internal error: " + err.Error())
	}
	var out []section
	for _, name := range analysisNames() {
		part, ok := parts[name]
		if !ok {
			continue
		}
		if part[0] == '{' {
			part = append(append([]byte{'['}, part...), ']')
		}
		if s := tableOf(name, part); len(s.Rows) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// WriteHTML writes the difference as one page that needs nothing else.
func (d *Difference) WriteHTML(w io.Writer) error {
	p := struct {
		*Difference
		Verdict   string
		Sides     []*Report
		Longest   int64
		Spots     []Change
		SpotsLeft int
	}{Difference: d, Verdict: d.verdict(), Sides: []*Report{d.Before, d.After}, Longest: max(d.Window.Before, d.Window.After)}
	p.Spots = d.Hotspots[:min(len(d.Hotspots), maxRows)]
	p.SpotsLeft = len(d.Hotspots) - len(p.Spots)
	return page.ExecuteTemplate(w, "diff", p)
}

package page

import (
	"io"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// content is what the page shows.
type content struct {
	*report.Report
	shown
	Composition          []part
	PathKey              []keyEntry
	Findings             []finding
	Lanes                lanes
	StepGrid, LengthGrid grid
	StepNote             string
	HotspotGrid          grid
	GainGrid             grid
	UnknownGrids         []grid
	Cards                []card
	MethodGrids          []methodGrid
	PhaseGrid, NodeGrid  grid
}

// methodGrid is a table that one method has.
type methodGrid struct {
	Title string
	Grid  grid
}

// Rows are those of the table.
func (m methodGrid) Rows() [][]gridCell { return m.Grid.Rows }

// contentOf lays out the page.
func contentOf(r *report.Report) content {
	list := r.Tables()
	return content{Report: r, shown: list, Composition: classParts(r.Path.ByClass, r.Window.Duration, r.Window.Duration), PathKey: pathKey(r),
		Findings: findings(r, list), Lanes: windowLanes(r, list), StepGrid: stepGrid(r, list), LengthGrid: lengthGrid(r, list), StepNote: stepNote(r, list),
		HotspotGrid: hotspotGrid(list), GainGrid: gainGrid(list), UnknownGrids: unknownGrids(list, r.Names), Cards: cards(r), MethodGrids: methodGrids(list), PhaseGrid: phaseGrid(list), NodeGrid: nodeGrid(list)}
}

// WriteReport writes a report as one page that needs nothing else: no network, no other file.
func WriteReport(w io.Writer, r *report.Report) error {
	return page().ExecuteTemplate(w, "report", contentOf(r))
}

// methodGrids are the tables of the paper and of HTA.
func methodGrids(list []tables.Table) (out []methodGrid) {
	for _, side := range [...][2]string{{"ctda_cpu", "The paper's table, CPU"}, {"ctda_gpu", "The paper's table, GPU"}} {
		if t := tables.Find(list, side[0]); t != nil {
			out = append(out, methodGrid{side[1], makeGrid(t, maxRows, "names", named("name", "name"), wordsOf("category", "category"), bar(t, "duration_ns", "handoff"),
				figure(t, "duration", "duration_ns"), figure(t, "proportion", "proportion"), figure(t, "prop_in_total", "prop_in_total"))})
		}
	}
	if t := tables.Find(list, "hta"); t != nil {
		out = append(out, methodGrid{"HTA's summary", makeGrid(t, maxRows, "rows", label("bound by", func(l tables.Line) gridCell { return gridCell{Text: report.Words(l.Str("bound_by"))} }),
			bar(t, "ns", "handoff"), figure(t, "of the path's weight", "share"), figure(t, "time", "ns"))})
	}
	return out
}

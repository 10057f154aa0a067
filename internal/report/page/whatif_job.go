package page

import (
	"fmt"
	"io"
	"slices"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// WriteJobWhatIf writes the answers to what-if questions about a job as one page that needs nothing else.
func WriteJobWhatIf(w io.Writer, a *report.JobWhatIf) error {
	return write(w, "whatif", struct {
		*report.JobWhatIf
		Title, Lead string
		Sections    []report.Section
		Map         *heat
	}{a, a.Title(), a.Lead(), a.Sections(), eachMap(a)})
}

// eachMap is the map of what each rank, host or stage costs by steps, in the order of the table: those first that cost most. What each step costs is a single row.
func eachMap(w *report.JobWhatIf) *heat {
	if len(w.Parts) == 0 || len(w.Parts[0].Steps) < 2 {
		return nil
	}
	steps, asked, h := w.Parts[0].Steps, w.Parts, &heat{}
	every, heads, says := stepColumns(len(steps), func(i int) int64 { return steps[i].Step })
	h.Title, h.Heads = report.Sentence(says)+".", heads
	if w.Parts[0].Of == "step" {
		asked = []report.JobPart{{Name: "alone", Steps: slices.Clone(steps)}}
		for i := range steps {
			k := slices.IndexFunc(w.Parts, func(p report.JobPart) bool { return p.Name == fmt.Sprintf("step %d", steps[i].Step) })
			if asked[0].Steps[i].Costs = 0; k >= 0 {
				asked[0].Steps[i].Costs = w.Parts[k].Costs
			}
		}
	} else {
		h.Title += " What is late at the last collective of a step, and was not before, counts for that step."
	}
	costs, top := make([][]int64, len(asked)), int64(1)
	for i := range asked {
		costs[i] = make([]int64, len(heads))
		for k, s := range asked[i].Steps {
			costs[i][k/every] += s.Costs
		}
		top = max(top, slices.Max(costs[i]))
	}
	for i, row := range costs {
		r := heatRow{Label: report.Plain(asked[i].Name)}
		for c, ns := range row {
			r.Cells = append(r.Cells, heatCell{Of: tables.ShareOf(ns, top), Title: fmt.Sprintf("%s, step %d: %s", r.Label, steps[c*every].Step, tables.Duration(ns))})
		}
		h.Rows = append(h.Rows, r)
	}
	if h.Most = tables.Duration(top); w.LeftOut > 0 {
		h.Note = fmt.Sprintf("%s more have less excess and were not asked.", tables.Grouped(int64(w.LeftOut)))
	}
	return h
}

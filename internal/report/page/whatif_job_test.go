package page

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"overlay/internal/report"
)

// each are answers of what so many ranks cost, 1 µs a step more than the next each, the last of them nothing, in so many steps.
func each(of string, parts, steps int) *report.JobWhatIf {
	w := &report.JobWhatIf{Input: "job<1>"}
	for i := range parts {
		p := report.JobPart{Of: of, Name: fmt.Sprintf("%s %d", of, 7+i)}
		for k := range steps {
			p.Steps = append(p.Steps, report.JobPartStep{Step: int64(5 + k), Costs: int64(1000 * (parts - 1 - i))})
			p.Costs += p.Steps[k].Costs
		}
		w.Parts = append(w.Parts, p)
	}
	return w
}

// TestEachMap: a row for each rank in the order of the table, full where most arises; of many steps neighbours share a column; of steps a row, empty where one was not asked.
func TestEachMap(t *testing.T) {
	for steps, columns := range map[int]int{2: 2, heatSteps: heatSteps, 2 * heatSteps: heatSteps, 2*heatSteps + 1: 41} {
		w, every := each("rank", 5, steps), (steps+heatSteps-1)/heatSteps
		w.Parts[4].Steps[1].Costs = int64(2000 * every)
		h := eachMap(w)
		if len(h.Rows) != 5 || len(h.Heads) != columns || len(h.Rows[4].Cells) != columns || h.Heads[0] != "5" || h.Rows[1].Label != "rank 8" || h.Note != "" {
			t.Fatalf("%d steps: %+v", steps, h)
		}
		if a, b, c := h.Rows[0].Cells[0].Of, h.Rows[2].Cells[0].Of, h.Rows[4].Cells[1/every].Of; a != 1 || b != 0.5 || c != 0.5 || h.Rows[4].Cells[columns-1].Of != float64(2/columns)/2 {
			t.Errorf("%d steps: cells %v %v %v", steps, a, b, c)
		}
		if most := fmt.Sprintf("%d.0 µs", 4*every); h.Most != most || h.Rows[0].Cells[1].Title != fmt.Sprintf("rank 7, step %d: %s", 5+every, most) {
			t.Errorf("%d steps: most %s, %s", steps, h.Most, h.Rows[0].Cells[1].Title)
		}
	}
	h := eachMap(each("step", 3, 4)) // 7, 8 and 9 asked of 5 to 8
	if len(h.Rows) != 1 || fmt.Sprint(h.Rows[0].Cells[0].Of, h.Rows[0].Cells[1].Of, h.Rows[0].Cells[2].Of, h.Rows[0].Cells[3].Of) != "0 0 1 0.5" || h.Most != "8.0 µs" {
		t.Errorf("of steps %+v", h)
	}
	if eachMap(each("rank", 5, 1)) != nil || eachMap(each("rank", 0, 9)) != nil {
		t.Error("a map of a single step, or of nothing")
	}
}

// TestJobWhatIfPage: the page of 32 ranks of 512 has the map, the table with the sum of the rest, and says how many were not asked; names are escaped.
func TestJobWhatIfPage(t *testing.T) {
	w := each("rank", 32, 12)
	w.LeftOut, w.Limits = 480, []string{"some <thing>"}
	var b bytes.Buffer
	if err := WriteJobWhatIf(&b, w); err != nil {
		t.Fatal(err)
	}
	s := b.String()
	if n, cells := strings.Count(s, `<div class="heat"><span title="rank `), strings.Count(s, "<i style=\"opacity:"); n != 32 || cells != 32*12 {
		t.Errorf("%d rows with %d cells", n, cells)
	}
	for _, want := range []string{"<h1>Rank 7 alone costs 372.0 µs</h1>", "480 more have less excess and were not asked.", "493 more together", "<b style=\"flex-grow:1\">16</b>", "Some &lt;thing&gt;.", "job&lt;1&gt;"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %s", want)
		}
	}
}

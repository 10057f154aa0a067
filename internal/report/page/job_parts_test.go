package page

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/report"
)

// handJob is a job of n ranks made by hand, with steps of 1000 ns: rank r waits r in each, and the last rank works 500 more.
func handJob(n, steps int) *jobPage {
	j := &ranks.Job{Window: [2]int64{0, int64(1000 * steps)}}
	j.Members = make([]ranks.Member, n)
	v := &ranks.Verdict{Judged: steps}
	j.Waits.ByMember = make([]ranks.MemberWait, n)
	for m := range n {
		j.Members[m].Summary = &ranks.Summary{Rank: ranks.Rank(m)}
		j.Waits.ByMember[m].Waited = int64(m)
	}
	for i := range steps {
		s := ranks.JobStep{Number: int32(i), Start: int64(1000 * i), Duration: 1000, Whole: true, Own: make([]int64, n), Wait: make([]int64, n), Caused: make([]int64, n)}
		for m := range n {
			s.Own[m], s.Wait[m] = 400, int64(m)
		}
		s.Caused[n-1] = int64(500 * (n - 1))
		v.Steps = append(v.Steps, s)
	}
	r := &report.JobReport{}
	r.Job.Matching.Instances = 1
	return &jobPage{r: r, j: j, v: v}
}

// TestInteresting: of many ranks those on the path come first, at most half, then those that waited least and most.
func TestInteresting(t *testing.T) {
	p := handJob(10, 1)
	if got := p.interesting(10, 0, 1000); len(got) != 10 {
		t.Errorf("of ten %v", got)
	}
	if got := p.interesting(4, 0, 1000); !slices.Equal(got, []int32{0, 1, 8, 9}) {
		t.Errorf("without a path %v", got)
	}
	p.j.Stays = []ranks.Stay{{Start: 0, End: 100, Member: 4}, {Start: 100, End: 400, Member: 5}, {Start: 400, End: 600, Member: 6}, {Start: 900, End: 1000, Member: 3}}
	if got := p.interesting(4, 0, 900); !slices.Equal(got, []int32{0, 5, 6, 9}) {
		t.Errorf("with a path %v", got)
	}
	if got := p.interesting(4, 900, 1000); !slices.Equal(got, []int32{0, 1, 3, 9}) {
		t.Errorf("at the end of the path %v", got)
	}
	p.v.Stragglers = []ranks.Straggler{{Members: []int32{7, 2}}}
	if got := p.interesting(4, 0, 900); !slices.Equal(got, []int32{0, 5, 7, 9}) {
		t.Errorf("with a straggler %v", got)
	}
}

// TestHeats: a column a step up to as many as there is room for, of more steps neighbours share one; the fullest cell is the most.
func TestHeats(t *testing.T) {
	for steps, columns := range map[int]int{2: 2, heatSteps - 1: heatSteps - 1, heatSteps: heatSteps, heatSteps + 1: (heatSteps + 2) / 2, 2 * heatSteps: heatSteps} {
		maps, note := handJob(3, steps).heats()
		if len(maps) != 2 || len(maps[0].Rows) != 3 || len(maps[0].Rows[0].Cells) != columns || strings.Contains(note, "for 2 steps") != (steps > heatSteps) {
			t.Fatalf("%d steps: %d maps, %s", steps, len(maps), note)
		}
		if got := maps[1].Most; got != "50.0 % of a step" {
			t.Errorf("%d steps: most %s", steps, got)
		}
		if got := fmt.Sprint(maps[1].Rows[0].Cells[0].Of, " ", maps[1].Rows[2].Cells[0].Of); got != "0 1" {
			t.Errorf("%d steps: cells %s", steps, got)
		}
	}
	for _, few := range []*jobPage{handJob(1, 5), handJob(3, 1)} {
		if maps, _ := few.heats(); maps != nil {
			t.Errorf("a map of %d ranks and %d steps", len(few.j.Members), len(few.v.Steps))
		}
	}
	many, _ := handJob(allRows+2, 2).heats()
	if rows := many[0].Rows; len(rows) != worstRows+1 || rows[0].Label != fmt.Sprintf("rank %d", allRows+1) || rows[worstRows].Label != "98 others" {
		t.Errorf("many ranks: %d rows, %s, %s", len(rows), rows[0].Label, rows[len(rows)-1].Label)
	}
	if maps, _ := handJob(allRows, 2).heats(); len(maps[0].Rows) != allRows {
		t.Errorf("%d ranks: %d rows", allRows, len(maps[0].Rows))
	}
}

// TestStays: stays on the path that are too short to be seen join, and say on how many ranks they are.
func TestStays(t *testing.T) {
	p := handJob(3, 1)
	p.j.Window = [2]int64{0, 16_000}
	p.j.Stays = []ranks.Stay{{End: 16_000}}
	p.j.Path = []ranks.Segment{{Start: 0, End: 16_000, Kind: critpath.Compute}}
	p.r.Job.Path.Stays = []report.Stay{{Rank: 0, Start: 0, End: 8000}, {Rank: 1, Start: 8000, End: 8060}, {Rank: 2, Start: 8060, End: 8100}, {Rank: 1, Start: 8100, End: 16_000, Unknown: true}}
	var got []string
	for _, b := range p.stays() {
		got = append(got, fmt.Sprintf("%.2f%% %.2f%% ", 100*b.Left, 100*b.Wide)+b.Text+"|"+b.Title)
	}
	want := []string{"0.00% 50.00% rank 0|rank 0, mostly GPU compute, 8.0 µs", "50.00% 0.62% |2 ranks, most of it on rank 1, mostly GPU compute, 100 ns", "50.62% 49.38% rank 1: not recorded|rank 1: not recorded, 7.9 µs"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if p.r.Job.Matching.Instances = 0; p.stays() != nil {
		t.Error("stays without collectives")
	}
}

func TestShortHost(t *testing.T) {
	for host, want := range map[string]string{"node1.example.org": "node1", "10.0.0.7": "10.0.0.7", "node1": "node1"} {
		if got := shortHost(host); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

// TestFoldedTables: in a comment a table of more than a screen is folded away, but for the first one.
func TestFoldedTables(t *testing.T) {
	for n, folded := range map[int]bool{fewRows: false, fewRows + 1: true} {
		g := report.Grid{Columns: []report.Column{{Head: "name", Label: true}, {Head: "ns", Number: true}, {Head: "more", Number: true, Extra: true}}}
		for i := range n {
			g.Rows = append(g.Rows, []report.Cell{{Text: fmt.Sprint("a|", i)}, {Text: "1"}, {Text: "2"}})
		}
		d := &report.Compared{Name: "x", Labels: [2]string{"before", "after"}, Sections: []report.Section{{Title: "First", Grids: []report.Grid{g}}, {Title: "Second", Grids: []report.Grid{g}}}}
		var b bytes.Buffer
		if err := CommentDifference(&b, d, 3); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "<details><summary>Second"); got != folded || strings.Contains(b.String(), "<details><summary>First") {
			t.Errorf("%d rows: %s", n, b.String())
		}
		if !strings.Contains(b.String(), "| name | ns |\n| --- | ---: |\n| a\\|0 | 1 |\n") || !strings.Contains(b.String(), fmt.Sprintf("\n%d more\n", n-3)) {
			t.Errorf("%d rows: %s", n, b.String())
		}
	}
}

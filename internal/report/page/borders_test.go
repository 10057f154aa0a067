package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"overlay/internal/flame"
	"overlay/internal/ranks"
	"overlay/internal/report"
	"overlay/internal/tables"
)

// TestChangeKind: 5 % is within 5 %, half is half, and twice is twice.
func TestChangeKind(t *testing.T) {
	for sides, want := range map[[2]int64]string{{100, 100}: "pale", {100, 95}: "pale", {1000, 949}: "less1", {100, 51}: "less1", {100, 50}: "less2", {100, 0}: "less2",
		{95, 100}: "pale", {949, 1000}: "more1", {51, 100}: "more1", {50, 100}: "more2", {0, 100}: "more2"} {
		if got := changeKind(sides[0], sides[1]); got != want {
			t.Errorf("%d to %d: %s, want %s", sides[0], sides[1], got, want)
		}
	}
}

// steps is a report of a window that steps tile, each of so long.
func steps(kind string, lengths ...int64) *report.Report {
	r := &report.Report{}
	for i, ns := range lengths {
		r.Steps = append(r.Steps, report.Step{Name: fmt.Sprintf("%s#%d", kind, i), Type: kind, Start: r.Window.Duration, Duration: ns})
		r.Window.Duration += ns
	}
	return r
}

// TestStepMarks: steps are marked one by one up to as many as there is room for, of more there is a curve; a step has the longest label that fits.
func TestStepMarks(t *testing.T) {
	for n, curve := range map[int]bool{marked: false, marked + 1: true} {
		r := steps("ProfilerStep", slices.Repeat([]int64{10}, n)...)
		w := windowLanes(r, r.Tables())
		if marks := len(w.Steps); marks != map[bool]int{false: n, true: 0}[curve] || (len(w.Curve) == 1) != curve {
			t.Errorf("%d steps: %d marks, %d curves", n, marks, len(w.Curve))
		}
	}
	// A letter is 8 pixels, and a label has 10 around it, of 480: "step 0" needs more than 58 of them, "0" more than 18.
	var got []string
	for _, m := range stepMarks(steps("ProfilerStep", 59, 58, 19, 18, 480-59-58-19-18)) {
		got = append(got, fmt.Sprintf("%.4f %.4f %q %s", m.At, m.Width, m.Label, m.Title))
	}
	want := []string{`0.0000 0.1229 "step 0" ProfilerStep#0, 59 ns`, `0.1229 0.1208 "1" ProfilerStep#1, 58 ns`, `0.2437 0.0396 "2" ProfilerStep#2, 19 ns`,
		`0.2833 0.0375 "" ProfilerStep#3, 18 ns`, `0.3208 0.6792 "step 4" ProfilerStep#4, 326 ns`}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// TestIterationStrip: iterations too short to be seen are drawn with the one before, if that cannot be seen either.
func TestIterationStrip(t *testing.T) {
	var got []string
	for _, x := range iterationStrip(steps("decode", 1, 1, 4000, 1, 3998)) {
		got = append(got, fmt.Sprintf("%.5f %.5f %s", x.At, x.Width, x.Kind))
	}
	if want := []string{"0.00000 0.50019 decode", "0.50019 0.49981 decode"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := iterationStrip(steps("", 1, 2)); got != nil {
		t.Errorf("steps without a type: %v", got)
	}
}

// TestStepTimes: in each slot of the curve stands the longest step that it meets; one that begins where the slot ends is not in it.
func TestStepTimes(t *testing.T) {
	lengths := slices.Repeat([]int64{10}, 100)
	lengths[1] = 20 // of 1010 ns in 101 slots of 10 ns
	r := steps("ProfilerStep", lengths...)
	w := lanes{Slots: 101}
	w.stepTimes(r, tables.Find(r.Tables(), "steps"))
	if len(w.Curve) != 1 || w.Curve[0].Small != "to 20 ns" || w.Curve[0].Areas[0].Path != "M0,100V50H1V0H3V50H101V100H0Z" {
		t.Errorf("%+v", w.Curve)
	}
}

// TestLowRows: rows are low from as many on as fill a screen.
func TestLowRows(t *testing.T) {
	for n, low := range map[int]bool{smallRows: false, smallRows + 1: true} {
		if maps, _ := handJob(n, 2).heats(); maps[0].Small != low {
			t.Errorf("%d ranks: low %v", n, maps[0].Small)
		}
	}
}

// TestWorstStep: the staircase shows the longest of the steps that are whole, or of all where none is, and says which ranks are left out.
func TestWorstStep(t *testing.T) {
	stairs := func(n int, change func(p *jobPage)) *stairs {
		p := handJob(n, 4)
		change(p)
		return p.stairs()
	}
	length := func(step int, ns int64) func(p *jobPage) { return func(p *jobPage) { p.v.Steps[step].Duration = ns } }
	for title, change := range map[string]func(p *jobPage){
		"Who waits for whom in step 0, the longest": func(*jobPage) {},
		"Who waits for whom in step 2, the longest": length(2, 1500),
		"Who waits for whom in step 1, the longest": func(p *jobPage) { p.v.Steps[0].Whole = false; p.v.Steps[0].Duration = 1900 },
		"Who waits for whom in step 3, the longest": func(p *jobPage) {
			for i := range p.v.Steps {
				p.v.Steps[i].Whole, p.v.Steps[i].Duration = false, int64(900-i)
			}
			p.v.Steps[3].Duration = 1000
		},
		"Who waits for whom": func(p *jobPage) { p.v.Steps = nil },
	} {
		if s := stairs(3, change); s == nil || s.Title != title || s.Note != "" || len(s.Rows) != 3 {
			t.Errorf("%+v, want %s", s, title)
		}
	}
	if s := stairs(stairRows, func(*jobPage) {}); s.Note != "" || len(s.Rows) != stairRows {
		t.Errorf("%d ranks: %q", stairRows, s.Note)
	}
	if s := stairs(stairRows+1, func(*jobPage) {}); !strings.HasPrefix(s.Note, "40 of 41 ranks") || len(s.Rows) != stairRows {
		t.Errorf("%d ranks: %q", stairRows+1, s.Note)
	}
	if s := stairs(3, func(p *jobPage) { p.r.Job.Matching.Instances = 0 }); s != nil {
		t.Error("stairs without collectives")
	}
	if s := stairs(3, func(p *jobPage) { p.v.Steps = nil; p.j.Window[1] = 0 }); s != nil {
		t.Error("stairs of no time")
	}
}

// TestPieces: a piece of a rank's strip has the colour and the words of what the rank does.
func TestPieces(t *testing.T) {
	p := handJob(3, 1)
	for part, want := range map[ranks.StripPart]string{ranks.InWait: "wait waits for rank 2", ranks.Absent: "wait waits for a rank without a trace", ranks.Late: "untraced not recorded",
		ranks.Transfers: "communication transfer", ranks.Collective: "communication communication", ranks.Works: "cpu CPU"} {
		kind, text := p.piece(&ranks.StripPiece{Part: part, Whom: 2})
		if got := kind + " " + text; got != want {
			t.Errorf("%d: %q, want %q", part, got, want)
		}
	}
}

// TestNewDesk: a page has a slider for each class that a replay understands, for the first hotspots whose names a scenario can have, and for no change twice.
func TestNewDesk(t *testing.T) {
	r := &report.Report{}
	r.Path.ByClass = map[string]int64{"cpu": 30, "gpu_compute": 50, "untraced": 5, "copy": 10}
	for i := range maxSliders + 3 {
		r.Hotspots = append(r.Hotspots, report.Hotspot{Readable: fmt.Sprint("kernel", i), Kind: "compute"})
	}
	r.Hotspots[1].Readable, r.Hotspots[2].Readable = "a;b", "kernel0"
	var asked []string
	d := NewDesk(r, "t.json", func(change string) bool { asked = append(asked, change); return change != "class:copy=0.5" })
	var got []string
	for _, s := range d.Sliders {
		got = append(got, s.Change)
	}
	want := []string{"class:compute", "class:cpu", "kernel0"}
	for i := range maxSliders - 1 {
		want = append(want, fmt.Sprint("kernel", i+3))
	}
	if !slices.Equal(got, want) || slices.Contains(asked, "a;b=0.5") {
		t.Errorf("sliders %q, asked %q", got, asked)
	}
}

// TestNothingToDraw: without stacks there is no flame graph, without time or stays no path, and a class has a key from a twentieth of a percent on.
func TestNothingToDraw(t *testing.T) {
	if flameOf(nil) != nil || flameOf(&flame.Graph{}) != nil {
		t.Error("a flame graph of nothing")
	}
	for what, change := range map[string]func(p *jobPage){"no stays": func(p *jobPage) { p.j.Stays = nil }, "no time": func(p *jobPage) { p.j.Window[1] = p.j.Window[0] },
		"no collectives": func(p *jobPage) { p.r.Job.Matching.Instances = 0 }, "": func(*jobPage) {}} {
		p := handJob(2, 1)
		p.j.Stays, p.r.Job.Path.Stays = []ranks.Stay{{End: 1000}}, []report.Stay{{End: 1000}}
		change(p)
		if got := p.stays(); (got != nil) != (what == "") {
			t.Errorf("%s: %v", what, got)
		}
	}
	p := handJob(2, 1)
	p.r.Job.Path.Duration, p.r.Job.Path.ByClass = 20_000, map[string]int64{"cpu": 10, "copy": 9, "gpu_compute": 19_981, "sync": 0}
	var keys []string
	for _, k := range jobContentOf(p.r, report.JobSource{Job: p.j, Verdict: p.v}).ClassKey {
		keys = append(keys, k.Kind)
	}
	if !slices.Equal(keys, []string{"cpu", "gpu_compute"}) {
		t.Errorf("keys %q", keys)
	}
	p.r.Job.Path.Duration = 0
	if keys := jobContentOf(p.r, report.JobSource{Job: p.j, Verdict: p.v}).ClassKey; len(keys) != 3 {
		t.Errorf("keys %q of a path without a length", keys)
	}
}

// TestNames: a row a name that takes some rank longer by half a percent of a step, a column a rank, red where it is far from the others.
func TestNames(t *testing.T) {
	made := func(n int, busy ...int64) *heat {
		p := handJob(n, 2)
		for m := range n {
			x := p.j.Members[m].Summary
			x.Names = []string{"gemm", "even"}
			x.Spent = []ranks.Spent{{Name: 0, Busy: busy[min(m, len(busy)-1)]}, {Name: 1, Busy: 50, Host: true}}
		}
		return p.names()
	}
	h := made(4, 100, 100, 120, 400)
	if h == nil || len(h.Rows) != 1 || h.Note != "Columns are ranks." || h.Most != "290 ns more" {
		t.Fatalf("%+v", h)
	}
	var got []string
	for _, c := range h.Rows[0].Cells {
		got = append(got, fmt.Sprintf("%.3f %v", c.Of, c.Marked))
	}
	if want := []string{"-0.034 false", "-0.034 false", "0.034 false", "1.000 true"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, none := range []*heat{made(2, 100, 900), made(3, 100), made(3, 100, 100, 109)} {
		if none != nil {
			t.Errorf("%+v", none.Rows)
		}
	}
	if h := made(3, 100, 100, 110); h == nil || h.Rows[0].Cells[2].Marked {
		t.Errorf("half a percent: %+v", h)
	}
	if h := made(allRows+1, 900, 100); h.Note != fmt.Sprintf("Columns are %d of %d ranks: those on the path, then those that waited least and most.", allRows, allRows+1) || len(h.Rows[0].Cells) != allRows {
		t.Errorf("%s", h.Note)
	}
	if h := made(allRows, 900, 100); h.Note != "Columns are ranks." {
		t.Errorf("%s", h.Note)
	}
}

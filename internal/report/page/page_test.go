package page

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"overlay/internal/analyses"
	"overlay/internal/cdg"
	"overlay/internal/report"
	"overlay/internal/tables"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/reported"
)

func htmlOf(t *testing.T, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteReport(&b, r, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// loads finds what would make a browser fetch something.
var loads = regexp.MustCompile(`(?i)(src|href)="[^"#]|url\(|@import|<link[^>]+stylesheet|<iframe|<object|fetch\(|XMLHttp`)

func TestPageStandsAlone(t *testing.T) {
	page := htmlOf(t, reported.File(t, corpus.Demo(t), cdg.Options{}))
	for _, m := range loads.FindAllString(page, -1) {
		if m != `href="d` { // the empty icon, so that browsers ask for none
			t.Errorf("the page loads something: %s", m)
		}
	}
	if n := len(page); n > 1<<20 {
		t.Errorf("%d bytes", n)
	}
	for _, want := range []string{"<h1>Bound by GPU compute</h1>", "ProfilerStep#2", "<div class=\"time\" data-tips=", "id=\"idle\"", "How to read it"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestPageSizes: hundreds and thousands of steps, nodes and hotspots stay under 300 kB and readable.
func TestPageSizes(t *testing.T) {
	r := reported.File(t, corpus.Demo(t), cdg.Options{})
	for len(r.CDG.Nodes) < 5000 {
		r.CDG.Nodes = append(r.CDG.Nodes, r.CDG.Nodes[0])
	}
	one := r.Steps[0]
	for _, n := range []int{2, 20, 200, 2000} {
		r.Steps = r.Steps[:0]
		for i := range n {
			s := one
			s.Name, s.Duration = fmt.Sprintf("ProfilerStep#%d", i), one.Duration+int64(i%37)
			r.Steps = append(r.Steps, s)
		}
		times := make([]int64, n)
		for i := range times {
			times[i] = r.Steps[i].Duration
		}
		r.StepTimes = &report.StepTimes{Stats: analyses.Describe(times)}
		page := htmlOf(t, r)
		rows := strings.Count(page[strings.Index(page, `id="steps"`):strings.Index(page, `id="hotspots"`)], "<tr><td")
		if len(page) > 300_000 || rows > 40 {
			t.Errorf("%d steps: %d bytes, %d rows", n, len(page), rows)
		}
		if want := tables.Grouped(int64(n-shortRows)) + " more steps are in the JSON report"; strings.Contains(page, want) != (n > allSteps) {
			t.Errorf("%d steps: %q is there or not as it should", n, want)
		}
		if !strings.Contains(page, "4,990 more nodes") {
			t.Error("nothing says that nodes are left out")
		}
	}
}

// TestHostileNames: a name changes nothing but its own cells, in every form.
func TestHostileNames(t *testing.T) {
	r := reported.File(t, corpus.Demo(t), cdg.Options{})
	const mark = "QQQQ"
	with := func(name string) (page, text, js string) {
		r.Hotspots[0].Name, r.Hotspots[0].Readable = name, report.Readable(name)
		r.Steps[0].Name, r.Hotspots[1].Caller, r.Input.Name = name, name, name
		var a, b bytes.Buffer
		if err := r.WriteText(&a, report.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		return htmlOf(t, r), a.String(), b.String()
	}
	tags := regexp.MustCompile(`<[a-zA-Z/!][^>]*>`)
	skeleton := func(page string) string { // the tags, without titles and drawn text, where names stand
		return regexp.MustCompile(` (title|d|points|x|y|viewBox|transform|style|data-tips)="[^"]*"`).ReplaceAllString(strings.Join(tags.FindAllString(page, -1), "\n"), "")
	}
	plainPage, plainText, _ := with(mark)
	for _, name := range []string{"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, strings.Repeat("x", 10_000), "a\nb\x1b[2Jc", "{{.Window}}"} {
		page, text, js := with(name)
		if strings.Contains(page, "<script>alert") || strings.Contains(page, "<img") {
			t.Errorf("%.40q is markup in the page", name)
		}
		if got, want := skeleton(page), skeleton(plainPage); got != want {
			t.Errorf("%.40q changes the page around it", name)
		}
		if len(strings.Split(text, "\n")) != len(strings.Split(plainText, "\n")) || strings.Contains(text, "\x1b") {
			t.Errorf("%.40q changes the text around it", name)
		}
		if strings.Contains(js, "\x1b") {
			t.Errorf("%.40q is raw in the JSON", name)
		}
	}
}

func TestDifferencePage(t *testing.T) {
	a, b := reported.File(t, corpus.Demo(t), cdg.Options{}), reported.File(t, corpus.Demo(t), cdg.Options{Step: "2"})
	var page bytes.Buffer
	if err := WriteDifference(&page, report.CompareRuns([]*report.Report{a}, []*report.Report{b}).Shown(), nil); err != nil {
		t.Fatal(err)
	}
	if s := page.String(); !strings.Contains(s, "shorter</h1>") || loads.MatchString(strings.Replace(s, `href="data:,"`, "", 1)) {
		t.Errorf("%.300s", s)
	}
}

// TestColoursOfChanges: on the page of a difference what takes longer than before has the one colour, what takes less the other, in
// both directions.
func TestColoursOfChanges(t *testing.T) {
	a, b := reported.File(t, corpus.Demo(t), cdg.Options{}), reported.File(t, corpus.Demo(t), cdg.Options{Step: "2"})
	row := regexp.MustCompile(`(?s)<tr>.*?</tr>`)
	for colour, d := range map[string]*report.Difference{"faster": report.CompareRuns([]*report.Report{a}, []*report.Report{b}), "slower": report.CompareRuns([]*report.Report{b}, []*report.Report{a})} {
		var page bytes.Buffer
		if err := WriteDifference(&page, d.Shown(), nil); err != nil {
			t.Fatal(err)
		}
		_, hotspots, _ := strings.Cut(page.String(), "<h2>Hotspots")
		rows := 0
		for _, r := range row.FindAllString(html.UnescapeString(hotspots), -1) {
			for _, is := range [][2]string{{"slower", ">+"}, {"faster", ">-"}} {
				if has := strings.Contains(r, `<i class="`+is[0]+`"`); has != strings.Contains(r, is[1]) {
					t.Errorf("%s: %q is there or not as it should in %s", colour, is[0], r)
				} else if has && is[0] == colour {
					rows++
				}
			}
		}
		if rows < 5 {
			t.Errorf("only %d rows are %s", rows, colour)
		}
	}
}

// TestPageHasWholeLabels looks at everything that the page lays out, on made traces and by every method: labels are
// whole and stand on the page, bars fit their place and one of each table fills it, numbers have their unit, nothing is
// empty, and no colour is explained that is not there.
func TestPageHasWholeLabels(t *testing.T) {
	looked := 0
	for name, tr := range reported.Many(t) {
		for method, r := range reported.ByMethod(t, name, tr, true) {
			looked += wholePage(t, name+" "+method, r)
		}
	}
	if looked < 1000 {
		t.Errorf("only %d rows", looked)
	}
}

// TestRealPagesHaveWholeLabels does the same on real traces, where they are: of GPUs of two makers, of a CPU alone, with
// and without steps.
func TestRealPagesHaveWholeLabels(t *testing.T) {
	for _, f := range corpus.Files(t, "*nccl_data*", "*trace_diff*", "*mi300*", "*asdf_True*", "*cpu_only*", "*mi210*") {
		r := reported.File(t, f, cdg.Options{})
		if n := wholePage(t, filepath.Base(f), r); n < 20 {
			t.Errorf("%s: only %d rows", f, n)
		}
	}
}

// What pages hold: rows of a long table and of a short one, steps that are listed one by one.
const longRows, shortRows, allSteps = 200, 10, 24

// grids are all tables of the page but for the gains, which may be below 0 where a method has a window of its own.
func grids(r *report.Report) (out []report.Grid) {
	for _, part := range r.Sections() {
		for _, s := range part {
			if s.Name != "gains" {
				out = append(out, s.Grids...)
			}
		}
	}
	return out
}

// wholePage returns how many rows it has seen.
func wholePage(t *testing.T, what string, r *report.Report) (rows int) {
	t.Helper()
	page := htmlOf(t, r)
	if len(page) > 300_000 {
		t.Errorf("%s: %d bytes", what, len(page))
	}
	for _, g := range grids(r) {
		longest, bars := 0.0, false
		for _, row := range g.Rows {
			rows++
			for i, cell := range row {
				col := g.Columns[i]
				sum := 0.0
				for _, p := range cell.Parts {
					bars, sum = true, sum+p.Of
				}
				longest = max(longest, sum)
				switch {
				case col.Bar:
				case col.Number && cell.Text != report.NoValue && !unitForm[col.Unit].MatchString(cell.Text):
					t.Errorf("%s: %q shows %q, a number of unit %s", what, col.Head, cell.Text, col.Unit)
				case col.Number && col.Head == "":
					t.Errorf("%s: nothing says what %q is", what, cell.Text)
				case cell.Text == "":
					t.Errorf("%s: an empty cell in %q", what, col.Head)
				case !strings.Contains(page, ">"+template.HTMLEscapeString(cell.Text)):
					t.Errorf("%s: %q is not on the page as a whole", what, cell.Text)
				}
			}
		}
		if bars && (longest > 1.001 || longest < 0.999 && g.What != "types" && g.What != "operators of known work" && (g.What != "steps" || r.Method == "exact")) {
			t.Errorf("%s: the longest bar of %s is %g of its place", what, g.What, longest)
		}
	}
	for _, card := range r.Sections()[1] {
		if card.Title == "" || card.Says == "" || len(card.Grids) == 0 {
			t.Errorf("%s: %s has no title, no sentence or no table", what, card.Name)
		}
		for _, g := range card.Grids {
			if len(g.Rows) == 0 {
				t.Errorf("%s: a table of %s is empty", what, card.Name)
			}
		}
	}
	if len(r.Highlights()) == 0 {
		t.Errorf("%s: no findings", what)
	}
	for _, f := range r.Highlights() {
		if f.Title == "" || f.Text == "" || !unitForm[tables.NS].MatchString(f.Value) {
			t.Errorf("%s: finding %+v", what, f)
		}
	}
	l := windowLanes(r, r.Tables())
	checkLanes(t, what, &l)
	return rows
}

// checkLanes: curves stay on their ground, and each slot says what it shows.
func checkLanes(t *testing.T, what string, w *lanes) {
	t.Helper()
	numbers := regexp.MustCompile(`[MHV,](-?\d+)`)
	for _, l := range w.Curve {
		if l.Label == "" || l.Title == "" || len(l.Areas) == 0 {
			t.Errorf("%s: curve %q %q", what, l.Label, l.Title)
		}
		for _, a := range l.Areas {
			for _, m := range numbers.FindAllStringSubmatch(a.Path, -1) {
				if n, _ := strconv.Atoi(m[1]); n < 0 || n > max(100, len(w.Tips)) {
					t.Errorf("%s: the curve %q leaves its place: %s", what, l.Label, a.Path)
					break
				}
			}
		}
	}
	if len(w.Curve) > 0 && len(w.Tips) == 0 {
		t.Errorf("%s: nothing says what the curves show", what)
	}
	for _, s := range w.Steps {
		if s.At < 0 || s.At+s.Width > 1.0001 {
			t.Errorf("%s: step %q lies outside", what, s.Title)
		}
	}
}

// unitForm is what numbers of a unit look like.
var unitForm = map[tables.Unit]*regexp.Regexp{
	tables.NS: regexp.MustCompile(`^-?[\d.]+ (ns|µs|ms|s)$`), tables.Time: regexp.MustCompile(`^-?[\d.]+ (ns|µs|ms|s)$`), tables.Change: regexp.MustCompile(`^[+-]?[\d.]+ (ns|µs|ms|s)$`),
	tables.Share: regexp.MustCompile(`^[\d.]+ %$`), tables.Bytes: regexp.MustCompile(`^[\d.]+ (B|kB|MB|GB)$`), tables.PerSecond: regexp.MustCompile(`^[\d.]+ GB/s$`), tables.Flops: regexp.MustCompile(`^[\d.]+ [MGTP]?FLOP$`),
	tables.Count: regexp.MustCompile(`^(\d{1,3}(,\d{3})*|\d+\.\d+)$`), tables.ID: regexp.MustCompile(`^-?\d+$`),
}

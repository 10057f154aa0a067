package page

import (
	"bytes"
	"encoding/json"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/report"
	"overlay/internal/tables"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/reported"
)

// TestNumbersAreInJSON reads the numbers of text and page back, each by its unit, and looks for them in the JSON.
func TestNumbersAreInJSON(t *testing.T) {
	looked := map[string]int{}
	for name, tr := range reported.Many(t) {
		for method, r := range reported.ByMethod(t, name, tr, true) {
			var text, page, js bytes.Buffer
			if err := r.WriteText(&text, report.TextOptions{Width: 400}); err != nil {
				t.Fatal(err)
			}
			if err := WriteReport(&page, r, nil); err != nil {
				t.Fatal(err)
			}
			if err := r.WriteJSON(&js); err != nil {
				t.Fatal(err)
			}
			var back report.Report // nothing but what the JSON says
			if err := json.Unmarshal(js.Bytes(), &back); err != nil {
				t.Fatal(err)
			}
			known := numbersOf(&back)
			for form, shown := range map[string][]number{"text": read(text.String()), "page": append(read(visible(page.String())), cells(page.String())...)} {
				for _, n := range shown {
					looked[form+" "+n.unit]++
					if !known.has(n) {
						t.Errorf("%s %s: the %s shows %q, which is not in the JSON, in %q", name, method, form, n.text, n.around)
					}
				}
			}
		}
	}
	for _, form := range []string{"text", "page"} {
		for unit, least := range map[string]int{"time": 1000, "share": 1000, "count": 500, "bytes": 5, "rate": 5} {
			if n := looked[form+" "+unit]; n < least {
				t.Errorf("only %d numbers of unit %s in the %s were looked at", n, unit, form)
			}
		}
	}
	t.Log(looked)
}

// TestDifferenceNumbersAreInJSON does the same for the difference of two reports.
func TestDifferenceNumbersAreInJSON(t *testing.T) {
	a, b := reported.File(t, corpus.Demo(t), cdg.Options{}), reported.File(t, corpus.Demo(t), cdg.Options{Step: "2"})
	looked := map[string]int{}
	for _, d := range []*report.Difference{report.CompareRuns([]*report.Report{a}, []*report.Report{b}), report.CompareRuns([]*report.Report{b}, []*report.Report{a})} {
		var text, page, js bytes.Buffer
		if err := d.WriteText(&text, report.TextOptions{Width: 400}, 10); err != nil {
			t.Fatal(err)
		}
		if err := WriteDifference(&page, d.Shown(), nil); err != nil {
			t.Fatal(err)
		}
		if err := d.WriteJSON(&js); err != nil {
			t.Fatal(err)
		}
		var back report.Difference
		if err := json.Unmarshal(js.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		known := known{}
		known.addTables(append(back.Tables(), append(back.Before.Tables(), back.After.Tables()...)...))
		known["share"] = append(known["share"], back.Slower/100, -back.Slower/100) // slower by less is faster
		for _, side := range []*report.Report{back.Before, back.After} {
			for _, ns := range side.Path.ByClass {
				known["share"] = append(known["share"], tables.ShareOf(ns, side.Window.Duration))
			}
		}
		known.sort()
		for form, shown := range map[string][]number{"text": read(text.String()), "page": append(read(visible(page.String())), cells(page.String())...)} {
			for _, n := range shown {
				looked[form+" "+n.unit]++
				if !known.has(n) {
					t.Errorf("the %s shows %q, which is not in the JSON, in %q", form, n.text, n.around)
				}
			}
		}
	}
	if looked["text time"] < 60 || looked["page time"] < 60 || looked["text share"] != 2 || looked["page share"] < 2 {
		t.Errorf("looked at %v", looked)
	}
}

// TestWrongNumbersAreFound shows that the test above would find a number of the wrong unit, or one that is made up.
func TestWrongNumbersAreFound(t *testing.T) {
	known := known{"time": {9_503_120}, "share": {0.409}, "count": {1458}, "bytes": {2_500_000}, "rate": {25}}
	for _, s := range []string{"9.50 ms", "40.9 %", "1,458 pairs", "2.50 MB", "25.00 GB/s"} {
		if n := read(s); len(n) != 1 || !known.has(n[0]) {
			t.Errorf("%q is read as %+v and not found", s, n)
		}
	}
	for _, s := range []string{"950312.0 %", "9.51 ms", "41.0 %", "1,459 pairs", "2.51 MB", "25.01 GB/s", "950.3 µs", "9503120.00 s"} {
		if n := read(s); len(n) != 1 || known.has(n[0]) {
			t.Errorf("%q is read as %+v and found", s, n)
		}
	}
}

// number is a number as it is shown.
type number struct {
	unit         string
	low, high    float64 // what it may stand for: ns, ratio, how many, bytes, GB/s
	text, around string
}

var numberForm = regexp.MustCompile(`([+-]?\d[\d,]*(?:\.\d+)?)(?: (ns|µs|ms|s|%|B|kB|MB|GB|GB/s)(?:[^\p{L}\d/]|$)|( ?×| (?:pairs|kernels|calls|delays|waited|nodes|edges|more|events|segments)\b)|)`)

var unitOfSuffix = map[string]struct {
	unit  string
	scale float64
}{"ns": {"time", 1}, "µs": {"time", 1e3}, "ms": {"time", 1e6}, "s": {"time", 1e9}, "%": {"share", 0.01},
	"B": {"bytes", 1}, "kB": {"bytes", 1e3}, "MB": {"bytes", 1e6}, "GB": {"bytes", 1e9}, "GB/s": {"rate", 1}}

// read finds the numbers that have a unit, and those that are counts by their commas or by what follows, or stand
// alone in a column. Others may be part of a name.
func read(s string) (out []number) {
	for _, line := range strings.Split(s, "\n") {
		for at := 0; at < len(line); {
			m := numberForm.FindStringSubmatchIndex(line[at:])
			if m == nil {
				break
			}
			digits, unit := line[at+m[2]:at+m[3]], ""
			if m[4] >= 0 {
				unit = line[at+m[4] : at+m[5]]
			}
			before := at+m[2] > 0 && regexp.MustCompile(`[\p{L}\d_#.:(<\[-]$`).MatchString(line[:at+m[2]])
			after := at+m[3] < len(line) && regexp.MustCompile(`^[\p{L}_:>\])]`).MatchString(line[at+m[3]:])
			u := unitOfSuffix[unit]
			if unit == "" {
				u.unit, u.scale = "count", 1
			}
			end := at + m[3]
			column := (strings.HasSuffix(line[:at+m[2]], "  ") || at+m[2] == 0) && (strings.HasPrefix(line[at+m[3]:], "  ") || at+m[3] == len(line)) // alone in a cell of a text
			counted := m[6] >= 0 || column || regexp.MustCompile(`^\d{1,3}(,\d{3})+$`).MatchString(digits)
			if !before && !after && (unit != "" || counted) {
				x, err := strconv.ParseFloat(strings.TrimPrefix(strings.ReplaceAll(digits, ",", ""), "+"), 64)
				if err != nil {
					panic(err)
				}
				_, decimals, _ := strings.Cut(digits, ".")
				off := 0.5000001 * math.Pow(10, -float64(len(decimals)))
				if unit == "ns" || unit == "B" || unit == "" && !strings.Contains(digits, ".") {
					off = 1e-9
				}
				n := number{u.unit, (x - off) * u.scale, (x + off) * u.scale, digits + " " + unit, line}
				if u.unit == "time" {
					n.high++ // means lose what follows the point before they are rounded
				}
				out = append(out, n)
			}
			at = end
		}
	}
	return out
}

// known are the numbers of a report by what they are, sorted.
type known map[string][]float64

func (k known) has(n number) bool {
	i, _ := slices.BinarySearch(k[n.unit], n.low)
	return i < len(k[n.unit]) && k[n.unit][i] <= n.high
}

// numbersOf lists the numbers of the JSON, and what text and page may make of them: shares of the window, of the path,
// of a step and of the time of a device; the length of a stretch; how many rows a list has.
func numbersOf(r *report.Report) known {
	k := known{"time": {50_000, 100_000, 1_024, 10_000}} // the cut-offs in the words of the analysis launch
	for i := range int64(5) {
		k["time"] = append(k["time"], float64(r.Window.Duration*i/4)) // the axis of the page
	}
	k.addTables(r.Tables())
	add := func(unit string, x float64) { k[unit] = append(k[unit], x) }
	add("count", math.RoundToEven(r.CDG.Reduction))
	of := func(part, whole int64) { add("share", tables.ShareOf(part, whole)) }
	p, window := &r.Path, r.Window.Duration
	little := int64(0) // classes that stand in one line
	for _, ns := range p.ByClass {
		of(ns, window)
		if 1000*ns < window {
			little += ns
		}
	}
	add("time", float64(little))
	if x := r.Advice; x != nil {
		of(x.Base-x.Together, x.Base)
	}
	none := p.ByEvidence["none"]
	of(p.ByClass["unexplained"]+p.ByClass["untraced"], window)
	of(p.Inferred, p.Duration)
	of(none, p.Duration)
	unseen := min(p.ByKind["host_unrecorded"], none)
	of(unseen, p.Duration)
	of(none-unseen, p.Duration)
	of(p.Duration-p.Inferred-none, p.Duration)
	for _, s := range p.Strip {
		add("time", float64(s.End-s.Start))
	}
	for _, s := range r.Steps {
		for _, ns := range s.ByClass {
			of(ns, s.Duration)
		}
	}
	if a := r.Analyses; a != nil {
		for _, d := range a.Temporal {
			for _, ns := range []int64{d.Computation, d.Communication, d.Copies, d.Idle} {
				of(ns, d.Span)
			}
		}
		for _, d := range a.Overlap {
			of(d.Exposed, d.Communication)
		}
		for _, c := range a.Component {
			for _, ns := range []int64{c.Computation, c.Communication, c.Host, c.Free} {
				of(ns, c.Duration)
			}
		}
	}
	k.sort()
	return k
}

func (k known) sort() {
	for unit := range k {
		slices.Sort(k[unit])
	}
}

// unitWords are the units in which numbers are read back.
var unitWords = map[tables.Unit]string{tables.NS: "time", tables.Time: "time", tables.Change: "time", tables.Share: "share",
	tables.Bytes: "bytes", tables.PerSecond: "rate", tables.Count: "count", tables.ID: "count"}

// addTables takes every cell of tables, how many rows they have, and how many of them a page leaves out.
func (k known) addTables(list []tables.Table) {
	for i := range list {
		t := &list[i]
		k["count"] = append(k["count"], float64(t.Rows), float64(t.Rows-longRows), float64(t.Rows-shortRows))
		for l := range t.Lines(-1) {
			for c, v := range l.Values {
				if unit := unitWords[t.Cols[c].Unit]; unit != "" && !v.IsNull() {
					k[unit] = append(k[unit], v.Float())
				}
			}
		}
	}
}

var (
	notShown = regexp.MustCompile(`(?s)<(style|script)\b.*?</(style|script)>`)
	title    = regexp.MustCompile(`<[^>]*\btitle="([^"]*)"[^>]*>`)
	anyTag   = regexp.MustCompile(`</?(small|b|i|strong|span)\b[^>]*>`)
	blockTag = regexp.MustCompile(`<[^>]*>`)
)

var bareCell = regexp.MustCompile(`<td class="n"[^>]*>(-?[\d,]+(?:\.\d+)?)</td>`)

// cells are the numbers that stand alone in a cell: counts, and names of devices, streams and nodes.
func cells(page string) (out []number) {
	for _, m := range bareCell.FindAllStringSubmatch(page, -1) {
		out = append(out, read(m[1]+" calls")...)
	}
	return out
}

// visible is what a page shows: its text, a line a cell, and what appears when the pointer rests on something.
func visible(page string) string {
	s := notShown.ReplaceAllString(page, "")
	var titles []string
	for _, m := range title.FindAllStringSubmatch(s, -1) {
		titles = append(titles, m[1])
	}
	s = blockTag.ReplaceAllString(anyTag.ReplaceAllString(s, " "), "\n")
	return html.UnescapeString(s + "\n" + strings.Join(titles, "\n"))
}

// TestUnitsFollowNames: where the name of a column in the JSON says what it is, its unit says the same.
func TestUnitsFollowNames(t *testing.T) {
	times := []tables.Unit{tables.NS, tables.Time, tables.Change}
	type rule struct {
		form  *regexp.Regexp
		units []tables.Unit
	}
	names := []rule{
		{regexp.MustCompile(`(^|_)ns$`), times},
		{regexp.MustCompile(`^(cpu_duration|gpu_duration|delay|latency|stats)_(sum|mean|std|min|max|p\d\d)$`), times},
		{regexp.MustCompile(`^(waiting|outstanding)_(sum|mean|std|min|max|p\d\d)$`), []tables.Unit{tables.Count}},
		{regexp.MustCompile(`^(gb_per_s|bandwidth_(sum|mean|std|min|max|p\d\d))$`), []tables.Unit{tables.PerSecond}},
		{regexp.MustCompile(`(^|_)(share|ratio|cpcr|prop|proportion)(_|$)`), []tables.Unit{tables.Share}},
		{regexp.MustCompile(`percent`), []tables.Unit{tables.Percent}},
		{regexp.MustCompile(`flops(_per_s)?$`), []tables.Unit{tables.Flops}},
		{regexp.MustCompile(`bytes$`), []tables.Unit{tables.Bytes}},
		{regexp.MustCompile(`(^|_)(count|calls|events|steps|others|waited|pairs|outliers|calls_that_blocked|events_per_node|carried_in|short_kernels|batch|tokens|tokens_per_s)$`), []tables.Unit{tables.Count}},
		{regexp.MustCompile(`^(event|from|to)$`), []tables.Unit{tables.Ref, tables.ID}},
		{regexp.MustCompile(`^(device|stream|id|node)$`), []tables.Unit{tables.ID, tables.Text}},
	}
	matched := make([]int, len(names))
	r := reported.ByMethod(t, "loader", reported.Traces(t)["loader"], true)["exact"]
	for _, table := range append(r.Tables(), report.CompareRuns([]*report.Report{r}, []*report.Report{r}).Tables()...) {
		for _, c := range table.Cols {
			i := slices.IndexFunc(names, func(r rule) bool { return r.form.MatchString(c.Name) })
			switch {
			case i < 0 && c.Unit != tables.Text && c.Unit != tables.Flag:
				t.Errorf("%s.%s: nothing says whether %s is its unit", table.Name, c.Name, c.Unit)
			case i >= 0:
				matched[i]++
				if !slices.Contains(names[i].units, c.Unit) {
					t.Errorf("%s.%s has the unit %s", table.Name, c.Name, c.Unit)
				}
			}
		}
	}
	for i, n := range matched {
		if n == 0 {
			t.Errorf("no column is called %s", names[i].form)
		}
	}
}

// TestEveryUnitIsOnThePage: cells of all units that numbers have are on the pages that the tests look at.
func TestEveryUnitIsOnThePage(t *testing.T) {
	seen := map[tables.Unit]int{}
	for name, tr := range reported.Many(t) {
		for _, r := range reported.ByMethod(t, name, tr, true) {
			for _, g := range grids(r) {
				for _, col := range g.Columns {
					if col.Number {
						seen[col.Unit] += len(g.Rows)
					}
				}
			}
		}
	}
	for _, u := range []tables.Unit{tables.NS, tables.Share, tables.Bytes, tables.PerSecond, tables.Count} {
		if seen[u] < 5 {
			t.Errorf("%d cells of unit %s", seen[u], u)
		}
	}
}

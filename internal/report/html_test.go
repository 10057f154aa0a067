package report

import (
	"bytes"
	"html/template"
	"regexp"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/cdg/phases"
)

func htmlOf(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// loads finds what would make a browser fetch something.
var loads = regexp.MustCompile(`(?i)(src|href)="[^"#]|url\(|@import|<link[^>]+stylesheet|<iframe|<object|fetch\(|XMLHttp`)

func TestPageStandsAlone(t *testing.T) {
	page := htmlOf(t, reportOf(t, demo, cdg.Options{}))
	for _, m := range loads.FindAllString(page, -1) {
		if m != `href="d` { // the empty icon, so that browsers ask for none
			t.Errorf("the page loads something: %s", m)
		}
	}
	if n := len(page); n > 1<<20 {
		t.Errorf("%d bytes", n)
	}
	for _, want := range []string{"<h1>Bound by GPU compute</h1>", "ProfilerStep#2", "<div class=\"bars\">", "Analysis: idle", "How to read it"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestPageSizes: hundreds of steps, nodes and hotspots stay under 1 MB.
func TestPageSizes(t *testing.T) {
	r := reportOf(t, demo, cdg.Options{})
	for len(r.Steps) < 3000 {
		r.Steps = append(r.Steps, r.Steps[0])
	}
	for len(r.CDG.Nodes) < 5000 {
		r.CDG.Nodes = append(r.CDG.Nodes, r.CDG.Nodes[0])
	}
	page := htmlOf(t, r)
	if len(page) > 1<<20 || !strings.Contains(page, "2,800 more steps") || !strings.Contains(page, "4,800 more nodes") {
		t.Errorf("%d bytes", len(page))
	}
}

// TestHostileNames: a name changes nothing but its own cells, in every form.
func TestHostileNames(t *testing.T) {
	r := reportOf(t, demo, cdg.Options{})
	const mark = "QQQQ"
	with := func(name string) (page, text, js string) {
		r.Hotspots[0].Name, r.Hotspots[0].Readable = name, Readable(name)
		r.Steps[0].Name, r.Hotspots[1].Caller, r.Input.Name = name, name, name
		var a, b bytes.Buffer
		if err := r.WriteText(&a, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		return htmlOf(t, r), a.String(), b.String()
	}
	tags := regexp.MustCompile(`<[a-zA-Z/!][^>]*>`)
	skeleton := func(page string) string { // the tags, without titles and drawn text, where names stand
		return regexp.MustCompile(`(title|d|points|x|y|viewBox|transform|style)="[^"]*"`).ReplaceAllString(strings.Join(tags.FindAllString(page, -1), "\n"), "")
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
	a, b := reportOf(t, demo, cdg.Options{}), reportOf(t, demo, cdg.Options{Step: "2"})
	var page bytes.Buffer
	if err := Compare(a, b).WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if s := page.String(); !strings.Contains(s, "faster</h1>") || loads.MatchString(strings.Replace(s, `href="data:,"`, "", 1)) {
		t.Errorf("%.300s", s)
	}
}

// TestBars: every bar has its whole label and its number in words; a bar is as long as its number says; steps left out
// in the middle are counted.
func TestBars(t *testing.T) {
	r := reportOf(t, demo, cdg.Options{})
	page := htmlOf(t, r)
	looked := 0
	for _, bars := range [][]bar{r.stepBars(), r.hotspotBars(), r.phaseBars()} {
		longest := 0.0
		for _, b := range bars {
			looked++
			sum := 0.0
			for _, p := range b.Parts {
				sum += p.Of
			}
			longest = max(longest, sum)
			if b.Label == "" || !regexp.MustCompile(` (ns|µs|ms|s)$`).MatchString(b.Value) {
				t.Errorf("bar %q shows %q", b.Label, b.Value)
			}
			if !strings.Contains(page, `<span class="label">`+template.HTMLEscapeString(b.Label)+`</span>`) {
				t.Errorf("the label %q is not on the page as a whole", b.Label)
			}
		}
		if longest < 0.999 || longest > 1.001 {
			t.Errorf("the longest bar is %g of its place", longest)
		}
	}
	if len(phaseNames) != int(phases.NumPhases) {
		t.Errorf("%d phases are drawn, there are %d", len(phaseNames), phases.NumPhases)
	}
	if looked < 15 {
		t.Errorf("only %d bars", looked)
	}
	for _, h := range r.Hotspots {
		if !strings.Contains(page, `<span class="label">`+template.HTMLEscapeString(h.Readable)+`</span>`) {
			t.Errorf("the label of %q is cut", h.Readable)
		}
	}
	for len(r.Steps) < 100 {
		r.Steps = append(r.Steps, r.Steps[0])
	}
	if bars := r.stepBars(); len(bars) != maxBars || bars[maxBars/2].Left != 76 || !strings.Contains(htmlOf(t, r), "<p>… 76 more in between</p>") {
		t.Errorf("%d bars of 100 steps", len(bars))
	}
}

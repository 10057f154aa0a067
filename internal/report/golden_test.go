package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/testtrace/reported"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestGoldens: text, JSON and page of three traces by each method stay as they are. A golden that no test makes fails.
func TestGoldens(t *testing.T) {
	const dir = "testdata/golden"
	made := map[string]bool{}
	styles := regexp.MustCompile(`(?s)<(style|script)\b.*?</(style|script)>`)
	for name, tr := range reported.Traces(t) {
		for method, r := range reported.ByMethod(t, name, tr, name != "demo") {
			if r.Advice != nil {
				r.Advice.Rules = 1 // a rule that finds nothing here changes no golden
			}
			if r.Analyses != nil {
				for i := range r.Analyses.Timeline { // long, and more of it shows nothing new
					r.Analyses.Timeline[i].Slots = r.Analyses.Timeline[i].Slots[:5]
				}
			}
			var text, js, html bytes.Buffer
			if err := r.WriteText(&text, report.TextOptions{Walk: name != "demo"}); err != nil {
				t.Fatal(err)
			}
			if err := r.WriteJSON(&js); err != nil {
				t.Fatal(err)
			}
			if err := page.WriteReport(&html, r, nil); err != nil {
				t.Fatal(err)
			}
			files := map[string][]byte{".txt": text.Bytes()}
			if name != "demo" { // its JSON and page are long and show nothing new
				files[".json"], files[".html"] = js.Bytes(), styles.ReplaceAll(html.Bytes(), nil)
			}
			for ext, got := range files {
				file := filepath.Join(dir, name+"."+method+ext)
				made[file] = true
				reported.Golden(t, file, got, *update)
			}
		}
	}
	old, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range old {
		if made[f] {
			continue
		}
		if *update {
			os.Remove(f)
			continue
		}
		t.Errorf("%s: no test makes this golden", f)
	}
}

package chromejson_test

import (
	"bytes"
	"flag"
	"slices"
	"testing"

	"overlay/internal/analyses"
	"overlay/internal/overlay"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/digest"
)

// TestSame holds what is written to what it was.
func TestSame(t *testing.T) {
	var lines []string
	for _, m := range testtrace.Steady(t) {
		g, p, ok := testtrace.Analyse(t, m.Trace)
		if !ok {
			continue
		}
		rows := analyses.Run(g, p, analyses.Names, analyses.Options{}).Rows
		for name, o := range map[string]overlay.Options{"whole": {Rows: rows}, "slim": {Slim: true}} {
			var b bytes.Buffer
			st, err := chromejson.Write(&b, m.Trace, overlay.Annotate(g.Layout(), p, o))
			if err != nil {
				t.Fatal(m.Name, err)
			}
			lines = append(lines, m.Name+"_"+name+" "+digest.Of(struct {
				Text  string
				Stats chromejson.Stats
			}{b.String(), st}))
		}
	}
	slices.Sort(lines)
	digest.Check(t, "outputs", lines, *update)
}

var update = flag.Bool("update", false, "rewrite testdata")

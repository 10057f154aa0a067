package report

import (
	"strings"
	"testing"

	"overlay/internal/advise"
)

// printed is what some part of a text prints.
func printed(r *Report, part func(t *text)) string {
	var b strings.Builder
	t := newText(&b, TextOptions{}, r.Tables())
	part(t)
	t.w.Flush()
	return b.String()
}

// TestInIt: what is measured of one thing is measured in it, of several in them.
func TestInIt(t *testing.T) {
	them := advise.Number{Name: "in them", NS: 5_000}
	for _, c := range []struct {
		numbers []advise.Number
		want    string
	}{
		{[]advise.Number{{Name: "waits", Count: 1}, them}, "1 wait, in it 5.0 µs"},
		{[]advise.Number{{Name: "waits", Count: 2}, them}, "2 waits, in them 5.0 µs"},
		{[]advise.Number{them}, "in them 5.0 µs"},
		{[]advise.Number{{Name: "waits", Count: 1}, {Name: "kernels", Count: 3}}, "1 wait, 3 kernels"},
	} {
		got := printed(&Report{}, func(t *text) { t.finding(&advise.Finding{ID: "x", Numbers: c.numbers}) })
		if !strings.Contains(got, "  measured   "+c.want+"\n") {
			t.Errorf("want %q in\n%s", c.want, got)
		}
	}
}

// TestGapsWorthListing: a gap of a thousandth of the window is listed, a smaller one not.
func TestGapsWorthListing(t *testing.T) {
	r := &Report{Window: Window{Duration: 100_000}, Unknown: []Unknown{{Kind: "untraced", NS: 5_000, Share: 0.05, Count: 2, Likely: "x", Record: "y"}},
		Gaps: []Gap{{Kind: "untraced", Before: "a", After: "b", NS: 100, Share: littleShare, Count: 1}, {Kind: "untraced", Before: "c", After: "d", NS: 99, Share: 0.00099, Count: 1}}}
	got := printed(r, func(t *text) { t.section(r.unknownSection(t.tables), 5) })
	if !strings.Contains(got, "a\n") || strings.Contains(got, "c\n") {
		t.Error(got)
	}
}

// TestVerdictIsWhole: the sentence that says what bounds the window is never cut.
func TestVerdictIsWhole(t *testing.T) {
	r := &Report{}
	r.Path.Says = "bound by CPU (82 %); 10 % is host code that was not recorded; without any time of the CPU 78 % would remain, while the GPU is busy 57 % of the time"
	got := printed(r, func(t *text) { t.verdict(r) })
	if !strings.Contains(strings.ReplaceAll(got, "\n", " "), r.Path.Says) {
		t.Error(got)
	}
}

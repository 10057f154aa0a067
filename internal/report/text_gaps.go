package report

import (
	"strings"

	"overlay/internal/tables"
)

// worthGap is the share of the window below which time that no event owns is not listed in the text.
const worthGap = 0.01

// gapLines is how many pairs of neighbours the text lists.
const gapLines = 5

// gapIndent is where the words of a line begin.
const gapIndent = 32

// wrap breaks a sentence into lines of a width, at spaces.
func wrap(s string, width int) []string {
	var lines []string
	for len(s) > width {
		cut := strings.LastIndexByte(s[:width+1], ' ')
		if cut <= 0 {
			break
		}
		lines, s = append(lines, s[:cut]), s[cut+1:]
	}
	return append(lines, s)
}

// unknown prints what no recorded event owns: the likely reasons, and what stands around.
func (t *text) unknown(r *Report) {
	var sum int64
	for i := range r.Unknown {
		sum += r.Unknown[i].NS
	}
	if tables.ShareOf(sum, r.Window.Duration) < worthGap {
		return
	}
	t.line("")
	t.line("%s", t.bold("time that no recorded event owns: "+tables.FormatShare(tables.ShareOf(sum, r.Window.Duration))))
	reasons := t.table("unknown_time")
	for l := range reasons.Lines(-1) {
		if l.Value("share_of_window").Float() < worthGap/10 {
			continue
		}
		lines := append(wrap(KindWords(l.Str("kind"))+": "+l.Str("likely"), t.width-gapIndent), wrap(l.Str("record"), t.width-gapIndent)...)
		t.line("  %7s %11s %8s  %s", l.Show("share_of_window"), l.Show("ns"), l.Show("count"), lines[0])
		for _, more := range lines[1:] {
			t.line("%s%s", strings.Repeat(" ", gapIndent), more)
		}
	}
	n := 0
	for l := range t.table("gaps").Lines(gapLines) {
		if l.Value("share_of_window").Float() < worthGap/10 {
			break
		}
		if n++; n == 1 {
			t.line("  by what stands before and after")
		}
		t.line("  %7s %11s %8s  %s", l.Show("share_of_window"), l.Show("ns"), l.Show("count"), t.neighbours(l.Str("before"), l.Str("after"), t.width-gapIndent))
	}
}

// neighbours names what stands before and after a gap.
func (t *text) neighbours(before, after string, width int) string {
	side := func(s, none string) string {
		if s == "" {
			return none
		}
		return Shorten(Plain(t.names.Readable(s)), max((width-5)/2, 12))
	}
	return side(before, "(nothing)") + " … " + side(after, "(nothing)")
}

package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"overlay/internal/tables"
)

// WriteText writes the report of a job on about one screen: what its page says, with the path as a line of signs.
func (r *JobReport) WriteText(w io.Writer, o TextOptions) error {
	t := newText(w, o, nil)
	t.heading(Shorten(cmp.Or(r.Headline, r.Title()), 3*t.width), r.name)
	t.para(r.Lead())
	if r.Job.Matching.Instances > 0 || len(r.Job.Ranks) == 1 {
		t.line("")
		t.ranksStrip(r)
		t.classes(r.Job.Path.ByClass, r.Job.Path.Duration)
	}
	found := r.Findings()
	for i := range first(found, t.most(len(found))) {
		f := &found[i]
		t.line("")
		t.line("%s", t.bold(Shorten(f.Title, t.width)))
		t.indented(2, wrapText(f.Value+" "+f.About+". "+f.Text, t.width-2))
	}
	t.sections(r.Sections(), func(Section) int { return t.most(5) })
	t.line("")
	for _, s := range r.Trust() {
		t.wrapped(s)
	}
	if o.Walk {
		walked(t, r.Job.Path.Segments, r.Job.Window.Start, func(s *JobSegment) stretch {
			return stretch{s.Start, s.End, s.Kind, s.Name, "rank " + tables.Plain(int64(s.Rank))}
		}, 10)
	}
	return t.w.Flush()
}

// ranksStrip draws the window from left to right: the rank on which the path is, a digit a column, dots where nothing is recorded. Where
// there are ranks of more than one digit, the ranks have letters, which are explained.
func (t *text) ranksStrip(r *JobReport) {
	p := &r.Job.Path
	if len(p.Stays) == 0 || p.Duration <= 0 {
		return
	}
	sign := map[int]byte{}
	digits := !slices.ContainsFunc(p.ByRank, func(x RankTime) bool { return x.Rank > 9 })
	var legend []string
	for i, x := range p.ByRank {
		switch {
		case digits:
			sign[x.Rank] = byte('0' + x.Rank)
		case i < 26:
			sign[x.Rank] = byte('a' + i)
			if i < 8 {
				legend = append(legend, fmt.Sprintf("%c %s", 'a'+i, r.RankWhere(x.Rank)))
			}
		default:
			sign[x.Rank] = '*'
		}
	}
	var ends []int64
	for _, x := range p.Stays {
		ends = append(ends, x.End)
	}
	t.columns(r.Job.Window.Start, p.Duration, ends, func(i int) string {
		if p.Stays[i].Unknown {
			return "."
		}
		return string(sign[p.Stays[i].Rank])
	})
	if len(legend) > 0 {
		t.line("%s", Shorten(strings.Join(legend, ", "), t.width))
	}
}

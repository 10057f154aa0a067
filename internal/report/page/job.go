package page

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/report"
	"overlay/internal/tables"
)

// jobContent is what the page of a job shows.
type jobContent struct {
	*report.JobReport
	Name        string
	Title, Lead string
	TopFindings []report.Finding
	Sections    []report.Section
	Trust       []string
	Composition []report.Part
	ClassKey    []report.Key
	Stays       []block
	Stairs      *stairs
	Heats       []heat
	HeatNote    string
	Names       *heat
	Desk        *Desk
}

// WriteJob writes the report of a job, which was made from that source, as one page that needs nothing else.
func WriteJob(w io.Writer, r *report.JobReport, s report.JobSource) error {
	return write(w, "job", jobContentOf(r, s))
}

// WriteJobDesk writes the same page with sliders, which ask whoever serves it.
func WriteJobDesk(w io.Writer, r *report.JobReport, s report.JobSource, d *JobDesk) error {
	c := jobContentOf(r, s)
	c.Desk = &d.Desk
	return write(w, "job", c)
}

func jobContentOf(r *report.JobReport, s report.JobSource) *jobContent {
	p := &jobPage{r: r, j: s.Job, v: s.Verdict}
	c := &jobContent{JobReport: r, Name: s.Name, Title: r.Title(), Lead: r.Lead(), TopFindings: r.TopFindings(), Sections: r.Sections(), Trust: r.Trust(),
		Composition: report.ClassParts(r.Job.Path.ByClass, r.Job.Path.Duration, r.Job.Path.Duration), Stays: p.stays(), Stairs: p.stairs(), Names: p.names()}
	c.Heats, c.HeatNote = p.heats()
	for class := range critpath.NumClasses {
		if ns := r.Job.Path.ByClass[class.String()]; ns*2000 >= r.Job.Path.Duration && ns > 0 {
			c.ClassKey = append(c.ClassKey, report.Key{Kind: class.String(), Word: class.Words() + " " + tables.FormatShare(tables.ShareOf(ns, r.Job.Path.Duration))})
		}
	}
	return c
}

// stays are the path from left to right, a block for each stay on a rank; very short ones join.
func (p *jobPage) stays() (out []block) {
	j := p.j
	whole := j.Window[1] - j.Window[0]
	if len(j.Stays) == 0 || whole <= 0 || p.r.Job.Matching.Instances == 0 {
		return nil
	}
	runs := p.r.Job.Path.Stays
	for i := 0; i < len(runs); {
		first, on := runs[i], map[int]int64{runs[i].Rank: runs[i].End - runs[i].Start}
		end := first.End
		for i++; i < len(runs) && end-first.Start < whole/160; i++ {
			on[runs[i].Rank] += runs[i].End - runs[i].Start
			end = runs[i].End
		}
		best := first.Rank
		for m, ns := range on {
			if ns > on[best] || ns == on[best] && m < best {
				best = m
			}
		}
		class, text := p.classIn(first.Start, end), "rank "+tables.Plain(int64(best))
		b := p.block(first.Start, end, j.Window[0], whole)
		b.Kind = class.String()
		b.Title = fmt.Sprintf("%s, mostly %s, %s", text, class.Words(), tables.Duration(end-first.Start))
		switch {
		case len(on) > 1:
			b.Title = fmt.Sprintf("%s, most of it on %s", tables.Counted(len(on), "rank"), b.Title)
		case first.Unknown:
			text += ": not recorded"
			b.Title = text + ", " + tables.Duration(end-first.Start)
		}
		if (end-first.Start)*30 > whole {
			b.Text = text
		}
		out = append(out, b)
	}
	return out
}

// classIn is the class with most of the path in [from, to].
func (p *jobPage) classIn(from, to int64) critpath.Class {
	var sums [critpath.NumClasses]int64
	path := p.j.Path
	i, _ := slices.BinarySearchFunc(path, from, func(s ranks.Segment, t int64) int { return cmp.Compare(s.End, t+1) })
	for ; i < len(path) && path[i].Start < to; i++ {
		sums[path[i].Kind.Class()] += min(path[i].End, to) - max(path[i].Start, from)
	}
	return critpath.BoundBy(&sums)
}

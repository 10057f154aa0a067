package validation

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// WriteTables writes what was found as two tables in Markdown: loops of one process, then jobs. One row is a pair in one form.
func WriteTables(w io.Writer, rows []Row) {
	var one, jobs []Row
	for _, r := range rows {
		if r.Job == nil {
			one = append(one, r)
		} else {
			jobs = append(jobs, r)
		}
	}
	if len(one) > 0 {
		line(w, "change", "recorded", "step before, ms", "after, ms", "measured", "bound by", "`advise`", "replay, told", "off from measured", "off from recorded")
		line(w, slices.Repeat([]string{"---"}, 10)...)
		for i := range one {
			r := &one[i]
			told, promised, replayed := "-", "-", "-"
			if r.Told != 0 {
				told, promised, replayed = percent(r.Told-1), percent(r.Promised()), percent(r.Replayed())
			}
			line(w, r.Pair.Change, r.Form.String(), r.Measured[0].String(), r.Measured[1].String(), percent(-r.Share()), r.BoundBy, r.advice(), told, promised, replayed)
		}
	}
	if len(jobs) > 0 {
		fmt.Fprintln(w)
		line(w, "change", "recorded", "ranks", "step before, ms", "after, ms", "measured", "`advise`", "late in truth", "named", "collectives, unmatched", "clocks off by, at most")
		line(w, slices.Repeat([]string{"---"}, 11)...)
		for i := range jobs {
			r := &jobs[i]
			line(w, r.Pair.Change, r.Form.String(), fmt.Sprint(r.Pair.Ranks), r.Measured[0].String(), r.Measured[1].String(), percent(-r.Share()), r.advice(), r.Pair.Truth.String(),
				r.Job.names(), fmt.Sprintf("%d, %d", r.Job.Collectives, r.Job.Unmatched), fmt.Sprintf("%s, %s ms", millis(r.Job.Largest), millis(r.Job.Error)))
		}
	}
	if s := Summary(one); s != "" {
		fmt.Fprintf(w, "\n%s\n", s)
	}
}

// Summary says how far off the replays are in all.
func Summary(rows []Row) string {
	var measured, recorded []float64
	for i := range rows {
		if r := &rows[i]; r.Told != 0 {
			measured, recorded = append(measured, math.Abs(r.Promised())), append(recorded, math.Abs(r.Replayed()))
		}
	}
	if measured == nil {
		return ""
	}
	slices.Sort(measured)
	slices.Sort(recorded)
	n := len(measured)
	return fmt.Sprintf("%d predictions: the median is off from what was measured by %.1f %%, the worst by %.1f %%; from what was recorded by %.1f and %.1f %%.", n, 100*measured[n/2], 100*measured[n-1], 100*recorded[n/2], 100*recorded[n-1])
}

func line(w io.Writer, cells ...string) {
	fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
}

func percent(share float64) string { return fmt.Sprintf("%+.1f %%", 100*share) }

func millis(ns int64) string { return fmt.Sprintf("%.2f", float64(ns)/1e6) }

func (s Spread) String() string {
	return fmt.Sprintf("%s (%s to %s)", millis(s.Median), millis(s.Low), millis(s.High))
}

func (r *Row) advice() string {
	if r.Advice == "" {
		return "-"
	}
	bound := ""
	if r.GainBound {
		bound = "≤ "
	}
	return fmt.Sprintf("%s %s%s", r.Advice, bound, percent(-r.Gain))
}

func (t *Truth) String() string {
	if t.Straggler == nil {
		return "-"
	}
	return fmt.Sprintf("rank %d", *t.Straggler)
}

// names are the stragglers as the table shows them.
func (j *Job) names() string {
	var out []string
	for _, n := range j.Named {
		var who []string
		for _, r := range n.Ranks {
			who = append(who, fmt.Sprint(r))
		}
		out = append(out, fmt.Sprintf("%s: %s, %s, %.0f %%", strings.Join(who, ", "), n.Kind, n.Cause, 100*n.Share))
	}
	if out == nil {
		return "-"
	}
	return strings.Join(out, "; ")
}

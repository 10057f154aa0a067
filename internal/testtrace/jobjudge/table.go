package jobjudge

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"overlay/internal/testtrace"
)

// JudgeAll scores n random jobs, the first of which has seed from; with a cause, jobs in which it is planted: set for several, balanced for none.
func JudgeAll(n int, from uint64, cause string) []*Score {
	scores := make([]*Score, n)
	next := make(chan int)
	done := make(chan bool)
	workers := runtime.GOMAXPROCS(0)
	for range workers {
		go func() {
			for i := range next {
				sim := testtrace.RandomJob
				switch cause {
				case "":
				case "set":
					sim = testtrace.RandomJobSet
				case "balanced":
					sim = testtrace.RandomJobBalanced
				default:
					sim = func(seed uint64) *testtrace.Job { return testtrace.RandomJobWith(cause, seed) }
				}
				scores[i] = Judge(sim(from + uint64(i)))
			}
			done <- true
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	for range workers {
		<-done
	}
	return scores
}

// row is what several jobs have in common and how they did.
type row struct {
	name string
	in   func(s *Score) bool
}

// whole reports whether the traces of a job hold all that was done, and say it.
func whole(s *Score) bool {
	return !slices.ContainsFunc(s.Options.Trouble, func(t string) bool {
		return slices.Contains([]string{"windows", "lost", "missing", "absent", "old", "bare"}, t)
	})
}

// told reports whether the traces of a job say which group a collective belongs to.
func told(s *Score) bool { return !slices.Contains(s.Options.Trouble, "old") }

// WriteTable prints how jobs did: all, by kind, by trouble, by noise; and the worst of them.
func WriteTable(w io.Writer, scores []*Score, worst int) {
	rows := []row{
		{"all", func(*Score) bool { return true }},
		{"groups recorded", told},
		{"whole windows", whole},
		{"whole, noise 1", func(s *Score) bool { return whole(s) && s.Options.Noise == 1 }},
		{"whole, noise 2", func(s *Score) bool { return whole(s) && s.Options.Noise == 2 }},
		{"whole, noise 5", func(s *Score) bool { return whole(s) && s.Options.Noise == 5 }},
	}
	for _, k := range testtrace.JobKinds {
		rows = append(rows, row{"whole, " + k, func(s *Score) bool { return whole(s) && s.Options.Kind == k }})
	}
	for _, c := range testtrace.JobCauses {
		rows = append(rows, row{"cause " + cmp.Or(c, "none"), func(s *Score) bool { return s.Options.Cause == c }})
	}
	rows = append(rows, row{"rows, by shapes", func(s *Score) bool { return s.Options.Cause == "rows" && !s.Options.NoShapes }},
		row{"rows, by grids", func(s *Score) bool { return s.Options.Cause == "rows" && s.Options.NoShapes }})
	for _, k := range slices.Compact(slices.Sorted(slices.Values(testtrace.JobTroubles))) {
		rows = append(rows, row{"trouble " + k, func(s *Score) bool { return slices.Contains(s.Options.Trouble, k) }})
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tjobs\tclock p50\tmax µs\tbest max\tpromised\tprecision\trecall\tlast right\twait error\tnear\tsame rank\ton path\toff path\tnamed\tmissed\tfalse\tcause\tgain p5\tp50\tp95")
	fmt.Fprintln(t, "wanted\t\t\t5\t\t\t1.000\t0.995\t0.990\t5 %\t0.990\t\t0.90\t0.95\t95 %\t\t0\t95 %\t0.90\t1.00\t1.10")
	for _, r := range rows {
		if list := slices.DeleteFunc(slices.Clone(scores), func(s *Score) bool { return !r.in(s) }); len(list) > 0 {
			fmt.Fprintln(t, r.name+"\t"+sum(list))
		}
	}
	t.Flush()
	writeWorst(w, scores, worst)
}

// sum is the line of some jobs.
func sum(list []*Score) string {
	var a Score
	var clocks []int64
	best, gains, causes, links := int64(0), []float64(nil), 0, 0
	promised, count := 0, [Small + 1]int{}
	for _, s := range list {
		if s.Err != nil {
			continue
		}
		clocks, best = append(clocks, s.Clock), max(best, s.Best)
		if s.Promised {
			promised++
		}
		count[s.Found]++
		if s.Found == Named && s.Planted.Kind == "link" { // of which there is one reason
			links++
		}
		if s.Cause {
			causes++
		}
		if s.Gain > 0 {
			gains = append(gains, s.Gain)
		}
		for i := range 2 {
			a.Precision[i] += s.Precision[i]
			a.Recall[i] += s.Recall[i]
			a.Last[i] += s.Last[i]
			a.Wait[i] += s.Wait[i]
			a.Near[i] += s.Near[i]
			a.Same[i] += s.Same[i]
			a.On[i] += s.On[i]
			a.Off[i] += s.Off[i]
		}
	}
	if len(clocks) == 0 {
		return fmt.Sprintf("%d\tnone could be put together", len(list))
	}
	slices.Sort(clocks)
	named := "-"
	if n := count[Named] + count[Missed]; n > 0 {
		named = fmt.Sprintf("%.0f %%", 100*float64(count[Named])/float64(n))
	}
	cause, gain := "-", "-\t-\t-"
	if n := count[Named] - links; n > 0 {
		cause = fmt.Sprintf("%.0f %%", 100*float64(causes)/float64(n))
	}
	if n := len(gains); n > 0 {
		slices.Sort(gains)
		gain = fmt.Sprintf("%.2f\t%.2f\t%.2f", gains[n/20], gains[n/2], gains[n-1-n/20])
	}
	return fmt.Sprintf("%d\t%.1f\t%.1f\t%.1f\t%d\t%.4f\t%.4f\t%.4f\t%.2f %%\t%.4f\t%.3f\t%.3f\t%.3f\t%s\t%d\t%d\t%s\t%s", len(list), float64(clocks[len(clocks)/2])/1e3,
		float64(clocks[len(clocks)-1])/1e3, float64(best)/1e3, promised, share(a.Precision), share(a.Recall), share(a.Last), 100*share(a.Wait), share(a.Near), share(a.Same),
		share(a.On), share(a.Off), named, count[Missed], count[False], cause, gain)
}

func share[T int | int64](x [2]T) float64 {
	if x[1] == 0 {
		return 1
	}
	return float64(x[0]) / float64(x[1])
}

// writeWorst lists jobs that fall short, and in what.
func writeWorst(w io.Writer, scores []*Score, most int) {
	n := 0
	for _, s := range scores {
		short := s.short()
		if len(short) == 0 {
			continue
		}
		if n++; n <= most {
			o := &s.Options
			fmt.Fprintf(w, "seed %d %s, cause %q, trouble %v, noise %v, %d ranks, %d a host: %s\n", o.Seed, o.Kind, o.Cause, o.Trouble, o.Noise, o.World, o.PerHost, strings.Join(short, "; "))
		}
	}
	if n > most {
		fmt.Fprintf(w, "and %d more\n", n-most)
	}
}

// short says in what a job falls short.
func (s *Score) short() (list []string) {
	add := func(ok bool, format string, args ...any) {
		if !ok {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	if s.Err != nil {
		return []string{s.Err.Error()}
	}
	limit := int64(5000)
	if s.Options.Noise > 2 {
		limit = 10_000
	}
	add(s.Clock <= limit && s.Promised, "clock %.1f µs (best %.1f, promised %v, %d components)", float64(s.Clock)/1e3, float64(s.Best)/1e3, s.Promised, s.Components)
	add(s.Precision[0] == s.Precision[1], "precision %d of %d", s.Precision[0], s.Precision[1])
	add(!told(s) || share(s.Recall) >= 0.995, "recall %.4f", share(s.Recall))
	add(!whole(s) || share(s.Last) >= 0.98, "last right %.4f", share(s.Last))
	add(!whole(s) || share(s.Wait) <= 0.05, "wait error %.4f", share(s.Wait))
	add(!whole(s) || share(s.Near) >= 0.98, "near %.4f", share(s.Near))
	if s.Found == Named && !s.Cause && s.Planted.Kind != "link" && s.Planted.Kind != "set" {
		for i := range s.Stragglers {
			c := &s.Stragglers[i].Cause
			list = append(list, fmt.Sprintf("cause %s ×%.2f, given %+v", c.What, c.Factor, c.Load))
		}
	}
	add(s.Gain == 0 || s.Gain > 0.8 && s.Gain < 1.3, "gain %.2f of the truth", s.Gain)
	if s.Found == False || s.Found == Missed {
		blamed := ""
		for i := range s.Stragglers {
			x := &s.Stragglers[i]
			blamed += fmt.Sprintf(" %s %s %v share %.3f of %v", x.Kind, x.Unit, x.Members, x.Share, x.Steps)
		}
		for i := range s.Links {
			blamed += fmt.Sprintf(" link %+v", s.Links[i])
		}
		if s.Wrong != "" {
			list = append(list, s.Wrong)
		}
		list = append(list, fmt.Sprintf("%s: planted %+v, judged %d steps, blamed%s", s.Found, s.Planted, s.Judged, cmp.Or(blamed, " nobody")))
	}
	return list
}

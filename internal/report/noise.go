package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/stat"
	"overlay/internal/tables"
)

// Noise is within which a difference lies: in 95 of 100 cases, were the same recorded again.
type Noise struct {
	Known      bool    `json:"known" unit:"flag" about:"something was measured more than once"`
	Low        float64 `json:"low_percent" unit:"percent" about:"by which it is slower at least; below 0: faster"`
	High       float64 `json:"high_percent" unit:"percent" about:"and at most"`
	Of         string  `json:"of" about:"what was measured more than once: steps, windows, calls or collectives"`
	BeforeRuns int     `json:"before_runs_count" unit:"count"`
	AfterRuns  int     `json:"after_runs_count" unit:"count" about:"one run a side says nothing of what differs from run to run"`
}

// noiseOf is the noise of units of work of two sides, for which see stat.Interval.
func noiseOf(before, after []stat.Units, weights []float64, runsBefore, runsAfter int, of string) *Noise {
	n := &Noise{Of: of, BeforeRuns: runsBefore, AfterRuns: runsAfter}
	low, high, ok := stat.Interval(before, after, weights)
	n.set(low, high, ok)
	return n
}

func (n *Noise) set(low, high float64, known bool) {
	if n.Known = known; known {
		n.Low, n.High = 100*rounded(low), 100*rounded(high)
	}
}

// rounded is a share to 2 to the power of -30: what lies below differs from processor to processor.
func rounded(x float64) float64 { return math.Round(x*(1<<30)) / (1 << 30) }

func (n *Noise) words() string {
	if !n.Known {
		return "noise unknown"
	}
	return "noise ± " + tables.Fixed((n.High-n.Low)/2, 1)
}

// Gate is what a difference says of a limit.
type Gate uint8

// The answers.
const (
	Within Gate = iota // it is surely no slower than allowed
	Unsure             // it may be, and may not be
	Beyond             // it is surely slower
)

// Gate judges whether the second side is slower by more than so many percent, and says why that is not sure. Where nothing was measured
// twice nothing is known of the noise, and the one number that there is decides, as whoever gave the limit asked for.
func (n *Noise) Gate(slower, limit float64) (Gate, string) {
	switch {
	case !n.Known && slower <= limit, n.Known && n.High <= limit:
		return Within, ""
	case !n.Known || n.Low > limit:
		return Beyond, ""
	case slower <= limit && n.Low <= 0:
		return Within, ""
	}
	return Unsure, fmt.Sprintf("it lies between %s and %s; more runs would tell", tables.SignedPercent(n.Low), tables.SignedPercent(n.High))
}

// Gate judges a difference against a limit. Two steps of one trace are what they are, without noise.
func (d *Difference) Gate(limit float64) (Gate, string) {
	if d.Steps != nil {
		return (&Noise{Known: true, Low: d.Slower, High: d.Slower}).Gate(d.Slower, limit)
	}
	g, why := d.Noise.Gate(d.Slower, limit)
	if g == Beyond && d.Same != nil && d.Same.recording {
		return Unsure, d.Same.Differs[len(d.Same.Differs)-1] + "; record both alike"
	}
	return g, why
}

// Work is how much more or less work the second window holds, by the calls that both have: at the times of the first.
type Work struct {
	Names  int     `json:"names_count" unit:"count" about:"operations, or where the CPU bounds both operators, that both windows have; of jobs collectives"`
	Before int     `json:"before_calls" unit:"count" about:"of those names"`
	After  int     `json:"after_calls" unit:"count"`
	Share  float64 `json:"work_share" unit:"share" about:"of the work of the first window that the second one holds"`
	Time   float64 `json:"time_share" unit:"share" about:"of the length of the first window"`
}

// verdict is a difference in words: by how much something is longer, or the same work takes longer where windows hold another amount of it.
func (n *Noise) verdict(what string, w *Work, slower float64, before string) string {
	if w != nil {
		what = tables.FormatShare(w.Share) + " of the work in " + tables.FormatShare(w.Time) + " of the time: the same work"
	}
	if slower == 0 {
		return what + " takes as long as " + before
	}
	percent := tables.FormatPercent(max(slower, -slower))
	switch more := slower > 0; {
	case w != nil && more:
		what += " takes " + percent + " longer"
	case w != nil:
		what += " takes " + percent + " less time"
	case more:
		what += " is " + percent + " longer"
	default:
		what += " is " + percent + " shorter"
	}
	if n != nil && n.Known {
		what += " (" + n.words() + ")"
	}
	return what
}

// sameAmount is how far the work of two windows may be apart to count as the same.
const sameAmount = 0.005

// fewCalls is of how many calls of a name on average on something is known of their noise.
const fewCalls = 3

// Compared adds whether the traces do the same work. Windows without steps are then compared by the time that the same work takes, where
// one holds more of it: they were cut by the clock. Where nothing else was measured more than once, the calls say how much noise there is.
func (d *Difference) Compared(before, after *Done, same Comparable) {
	d.Same = &same
	if d.Before.Window.Annotation != "" || d.After.Window.Annotation != "" {
		return
	}
	if (d.Before.countSteps() == 0) != (d.After.countSteps() == 0) {
		same.recording, same.Differs = true, append(same.Differs, "steps are marked in one of them only: windows are compared, which do not begin and end alike")
	}
	if d.Noise.Known {
		return
	}
	x, y := before.kernels, after.kernels
	if cpu := critpath.ClassCPU.String(); len(x) == 0 || len(y) == 0 || d.Before.Path.BoundBy == cpu && d.After.Path.BoundBy == cpu && len(before.operators) > 0 && len(after.operators) > 0 {
		x, y = before.operators, after.operators
	}
	w := &Work{Time: signedShare(d.Window.After, d.Window.Before)}
	var first, second, one, vary float64 // the work of both at the times of the first, that of a call of each name, and the variance
	for name, a := range x {
		if b := y[name]; b != nil {
			price := float64(a.ns) / float64(a.n)
			w.Names, w.Before, w.After = w.Names+1, w.Before+a.n, w.After+b.n
			first, second, one = first+float64(a.n)*price, second+float64(b.n)*price, one+price
			vary += a.variance() + b.variance()
		}
	}
	if first <= 0 || second <= 0 {
		return
	}
	w.Share = rounded(second / first)
	noise := math.Sqrt(vary) / first
	if len(d.PerStep) > 0 {
		noise /= min(1, w.Share)
	} else if math.Abs(w.Share-1) >= sameAmount {
		d.Work = w
		d.Slower = 100 * (w.Time/w.Share - 1)
		noise += one / first // a window that is cut by the clock holds a call of each name more or less
	}
	if d.Noise.BeforeRuns+d.Noise.AfterRuns == 2 && w.Before+w.After >= 2*fewCalls*w.Names {
		d.Noise.Of = "calls"
		d.Noise.set(d.Slower/100-2*noise, d.Slower/100+2*noise, true)
	}
}

// variance is that of the sum of calls.
func (c *calls) variance() float64 {
	mean := float64(c.ns) / float64(c.n)
	return max(c.squares-float64(c.n)*mean*mean, 0)
}

// middleRun is the run whose median step, or window, is in the middle.
func middleRun(runs []*Report) *Report {
	length := func(r *Report) int64 {
		if r.StepTimes != nil {
			return int64(r.StepTimes.Stats.P50)
		}
		return r.Window.Duration
	}
	order := slices.Clone(runs)
	slices.SortStableFunc(order, func(a, b *Report) int { return cmp.Compare(length(a), length(b)) })
	return order[(len(order)-1)/2]
}

package history

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"overlay/internal/report"
	"overlay/internal/stat"
)

// doubt is how probable it is that a run like those before it is said to lie beyond them. It holds for the step, and for all else together.
const doubt = 0.002

// enough is how many runs say what the next one takes.
const enough = 5

// tooFew says that there are not.
var tooFew = "to judge a step it takes " + strconv.Itoa(enough) + " runs before this one, of as many ranks, with steps"

// Past is what one series of a run is compared with: the runs since it last changed.
type Past struct {
	Series
	Now     int64   `json:"now_ns"`
	Typical int64   `json:"typical_ns"`
	Low     int64   `json:"low_ns"` // to High: within which the next run is expected
	High    int64   `json:"high_ns"`
	Percent float64 `json:"change_percent"` // by which the run takes more than is typical
	Runs    int     `json:"runs_count"`
}

// Beyond reports whether the run takes longer or less than expected.
func (p *Past) Beyond() bool { return p.Now > p.High || p.Now < p.Low }

// noise is within which the run is slower than before, percent.
func (p *Past) noise() *report.Noise {
	than := func(before int64) float64 { return 100 * (float64(p.Now)/float64(before) - 1) }
	return &report.Noise{Known: true, Low: than(p.High), High: than(p.Low)}
}

// Verdict is a run beside its own past.
type Verdict struct {
	Run    *Run
	Steps  []Past // what a step takes: of the job, or of its ranks where not all of them are here
	Beyond []Past // of all else, what lies beyond its past, first of the job
	Series int    // that were compared
	Unlike bool   // most of its work has another name than any before: it is another program
}

// Judge compares a run with those before it, in order. Steps of the job are compared with those of runs of as many ranks; where there are
// not enough of these, or only some ranks are here, each rank is compared with itself.
func Judge(past []*Run, run *Run) *Verdict {
	v := &Verdict{Run: run, Steps: []Past{}, Beyond: []Past{}, Unlike: unlike(past, run)}
	by := map[Series]*line{}
	for _, l := range lines(past) {
		by[l.Series] = l
	}
	whole := map[Series]*line{}
	for _, l := range lines(slices.DeleteFunc(slices.Clone(past), func(r *Run) bool { return r.Ranks != run.Ranks })) {
		whole[l.Series] = l
	}
	type pair struct {
		p Point
		l *line
	}
	var steps, rest []pair
	for _, p := range run.Points {
		l := by[p.Series]
		if p.Scope == Job || p.Scope == Work {
			l = whole[p.Series]
		}
		switch {
		case l == nil || len(l.values) < enough || p.Scope == Host && p.IsStep(): // ranks of one job wait for each other
		case p.IsStep() && (p.Scope == Job || p.Scope == Rank):
			steps = append(steps, pair{p, l})
		default:
			rest = append(rest, pair{p, l})
		}
	}
	if len(steps) > 0 && steps[0].p.Scope == Job { // points are in order of their scopes
		steps = slices.DeleteFunc(steps, func(x pair) bool { return x.p.Scope != Job })
	}
	for _, x := range steps {
		if p, ok := expected(x.l, x.p, doubt/float64(len(steps))); ok {
			v.Steps = append(v.Steps, p)
		}
	}
	for _, x := range rest {
		if p, ok := expected(x.l, x.p, doubt/float64(len(rest))); ok && p.Beyond() {
			v.Beyond = append(v.Beyond, p)
		}
	}
	slices.SortStableFunc(v.Beyond, func(a, b Past) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(math.Abs(float64(b.Now-b.Typical)), math.Abs(float64(a.Now-a.Typical))))
	})
	v.Series = len(v.Steps) + len(rest)
	return v
}

// Gate judges whether a step is slower than before by more than so many percent, as that of a difference does: of is the step that says it, nil
// where there are not enough runs.
func (v *Verdict) Gate(limit float64) (gate report.Gate, why string, of *Past) {
	if len(v.Steps) == 0 {
		return report.Unsure, tooFew, nil
	}
	for i := range v.Steps {
		p := &v.Steps[i]
		if g, say := p.noise().Gate(p.Percent, limit); of == nil || g > gate || g == gate && p.Percent > of.Percent {
			gate, why, of = g, say, p
		}
	}
	return gate, why, of
}

// Slower is the step that lies most beyond its past, nil when none does.
func (v *Verdict) Slower() *Past {
	if gate, _, of := v.Gate(0); gate == report.Beyond {
		return of
	}
	return nil
}

// expected is within what the next value of a series lies, after its last change.
func expected(l *line, p Point, alpha float64) (Past, bool) {
	x := slices.Clone(l.logs)
	from := 0
	if cuts := Changes(x, risk/10); len(cuts) > 0 && len(x)-cuts[len(cuts)-1].At >= enough {
		from = cuts[len(cuts)-1].At
	}
	x = x[from:]
	level := 0.
	stat.DrawIn(x)
	for _, v := range x {
		level += v / float64(len(x))
	}
	for i := range x {
		x[i] -= level
	}
	n := float64(len(x))
	spread, share, free := stat.Noise(x, 1)
	apart := max(spread*math.Sqrt(1+share/n)*stat.Beyond(alpha, free), smallest)
	whole := func(log float64) int64 { return int64(math.Round(math.Exp(log))) }
	return Past{p.Series, p.NS, whole(level), whole(level - apart), whole(level + apart), rounded(100 * (float64(p.NS)/float64(whole(level)) - 1)), len(x)}, true
}

// unlike reports whether most of the time that a run spends in names is spent in ones that no run before it knew.
func unlike(past []*Run, run *Run) bool {
	known := map[string]bool{}
	for _, r := range past {
		for _, p := range r.Points {
			if p.Scope == Work {
				known[p.Name] = true
			}
		}
	}
	all, new := int64(0), int64(0)
	for _, p := range run.Points {
		if p.Scope == Work {
			if all += p.NS; !known[p.Name] {
				new += p.NS
			}
		}
	}
	return len(known) > 0 && 2*new > all
}

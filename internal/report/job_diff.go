package report

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"overlay/internal/stat"
	"overlay/internal/tables"
)

// JobDifference compares the reports of two jobs; differences are after minus before. Captures differ in length, so times are those
// of a step in the middle where both jobs have whole steps (PerStep), else of the window.
type JobDifference struct {
	Schema     string            `json:"schema"`
	Before     JobSide           `json:"before" table:"before"`
	After      JobSide           `json:"after" table:"after"`
	PerStep    bool              `json:"per_step" unit:"flag" about:"times are those of one step in the middle, else of the window"`
	Length     Change            `json:"length" table:"length" about:"how long a step, or the window, takes"`
	Slower     float64           `json:"slower_percent" unit:"percent" about:"below 0: faster"`
	Same       *Comparable       `json:"comparable,omitempty" table:"comparable" about:"whether the two jobs do the same work"`
	Noise      *Noise            `json:"noise,omitempty" table:"noise" about:"within which the difference lies"`
	Work       *Work             `json:"work,omitempty" table:"work" about:"of windows without steps that do not hold as many collectives: by how much"`
	Classes    []Change          `json:"classes" table:"classes" about:"time on the path by class, largest effect first"`
	Waits      Change            `json:"waits" table:"waits" about:"waited in collectives by a rank, on average"`
	Steps      []Change          `json:"steps" table:"steps" about:"steps that both jobs recorded, by number"`
	Stragglers []StragglerChange `json:"stragglers" table:"stragglers" about:"ranks with more work than their peers, that came, went or stayed"`
	Links      []StragglerChange `json:"links" table:"links" about:"slow links that came, went or stayed"`
}

// JobSide is one of the two jobs.
type JobSide struct {
	Name     string  `json:"name"`
	Ranks    int     `json:"ranks" unit:"count" about:"with a trace"`
	World    int     `json:"world" unit:"count"`
	Window   int64   `json:"window_ns" unit:"ns"`
	Whole    int     `json:"whole_steps" unit:"count"`
	BoundBy  string  `json:"bound_by"`
	WaitPart float64 `json:"wait_ratio" unit:"share" about:"of the time of all ranks, what they waited in collectives"`
}

// StragglerChange is what became of a straggler, or of a slow link.
type StragglerChange struct {
	Change string  `json:"change" about:"new, gone or still"`
	Who    string  `json:"who"`
	Cause  string  `json:"cause"`
	Before float64 `json:"before" unit:"share" about:"of its steps, what it works more; of a link, by how much slower it is"`
	After  float64 `json:"after" unit:"share"`
}

// CompareJobs makes the difference of two jobs.
func CompareJobs(before, after *JobReport) *JobDifference {
	d := &JobDifference{Schema: "overlay-diff-job/1", Before: before.side(), After: after.side()}
	same := CompareDone(before.done, after.done)
	if d.Same = &same; same.Same && before.Job.World != after.Job.World {
		same.Differs = append(same.Differs, tables.Counted(before.Job.World, "rank")+" before and "+tables.Counted(after.Job.World, "rank")+" after")
	}
	a, b := before.wholeSteps(), after.wholeSteps()
	x, y := stat.Median(slices.Clone(a)), stat.Median(slices.Clone(b))
	if d.PerStep = x > 0 && y > 0; !d.PerStep {
		a, b = []int64{before.Job.Path.Duration}, []int64{after.Job.Path.Duration}
		x, y = a[0], b[0]
	}
	d.Noise = noiseOf([]stat.Units{{a}}, []stat.Units{{b}}, []float64{1}, 1, 1, "steps")
	d.Length = Change{"step", x, y, y - x}
	if !d.PerStep {
		d.Length.Name = "window"
	}
	if d.Slower = 100 * signedShare(d.Length.Effect, x); !d.PerStep {
		d.byWork(before, after)
	}
	classes := func(r *JobReport, length int64) map[string]int64 {
		m := map[string]int64{}
		for c, ns := range r.Job.Path.ByClass {
			m[c] = int64(tables.ShareOf(ns, r.Job.Path.Duration) * float64(length))
		}
		return m
	}
	d.Classes = changes(classes(before, x), classes(after, y))
	waited := func(r *JobReport, length int64) int64 { return int64(r.Job.Waits.Ratio * float64(length)) }
	d.Waits = Change{"waits", waited(before, x), waited(after, y), waited(after, y) - waited(before, x)}
	d.Steps = []Change{}
	for i := range after.Job.Steps {
		s := &after.Job.Steps[i]
		k := slices.IndexFunc(before.Job.Steps, func(o JobStep) bool { return o.Number == s.Number && o.Whole && s.Whole })
		if k >= 0 {
			o := &before.Job.Steps[k]
			d.Steps = append(d.Steps, Change{"step " + tables.Plain(int64(s.Number)), o.Duration, s.Duration, s.Duration - o.Duration})
		}
	}
	d.Stragglers = came(before.stragglersBy(), after.stragglersBy())
	d.Links = came(before.linksBy(), after.linksBy())
	return d
}

// byWork compares two windows that were cut by the clock by the time that as many collectives take, a collective more or less.
func (d *JobDifference) byWork(before, after *JobReport) {
	type key struct{ group, name string }
	counts := func(r *JobReport) map[key]int {
		m := map[key]int{}
		for i := range r.Job.Totals {
			c := &r.Job.Totals[i]
			m[key{GroupName(&r.Job.Groups[c.Group]), c.Name}] += c.Count
		}
		return m
	}
	w, others := &Work{Time: signedShare(d.Length.After, d.Length.Before)}, counts(after)
	for k, n := range counts(before) {
		if m := others[k]; m > 0 {
			w.Names, w.Before, w.After = w.Names+1, w.Before+n, w.After+m
		}
	}
	if w.Before+w.After < 2*fewCalls*max(w.Names, 1) {
		return
	}
	if w.Share = rounded(float64(w.After) / float64(w.Before)); math.Abs(w.Share-1) < sameAmount {
		return
	}
	d.Work, d.Slower = w, 100*(w.Time/w.Share-1)
	noise := float64(w.Names) / float64(w.Before)
	d.Noise.Of = "collectives"
	d.Noise.set(d.Slower/100-2*noise, d.Slower/100+2*noise, true)
}

func (r *JobReport) side() JobSide {
	return JobSide{Name: r.name, Ranks: len(r.Job.Ranks), World: r.Job.World, Window: r.Job.Path.Duration, Whole: r.judged, BoundBy: r.Job.Path.BoundBy, WaitPart: r.Job.Waits.Ratio}
}

// Gate judges a difference against a limit.
func (d *JobDifference) Gate(limit float64) (Gate, string) {
	return d.Noise.Gate(d.Slower, limit)
}

// wholeSteps is how long the steps take that every rank has as a whole; none where one step was put together.
func (r *JobReport) wholeSteps() (all []int64) {
	for i := range r.Job.Steps {
		if s := &r.Job.Steps[i]; s.Whole && r.Job.Window.Step == nil {
			all = append(all, s.Duration)
		}
	}
	return all
}

// stragglersBy are the stragglers by who they are, with their cause.
func (r *JobReport) stragglersBy() map[string]StragglerChange {
	m := map[string]StragglerChange{}
	for i := range r.Job.Stragglers {
		s := &r.Job.Stragglers[i]
		cause, _ := CauseText(s)
		m[StragglerWho(s)] = StragglerChange{Who: StragglerWho(s), Cause: cause, After: s.Share}
	}
	return m
}

func (r *JobReport) linksBy() map[string]StragglerChange {
	m := map[string]StragglerChange{}
	for i := range r.Job.Links {
		l := &r.Job.Links[i]
		who := "group " + GroupName(&r.Job.Groups[l.Group]) + ", " + l.Class
		m[who] = StragglerChange{Who: who, Cause: "slow link", After: l.Ratio - 1}
	}
	return m
}

// came joins what there was before and after: new ones first, then those that are gone, then those that stayed.
func came(a, b map[string]StragglerChange) []StragglerChange {
	out := []StragglerChange{}
	for who, x := range b {
		if old, ok := a[who]; ok {
			x.Change, x.Before = "still", old.After
			if old.Cause != x.Cause {
				x.Cause = old.Cause + ", then " + x.Cause
			}
		} else {
			x.Change = "new"
		}
		out = append(out, x)
	}
	for who, x := range a {
		if _, ok := b[who]; !ok {
			x.Change, x.Before, x.After = "gone", x.After, 0
			out = append(out, x)
		}
	}
	order := map[string]int{"new": 0, "gone": 1, "still": 2}
	slices.SortFunc(out, func(x, y StragglerChange) int {
		return cmp.Or(order[x.Change]-order[y.Change], cmp.Compare(max(y.Before, y.After), max(x.Before, x.After)), strings.Compare(x.Who, y.Who))
	})
	return out
}

// WriteJSON writes the difference as JSON.
func (d *JobDifference) WriteJSON(w io.Writer) error {
	return writeJSON(w, d)
}

// Tables gives the difference as tables.
func (d *JobDifference) Tables() []tables.Table {
	return tables.From("job_difference", "how much longer a step, or the window, takes", d)
}

// Lead says what times are of.
func (d *JobDifference) Lead() string {
	if d.PerStep {
		return "the median step, on the path over the ranks"
	}
	return "the window, on the path over the ranks"
}

// Verdict is the difference in words.
func (d *JobDifference) Verdict() string {
	if d.PerStep {
		return d.Noise.verdict("the median step", nil, d.Slower, "before")
	}
	return d.Noise.verdict("the window", d.Work, d.Slower, "before")
}

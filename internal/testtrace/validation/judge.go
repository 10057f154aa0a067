package validation

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"overlay/internal/advise"
	"overlay/internal/pipeline"
	"overlay/internal/report"
	"overlay/internal/trace"
)

// Row is what became of a pair in one form.
type Row struct {
	Pair     *Pair
	Form     Form
	Measured [2]Spread // of steps without the profiler, before and after
	Recorded [2]int64  // median step of the traces, ns; of jobs over all ranks
	BoundBy  string    // what holds the run before the change up

	Advice    string // rule of advise, or of advise over ranks, that means the change, "" where it is not found
	Gain      float64
	GainBound bool    // the gain is a bound
	Told      float64 // what the step would take by whatif, over the step as recorded; 0 when nothing was asked
	Job       *Job    // of a job
}

// Spread is the middle of some times, ns.
type Spread struct{ Median, Low, High int64 } // Low and High are the quartiles

func spread(seconds []float64) Spread {
	s := slices.Sorted(slices.Values(seconds))
	at := func(q float64) int64 { return int64(1e9 * s[int(q*float64(len(s)-1)+0.5)]) }
	return Spread{(at(0.499) + at(0.501)) / 2, at(0.25), at(0.75)}
}

// Share is by how much the change made a step shorter, as measured, of the step before.
func (r *Row) Share() float64 { return 1 - r.after(r.Measured) }

func (r *Row) after(m [2]Spread) float64 { return float64(m[1].Median) / float64(m[0].Median) }

// Replayed is by how much the step that the replay gives is longer than the one recorded after the change, of the latter. 0 when nothing was asked.
func (r *Row) Replayed() float64 {
	if r.Told == 0 {
		return 0
	}
	return r.Told*float64(r.Recorded[0])/float64(r.Recorded[1]) - 1
}

// Promised is the same for what the trace promises of runs without a profiler: the measured step before, shortened as the replay says.
func (r *Row) Promised() float64 {
	if r.Told == 0 {
		return 0
	}
	return r.Told/r.after(r.Measured) - 1
}

// Judge makes the rows of all pairs, one for each form.
func Judge(dir string, m *Manifest) ([]Row, error) {
	var rows []Row
	for i := range m.Pairs {
		p := &m.Pairs[i]
		for _, form := range p.Forms() {
			r := Row{Pair: p, Form: form, Measured: [2]Spread{spread(p.Before.StepSeconds), spread(p.After.StepSeconds)}}
			of := r.single
			if p.Ranks > 0 {
				of = r.job
			}
			if err := of(dir); err != nil {
				return nil, fmt.Errorf("%s, %v: %w", p.Name, form, err)
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// single judges a loop of one process.
func (r *Row) single(dir string) error {
	before, err := Load(dir, r.Pair.Before.Files(r.Form)[0])
	if err != nil {
		return err
	}
	after, err := Load(dir, r.Pair.After.Files(r.Form)[0])
	if err != nil {
		return err
	}
	if r.Recorded, err = steps(before, after); err != nil {
		return err
	}
	run, err := pipeline.Solve(before, pipeline.Options{Advise: true}, false)
	if err != nil {
		return err
	}
	r.BoundBy = run.Report(report.Source{Name: path.Base(before.File)}).Path.BoundBy
	defer func() { // it takes the graph
		for _, f := range run.Findings().Findings {
			if f.ID == r.Pair.Rule {
				r.Advice, r.Gain, r.GainBound = f.ID, f.Share, f.Kind == advise.AtMost
				break
			}
		}
	}()
	if r.Pair.Question == "" {
		return nil
	}
	question, err := fill(r.Pair.Question, after)
	if err != nil {
		return err
	}
	w, err := run.WhatIf(pipeline.Questions{Scenarios: []string{question}}, report.Source{Name: path.Base(before.File)})
	if err != nil {
		return err
	}
	var then []int64
	for _, s := range w.Scenarios[0].Steps {
		if strings.HasPrefix(s.Name, trace.StepPrefix) {
			then = append(then, s.After)
		}
	}
	r.Told = float64(median(then)) / float64(r.Recorded[0])
	return nil
}

// steps are the median steps of two traces.
func steps(traces ...*trace.Trace) (out [2]int64, err error) {
	for i, tr := range traces {
		var list []int64
		for k := range tr.Events {
			if e := &tr.Events[k]; e.Ph == 'X' && strings.HasPrefix(tr.Str(e.Name), trace.StepPrefix) {
				list = append(list, tr.Dur(e))
			}
		}
		if len(list) == 0 {
			return out, fmt.Errorf("%s has no steps", tr.File)
		}
		out[i] = median(list)
	}
	return out, nil
}

func median(list []int64) int64 {
	if len(list) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(list))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

var blank = regexp.MustCompile(`\{after:([^}]*)\}`)

// fill makes a scenario of the flags of a question: {after:NAME} becomes the median time of what is called NAME, where * stands for anything, in
// the trace after the change. So the replay is told how long the changed part takes then, and has to find out what becomes of the rest.
func fill(question string, after *trace.Trace) (string, error) {
	var failed error
	filled := blank.ReplaceAllStringFunc(question, func(s string) string {
		name := blank.FindStringSubmatch(s)[1]
		var took []int64
		for i := range after.Events {
			if e := &after.Events[i]; e.Ph == 'X' && e.Kind.Host() {
				if prefix, wild := strings.CutSuffix(name, "*"); after.Str(e.Name) == name || wild && strings.HasPrefix(after.Str(e.Name), prefix) {
					took = append(took, after.Dur(e))
				}
			}
		}
		if took == nil {
			failed = fmt.Errorf("nothing in %s is called %s", after.File, name)
		}
		return time.Duration(median(took)).String()
	})
	var changes []string
	for change := range strings.SplitSeq(filled, "--") {
		if change = strings.TrimSpace(change); change != "" {
			changes = append(changes, change)
		}
	}
	return strings.Join(changes, "; "), failed
}

package validation

import (
	"slices"
	"strings"

	"overlay/internal/advise"
	"overlay/internal/advise/jobadvice"
	"overlay/internal/pipeline"
	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/trace"
)

// Job is what was found over the ranks of a job before the change. All its ranks ran on one machine, so their true clocks are one.
type Job struct {
	Collectives int // recorded on all ranks together
	Unmatched   int
	Largest     int64 // correction of a clock, ns: what it is wrong by
	Error       int64 // what it may be wrong by, as the report says, ns
	Violations  int   // collectives that somebody left before the last one came, by the solved clocks
	Named       []Named
}

// Named is a straggler.
type Named struct {
	Kind  ranks.StragglerKind
	Ranks []int
	Cause ranks.CauseKind
	Share float64 // of the time of the steps in which it hits
}

// Worst is the rank that costs most, -1 where none is named.
func (j *Job) Worst() int {
	if len(j.Named) == 0 || len(j.Named[0].Ranks) != 1 {
		return -1
	}
	return j.Named[0].Ranks[0]
}

// job judges a job of several ranks.
func (r *Row) job(dir string) error {
	for i, loop := range []*Loop{&r.Pair.Before, &r.Pair.After} {
		var list []*ranks.Summary
		var traces []*trace.Trace
		for _, name := range loop.Files(r.Form) {
			tr, err := Load(dir, name)
			if err != nil {
				return err
			}
			run, err := pipeline.Solve(tr, pipeline.Options{Events: true}, false)
			if err != nil {
				return err
			}
			s := run.Summary(name)
			s.Rank = ranks.Rank(tr.Rank)
			list, traces = append(list, s), append(traces, tr)
		}
		one, err := steps(traces[0], traces[0])
		if err != nil {
			return err
		}
		r.Recorded[i] = one[0]
		if i == 1 {
			return nil
		}
		j, err := ranks.Join(list, ranks.Options{Step: -1})
		if err != nil {
			return err
		}
		r.over(j, replay.Judge(j, ranks.Expected{}))
	}
	return nil
}

// over takes what was found over the ranks.
func (r *Row) over(j *ranks.Job, v *ranks.Verdict) {
	r.Job = &Job{Unmatched: j.Matching.Unmatched, Largest: j.Clocks.Largest, Violations: j.Clocks.Violations}
	for m := range j.Members {
		r.Job.Collectives += len(j.Members[m].Ops)
		r.Job.Error = max(r.Job.Error, j.Members[m].Clock.Error)
	}
	for _, s := range v.Stragglers {
		n := Named{Kind: s.Kind, Cause: s.Cause.What, Share: s.Share}
		for _, m := range s.Members {
			n.Ranks = append(n.Ranks, int(j.Members[m].Rank))
		}
		r.Job.Named = append(r.Job.Named, n)
	}
	a := jobadvice.New(j, v, strings.Clone)
	if i := slices.IndexFunc(a.Findings, func(f advise.Finding) bool { return f.Gain > 0 }); i >= 0 {
		f := &a.Findings[i]
		r.Advice, r.Gain, r.GainBound = f.ID, f.Share, true
	}
}

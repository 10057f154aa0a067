package ranks

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Options of Join.
type Options struct {
	Step  int32 // the window is this profiler step; -1 for the whole job
	Trust bool  // take stamps as they are

	// Release is called when much has been let go and most will be held next; nil for nothing.
	Release func()
}

// ErrNoStep says that no rank has the step that was asked for.
var ErrNoStep = errors.New("no rank has this step")

// Join puts the summaries of the ranks of one job together, each rank once. The result is the same in any order of
// them, and nothing but the offset of a rank depends on what its clock showed.
func Join(list []*Summary, o Options) (*Job, error) {
	g, channels, err := gather(list)
	if err != nil {
		return nil, err
	}
	j := &Job{Clocked: clocked(match(g, channels, &o)), Step: o.Step}
	if err := j.window(); err != nil {
		return nil, err
	}
	j.findPath()
	j.charge()
	return j, nil
}

// gather puts ranks side by side, and finds the channels in which they meet.
func gather(list []*Summary) (*Gathered, []channel, error) {
	j := &Gathered{}
	for _, s := range list {
		j.Members = append(j.Members, Member{Summary: s})
		j.World = max(j.World, int(s.World), int(s.Rank)+1)
	}
	slices.SortFunc(j.Members, func(a, b Member) int { return cmp.Compare(a.Rank, b.Rank) })
	for m := range j.Members {
		if m > 0 && j.Members[m].Rank == j.Members[m-1].Rank {
			return nil, nil, fmt.Errorf("rank %d twice: %s and %s", j.Members[m].Rank, j.Members[m-1].Source, j.Members[m].Source)
		}
	}
	channels := j.channels()
	for i := range j.Groups {
		if g := &j.Groups[i]; g.Known {
			j.World = max(j.World, int(g.Ranks[len(g.Ranks)-1])+1)
		}
	}
	next := 0
	for r := range j.World {
		if next < len(j.Members) && int(j.Members[next].Rank) == r {
			next++
		} else {
			j.Missing = append(j.Missing, Rank(r))
		}
	}
	return j, channels, nil
}

// window finds the analysed interval: of the job, or from the first start of a step to the first start of the next.
func (j *Job) window() error {
	step := j.Step
	j.Window = [2]int64{math.MaxInt64, math.MinInt64}
	for m := range j.Members {
		x := &j.Members[m]
		if step < 0 {
			j.Window[0], j.Window[1] = min(j.Window[0], x.Start), max(j.Window[1], x.End)
		}
	}
	if step < 0 {
		return nil
	}
	next := int64(math.MaxInt64)
	for m := range j.Members {
		x := &j.Members[m]
		for i := range x.Steps {
			s := &x.Steps[i]
			switch s.Number {
			case step:
				j.Window[0] = min(j.Window[0], x.Clock.Global(s.Start))
				j.Window[1] = max(j.Window[1], x.Clock.Global(s.End))
			case step + 1:
				next = min(next, x.Clock.Global(s.Start))
			}
		}
	}
	if j.Window[1] < j.Window[0] {
		return fmt.Errorf("%w%s", ErrNoStep, j.stepsThere())
	}
	if next > j.Window[0] && next < j.Window[1] {
		j.Window[1] = next
	}
	return nil
}

// stepsThere lists the steps for an error message.
func (j *Job) stepsThere() string {
	lo, hi := int32(math.MaxInt32), int32(-1)
	for m := range j.Members {
		for i := range j.Members[m].Steps {
			n := j.Members[m].Steps[i].Number
			lo, hi = min(lo, n), max(hi, n)
		}
	}
	switch {
	case hi < 0:
		return "; the traces have no steps"
	case lo == hi:
		return fmt.Sprintf("; there is step %d", lo)
	}
	return fmt.Sprintf("; there are steps %d to %d", lo, hi)
}

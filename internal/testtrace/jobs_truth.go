package testtrace

import (
	"cmp"
	"slices"
)

// JobWork is a stretch of true time that an activity fills, with how much longer it could have taken without moving the
// end of the job.
type JobWork struct {
	Start, End int64
	Slack      int64
	knob       int32
}

// Work lists what an activity fills, by time: of a slice what is not in slices inside of it, of a collective its transfer.
func (j *Job) Work(act int32) (list []JobWork) {
	if j.fills == nil {
		j.fills = make([][]int32, len(j.acts))
		for i := range j.graph.edges {
			if e := &j.graph.edges[i]; e.act >= 0 {
				j.fills[e.act] = append(j.fills[e.act], int32(i))
			}
		}
	}
	g := &j.graph
	for _, i := range j.fills[act] {
		e := &g.edges[i]
		took := g.took(i, g.knobs)
		if g.at[e.from]+took != g.at[e.to] && g.best[e.to] != i { // another edge decided
			continue
		}
		slack := never
		if late := j.late[e.to]; late != never {
			slack = max(0, late-took-g.at[e.from])
		}
		list = append(list, JobWork{g.at[e.from], g.at[e.to], slack, e.knob})
	}
	slices.SortFunc(list, func(a, b JobWork) int { return cmp.Compare(a.Start, b.Start) })
	return list
}

// Bounds are the true start and end of an activity.
func (j *Job) Bounds(act int32) (start, end int64) { return j.bounds(act) }

// Operation reports whether an activity is an operation of a stream.
func (j *Job) Operation(act int32) bool { return j.acts[act].kind == jobKernel }

// Acts is the number of activities; those that Shown says are in the traces.
func (j *Job) Acts() int { return len(j.acts) }

// Shown reports whether a trace shows an activity.
func (j *Job) Shown(act int32) bool { return j.recorded(act) }

// Shorten is by how much the job ends earlier when a stretch of work takes d less.
func (j *Job) Shorten(w JobWork, d int64) int64 {
	if w.knob < 0 {
		return 0
	}
	g := &j.graph
	g.knobs[w.knob] -= d
	at := make([]int64, len(g.at))
	g.times(g.knobs, at, nil)
	g.knobs[w.knob] += d
	end := int64(0)
	for _, p := range j.gauges() {
		end = max(end, at[p])
	}
	return j.End - end
}

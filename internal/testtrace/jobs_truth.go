package testtrace

import "slices"

// Slack is how much longer an activity could have taken without moving the end of the job: for one that waited for
// others, of its part of the time. It is never when nothing of the end waits for it.
func (j *Job) Slack(act int32) int64 {
	if j.acts[act].late == 0 {
		return never
	}
	return max(0, j.acts[act].late-1)
}

// Never is the slack of an activity for which nothing of the end waits.
func Never() int64 { return never }

// Gain is by how much the job ends earlier when an activity takes d less. Of a collective its transfer is taken, for
// all members.
func (j *Job) Gain(act int32, d int64) int64 {
	g := &j.graph
	knobs := slices.Clone(g.knobs)
	for i := range g.edges {
		if e := &g.edges[i]; e.act == act && e.knob >= 0 && knobs[e.knob] > 2*d {
			knobs[e.knob] -= d
			break
		}
	}
	at := make([]int64, len(g.at))
	g.times(knobs, at, nil)
	end := int64(0)
	for _, p := range j.gauges() {
		end = max(end, at[p])
	}
	return j.End - end
}

package testtrace

import (
	"slices"

	"overlay/internal/trace"
)

// windows decides from when to when each rank records: from the moment at which its profiler starts to its own end, or
// some other part of it.
func (j *Job) windows() {
	g := &j.graph
	for r := range j.Ranks {
		w := j.workers[r]
		k := &j.Ranks[r]
		k.Window = [2]int64{g.at[w.begun], g.at[w.cursor[jobMain]]}
		if !j.has("windows") && !j.has(outlived) {
			continue
		}
		step := (k.Window[1] - k.Window[0]) / int64(j.Steps)
		k.Window[0] += int64(w.rng.Float64() * 1.3 * float64(step))
		k.Window[1] -= int64(w.rng.Float64() * 1.3 * float64(step))
	}
}

// loseRecords decides what has no record: operations that the profiler lost, and whole ranks.
func (j *Job) loseRecords() {
	for i := range j.acts {
		a := &j.acts[i]
		if a.end < 0 {
			panic("testtrace: internal error: an activity of a made job has no end")
		}
		window := j.Ranks[a.rank].Window
		start, end := j.bounds(int32(i))
		if a.kind == kindAnnotation && j.has(outlived) && start < window[1] && end > window[0] {
			continue
		}
		a.lost = start < window[0] || end > window[1] || j.has("lost") && a.kind == jobKernel && j.workers[a.rank].rng.IntN(25) == 0
	}
	none := 0
	switch {
	case j.has("absent") && j.Culprits.Kind == "persistent" && j.Culprits.Unit == "rank":
		j.Ranks[j.Culprits.Ranks[0]].Recorded = false
	case j.has("missing"):
		for none < j.World/5 {
			r := &j.Ranks[j.rng.IntN(j.World)]
			if r.Recorded && (j.Culprits.Kind == "alternating" || !slices.Contains(j.Culprits.Ranks, r.Rank)) {
				r.Recorded = false
			}
			none++ // a draw, so that a job of few innocent ranks ends
		}
	}
}

func (j *Job) bounds(act int32) (start, end int64) {
	return j.graph.at[j.acts[act].start], j.graph.at[j.acts[act].end]
}

// recorded reports whether the traces show an activity.
func (j *Job) recorded(act int32) bool {
	return act >= 0 && !j.acts[act].lost && j.Ranks[j.acts[act].rank].Recorded
}

// clocks sets the clocks: those of one host differ by up to 2 µs, those of hosts by what NTP leaves.
func (j *Job) clocks() {
	const epoch = 1_760_000_000_000_000_000
	mid := j.graph.at[j.workers[0].cursor[jobMain]] / 2
	host := map[string]JobClock{}
	for r := range j.Ranks {
		k := &j.Ranks[r]
		c, ok := host[k.Host]
		if !ok {
			c = JobClock{Base: epoch + int64(j.rng.NormFloat64()*600_000), Mid: mid}
			if j.has("drift") {
				c.Drift = (2*j.rng.Float64() - 1) * 60e-6
			}
			if j.has("bad_clock") {
				c.Base += int64((2*j.rng.Float64() - 1) * 3e9)
			}
			host[k.Host] = c
		}
		c.Base += j.between(0, 2000)
		k.Clock = c
	}
}

// settle fills in the truth that follows from the run: instances, window, path, slack, what the cause costs.
func (j *Job) settle() {
	g := &j.graph
	for i := range j.Instances {
		in := &j.Instances[i]
		in.Arrive, in.Last = -1, -1
		first := never
		for m := range in.Members {
			mem := &in.Members[m]
			if mem.act < 0 {
				panic("testtrace: internal error: a rank of a made job leaves out a collective")
			}
			mem.Start, mem.End = j.bounds(mem.act)
			mem.Event = trace.NoEvent
			if mem.Start > in.Arrive {
				in.Arrive, in.Last = mem.Start, mem.Rank
			}
			first = min(first, mem.End)
		}
		in.Transfer = first - in.Arrive
	}
	j.Start, j.End = never, 0
	for i := range j.acts {
		if j.recorded(int32(i)) {
			start, end := j.bounds(int32(i))
			j.Start, j.End = min(j.Start, start), max(j.End, end)
		}
	}
	ends := j.ends()
	j.late = g.latest(ends, j.End)
	j.walk(ends)
	if j.Culprits.Kind != "" && j.End > j.Start { // from when the first profiler starts: what happened before nobody can see
		first := never
		for _, w := range j.workers {
			first = min(first, g.at[w.begun])
		}
		whole := float64(j.End - j.Start)
		without := j.endWithout(first, func(int32) bool { return true })
		j.Culprits.Gain = float64(j.End-without) / whole
		for i := range j.Culprits.Set {
			p := &j.Culprits.Set[i]
			p.Alone = float64(j.End-j.endWithout(first, func(rank int32) bool { return rank == p.Rank })) / whole
			p.Stays = float64(j.endWithout(first, func(rank int32) bool { return rank != p.Rank })-without) / whole
		}
	}
}

// endWithout is when the job ends if nothing that begins from a time on has what was planted on some ranks.
func (j *Job) endWithout(first int64, on func(rank int32) bool) (end int64) {
	g := &j.graph
	knobs, at := slices.Clone(g.clean), make([]int64, len(g.at))
	for i := range g.edges {
		if e := &g.edges[i]; e.knob >= 0 && (g.at[e.from] < first || !on(g.rank[e.to])) {
			knobs[e.knob] = g.knobs[e.knob]
		}
	}
	g.times(knobs, at, nil)
	for _, p := range j.gauges() {
		end = max(end, at[p])
	}
	return end
}

// ends are the points at which the job ends, all within 5 µs: no trace can tell which of them is the last.
func (j *Job) ends() (points []int32) {
	for i := range j.acts {
		if j.recorded(int32(i)) && j.graph.at[j.acts[i].end] > j.End-5000 {
			points = append(points, j.acts[i].end)
		}
	}
	return points
}

// gauges are the last recorded points of each rank: by them a run with other durations is compared.
func (j *Job) gauges() []int32 {
	last := slices.Repeat([]int32{-1}, len(j.Ranks))
	for i := range j.acts {
		if a := &j.acts[i]; j.recorded(int32(i)) && (last[a.rank] < 0 || j.graph.at[a.end] > j.graph.at[last[a.rank]]) {
			last[a.rank] = a.end
		}
	}
	return slices.DeleteFunc(last, func(p int32) bool { return p < 0 })
}

// walk is the true path: back from the last end over what came last.
func (j *Job) walk(ends []int32) {
	g := &j.graph
	p := ends[0]
	for _, q := range ends {
		if g.at[q] > g.at[p] {
			p = q
		}
	}
	to, rank := j.End, int32(-1)
	for to > j.Start && g.best[p] >= 0 {
		e := &g.edges[g.best[p]]
		from := max(g.at[e.from], j.Start)
		if e.act >= 0 {
			rank = j.acts[e.act].rank
		} else if r := g.rank[p]; r >= 0 {
			rank = r
		}
		piece := JobPiece{Rank: rank, Start: from, End: to, Instance: -1, Act: e.act}
		if e.act >= 0 && j.acts[e.act].kind == jobKernel {
			piece.Instance = j.acts[e.act].inst
		}
		if from < to {
			j.Path = append(j.Path, piece)
		}
		p, to = e.from, from
	}
	slices.Reverse(j.Path)
}

package testtrace

import "slices"

// jobCause is what was planted: who is slow, when, and by how much.
type jobCause struct {
	factor float64
	slow   []bool    // per rank
	turns  []int32   // per step: the rank that stops
	stops  []int64   // per step: for how long; per step of a late data loader too
	spread []float64 // per step and rank: factor of the kernels, and of the rows of a batch
}

// plant decides who is to blame.
func (j *Job) plant() {
	c, n := &j.cause, j.World
	c.slow = make([]bool, n)
	blame := int32(j.rng.IntN(n))
	some := func(in func(r *JobRank) bool) {
		for r := range j.Ranks {
			if in(&j.Ranks[r]) {
				c.slow[r] = true
				j.Culprits.Ranks = append(j.Culprits.Ranks, int32(r))
			}
		}
	}
	if j.Cause == "stage" && j.shape.pipe == 1 || j.Cause == "host" && (j.PerHost == n || j.shape.pipe > 1) { // nobody would be left to compare with
		j.Cause = ""
	}
	one := func(r *JobRank) bool { return r.Rank == blame }
	j.Culprits.Kind, j.Culprits.Unit = "persistent", "rank"
	switch j.Cause {
	case "gpu":
		c.factor = 1.15 + 0.15*j.rng.Float64()
		some(one)
	case "cpu":
		c.factor = 1.4 + 0.4*j.rng.Float64()
		some(one)
	case "data":
		some(one)
		for range j.Steps {
			c.stops = append(c.stops, j.between(1500, 3500)*1000)
		}
	case "stage":
		c.factor = 1.18 + 0.15*j.rng.Float64()
		stage := j.Ranks[blame].Stage
		some(func(r *JobRank) bool { return r.Stage == stage })
		j.Culprits.Unit = "stage"
	case "host":
		c.factor = 1.15 + 0.15*j.rng.Float64()
		host := j.Ranks[blame].Host
		some(func(r *JobRank) bool { return r.Host == host })
		j.Culprits.Unit = "host"
	case "pauses":
		j.Culprits.Kind = "alternating"
		turns := j.rng.Perm(n)
		for s := range j.Steps {
			c.turns = append(c.turns, int32(turns[s%n]))
			c.stops = append(c.stops, j.between(2000, 5000)*1000)
		}
		j.Culprits.Ranks = c.turns
	case "input":
		j.Culprits.Kind = "alternating"
		for range j.Steps * n {
			c.spread = append(c.spread, 0.85+0.4*j.rng.Float64())
		}
	case "rows":
		c.factor = 1.2 + 0.5*j.rng.Float64()
		some(one)
		for i := range j.Steps * n {
			f := 0.98 + 0.04*j.rng.Float64()
			if c.slow[i%n] {
				f *= c.factor
			}
			c.spread = append(c.spread, f)
		}
	case "link":
		j.plantLink(blame)
	case "late":
		j.Culprits.Kind = "start"
		some(one)
		c.stops = []int64{j.between(4000, 9000) * 1000}
	default:
		j.Culprits.Kind, j.Culprits.Unit = "", ""
	}
	for _, p := range j.Set {
		j.Culprits.Kind, j.Culprits.Unit = "set", "rank"
		j.Culprits.Ranks = append(j.Culprits.Ranks, p.Rank)
		j.Culprits.Set = append(j.Culprits.Set, JobPlanted{JobPlant: p})
	}
}

// planted is by what factor one of several causes makes the work of a rank in a step longer, 0 where there is none. What goes on from the first step on did so before.
func (j *Job) planted(cause string, rank, step int32) float64 {
	for i := range j.Set {
		if p := &j.Set[i]; p.Cause == cause && p.Rank == rank && max(step, 0) >= p.From && step < p.To {
			return p.Factor
		}
	}
	return 0
}

// wrong reports whether one of several causes is this.
func (o *JobOptions) wrong(cause string) bool {
	return o.Cause == cause || slices.ContainsFunc(o.Set, func(p JobPlant) bool { return p.Cause == cause })
}

// plantLink slows the transfers of a group that has sisters.
func (j *Job) plantLink(rank int32) {
	for _, of := range [][]int32{j.shape.tensorOf, j.shape.dataOf, j.shape.expertOf} {
		if g := of[rank]; g >= 0 && len(j.Groups[g].Ranks) < j.World {
			j.Groups[g].slow = 2 + j.rng.Float64()
			j.Culprits.Kind, j.Culprits.Unit, j.Culprits.Group = "link", "group", g
			j.Culprits.Ranks = j.Groups[g].Ranks
			return
		}
	}
	j.Culprits.Kind, j.Culprits.Unit, j.Cause = "", "", "" // one group a kind: nothing to compare it with
}

// hostCost is how long host work takes on a rank.
func (j *Job) hostCost(rank, step int32, d int64) int64 {
	if f := j.planted("cpu", rank, step); f > 0 {
		return int64(float64(d) * f)
	}
	if j.Cause == "cpu" && j.cause.slow[rank] {
		return int64(float64(d) * j.cause.factor)
	}
	return d
}

// rows is the factor of the rows of a batch.
func (j *Job) rows(rank, step int32) float64 {
	if f := j.planted("rows", rank, step); f > 0 {
		return f
	}
	if step < 0 || j.cause.spread == nil {
		return 1
	}
	return j.cause.spread[int(step)*j.World+int(rank)]
}

// kernelCost is how long a kernel of compute takes on a rank. What the optimizer does has nothing to do with the rows of a batch, but for inputs that are
// uneven by turns, where all that a rank does is scaled.
func (j *Job) kernelCost(rank, step int32, name string, d int64) int64 {
	c := &j.cause
	switch {
	case len(j.Set) > 0:
		if f := j.planted("rows", rank, step); f > 0 && !fixed[name] {
			return int64(float64(d) * f)
		} else if f = j.planted("gpu", rank, step); f > 0 {
			return int64(float64(d) * f)
		}
	case j.Cause == "input" || j.Cause == "rows" && !fixed[name]:
		return int64(float64(d) * j.rows(rank, step))
	case c.slow[rank] && (j.Cause == "gpu" || j.Cause == "stage" || j.Cause == "host"):
		return int64(float64(d) * c.factor)
	}
	return d
}

// fixed are the kernels and operators that take as long whatever the batch.
var fixed = map[string]bool{adam: true, "aten::addcdiv_": true}

// evenCost is how long a kernel of a rank takes without what was planted: inputs are dealt out evenly then, and do not become fewer. One stage of a pipeline cannot have
// what another one has.
func (j *Job) evenCost(rank, step int32, name string, d int64) int64 {
	if step < 0 || j.Cause != "input" && (j.Cause != "rows" || fixed[name]) {
		return d
	}
	sum, n := 0.0, 0
	for r := range j.World {
		if j.Cause == "input" || j.Ranks[r].Stage == j.Ranks[rank].Stage {
			sum += j.rows(int32(r), step)
			n++
		}
	}
	return int64(float64(d) * sum / float64(n))
}

// stop is for how long a rank pauses in a step.
func (j *Job) stop(rank, step int32) int64 {
	if j.Cause == "pauses" && step >= 0 && j.cause.turns[step] == rank {
		return j.cause.stops[step]
	}
	return 0
}

// lateData is for how long the data loader of a rank is late.
func (j *Job) lateData(rank, step int32) int64 {
	if f := j.planted("data", rank, step); f > 0 && step >= 0 {
		return int64(f * 1e6)
	}
	if j.Cause == "data" && step >= 0 && j.cause.slow[rank] {
		return j.cause.stops[step]
	}
	return 0
}

// lateStart is for how long the profiler of a rank starts later than the others do.
func (j *Job) lateStart(rank int32) int64 {
	if j.Cause == "late" && j.cause.slow[rank] {
		return j.cause.stops[0]
	}
	return 0
}

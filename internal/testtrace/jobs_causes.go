package testtrace

// jobCause is what was planted: who is slow, when, and by how much.
type jobCause struct {
	factor float64
	slow   []bool    // per rank
	turns  []int32   // per step: the rank that stops
	stops  []int64   // per step: for how long; per step of a late data loader too
	spread []float64 // per step and rank: factor of the kernels
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
	case "link":
		j.plantLink(blame)
	case "late":
		j.Culprits.Kind = "start"
		some(one)
		c.stops = []int64{j.between(4000, 9000) * 1000}
	default:
		j.Culprits.Kind, j.Culprits.Unit = "", ""
	}
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
func (j *Job) hostCost(rank int32, d int64) int64 {
	if j.Cause == "cpu" && j.cause.slow[rank] {
		return int64(float64(d) * j.cause.factor)
	}
	return d
}

// kernelCost is how long a kernel of compute takes on a rank.
func (j *Job) kernelCost(rank, step int32, d int64) int64 {
	c := &j.cause
	switch {
	case j.Cause == "input" && step >= 0:
		return int64(float64(d) * c.spread[int(step)*j.World+int(rank)])
	case c.slow[rank] && (j.Cause == "gpu" || j.Cause == "stage" || j.Cause == "host"):
		return int64(float64(d) * c.factor)
	}
	return d
}

// evenCost is how long a kernel takes without what was planted: inputs are dealt out evenly then, and do not become fewer.
func (j *Job) evenCost(step int32, d int64) int64 {
	if j.Cause == "input" && step >= 0 {
		sum := 0.0
		for _, f := range j.cause.spread[int(step)*j.World:][:j.World] {
			sum += f
		}
		return int64(float64(d) * sum / float64(j.World))
	}
	return d
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

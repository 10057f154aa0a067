package testtrace

import "slices"

// jobShape is what all ranks of a job have in common: sizes of the groups and what a step consists of.
type jobShape struct {
	tensor, data, pipe int // ranks that share a layer, that have the same layers, that share the model by layers
	experts            int // ranks that share experts; 0 for none
	sharded            bool
	micro              int // batches that a pipeline has in flight
	layers             int // of a rank
	bucket             int // layers that reduce their gradients together
	forward, backward  []int64
	optimizer          []int64
	loader             int64
	host               float64 // factor of all host work
	comm               float64 // factor of all transfers
	itemSync           bool    // the step ends with loss.item()
	buffers            bool    // buffers are broadcast before forward
	gradNorm           bool

	world                              int32
	tensorOf, dataOf, expertOf, pipeOf []int32  // per rank: its group, -1
	positions                          [][3]int // per rank: in the tensor, data and pipeline dimension
}

// draw fills in what the options leave open and the sizes of everything.
func (j *Job) draw() {
	pick := func(n *int, of ...int) {
		if *n == 0 {
			*n = of[j.rng.IntN(len(of))]
		}
	}
	if j.Kind == "" {
		j.Kind = JobKinds[j.rng.IntN(len(JobKinds))]
	}
	pick(&j.World, 8, 16)
	pick(&j.PerHost, 2, 4, 8)
	pick(&j.Steps, 4, 5, 6)
	j.PerHost = min(j.PerHost, j.World)
	if j.Noise == 0 {
		j.Noise = 1
	}
	s := &j.shape
	s.tensor, s.pipe, s.micro = 1, 1, 1
	if j.Kind == "mixed" && j.Cause == "stage" {
		s.pipe = 2
	}
	switch j.Kind {
	case "tp_dp":
		s.tensor = min(j.PerHost, 4)
	case "pp_dp":
		s.pipe, s.micro = 4, 4
	case "3d":
		s.tensor, s.pipe, s.micro = 2, 2, 4
	case "moe":
		s.experts = min(j.World, []int{j.PerHost, j.World}[j.rng.IntN(2)])
	case "fsdp":
		s.sharded = true
	case "mixed":
		s.tensor = []int{1, 2}[j.rng.IntN(2)]
		s.pipe = max(s.pipe, []int{1, 2}[j.rng.IntN(2)])
		if s.pipe > 1 {
			s.micro = 3
		}
		s.sharded = j.chance(50) && s.pipe == 1
		if !s.sharded && j.chance(40) {
			s.experts = 2 // of the data-parallel ranks
		}
	}
	s.data = j.World / s.tensor / s.pipe
	if s.experts > s.data {
		s.experts = s.data
	}
	s.layers = int(j.between(5, 9)) / s.pipe
	s.layers = max(s.layers, 2)
	if s.bucket = int(j.between(1, 3)); j.Bucket > 0 {
		s.bucket = j.Bucket
	}
	scale := j.between(60, 160)
	draws := func(n int64) (list []int64) {
		for range n {
			list = append(list, j.between(8, 100)*10*scale)
		}
		return list
	}
	s.forward = draws(j.between(3, 5))
	s.backward = draws(j.between(5, 8))
	s.optimizer = draws(j.between(2, 4))
	s.loader = j.between(100, 500) * 1000
	s.host = 0.7 + j.rng.Float64()*0.6
	if j.Cause == "cpu" || j.wrong("cpu") && j.Seed%2 == 0 { // of a program that waits for its GPU nobody would notice
		s.host = 3 + 2*j.rng.Float64()
		for _, list := range [][]int64{s.forward, s.backward, s.optimizer} {
			for i := range list {
				list[i] /= 4
			}
		}
	}
	if s.micro > 1 {
		for _, list := range [][]int64{s.forward, s.backward} {
			for i := range list {
				list[i] = list[i]*2/3 + 8000
			}
		}
	}
	s.comm = 0.5 + j.rng.Float64()
	s.itemSync = j.chance(70)
	s.buffers = j.Kind == "dp" && j.chance(40)
	s.gradNorm = j.chance(40)
}

// layOut places the ranks: neighbours share a layer, then come those that have the same layers, then the stages.
func (j *Job) layOut() {
	s := &j.shape
	hosts := j.World / j.PerHost
	for r := range j.World {
		host, device := r/j.PerHost, r%j.PerHost
		if j.has("interleaved") {
			host, device = r%hosts, r/hosts
		}
		s.positions = append(s.positions, [3]int{r % s.tensor, r / s.tensor % s.data, r / s.tensor / s.data})
		j.Ranks = append(j.Ranks, JobRank{Rank: int32(r), Host: "node" + itoa(int64(host+1)), Device: int64(device), Stage: int32(s.positions[r][2]), Recorded: true})
	}
	same := func(fixed ...int) func(a, b [3]int) bool {
		return func(a, b [3]int) bool {
			return !slices.ContainsFunc(fixed, func(d int) bool { return a[d] != b[d] })
		}
	}
	s.world = j.group("default_pg", same())[0]
	none := slices.Repeat([]int32{-1}, j.World)
	s.tensorOf, s.dataOf, s.expertOf, s.pipeOf = none, none, none, none
	if s.tensor > 1 {
		s.tensorOf = j.group("TENSOR_MODEL_PARALLEL_GROUP", same(1, 2))
	}
	if s.data > 1 {
		desc := "DATA_PARALLEL_GROUP"
		if s.sharded {
			desc = "mesh_fsdp"
		}
		s.dataOf = j.group(desc, same(0, 2))
	}
	if s.experts > 1 {
		s.expertOf = j.group("EXPERT_MODEL_PARALLEL_GROUP", func(a, b [3]int) bool {
			return a[0] == b[0] && a[2] == b[2] && a[1]/s.experts == b[1]/s.experts
		})
	}
	if s.pipe > 1 {
		s.pipeOf = j.group("PIPELINE_MODEL_PARALLEL_GROUP", same(0, 1))
	}
}

// group makes the groups of ranks whose positions belong together and gives each rank its own.
func (j *Job) group(desc string, together func(a, b [3]int) bool) []int32 {
	of := slices.Repeat([]int32{-1}, j.World)
	for r := range j.World {
		if of[r] >= 0 {
			continue
		}
		g := JobGroup{Name: itoa(int64(len(j.Groups))), Desc: desc, slow: 1}
		for q := r; q < j.World; q++ {
			if together(j.shape.positions[r], j.shape.positions[q]) {
				g.Ranks = append(g.Ranks, int32(q))
				of[q] = int32(len(j.Groups))
			}
		}
		j.Groups = append(j.Groups, g)
	}
	return of
}

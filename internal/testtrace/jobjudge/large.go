package jobjudge

import (
	"math/rand/v2"
	"strconv"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/trace"
)

// Shape of the summaries of a large job: ranks that share a layer, and collectives of a step by kind of group.
const (
	largeTensor = 8
	largeSteps  = 10
	tensorColls = 160
	dataColls   = 50
	worldColls  = 10
)

// LargeCollectives is the number of collectives of each rank of a large job.
const LargeCollectives = largeSteps * (tensorColls + dataColls + worldColls)

// Large makes the summaries of a job of n ranks, n a multiple of 8: 2,200 collectives each, with work between them, and clocks
// that are off by up to a millisecond.
func Large(n int, seed uint64) []*ranks.Summary {
	rng := rand.New(rand.NewPCG(seed, 7))
	list := make([]*ranks.Summary, n)
	off, at := make([]int64, n), make([]int64, n)
	for r := range list {
		off[r] = 1_760_000_000_000_000_000 + rng.Int64N(2_000_000) - 1_000_000
		list[r] = largeRank(r, n)
		list[r].Ops, list[r].Runs = make([]ranks.Op, 0, LargeCollectives), make([]ranks.Run, 0, LargeCollectives+1)
		list[r].Stubs, list[r].First = make([]ranks.Stub, 0, LargeCollectives+1), make([]int32, 0, LargeCollectives+2)
		list[r].Window[0] = off[r]
	}
	steps := make([]int64, n)
	for step := range largeSteps {
		copy(steps, at)
		for k := range tensorColls + dataColls + worldColls {
			kind, took, low := int32(0), int64(40_000), func(r int) int { return r / largeTensor * largeTensor }
			switch {
			case k%22 >= 16 && k%22 < 21:
				kind, took, low = 1, 300_000, func(r int) int { return r % largeTensor }
			case k%22 == 21:
				kind, took, low = 2, 20_000, func(int) int { return 0 }
			}
			arrive(list, at, off, rng, kind, int32(step), took, low)
		}
		for r := range list {
			list[r].Steps = append(list[r].Steps, ranks.Step{Number: int32(step), Start: off[r] + steps[r], End: off[r] + at[r], BusyGPU: (at[r] - steps[r]) / 2})
		}
	}
	for r, s := range list {
		s.Window[1] = off[r] + at[r] + 10_000
		last := int32(len(s.Ops) - 1)
		s.Stubs = append(s.Stubs, ranks.MakeStub(critpath.AtOperation, last))
		s.Runs = append(s.Runs, ranks.Run{Dur: s.Window[1] - s.Ops[last].End, Event: trace.NoEvent, Name: 1, Kind: critpath.CPU})
		s.First = append(s.First, int32(len(s.Stubs)-1), int32(len(s.Runs)))
		s.SetChains([]ranks.PartOf{{Name: 1, Work: ranks.OnDevice}, {Name: 1, Work: ranks.OnThread}}, func(op int) []ranks.Chain { return largeChains(s, int32(op)) })
	}
	return list
}

func largeRank(r, n int) *ranks.Summary {
	group := func(name, desc string, first, stride, size int) ranks.Group {
		g := ranks.Group{Name: name, Desc: desc, Size: int32(size), By: "args"}
		for i := range size {
			g.Ranks = append(g.Ranks, ranks.Rank(first+i*stride))
		}
		return g
	}
	kind := func(g int32) ranks.Kind {
		return ranks.Kind{Group: g, Stream: 20 + g, Coll: ranks.AllReduce, Dtype: "BFloat16", In: 1 << 20, Out: 1 << 20, Peer: ranks.NoRank, Token: uint64(g) + 1, Name: 2}
	}
	return &ranks.Summary{Source: "rank" + strconv.Itoa(r), Rank: ranks.Rank(r), RankBy: "recorded", World: int32(n), Host: "node" + strconv.Itoa(r/largeTensor), Device: int32(r % largeTensor),
		Groups: []ranks.Group{group("t"+strconv.Itoa(r/largeTensor), "TENSOR_MODEL_PARALLEL_GROUP", r/largeTensor*largeTensor, 1, largeTensor),
			group("d"+strconv.Itoa(r%largeTensor), "DATA_PARALLEL_GROUP", r%largeTensor, largeTensor, n/largeTensor), group("0", "default_pg", 0, 1, n)},
		Kinds: []ranks.Kind{kind(0), kind(1), kind(2)}, Names: []string{"", "gemm", "ncclDevKernel_AllReduce"}}
}

// arrive adds a collective to all ranks. Those with the same low are in one group; the transfer takes took.
func arrive(list []*ranks.Summary, at, off []int64, rng *rand.Rand, kind, step int32, took int64, low func(r int) int) {
	start, last := make([]int64, len(list)), map[int]int64{}
	for r := range list {
		start[r] = at[r] + 50_000 + rng.Int64N(20_000)
		last[low(r)] = max(last[low(r)], start[r])
	}
	for r, s := range list {
		end := last[low(r)] + took + rng.Int64N(2000)
		n := int32(len(s.Ops))
		stub, from := ranks.MakeStub(critpath.AtStart, -1), s.Window[0]
		if n > 0 {
			from = s.Ops[n-1].End
			stub = ranks.MakeStub(critpath.AtOperation, n-1)
		}
		s.Ops = append(s.Ops, ranks.Op{Start: off[r] + start[r], End: off[r] + end, Launch: off[r] + start[r] - 9000, Event: trace.EventID(n), Kind: kind, Seq: -1, Step: step})
		s.Stubs, s.First = append(s.Stubs, stub), append(s.First, int32(len(s.Runs)))
		s.Runs = append(s.Runs, ranks.Run{Dur: off[r] + start[r] - from, Event: trace.NoEvent, Name: 1, Kind: critpath.Compute})
		at[r] = end
	}
}

// largeChains are those of an operation: work of the device behind the one before it, and threads that run ahead by one. The window ends with work of threads.
func largeChains(s *ranks.Summary, op int32) []ranks.Chain {
	chain := func(from int32, fixed int64, kind int32, to int64) ranks.Chain {
		return ranks.Chain{From: from, Fixed: fixed, Parts: []ranks.Part{{Of: kind, NS: to - s.ChainFrom(from) - fixed}}}
	}
	if int(op) == len(s.Ops) {
		return []ranks.Chain{chain(op-1, 0, 1, s.Window[1])}
	}
	list := []ranks.Chain{chain(op-1, 10_000, 0, s.Ops[op].Start)}
	if op > 1 {
		list = append(list, chain(op-2, 0, 1, s.Ops[op].Start-20_000))
	}
	return list
}

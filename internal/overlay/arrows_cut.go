package overlay

import (
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// Components that are too large are cut into pieces, by leaving out edges along rows: the events of such an edge are
// neighbours in the viewer anyway, and critical_next still leads from one to the other. Edges that change the row are
// never cut. What they and the input's arrows hold together is a block; the edges along rows join blocks, in the order
// of the path, much as couplings join waggons. So the fewest cuts, and of those the ones that hurt least, come from one
// pass over the couplings of a component.

// harm says how much of the story a cut takes away.
type harm int64

const (
	harmAtStep   harm = iota // the path goes from one training step to the next
	harmAtNode               // from one aggregated node to the next
	harmInside               // neither
	harmOfOneCut harm = 1 << 32
)

// cutter leaves out edges of a path so that what stays falls into components of at most limit arrows.
type cutter struct {
	layout *graph.Layout
	edges  []critpath.Edge
	row    func(i int32) bool // of an edge: it stays on its row
	input  [][2]int32
	take   []bool // per edge: it is an arrow; the cutter clears it
	limit  int32

	joined components // of what is taken
	blocks components // of what is never cut
	seen   []bool     // per root of a block: a chain has come to it
	chains []train    // of each component that is too large

	couplable []int32 // the edges of all chains, in order of the path
}

// train is the edges of a component that may be cut, in order of the path, and the harm of each cut.
type train struct {
	edges []int32
	harm  []harm
}

// cut clears take for the edges to leave out. Where a component is hard to cut, because the input's own arrows tie much
// of it together, as those from the launch of a large graph do, the limit gives way before more than atMost edges are
// left out, up to everConnected.
func (c *cutter) cut(atMost int) {
	c.findChains()
	if len(c.chains) == 0 {
		return
	}
	for c.limit = maxConnected; ; c.limit = min(c.limit*5/4, everConnected) {
		var cuts []int32
		clear(c.seen)
		for i := range c.chains {
			cuts = append(cuts, c.couplings(&c.chains[i])...)
		}
		if c.settle(cuts) <= atMost || c.limit == everConnected {
			return
		}
	}
}

// findChains finds blocks and chains.
func (c *cutter) findChains() {
	events := len(c.layout.Trace.Events)
	c.joined = newComponents(events)
	c.join(c.joined, func(int32) bool { return true })
	chainOf := map[int32]int{}
	for i := range c.edges {
		if !c.take[i] || !c.row(int32(i)) {
			continue
		}
		root := c.joined.root(int32(c.edges[i].From))
		if -c.joined[root] <= maxConnected {
			continue
		}
		k, known := chainOf[root]
		if !known {
			k = len(c.chains)
			chainOf[root] = k
			c.chains = append(c.chains, train{})
		}
		c.chains[k].edges = append(c.chains[k].edges, int32(i))
	}
	if len(c.chains) == 0 {
		return
	}
	c.blocks, c.seen = newComponents(events), make([]bool, events)
	c.join(c.blocks, func(i int32) bool { return !c.row(i) })
	for k := range c.chains { // what joins a block with itself cuts nothing: it is part of the block
		chain := &c.chains[k]
		couplings := chain.edges[:0]
		for _, i := range chain.edges {
			from, to := int32(c.edges[i].From), int32(c.edges[i].To)
			if c.blocks.root(from) == c.blocks.root(to) {
				c.blocks.join(from, to)
			} else {
				couplings = append(couplings, i)
				chain.harm = append(chain.harm, harmOfOneCut+c.harm(i))
			}
		}
		chain.edges = couplings
		c.couplable = append(c.couplable, couplings...)
	}
	slices.Sort(c.couplable)
}

// join joins the input's arrows, and those edges taken for which want holds.
func (c *cutter) join(u components, want func(i int32) bool) {
	for _, a := range c.input {
		u.join(a[0], a[1])
	}
	for i := range c.edges {
		if e := &c.edges[i]; c.take[i] && want(int32(i)) {
			u.join(int32(e.From), int32(e.To))
		}
	}
}

// couplings chooses cuts of one chain as if each of its edges led on to blocks not seen before, which is so but where
// the path comes back to a block: the fewest, and of as few those of the least harm.
//
// With weight(k) the arrows that edge k and the blocks new with it add, the piece between cuts i < j has
// weight(i+1) + … + weight(j-1) arrows and those of the blocks new with i. The best last cut before j is the best of
// those i that leave the piece small enough; they are a window that only moves on, so its minimum comes from a queue.
func (c *cutter) couplings(chain *train) []int32 {
	n := len(chain.edges)
	if n == 0 {
		return nil
	}
	before := make([]int64, n+2) // arrows of edges and blocks up to the k-th edge, from 1
	arrive := func(event trace.EventID) int64 {
		root := c.blocks.root(int32(event))
		if c.seen[root] {
			return 0
		}
		c.seen[root] = true
		return -int64(c.blocks[root])
	}
	before[0] = arrive(c.edges[chain.edges[0]].From)
	for k, i := range chain.edges {
		before[k+1] = before[k] + 1 + arrive(c.edges[i].From) + arrive(c.edges[i].To)
	}
	before[n+1] = before[n] + 1

	cost := make([]harm, n+2) // of the cuts up to the k-th edge when that is cut; 0 and n+1 are the ends of the chain
	last := make([]int32, n+2)
	queue := []int32{0}
	for j := 1; j <= n+1; j++ {
		for len(queue) > 1 && c.tooLong(before, queue[0], int32(j)) {
			queue = queue[1:]
		}
		last[j] = queue[0]
		cost[j] = cost[queue[0]]
		if j <= n {
			cost[j] += chain.harm[j-1]
		}
		for len(queue) > 0 && cost[queue[len(queue)-1]] >= cost[j] {
			queue = queue[:len(queue)-1]
		}
		queue = append(queue, int32(j))
	}
	var cuts []int32
	for k := last[n+1]; k > 0; k = last[k] {
		cuts = append(cuts, chain.edges[k-1])
	}
	return cuts
}

// tooLong reports whether the piece between the cuts i and j has too many arrows.
func (c *cutter) tooLong(before []int64, i, j int32) bool {
	if i == 0 {
		return before[j-1] > int64(c.limit)
	}
	return before[j-1]-before[i-1]-1 > int64(c.limit)
}

// harm of leaving out an edge.
func (c *cutter) harm(i int32) harm {
	e := &c.edges[i]
	y := c.layout
	if c.step(e.From) != c.step(e.To) {
		return harmAtStep
	}
	if len(y.NodeOf) > 0 && y.NodeOf[e.From] != y.NodeOf[e.To] {
		return harmAtNode
	}
	return harmInside
}

// step is the number of steps that began before an event did.
func (c *cutter) step(id trace.EventID) int {
	start := c.layout.Trace.Events[id].Start
	n, _ := slices.BinarySearchFunc(c.layout.Steps, start, func(s cdg.Step, t int64) int {
		if s.Start <= t {
			return -1
		}
		return 1
	})
	return n
}

// settle leaves out the chosen cuts and those that are needed beside them where the path comes back to a block, and
// puts back what turns out to cut nothing. It returns how many stay cut.
func (c *cutter) settle(cuts []int32) int {
	copy(c.joined, c.blocks) // all else that a chain may touch
	for _, i := range c.couplable {
		c.take[i] = true
	}
	for _, i := range cuts {
		c.take[i] = false
	}
	left := 0
	for _, chosen := range []bool{false, true} { // first those that are to stay, then the cuts
		left = 0
		for _, i := range c.couplable {
			if c.take[i] == chosen {
				continue
			}
			e := &c.edges[i]
			if c.take[i] = c.joined.fits(int32(e.From), int32(e.To), c.limit); c.take[i] {
				c.joined.join(int32(e.From), int32(e.To))
			} else {
				left++
			}
		}
	}
	return left
}

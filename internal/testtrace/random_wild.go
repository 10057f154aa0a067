package testtrace

// What traces in the wild have and a tidy process has not: a second device, records of synchronisation that say little
// or something wrong, streams of others that end work near a wait, synchronisations that return at once, lost launches.

// place moves a model of two devices on to the second one in the middle of its layers; backward goes the other way.
func (g *generator) place(h *host, i, layers int, forward bool) {
	if !g.devices || i != layers/2 {
		return
	}
	from, to := g.compute, g.second
	if !forward {
		from, to = g.second, g.first
	}
	h.op("aten::to", func() {
		h.work(500, 2000)
		h.op("aten::copy_", func() {
			g.join(h, to, from) // the memory must be free
			h.launchAs("cudaMemcpyAsync", from, "gpu_memcpy", "Memcpy PtoP (Device -> Device)", g.p.between(4000, 40_000))
			g.join(h, from, to)
		})
		h.work(300, 1500)
	})
	g.compute = to
}

// beside puts work on the other device that the layer at hand has nothing to do with.
func (g *generator) beside(h *host) {
	if !g.devices || !g.p.chance(25) {
		return
	}
	other := g.first
	if g.compute == g.first {
		other = g.second
	}
	h.op("aten::embedding", func() { g.kernel(h, other) })
}

// loseRecords makes records of waits useless: the event is not known any more, or the record itself is missing.
func (g *generator) loseRecords() {
	p := g.p
	unresolved, dropped := int(p.between(0, 40)), int(p.between(0, 20))
	for i := range p.instrs {
		in := &p.instrs[i]
		if in.code != opWaitEvent && in.code != opEventSync {
			continue
		}
		switch {
		case p.chance(unresolved):
			in.said = recordUnresolved
		case p.chance(dropped):
			in.said = recordDropped
		}
	}
}

// feeder is a thread that copies, on a stream of its own, what nobody here waits for.
func (g *generator) feeder() {
	p := g.p
	s := p.stream(40)
	h := p.on(p.thread(150, "feeder"))
	p.Threads[h.th].background = true
	for range 200 {
		h.op("aten::copy_", func() {
			h.work(1000, 4000)
			h.copyTo(s, HtoDPinned, p.between(2000, 20_000), false)
			h.work(500, 1500)
		})
		h.work(2000, 20_000)
	}
}

// edges are synchronisations of a device that is idle or just about to be.
func (g *generator) edges(h *host) {
	p := g.p
	for range p.between(1, 3) {
		h.deviceSync()
		h.work(500, 3000)
	}
	if p.chance(60) {
		h.op("aten::copy_", func() {
			h.work(500, 1500)
			h.copyTo(g.compute, HtoDPinned, p.between(1000, 9000), false)
		})
		h.work(100, 3000)
		h.deviceSync()
	}
}

// loseLaunches hides the launches of what a stream ran first, and a few calls of pageable copies, whether they waited
// or staged their data and went on.
func (g *generator) loseLaunches(r *Run) {
	p := g.p
	for _, order := range r.tail {
		if len(order) > 3 && !p.ops[order[0]].graph && p.chance(60) {
			p.instrs[p.ops[order[0]].instr].hidden = true
		}
	}
	for o := range p.ops {
		if in := &p.instrs[p.ops[o].instr]; (in.block == 1 || in.block == 0 && p.ops[o].name == HtoDPageable) && p.chance(20) {
			in.hidden = true
		}
	}
}

// forgetQueued loses what was launched before recording began, as a profiler does that joins operations to calls it saw.
func (p *Program) forgetQueued(r *Run) {
	for o := range p.ops {
		p.ops[o].lost = r.slice[p.ops[o].instr].start < p.RecordFrom
	}
}

// dropRecords loses operations, not their launches: a buffer of the profiler with all that ended while it was filled,
// and what some graphs began with.
func (p *Program) dropRecords(r *Run) {
	from := p.between(r.End/10, r.End*7/10)
	to := from + p.between(r.End/40, r.End/6)
	for o := range p.ops {
		if e := r.slice[p.opKey(int32(o))].end; e > from && e <= to {
			p.ops[o].lost = true
		}
	}
	for i := range p.instrs {
		if in := &p.instrs[i]; in.limit > in.first+1 && p.chance(40) {
			for o := in.first; o < in.first+(in.limit-in.first)/2; o++ {
				p.ops[o].lost = true
			}
		}
	}
}

// coldLaunches makes the first launch of each kernel slow, and a few others: code is loaded before the operation is handed over.
func (p *Program) coldLaunches() {
	seen := map[string]bool{}
	for o := range p.ops {
		op := &p.ops[o]
		if in := &p.instrs[op.instr]; !op.graph && op.cat == "kernel" && (!seen[op.name] || p.chance(3)) {
			in.before = p.between(30_000, 400_000)
		}
		seen[op.name] = true
	}
}

// slowPython makes what threads do outside of ops take so many times as long, but for what is long already.
func (p *Program) slowPython(times int64) {
	for i := range p.Threads {
		var open []uint8
		for _, id := range p.Threads[i].code {
			in := &p.instrs[id]
			switch n := len(open); {
			case in.code == opOpen:
				open = append(open, in.kind)
			case in.code == opClose:
				open = open[:n-1]
			case in.code == opWork && in.dur <= 10_000 && (n == 0 || open[n-1] != kindOp):
				in.dur *= times
			}
		}
	}
}

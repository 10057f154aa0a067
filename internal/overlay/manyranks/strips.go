package manyranks

// jumps gives each step of the path from rank to rank an arrow: from the last piece of the path on the one to the first on the
// other, and, if the rank that came last is drawn, another one from its operation.
func (p *Picture) jumps(place map[int32]int) {
	j := p.j
	for i := 1; i < len(j.Stays); i++ {
		from, to := &j.Stays[i-1], &j.Stays[i]
		a, okA := place[from.Member]
		b, okB := place[to.Member]
		if from.Member == to.Member || !okA || !okB {
			continue
		}
		id := uint32(i)
		x, y := p.strips[from.Member].Ending(from.End), p.strips[to.Member].Beginning(to.Start)
		if x < 0 || y < 0 {
			continue
		}
		p.end(a, x, id)
		p.end(b, y, id)
		m := &j.Members[from.Member]
		if p.o.Drawn != nil && p.o.Drawn[from.Member] && !p.o.Slim && int(from.Op) < len(m.Ops) && m.Clock.Global(m.Ops[from.Op].Start) <= from.End {
			id += uint32(len(j.Stays))
			p.kernels = append(p.kernels, kernel{from.Member, m.Ops[from.Op].Event, id})
			p.end(b, y, id)
		}
	}
}

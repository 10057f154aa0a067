package whatif

// SmallRanges makes processors work at no more than n points in one go, until back is called.
func SmallRanges(n int) (back func()) {
	was := pointsRange
	pointsRange = n
	return func() { pointsRange = was }
}

// Inside is what a model consists of.
func (m *Model) Inside() []any {
	return []any{m.at, m.prev, m.cost, m.depFrom, m.deps, m.act, m.far, m.long, m.parts, m.partFirst, m.gaps, m.idle, m.opPoint, m.border, m.beside, m.puts, m.ends, m.all}
}

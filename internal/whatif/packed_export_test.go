package whatif

// SmallTimes lets models give times of so many ns and more no room in 32 bits, until back is called.
func SmallTimes(ns int64) (back func()) {
	span, part, lag := spanLimit, partLimit, lagLimit
	spanLimit, partLimit, lagLimit = ns, ns, ns
	return func() { spanLimit, partLimit, lagLimit = span, part, lag }
}

// Escaped is how many own times of points, parts and delays have no room in 32 bits.
func (m *Model) Escaped() (costs, parts, lags int) { return len(m.cost.long), len(m.long), len(m.far) }

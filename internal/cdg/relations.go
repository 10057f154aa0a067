package cdg

// relateStreams puts lanes into sets: a stream, the threads that launch on it, and what else these launch on. Streams of
// different sets belong to work that goes on side by side, such as a thread that copies beside training; they have no
// reason to wait for each other, so that an operation of another set ended just before is more likely chance.
func (b *facts) relateStreams() {
	d := b.d
	b.set = make([]LaneID, len(d.Lanes))
	for l := range b.set {
		b.set[l] = LaneID(l)
	}
	for l, order := range b.order {
		last := NoLane
		for _, k := range order {
			thread := d.Acts[b.launch[k]].Lane
			if thread == last {
				continue
			}
			last = thread
			x, y := b.setOf(LaneID(l)), b.setOf(thread)
			b.set[max(x, y)] = min(x, y)
		}
	}
	for l := range b.set {
		b.set[l] = b.setOf(LaneID(l))
	}
}

func (b *facts) setOf(l LaneID) LaneID {
	for b.set[l] != l {
		b.set[l] = b.set[b.set[l]]
		l = b.set[l]
	}
	return l
}

// related reports whether two streams are of one set; one without a recorded launch may be of any.
func (b *facts) related(x, y LaneID) bool {
	return b.set[x] == b.set[y] || len(b.order[x]) == 0 || len(b.order[y]) == 0
}

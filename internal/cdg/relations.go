package cdg

// LaneSets puts lanes that belong together into sets: per lane the one that stands for its set, when Done.
type LaneSets []LaneID

// NewLaneSets makes a set of each of n lanes.
func NewLaneSets(n int) LaneSets {
	s := make(LaneSets, n)
	for l := range s {
		s[l] = LaneID(l)
	}
	return s
}

func (s LaneSets) of(l LaneID) LaneID {
	for s[l] != l {
		s[l] = s[s[l]]
		l = s[l]
	}
	return l
}

// Join makes one set of those of two lanes.
func (s LaneSets) Join(x, y LaneID) {
	x, y = s.of(x), s.of(y)
	s[max(x, y)] = min(x, y)
}

// Done gives each lane the one that stands for its set, when all are joined.
func (s LaneSets) Done() LaneSets {
	for l := range s {
		s[l] = s[s[l]] // which is a lane before it
	}
	return s
}

// relateStreams puts lanes into sets: a stream, the threads that launch on it, and what else these launch on. Streams of
// different sets belong to work that goes on side by side, such as a thread that copies beside training; they have no
// reason to wait for each other, so that an operation of another set ended just before is more likely chance.
func (b *facts) relateStreams() {
	d := b.d
	b.set = NewLaneSets(len(d.Lanes))
	for l, order := range b.order {
		last := NoLane
		for _, k := range order {
			if thread := d.Acts[b.launch[k]].Lane; thread != last {
				last = thread
				b.set.Join(LaneID(l), thread)
			}
		}
	}
	b.set.Done()
}

// related reports whether two streams are of one set; one without a recorded launch may be of any.
func (b *facts) related(x, y LaneID) bool {
	return b.set[x] == b.set[y] || len(b.order[x]) == 0 || len(b.order[y]) == 0
}

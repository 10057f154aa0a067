package frompftrace

import "overlay/internal/wire"

// Clocks with numbers of their own in the format.
const (
	clockRealtime = 1
	clockBoottime = 6
	firstOwnClock = 64 // up to lastOwnClock: of a sequence
	lastOwnClock  = 127
)

// ownClock is a clock of a sequence.
type ownClock struct {
	at          int64 // trace time of its 0; when incremental, of the last packet
	unit        int64 // ns
	incremental bool
}

// clocks ties the clocks of a trace to the one that events are told in.
type clocks struct {
	offset  map[uint64]int64 // clock -> trace time minus its time
	known   bool             // a snapshot was seen
	primary uint64           // the clock of the trace

	realtime    int64 // Unix time of trace time 0
	hasRealtime bool
	epoch       int64 // reading of a snapshot that says that trace time is Unix time and holds nothing else; 0 without
}

// reading is one clock of a snapshot.
type reading struct {
	id, ts, unit uint64
	incremental  bool
}

// snapshot takes a ClockSnapshot.
func (r *reader) snapshot(data []byte, seq *sequence, at int64) {
	var list []reading
	primary := uint64(0)
	f := wire.Over(data)
	for f.Next() {
		switch f.Num {
		case 1:
			c := reading{unit: 1}
			for e := wire.Over(f.S); e.Next(); {
				switch e.Num {
				case 1:
					c.id = e.V
				case 2:
					c.ts = e.V
				case 3:
					c.incremental = e.V != 0
				case 4:
					c.unit = max(e.V, 1)
				}
			}
			list = append(list, c)
		case 2:
			primary = f.V
		}
	}
	if f.Bad {
		r.mend(ReasonBroken, at)
		return
	}
	if r.clocks.primary == 0 {
		r.clocks.primary = primary
		if primary == 0 {
			r.clocks.primary = clockBoottime
		}
	}
	now, ok := r.now(list)
	if !ok {
		r.mend(ReasonUnknownClock, at)
		return
	}
	if !r.clocks.known && len(list) == 2 && list[0].ts == list[1].ts && (list[0].id == clockRealtime || list[1].id == clockRealtime) {
		r.clocks.epoch = now
	}
	for _, c := range list {
		if c.id >= firstOwnClock && c.id <= lastOwnClock {
			own := &ownClock{at: now, unit: int64(c.unit), incremental: c.incremental}
			if !c.incremental {
				own.at -= int64(c.ts) * own.unit
			}
			if seq.clock == nil {
				seq.clock = map[uint64]*ownClock{}
			}
			seq.clock[c.id] = own
			continue
		}
		r.clocks.offset[c.id] = now - int64(c.ts*c.unit)
		if c.id == clockRealtime && !r.clocks.hasRealtime {
			r.clocks.realtime, r.clocks.hasRealtime = -r.clocks.offset[c.id], true
		}
	}
	r.clocks.known = true
}

// now is the trace time of a snapshot: its reading of the trace's clock, else of one that is tied to it.
func (r *reader) now(list []reading) (int64, bool) {
	for _, c := range list {
		if c.id == r.clocks.primary {
			return int64(c.ts * c.unit), true
		}
	}
	for _, c := range list {
		if off, ok := r.clocks.offset[c.id]; ok {
			return int64(c.ts*c.unit) + off, true
		}
	}
	return 0, false
}

// time is the trace time of a time stamp.
func (r *reader) time(ts, clock uint64, seq *sequence) (int64, bool) {
	if clock >= firstOwnClock && clock <= lastOwnClock {
		c := seq.clock[clock]
		if c == nil {
			return 0, false
		}
		t := c.at + int64(ts)*c.unit
		if c.incremental {
			c.at = t
		}
		return t, true
	}
	if clock == 0 || clock == r.clocks.primary {
		return int64(ts), true
	}
	if off, ok := r.clocks.offset[clock]; ok {
		return int64(ts) + off, true
	}
	return int64(ts), !r.clocks.known // where there is no snapshot, all times are of one clock
}

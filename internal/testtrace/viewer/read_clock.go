package viewer

import (
	"slices"

	"overlay/internal/wire"
)

// snapshot ties clocks together. The sequence's own clocks (64 to 127) count for its sequence only.
func (rd *reader) snapshot(p []byte, seq uint64) {
	type reading struct{ id, ts, incremental, unit uint64 }
	var clocks []reading
	var primary uint64
	wire.Each(p, func(f *wire.Fields) {
		switch f.Num {
		case 1:
			c := reading{unit: 1}
			wire.Each(f.S, func(f *wire.Fields) {
				switch f.Num {
				case 1:
					c.id = f.V
				case 2:
					c.ts = f.V
				case 3:
					c.incremental = f.V
				case 4:
					c.unit = f.V
				}
			})
			clocks = append(clocks, c)
		case 2:
			primary = f.V
		}
	})
	if primary == 0 {
		primary = 6
	}
	i := slices.IndexFunc(clocks, func(c reading) bool { return c.id == primary })
	if i < 0 {
		rd.problem("clock_snapshot_without_trace_clock")
		return
	}
	if clocks[i].unit != 1 {
		rd.problem("invalid_clock_snapshots") // the trace clock counts ns
		return
	}
	now := int64(clocks[i].ts)
	for _, c := range clocks {
		switch {
		case c.id >= 64 && c.id < 128:
			if seq == 0 {
				rd.problem("invalid_clock_snapshots")
				continue
			}
			key := [2]uint64{seq, c.id}
			rd.incr[key] = c.incremental != 0
			if c.incremental != 0 {
				rd.last[key] = now // trace time of the last packet
			} else {
				rd.last[key] = now - int64(c.ts*c.unit)
			}
			rd.unit[key] = int64(c.unit)
		default:
			off := now - int64(c.ts*c.unit)
			if c.id == 1 && !rd.im.HasRealtime {
				rd.im.Realtime, rd.im.HasRealtime = -off, true
			}
			if old, ok := rd.offset[c.id]; ok && old != off {
				rd.problem("clock_drift")
			}
			rd.offset[c.id] = off
		}
	}
}

// time converts a packet's time stamp to trace time.
func (rd *reader) time(ts, clock, seq uint64) (int64, bool) {
	if clock >= 64 && clock < 128 {
		key := [2]uint64{seq, clock}
		last, ok := rd.last[key]
		if !ok {
			return 0, false
		}
		t := last + int64(ts)*rd.unit[key]
		if rd.incr[key] {
			rd.last[key] = t
		}
		return t, true
	}
	if clock == 0 || len(rd.offset) == 0 {
		return int64(ts), true
	}
	off, ok := rd.offset[clock]
	return int64(ts) + off, ok
}

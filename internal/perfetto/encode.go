package perfetto

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Values of the format.
const (
	clockRealtime = 1
	clockBoottime = 6
	clockSequence = 64 // the sequence's own clock: each time stamp is a delta to the one before

	flagCleared    = 1 // SEQ_INCREMENTAL_STATE_CLEARED
	flagNeedsState = 2

	typeBegin   = 1
	typeEnd     = 2
	typeInstant = 3
	typeCounter = 4
)

// chunkSize is when an encoder hands over what it has: after the packet that fills it, which hardly ever takes more than the
// slack behind it.
const (
	chunkSize  = 256 << 10
	chunkSlack = 16 << 10
)

// encoder turns lanes into packets. It is reused from lane to lane.
type encoder struct {
	body *Body
	out  []byte
	seq  []byte // field 10 of every packet of the sequence
	last int64  // time stamp of the sequence's last packet
	unit int64  // ns: of the sequence's time stamps
	ends []int64
}

// items appends the packets of a lane or a piece of one, and calls flush with every full chunk; flush returns a buffer to go on with,
// or nil to stop.
func (e *encoder) items(l *lane, fill func(*Body, int32), seq uint32, start int64, flush func([]byte) []byte) {
	e.begin(l, seq, start)
	e.ends = append(e.ends[:0], l.open...)
	for _, it := range l.items {
		e.close(it.Start)
		kind := byte(typeBegin)
		if it.Instant {
			kind = typeInstant
		}
		e.body.ev = append(e.body.ev[:0], 9<<3, kind)
		fill(e.body, it.Ref)
		if len(e.body.open) > 0 {
			panic("perfetto: internal error: Fill left a Dict or an Array open")
		}
		e.packet(it.Start)
		if !it.Instant {
			e.ends = append(e.ends, it.Start+it.Dur)
		}
		if len(e.out) >= chunkSize {
			if e.out = flush(e.out); e.out == nil {
				return
			}
		}
	}
	if !l.more {
		e.close(math.MaxInt64)
	}
	e.out = flush(e.out)
}

// points appends the packets of a counter.
func (e *encoder) points(l *lane, points []Point, seq uint32, start int64, flush func([]byte) []byte) {
	e.begin(l, seq, start)
	for _, p := range points {
		ev := append(e.body.ev[:0], 9<<3, typeCounter)
		if p.IsInt {
			ev = appendVarint(ev, 30<<3)
			ev = appendVarint(ev, uint64(p.Int))
		} else {
			ev = appendVarint(ev, 44<<3|1)
			ev = protowire.AppendFixed64(ev, math.Float64bits(p.Float))
		}
		e.body.ev = ev
		e.packet(p.TS)
		if len(e.out) >= chunkSize {
			if e.out = flush(e.out); e.out == nil {
				return
			}
		}
	}
	e.out = flush(e.out)
}

// begin starts a sequence. Its packets do not say that they need its state (SEQ_NEEDS_INCREMENTAL_STATE): that would
// only have them skipped where the header is missing (proto_trace_reader.cc).
func (e *encoder) begin(l *lane, seq uint32, start int64) {
	e.body.reset()
	e.last, e.unit = start, l.unit
	e.seq = append(e.seq[:0], 10<<3)
	e.seq = appendVarint(e.seq, uint64(seq))
}

// delta is the time since the last packet, in units, and makes ts the last one. The units of most traces are ns or µs: there
// it goes without a division, which takes long.
func (e *encoder) delta(ts int64) uint64 {
	d := ts - e.last
	e.last = ts
	switch e.unit {
	case 1:
		return uint64(d)
	case 1000:
		return uint64(d / 1000)
	}
	return uint64(d / e.unit)
}

// close ends the slices that are over at ts, innermost first.
func (e *encoder) close(ts int64) {
	for n := len(e.ends); n > 0 && e.ends[n-1] <= ts; n-- {
		end := e.ends[n-1]
		e.ends = e.ends[:n-1]
		delta := e.delta(end)
		e.out = append(e.out, 1<<3|2, byte(4+len(e.seq)+1+protowire.SizeVarint(delta)), 11<<3|2, 2, 9<<3, typeEnd)
		e.out = append(e.out, e.seq...)
		e.out = append(e.out, 8<<3)
		e.out = appendVarint(e.out, delta)
	}
}

// packet appends the event in body, with the strings that it needs. The time stamp comes last, beside the length of
// the next packet: bytes that differ from packet to packet compress best side by side (2 to 4 % of a .gz).
func (e *encoder) packet(ts int64) {
	delta := e.delta(ts)
	b := e.body
	size := 1 + protowire.SizeBytes(len(b.ev)) + len(e.seq) + 1 + protowire.SizeVarint(delta)
	if len(b.in) > 0 {
		size += 1 + protowire.SizeBytes(len(b.in))
	}
	e.out = append(e.out, 1<<3|2)
	e.out = appendVarint(e.out, uint64(size))
	if len(b.in) > 0 {
		e.out = append(e.out, 12<<3|2)
		e.out = protowire.AppendBytes(e.out, b.in)
		b.in = b.in[:0]
	}
	e.out = append(e.out, 11<<3|2)
	e.out = protowire.AppendBytes(e.out, b.ev)
	e.out = append(e.out, e.seq...)
	e.out = append(e.out, 8<<3)
	e.out = appendVarint(e.out, delta)
}

package frompftrace

import "overlay/internal/wire"

// Fields of TracePacket.
const (
	packetSnapshot    = 6
	packetTime        = 8
	packetSequence    = 10
	packetTrackEvent  = 11
	packetInterned    = 12
	packetFlags       = 13
	packetGPUCounter  = 52
	packetRenderStage = 53
	packetClock       = 58
	packetDefaults    = 59
	packetDescriptor  = 60
	packetAttributes  = 126
	packetGPUInfo     = 128
	flagCleared       = 1
	flagNeedsState    = 2
	eventBegin        = 1
	eventEnd          = 2
	eventInstant      = 3
	eventCounter      = 4
	kindRender        = 5 // of a record
)

// makeRoom makes room for the events of the file: nearly all packets are events, and half of those are ENDs where any are.
func (r *reader) makeRoom() {
	n := 0
	for i := 0; i < len(r.src) && r.src[i] == 1<<3|wire.Bytes; n++ {
		size, next := wire.Uvarint(r.src, i+1)
		if next < 0 || size > uint64(len(r.src)-next) {
			break
		}
		i = next + int(size)
	}
	r.recs, r.ends = make([]record, 0, n/2+64), make([]endMark, 0, n/2+64)
	r.marks, r.beginSeq = make([]mark, 0, n+64), make([]int32, 0, n/2+64)
}

// scan goes through the packets.
func (r *reader) scan() {
	src := r.src
	for i := 0; i < len(src); {
		tag, next := wire.Uvarint(src, i)
		at := int64(i)
		if next < 0 {
			r.truncate(at)
			return
		}
		if tag != 1<<3|wire.Bytes {
			f := wire.Fields{B: src, I: i}
			if !f.Next() {
				r.mend(ReasonBrokenTail, at)
				return
			}
			i = f.I // a field of a Trace that is none of ours
			continue
		}
		n, from := wire.Uvarint(src, next)
		if from < 0 || n > uint64(len(src)-from) {
			r.truncate(at)
			return
		}
		i = from + int(n)
		r.packets++
		r.packet(int64(from), int(n), at)
	}
}

func (r *reader) truncate(at int64) {
	r.truncated = true
	r.mend(ReasonTruncated, at)
}

// packet takes one packet. at is its place in the file.
func (r *reader) packet(from int64, n int, at int64) {
	p := wire.Over(r.src[from : from+int64(n)])
	var ts, clock, seq, flags uint64
	var hasTS, hasClock bool
	var interned, defaults, snapshot, event []byte
	var eventAt int64
	kind := uint32(0)
	for p.Next() {
		switch p.Num {
		case packetTime:
			ts, hasTS = p.V, true
		case packetClock:
			clock, hasClock = p.V, true
		case packetSequence:
			seq = p.V
		case packetFlags:
			flags = p.V
		case packetInterned:
			interned = p.S
		case packetDefaults:
			defaults = p.S
		case packetSnapshot:
			snapshot = p.S
		case packetTrackEvent, packetRenderStage, packetGPUCounter:
			kind, event, eventAt = p.Num, p.S, from+int64(p.I-len(p.S))
		case packetDescriptor:
			r.descriptor(p.S, at)
		case packetAttributes:
			r.attributes(p.S, at)
		case packetGPUInfo:
			r.gpuInfo(p.S)
		default:
			if p.Typ == wire.Bytes && p.Num != 36 && p.Num != 89 {
				r.skipped[p.Num]++
			}
		}
	}
	if p.Bad {
		r.mend(ReasonBroken, at)
		return
	}
	q := r.sequence(seq)
	s := &r.seqs[q]
	if flags&flagCleared != 0 || s.state < 0 && (interned != nil || defaults != nil) {
		s.state = int32(len(r.states))
		r.states = append(r.states, &state{})
	}
	if s.state < 0 && flags&flagNeedsState != 0 && kind != 0 {
		r.mend(ReasonNeedsState, at)
		return
	}
	if s.state < 0 {
		s.state = int32(len(r.states))
		r.states = append(r.states, &state{})
	}
	st := r.states[s.state]
	if defaults != nil {
		st.defaults(defaults)
	}
	if interned != nil {
		r.intern(st, interned, at)
	}
	if snapshot != nil {
		r.snapshot(snapshot, s, at)
	}
	if kind == 0 {
		return
	}
	if kind == packetGPUCounter {
		r.skipped[kind]++
		return
	}
	if !hasTS {
		r.mend(ReasonNoTime, at)
		return
	}
	if !hasClock {
		clock = st.clock
	}
	t, ok := r.time(ts, clock, s)
	if !ok {
		r.mend(ReasonUnknownClock, at)
		return
	}
	rec := record{ts: t, off: eventAt, n: int32(len(event)), state: s.state, extra: -1}
	if kind == packetRenderStage {
		r.renderStage(rec, event, at)
		return
	}
	r.trackEvent(rec, event, q, at)
}

// sequence is the index of a packet sequence.
func (r *reader) sequence(id uint64) int32 {
	q, ok := r.seqOf[id]
	if !ok {
		q = int32(len(r.seqs))
		r.seqOf[id] = q
		r.seqs = append(r.seqs, sequence{state: -1})
	}
	return q
}

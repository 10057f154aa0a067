package kineto

import (
	"bytes"

	"overlay/internal/trace"
)

// trackKey is a row: texts are names of the piece, used when the token is no number.
type trackKey struct {
	pid, tid         int64
	pidText, tidText uint32
	pidRaw, tidRaw   uint32 // the tokens as first written; not part of what makes a row
	flags            uint8  // bit 0: pid is a number, bit 1: tid
	class            trace.TrackClass
}

// seenRow is the row that the last event of a template wrote.
type seenRow struct {
	pid, tid []byte // tokens, nil when absent
	class    trace.TrackClass
	known    bool
	id       trace.TrackID
}

// track finds the row of an event.
func (p *chunkParser) track(pid, tid []byte, class trace.TrackClass) trace.TrackID {
	for int(p.fit) >= len(p.seen) {
		p.seen = append(p.seen, seenRow{})
	}
	s := &p.seen[p.fit]
	if s.known && s.class == class && bytes.Equal(s.pid, pid) && bytes.Equal(s.tid, tid) {
		return s.id
	}
	k := trackKey{class: class}
	k.pid, k.pidText, k.pidRaw = p.token(pid, &k.flags, 1)
	k.tid, k.tidText, k.tidRaw = p.token(tid, &k.flags, 2)
	asWritten := k
	k.pidRaw, k.tidRaw = 0, 0
	id, ok := p.tracks[k]
	if !ok {
		id = trace.TrackID(len(p.keys))
		p.tracks[k] = id
		p.keys = append(p.keys, asWritten)
	}
	*s = seenRow{pid, tid, class, true, id}
	return id
}

// token reads a pid or tid: a number, digits in a string, or a text.
func (p *chunkParser) token(w []byte, flags *uint8, bit uint8) (num int64, text, raw uint32) {
	if w == nil {
		*flags |= bit
		return 0, 0, 0
	}
	d, _ := unquote1(w)
	if v, ok := parseInt(d); ok && len(d) < 20 {
		*flags |= bit
		return v, 0, p.names.id(w)
	}
	id := p.names.id(w)
	return 0, id, id
}

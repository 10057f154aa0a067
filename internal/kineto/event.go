package kineto

import (
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// chunkParser scans the events of one piece of the list. Symbols, categories and tracks are numbered by first
// appearance in the piece; merge renumbers them for the whole file.
type chunkParser struct {
	scanner
	names   table
	cats    table
	catKind []trace.Kind            // per category of the piece
	byName  []map[string]trace.Kind // per category: kinds by name, nil where the category says all
	tracks  map[trackKey]trace.TrackID
	keys    []trackKey // per track of the piece
	seen    [seenRows]seenRow
	fracs   fraction
	metas   []int32 // events with phase M, indexes into the piece
	big     int     // categories beyond what an event can hold
	shapes  bool    // an event says the shapes of its inputs
	marked  bool    // an event may have marks of an earlier overlay
	wide    trace.Wide
	ext     int32 // of the event that is scanned: what belongs into trace.Trace.Ext
	hasExt  bool  // an event has an external id
}

func newChunkParser(src []byte) *chunkParser {
	p := &chunkParser{scanner: scanner{s: src}, tracks: map[trackKey]trace.TrackID{}}
	p.names.add("")
	p.cats.add("")
	p.catKind, p.byName = append(p.catKind, trace.KindOther), append(p.byName, nil)
	return p
}

// fields are the values of one event as written.
type fields struct {
	name, cat, pid, tid, ts, dur, id []byte
	ph                               byte
	at                               int    // of the event
	args                             []byte // from the args object to the end of the event
}

// event scans the object at i into e and returns the position after it; -1 when it is broken or cut.
func (p *chunkParser) event(i int, e *trace.Event, at *Span) int {
	p.dirty, p.ext = false, 0
	f := fields{at: i}
	*e = trace.Event{Track: trace.NoTrack}
	m := members{p: &p.scanner, at: i, depth: 1}
	args := 0
	for m.next() {
		from := m.at
		if string(m.key) == "args" && from < len(p.s) && p.s[from] == '{' {
			n := p.args(from, e)
			if n < 0 {
				return -1
			}
			args = from - i
			e.Flags |= trace.HasArgs
			m.at = n
			continue
		}
		key := m.key
		if !m.skip() {
			return -1
		}
		p.take(key, p.s[from:m.at], &f, e)
	}
	end := m.end()
	if end < 0 || int64(end-i) > 1<<32-1 {
		return -1
	}
	*at = SpanAt(int64(i), int64(args))
	if args > 0 {
		f.args = p.s[i+args : end]
	}
	if p.dirty {
		e.Flags |= trace.Dirty
	}
	if f.ph != 'f' {
		e.Flags &^= trace.BindEnd
	}
	p.finish(&f, e)
	return end
}

// take keeps the values that matter.
func (p *chunkParser) take(key, v []byte, f *fields, e *trace.Event) {
	switch string(key) {
	case "ph":
		if len(v) >= 3 && v[0] == '"' {
			f.ph = v[1]
		}
	case "name":
		f.name = v
	case "cat":
		f.cat = v
	case "pid":
		f.pid = v
	case "tid":
		f.tid = v
	case "ts":
		f.ts = v
	case "dur":
		f.dur = v
	case "id":
		f.id = v
	case "bp":
		if len(v) == 3 && v[1] == 'e' {
			e.Flags |= trace.BindEnd
		}
	}
}

// markHint begins the keys of marks. No overlay has marks of the other kind alone, unless its rows are there too.
const markHint = "critical"

// args walks the args object at i and keeps the ids that link events.
func (p *chunkParser) args(i int, e *trace.Event) int {
	m := members{p: &p.scanner, at: i, depth: 2}
	for m.next() {
		at := m.at
		key := m.key
		if !m.skip() {
			return -1
		}
		if len(key) >= len(markHint) && key[0] == markHint[0] && string(key[:len(markHint)]) == markHint {
			p.marked = true
		}
		if len(key) < 10 || len(key) > 15 {
			continue
		}
		switch string(key) {
		case "Input Dims":
			p.shapes = true
		case "correlation":
			if v, ok := p.int(p.s[at:m.at], at); ok {
				e.Flags |= trace.HasCorr
				p.wide.SetCorr(e, v)
			}
		case "correlation_id": // of XLA, always as a text
			d, _ := unquote1(p.s[at:m.at])
			if v, ok := parseInt(d); ok && e.Flags&trace.HasCorr == 0 {
				e.Flags |= trace.HasCorr
				p.wide.SetCorr(e, v)
			}
		case "External id", "external id":
			if v, ok := p.int(p.s[at:m.at], at); ok {
				p.ext, p.hasExt = p.wide.SetExt(e, v), true
			}
		case "Sequence number":
			if v, ok := p.int(p.s[at:m.at], at); ok && v >= 0 && v < 1<<31 {
				e.Flags |= trace.HasSeq
			}
		case "Fwd thread id":
			if v, ok := p.int(p.s[at:m.at], at); ok && v > 0 && v < 1<<31 {
				e.Flags |= trace.HasFwd
			}
		case "original_stream":
			e.Flags |= trace.Moved
		case "graph node id":
			e.Flags |= trace.GraphOp
		}
	}
	return m.end()
}

// int reads an integer, also one that is written as a string.
func (p *chunkParser) int(w []byte, at int) (int64, bool) {
	d, quoted := unquote1(w)
	v, ok := parseInt(d)
	if ok && quoted {
		p.mend(RepairNumberString, at)
	}
	return v, ok
}

// finish turns the values into ids and times.
func (p *chunkParser) finish(f *fields, e *trace.Event) {
	e.Ph = f.ph
	e.Name = trace.Sym(p.name(f.name))
	cat := p.category(f.cat)
	e.Cat = cat
	e.Kind = p.catKind[cat]
	if kinds := p.byName[cat]; kinds != nil && len(f.name) > 2 {
		if k, ok := kinds[string(f.name[1:len(f.name)-1])]; ok {
			e.Kind = k
		}
	}
	if e.Kind == trace.Memcpy && string(f.name) == `"Memcpy"` || e.Kind == trace.Memset && string(f.name) == `"Memset"` {
		if name := composed(e.Kind, f.args); name != "" {
			e.Name, e.Flags = trace.Sym(p.names.idString(name)), e.Flags|trace.Composed
		}
	}
	p.times(f, e)
	switch f.ph {
	case 's', 't', 'f', 'b', 'n', 'e', 'S', 'T', 'p', 'F', 'N', 'O', 'D', 'v', 'V', '(', ')':
		p.identity(f.id, e)
	case 'M':
		return // names a row, lies on none
	}
	e.Track = p.track(f.pid, f.tid, trace.ClassOf(e.Kind))
}

// name interns the text of a string; other values by their bytes.
func (p *chunkParser) name(v []byte) uint32 {
	if len(v) < 2 || v[0] != '"' {
		if string(v) == "null" {
			return 0
		}
		return p.names.id(v)
	}
	return p.names.idOf(v[1 : len(v)-1])
}

func (p *chunkParser) category(v []byte) uint16 {
	if len(v) < 2 || v[0] != '"' {
		return 0
	}
	id := p.cats.idOf(v[1 : len(v)-1])
	if id > 1<<16-1 {
		p.big++
		return 0
	}
	for int(id) >= len(p.catKind) {
		name := p.cats.list[len(p.catKind)]
		p.catKind, p.byName = append(p.catKind, vendors.KindOf(name)), append(p.byName, vendors.KindsByName(name))
	}
	return uint16(id)
}

func (p *chunkParser) times(f *fields, e *trace.Event) {
	if f.ts != nil {
		ns, ok := p.micros(f.ts, f)
		if !ok {
			p.mend(RepairBigNumber, f.at)
			e.Flags |= trace.Repaired
		}
		e.Start = ns
	} else if f.ph != 'M' && f.ph != 0 {
		p.mend(RepairNoTS, f.at)
		e.Flags |= trace.Repaired
	}
	if f.dur == nil {
		if f.ph == 'X' {
			p.mend(RepairNoDur, f.at)
			e.Flags |= trace.Repaired
		}
		return
	}
	ns, ok := p.micros(f.dur, f)
	switch {
	case !ok:
		p.mend(RepairBigNumber, f.at)
		e.Flags |= trace.Repaired | trace.Dirty
	case ns < 0:
		p.mend(RepairNegativeDur, f.at)
		e.Flags |= trace.Repaired | trace.Dirty | trace.HasDur
		ns = 0
	default:
		e.Flags |= trace.HasDur
	}
	if ns > 1<<62-max(e.Start, 0) { // an end that does not fit
		ns = 0
	}
	p.wide.SetDur(e, ns)
}

func (p *chunkParser) micros(w []byte, f *fields) (int64, bool) {
	d, quoted := unquote1(w)
	ns, frac, ok := parseMicros(d)
	p.fracs |= frac
	if quoted && ok {
		p.mend(RepairNumberString, f.at)
	}
	return ns, ok
}

// identity keeps the id of a flow or async event: an integer as it is, other ids as symbols.
func (p *chunkParser) identity(w []byte, e *trace.Event) {
	if w == nil {
		return
	}
	if w[0] != '"' {
		if v, ok := parseInt(w); ok {
			e.Flags |= trace.HasCorr
			p.wide.SetCorr(e, v)
			return
		}
	}
	e.Flags &^= trace.HasCorr
	p.wide.SetCorr(e, -1-int64(p.name(w)))
}

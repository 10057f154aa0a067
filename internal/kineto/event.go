package kineto

import (
	"slices"

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
	seen    []seenRow  // per template that is used
	fracs   fraction
	metas   []int32 // events with phase M, indexes into the piece
	shapes  bool    // an event says the shapes of its inputs
	marked  bool    // an event may have marks of an earlier overlay
	wide    trace.Wide
	ext     int32 // of the event that is scanned: what belongs into trace.Trace.Ext
	hasExt  bool  // an event has an external id
	trie    *trie
	used    []alike // by the events of the piece
	fit     uint32  // of the event that is scanned: which of them, 0 for no template
	raw     []byte  // events without template, where the text goes
	odd     bool    // what the event that is read becomes depends on more than the fields of a template
}

func newChunkParser(src []byte) *chunkParser {
	p := &chunkParser{scanner: scanner{s: src}, tracks: map[trackKey]trace.TrackID{}, used: make([]alike, 1, 256)}
	p.names.add("")
	p.cats.add("")
	p.catKind, p.byName = append(p.catKind, trace.KindOther), append(p.byName, nil)
	return p
}

// fields are the values of one event as written.
type fields struct {
	name, cat, pid, tid, ts, dur, id []byte
	at                               int    // of the event
	args                             []byte // from the args object to the end of the event
}

// role is what a member of an event, or of its args, is to the reader.
type role uint8

const (
	roleNone role = iota
	rolePh
	roleName
	roleCat
	roleBP
	roleArgs
	rolePID
	roleTID
	roleTS
	roleDur
	roleID
	argCorrelation
	argCorrelationText // of XLA, always as a text
	argExternal
	argSequence
	argForward
	argShapes
	argStream
	argGraphNode
)

// literal tells the members whose text, digits and all, is that of a template.
func (r role) literal() bool { return r >= rolePh && r <= roleBP }

// value tells those that are read of each event.
func (r role) value() bool { return r >= rolePID && r <= argForward }

var (
	roles = map[string]role{"ph": rolePh, "name": roleName, "cat": roleCat, "bp": roleBP, "args": roleArgs, "pid": rolePID, "tid": roleTID, "ts": roleTS, "dur": roleDur,
		"id": roleID}
	argRoles = map[string]role{"correlation": argCorrelation, "correlation_id": argCorrelationText, "External id": argExternal, "external id": argExternal,
		"Sequence number": argSequence, "Fwd thread id": argForward, "Input Dims": argShapes, "Input dims": argShapes, "original_stream": argStream,
		"graph node id": argGraphNode}
)

// event reads the object at i into e and returns the position after it; -1 when it is broken or cut.
func (p *chunkParser) event(i int, e *trace.Event) int {
	p.dirty, p.ext, p.fit = false, 0, 0
	tp, end := p.trie.match(p.s, i)
	if tp == nil {
		p.odd = false
		f := fields{at: i}
		if end = p.anew(i, &f, e); end < 0 || p.odd || p.dirty || !p.trie.learn(p.s[i:end], &f, e) {
			return end
		}
		if tp, _ = p.trie.match(p.s, i); tp == nil {
			return end
		}
		if tp.first == nil {
			tp.first = slices.Clone(p.trie.numbers[:len(tp.kinds)])
		}
		p.use(tp)
		return end
	}
	if tp.round != p.trie.round {
		p.use(tp)
	}
	p.fit = tp.number
	p.again(tp, i, e)
	return end
}

// use begins with a template in the piece.
func (p *chunkParser) use(tp *template) {
	p.fit = uint32(len(p.used))
	p.used = append(p.used, alike{tp: tp})
	tp.round, tp.number = p.trie.round, p.fit
	p.name(&fields{name: tp.name, cat: tp.cat}, &tp.event)
	p.shapes, p.marked = p.shapes || tp.shapes, p.marked || tp.marked
}

// again reads the event at i, which was matched with its template.
func (p *chunkParser) again(tp *template, i int, e *trace.Event) {
	f := fields{at: i}
	*e = tp.event
	for k := range tp.fields {
		x := &tp.fields[k]
		from := p.trie.at(x.from)
		p.take(x.what, p.s[from:p.trie.at(x.to)], from, &f, e)
	}
	p.place(&f, e)
}

// anew reads the event at i member by member.
func (p *chunkParser) anew(i int, f *fields, e *trace.Event) int {
	*e = trace.Event{Track: trace.NoTrack}
	m := members{p: &p.scanner, at: i, depth: 1}
	args := 0
	for m.next() {
		from, what := m.at, roles[string(m.key)]
		if what == roleArgs && from < len(p.s) && p.s[from] == '{' {
			n := p.args(from, e)
			if n < 0 {
				return -1
			}
			args = from - i
			e.Flags |= trace.HasArgs
			m.at = n
			continue
		}
		if !m.skip() {
			return -1
		}
		p.take(what, p.s[from:m.at], from, f, e)
	}
	end := m.end()
	if end < 0 || int64(end-i) > 1<<32-1 {
		return -1
	}
	if args > 0 {
		f.args = p.s[i+args : end]
	}
	if p.dirty {
		e.Flags |= trace.Dirty
	}
	if e.Ph != 'f' {
		e.Flags &^= trace.BindEnd
	}
	p.name(f, e)
	p.place(f, e)
	return end
}

// take keeps the value of a member, which stands at at, where it matters.
func (p *chunkParser) take(what role, v []byte, at int, f *fields, e *trace.Event) {
	switch what {
	case rolePh:
		if len(v) >= 3 && v[0] == '"' {
			e.Ph = v[1]
		}
	case roleName:
		f.name = v
	case roleCat:
		f.cat = v
	case roleBP:
		if len(v) == 3 && v[1] == 'e' {
			e.Flags |= trace.BindEnd
		}
	case rolePID:
		f.pid = v
	case roleTID:
		f.tid = v
	case roleTS:
		f.ts = v
	case roleDur:
		f.dur = v
	case roleID:
		f.id = v
	case argCorrelation:
		if v, ok := p.int(v, at); ok {
			e.Flags |= trace.HasCorr
			p.wide.SetCorr(e, v)
		}
	case argCorrelationText:
		d, _ := unquote1(v)
		if v, ok := parseInt(d); ok && e.Flags&trace.HasCorr == 0 {
			e.Flags |= trace.HasCorr
			p.wide.SetCorr(e, v)
		}
	case argExternal:
		if v, ok := p.int(v, at); ok {
			p.ext, p.hasExt = p.wide.SetExt(e, v), true
		}
	case argSequence:
		if v, ok := p.int(v, at); ok && v >= 0 && v < 1<<31 {
			e.Flags |= trace.HasSeq
		}
	case argForward:
		if v, ok := p.int(v, at); ok && v > 0 && v < 1<<31 {
			e.Flags |= trace.HasFwd
		}
	case argShapes:
		p.shapes = true
	case argStream:
		e.Flags |= trace.Moved
	case argGraphNode:
		e.Flags |= trace.GraphOp
	}
}

// markHint begins the keys of marks. No overlay has marks of the other kind alone, unless its rows are there too.
const markHint = "critical"

// args walks the args object at i and keeps what links events.
func (p *chunkParser) args(i int, e *trace.Event) int {
	m := members{p: &p.scanner, at: i, depth: 2}
	for m.next() {
		from, key := m.at, m.key
		if !m.skip() {
			return -1
		}
		if len(key) >= len(markHint) && key[0] == markHint[0] && string(key[:len(markHint)]) == markHint {
			p.marked = true
		}
		if what := argRoles[string(key)]; what != roleNone {
			p.take(what, p.s[from:m.at], from, nil, e)
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

// name finds what an event is.
func (p *chunkParser) name(f *fields, e *trace.Event) {
	e.Name = trace.Sym(p.text(f.name))
	e.Cat = p.category(f.cat)
	e.Kind = p.catKind[e.Cat]
	if kinds := p.byName[e.Cat]; kinds != nil && len(f.name) > 2 {
		if k, ok := kinds[string(f.name[1:len(f.name)-1])]; ok {
			e.Kind = k
		}
	}
	if e.Kind == trace.Memcpy && string(f.name) == `"Memcpy"` || e.Kind == trace.Memset && string(f.name) == `"Memset"` {
		p.odd = true
		if name := composed(e.Kind, f.args); name != "" {
			e.Name, e.Flags = trace.Sym(p.names.id([]byte(name))), e.Flags|trace.Composed
		}
	}
}

// place finds when and where it is.
func (p *chunkParser) place(f *fields, e *trace.Event) {
	p.times(f, e)
	switch e.Ph {
	case 's', 't', 'f', 'b', 'n', 'e', 'S', 'T', 'p', 'F', 'N', 'O', 'D', 'v', 'V', '(', ')':
		p.identity(f.id, e)
	case 'M':
		return // names a row, lies on none
	}
	e.Track = p.track(f.pid, f.tid, trace.ClassOf(e.Kind))
}

// text interns the text of a string; other values by their bytes.
func (p *chunkParser) text(v []byte) uint32 {
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
		return 0 // merge counts them
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
	} else if e.Ph != 'M' && e.Ph != 0 {
		p.mend(RepairNoTS, f.at)
		e.Flags |= trace.Repaired
	}
	if f.dur == nil {
		if e.Ph == 'X' {
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
	p.wide.SetCorr(e, -1-int64(p.text(w)))
}

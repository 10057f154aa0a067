package kineto

import (
	"overlay/internal/par"
	"overlay/internal/trace"
)

// merge joins the pieces: events at their positions, symbols, tracks and processes by first appearance in the file.
// It returns how many categories there are beyond what events can hold: they have none.
func merge(t *draft, pieces []*piece, total int) (beyond int) {
	cats := table{}
	cats.add("")
	for _, p := range pieces {
		for _, c := range p.cats.list {
			cats.id([]byte(c))
		}
	}
	if beyond = len(cats.list) - 1<<16; beyond > 0 {
		cats.list = cats.list[:1<<16]
	}
	syms := table{ids: make(map[string]uint32, 1024), list: make([]string, 0, 1024)}
	for _, c := range cats.list {
		syms.id([]byte(c))
	}
	var tracks trackTable
	maps := make([]remap, len(pieces))
	for i, p := range pieces {
		m := &maps[i]
		m.names = make([]trace.Sym, len(p.names.list))
		for k, s := range p.names.list {
			m.names[k] = trace.Sym(syms.id([]byte(s)))
		}
		m.cats = make([]uint16, len(p.cats.list))
		for k, s := range p.cats.list {
			if id, ok := cats.ids[s]; ok && id < 1<<16 {
				m.cats[k] = uint16(id)
			}
		}
		m.tracks = make([]trace.TrackID, len(p.keys))
		for k, key := range p.keys {
			m.tracks[k] = tracks.id(key, m.names)
		}
	}
	t.Syms = syms.list
	t.Tracks, t.Procs = tracks.tracks, tracks.procs

	base, hasExt, numbers := 0, false, 0
	kinds := map[kindOf]Span{}
	for i, p := range pieces {
		t.fracs |= p.fracs
		t.Shapes = t.Shapes || p.shapes
		t.Marked = t.Marked || p.marked
		for _, k := range p.metas {
			t.metas = append(t.metas, trace.EventID(base+int(k)))
		}
		maps[i].first = base
		base += len(p.events)
		maps[i].wide = t.Wide.Join(p.wide)
		m := &maps[i]
		m.fits, m.numbers = make([]Span, len(p.used)), numbers
		numbers += len(p.numbers)
		for k, x := range p.used {
			of := kindOf{tp: x.tp, gap: x.gap}
			if x.tp == nil {
				of.piece, x.raw = i, p.raw
			}
			at, ok := kinds[of]
			if !ok {
				at = Span(len(t.alike))
				kinds[of] = at
				t.alike = append(t.alike, x)
			}
			m.fits[k] = at
		}
		hasExt = hasExt || p.hasExt
	}
	t.Events, t.Ext, t.Spans = trace.Room[trace.Event](t.Lend, total), trace.Room[int32](t.Lend, total), trace.Room[Span](t.Lend, total)
	t.numbers = make([]byte, numbers+8)
	par.Each(len(pieces), func(i int) {
		p, m := pieces[i], &maps[i]
		copy(t.numbers[m.numbers:], p.numbers)
		copy(t.Events[m.first:], p.events)
		copy(t.Ext[m.first:], p.exts)
		for k, s := range p.spans {
			t.Spans[m.first+k] = s&^(1<<spanFit-1) + Span(m.numbers)<<spanFit | m.fits[s&(1<<spanFit-1)]
		}
		m.apply(t.Events[m.first:][:len(p.events)], t.Ext[m.first:], p.wide)
		p.events, p.spans, p.exts, p.numbers = nil, nil, nil, nil
	})
	if !hasExt {
		t.Ext = nil
	}
	return max(beyond, 0)
}

// kindOf tells apart what is alike; what has no template is so within its piece.
type kindOf struct {
	tp    *template
	gap   string
	piece int
}

// remap turns the numbers of a piece into those of the file.
type remap struct {
	first  int // event
	names  []trace.Sym
	cats   []uint16
	tracks []trace.TrackID
	wide   int32 // what the indexes into trace.Wide grow by

	numbers int    // where those of the piece begin
	fits    []Span // what is alike
}

// apply renumbers the events of a piece, whose own Wide is wide.
func (m *remap) apply(events []trace.Event, exts []int32, wide trace.Wide) {
	for i := range events {
		e := &events[i]
		e.Name, e.Cat = m.names[e.Name], m.cats[e.Cat]
		if e.Track != trace.NoTrack {
			e.Track = m.tracks[e.Track]
		}
		if e.Flags&trace.HasCorr == 0 {
			if id := wide.Corr(e); id < 0 {
				wide.SetCorr(e, -1-int64(m.names[-1-id])) // fewer than 1<<31 names: wide does not grow
			}
		}
		e.Renumber(m.wide, &exts[i])
	}
}

// trackTable numbers tracks and processes.
type trackTable struct {
	tracks []trace.Track
	procs  []trace.Process
	rows   map[trackKey]trace.TrackID
	owner  map[trackKey]trace.ProcID
}

// id returns the track of a key whose texts are numbered by names.
func (t *trackTable) id(k trackKey, names []trace.Sym) trace.TrackID {
	if t.rows == nil {
		t.rows, t.owner = map[trackKey]trace.TrackID{}, map[trackKey]trace.ProcID{}
	}
	pid := trace.Token{Raw: names[k.pidRaw], Num: k.pid, IsNum: k.flags&1 != 0}
	tid := trace.Token{Raw: names[k.tidRaw], Num: k.tid, IsNum: k.flags&2 != 0}
	k.pidRaw, k.tidRaw = 0, 0
	k.pidText, k.tidText = uint32(names[k.pidText]), uint32(names[k.tidText])
	if id, ok := t.rows[k]; ok {
		return id
	}
	device := k.class.OnDevice()
	pk := trackKey{pid: k.pid, pidText: k.pidText, flags: k.flags & 1}
	if device {
		pk.class = trace.DeviceStream
	}
	proc, ok := t.owner[pk]
	if !ok {
		proc = trace.ProcID(len(t.procs))
		t.owner[pk] = proc
		t.procs = append(t.procs, trace.Process{PID: pid, Device: -1, IsDevice: device})
	}
	id := trace.TrackID(len(t.tracks))
	t.rows[k] = id
	t.tracks = append(t.tracks, trace.Track{Proc: proc, Class: k.class, TID: tid, Stream: -1})
	return id
}

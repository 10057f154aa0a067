package kineto

import (
	"overlay/internal/par"
	"overlay/internal/trace"
)

// merge joins the pieces: events at their positions, symbols, tracks and processes by first appearance in the file.
func merge(t *draft, pieces []*piece, all slab, total int) {
	cats := table{}
	cats.add("")
	for _, p := range pieces {
		for _, c := range p.cats.list {
			cats.id([]byte(c))
		}
	}
	if len(cats.list) > 1<<16 {
		cats.list = cats.list[:1<<16]
	}
	syms := table{ids: make(map[string]uint32, 1024), list: make([]string, 0, 1024)}
	for _, c := range cats.list {
		syms.idString(c)
	}
	var tracks trackTable
	maps := make([]remap, len(pieces))
	for i, p := range pieces {
		m := &maps[i]
		m.names = make([]trace.Sym, len(p.names.list))
		for k, s := range p.names.list {
			m.names[k] = trace.Sym(syms.idString(s))
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

	base, hasExt := 0, false
	for i, p := range pieces {
		t.fracs |= p.fracs
		t.Shapes = t.Shapes || p.shapes
		t.Marked = t.Marked || p.marked
		for _, k := range p.metas {
			t.metas = append(t.metas, trace.EventID(base+int(k)))
		}
		base += len(p.events)
		maps[i].wide = t.Wide.Join(p.wide)
		hasExt = hasExt || p.hasExt
		if len(p.events) > 0 {
			t.EventsEnd = int64(p.lastEnd)
		}
	}
	j := joinEvents(pieces, maps, all, total)
	t.Events, t.Spans = j.events, NewSpans(j.spans, all.lend)
	if hasExt {
		t.Ext = j.exts
	}
}

// remap turns the numbers of a piece into those of the file.
type remap struct {
	names  []trace.Sym
	cats   []uint16
	tracks []trace.TrackID
	wide   int32 // what the indexes into trace.Wide grow by
}

// joinEvents brings the pieces together. Those that filled their part of the slab lie in order already.
func joinEvents(pieces []*piece, maps []remap, all slab, total int) slab {
	joined, at := total <= len(all.events), 0
	for _, p := range pieces {
		if n := len(p.events); joined && n > 0 {
			joined = &p.events[0] == &all.events[at]
			at += n
		}
	}
	n := min(total, len(all.events))
	out := slab{all.events[:n:n], all.spans[:n:n], all.exts[:n:n], all.lend}
	if !joined {
		out = newSlab(total, all.lend)
	}
	first, base := make([]int, len(pieces)), 0 // of each piece: the number of its first event
	for i, p := range pieces {
		first[i] = base
		base += len(p.events)
	}
	par.Each(len(pieces), func(i int) {
		p := pieces[i]
		at, to := first[i], first[i]+len(p.events)
		if !joined {
			copy(out.events[at:], p.events)
			copy(out.spans[at:], p.spans)
			copy(out.exts[at:], p.exts)
		}
		p.drop()
		maps[i].apply(out.events[at:to], out.exts[at:to], p.wide)
	})
	return out
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

package kineto

import (
	"sync"
)

// merge joins the pieces: events at their positions, symbols, tracks and processes by first appearance in the file.
func merge(t *Trace, pieces []*piece, slab []Event, total int) {
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
		m.names = make([]Sym, len(p.names.list))
		for k, s := range p.names.list {
			m.names[k] = Sym(syms.idString(s))
		}
		m.cats = make([]uint16, len(p.cats.list))
		for k, s := range p.cats.list {
			if id, ok := cats.ids[s]; ok && id < 1<<16 {
				m.cats[k] = uint16(id)
			}
		}
		m.tracks = make([]TrackID, len(p.keys))
		for k, key := range p.keys {
			m.tracks[k] = tracks.id(key, m.names)
		}
	}
	t.Syms = syms.list
	t.Events = joinEvents(pieces, maps, slab, total)
	t.Tracks, t.Procs = tracks.tracks, tracks.procs

	var fracs fraction
	var metas []EventID
	base := 0
	for i, p := range pieces {
		fracs |= p.fracs
		for _, k := range p.metas {
			metas = append(metas, EventID(base+int(k)))
		}
		base += len(p.events)
		pieces[i].events = nil
	}
	t.fracs, t.metas = fracs, metas
}

// remap turns the numbers of a piece into those of the file.
type remap struct {
	names  []Sym
	cats   []uint16
	tracks []TrackID
}

// joinEvents brings the pieces together. Those that filled their part of the slab lie in order already.
func joinEvents(pieces []*piece, maps []remap, slab []Event, total int) []Event {
	joined, at := total <= len(slab), 0
	for _, p := range pieces {
		if n := len(p.events); joined && n > 0 {
			joined = &p.events[0] == &slab[at]
			at += n
		}
	}
	out := slab[:min(total, len(slab)):min(total, len(slab))]
	if !joined {
		out = make([]Event, total)
	}
	var wg sync.WaitGroup
	base := 0
	for i, p := range pieces {
		dst, m := out[base:base+len(p.events)], &maps[i]
		base += len(p.events)
		wg.Go(func() {
			if !joined {
				copy(dst, p.events)
			}
			m.apply(dst)
		})
	}
	wg.Wait()
	return out
}

func (m *remap) apply(events []Event) {
	for i := range events {
		e := &events[i]
		e.Name, e.Cat = m.names[e.Name], m.cats[e.Cat]
		if e.Track != NoTrack {
			e.Track = m.tracks[e.Track]
		}
		if e.Corr < 0 && e.Flags&HasCorr == 0 {
			e.Corr = -1 - int64(m.names[-1-e.Corr])
		}
	}
}

// trackTable numbers tracks and processes.
type trackTable struct {
	tracks []Track
	procs  []Process
	rows   map[trackKey]TrackID
	owner  map[trackKey]ProcID
}

// id returns the track of a key whose texts are numbered by names.
func (t *trackTable) id(k trackKey, names []Sym) TrackID {
	if t.rows == nil {
		t.rows, t.owner = map[trackKey]TrackID{}, map[trackKey]ProcID{}
	}
	pid := Token{Raw: names[k.pidRaw], Num: k.pid, IsNum: k.flags&1 != 0}
	tid := Token{Raw: names[k.tidRaw], Num: k.tid, IsNum: k.flags&2 != 0}
	k.pidRaw, k.tidRaw = 0, 0
	k.pidText, k.tidText = uint32(names[k.pidText]), uint32(names[k.tidText])
	if id, ok := t.rows[k]; ok {
		return id
	}
	device := k.class.onDevice()
	pk := trackKey{pid: k.pid, pidText: k.pidText, flags: k.flags & 1}
	if device {
		pk.class = DeviceStream
	}
	proc, ok := t.owner[pk]
	if !ok {
		proc = ProcID(len(t.procs))
		t.owner[pk] = proc
		t.procs = append(t.procs, Process{PID: pid, Device: -1, IsDevice: device})
	}
	id := TrackID(len(t.tracks))
	t.rows[k] = id
	t.tracks = append(t.tracks, Track{Proc: proc, Class: k.class, TID: tid, Stream: -1})
	return id
}

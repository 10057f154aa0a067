package frompftrace

import "overlay/internal/wire"

// track is a row as its descriptors say.
type track struct {
	uuid, parent uint64
	name         text
	description  text
	pid, tid     int64
	process      bool // has a process descriptor
	thread       bool // has a thread descriptor
	declared     bool
	used         bool  // some event lies on it
	row          int32 // then, its row
}

// track is the index of the row with a uuid.
func (r *reader) track(uuid uint64) int32 {
	i := r.row(uuid)
	r.tracks[i].used = true
	return i
}

func (r *reader) row(uuid uint64) int32 {
	i, ok := r.trackOf[uuid]
	if !ok {
		i = int32(len(r.tracks))
		r.trackOf[uuid] = i
		r.tracks = append(r.tracks, track{uuid: uuid})
	}
	return i
}

// member takes the descriptor of a process or a thread, which have their names in different fields.
func (t *track) member(data []byte, name uint32) {
	wire.Each(data, func(f *wire.Fields) {
		switch {
		case f.Num == 1:
			t.pid = int64(int32(f.V))
		case f.Num == 2 && t.thread:
			t.tid = int64(f.V)
		case f.Num == name && len(f.S) > 0:
			t.name = newText(f.S)
		}
	})
}

// descriptor takes a TrackDescriptor. Of two for one uuid, what the later one says counts.
func (r *reader) descriptor(data []byte, at int64) {
	var d track
	f := wire.Over(data)
	for f.Next() {
		switch f.Num {
		case 1:
			d.uuid = f.V
		case 5:
			d.parent = f.V
		case 2, 10, 13:
			if len(f.S) > 0 {
				d.name = newText(f.S)
			}
		case 14:
			d.description = newText(f.S)
		case 3:
			d.process = true
			d.member(f.S, 6)
		case 4:
			d.thread = true
			d.member(f.S, 5)
		}
	}
	if f.Bad {
		r.mend(ReasonBroken, at)
		return
	}
	t := &r.tracks[r.row(d.uuid)]
	used := t.used
	if !d.name.known {
		d.name = t.name
	}
	*t = d
	t.declared, t.used = true, used
}

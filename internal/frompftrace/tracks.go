package frompftrace

// track is a row as its descriptors say.
type track struct {
	uuid, parent uint64
	name         text
	description  text
	pid, tid     int64
	process      bool // has a process descriptor
	thread       bool // has a thread descriptor
	counter      bool
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
	if r.lastTrack >= 0 && r.lastTrackID == uuid {
		return r.lastTrack
	}
	i, ok := r.trackOf[uuid]
	if !ok {
		i = int32(len(r.tracks))
		r.trackOf[uuid] = i
		r.tracks = append(r.tracks, track{uuid: uuid})
	}
	r.lastTrack, r.lastTrackID = i, uuid
	return i
}

// descriptor takes a TrackDescriptor. Of two for one uuid, what the later one says counts.
func (r *reader) descriptor(data []byte, at int64) {
	var d track
	f := over(data)
	for f.next() {
		switch f.num {
		case 1:
			d.uuid = f.v
		case 5:
			d.parent = f.v
		case 2, 10, 13:
			if len(f.s) > 0 {
				d.name = newText(f.s)
			}
		case 14:
			d.description = newText(f.s)
		case 3:
			d.process = true
			e := over(f.s)
			for e.next() {
				switch e.num {
				case 1:
					d.pid = int64(int32(e.v))
				case 6:
					if len(e.s) > 0 {
						d.name = newText(e.s)
					}
				}
			}
		case 4:
			d.thread = true
			e := over(f.s)
			for e.next() {
				switch e.num {
				case 1:
					d.pid = int64(int32(e.v))
				case 2:
					d.tid = int64(e.v)
				case 5:
					if len(e.s) > 0 {
						d.name = newText(e.s)
					}
				}
			}
		case 8:
			d.counter = true
		}
	}
	if f.bad {
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

package perfetto

import "google.golang.org/protobuf/encoding/protowire"

// The clocks come first of all, since a snapshot after the first conversion of a time stamp no longer chooses the
// trace clock; descriptors come before events, since without a time stamp they take effect where they stand.

// sequences returns a packet for each sequence of a part, which sets its clock, its track and its state.
func sequences(t *Trace, lanes []lane, start int64) []byte {
	var out []byte
	for i := range lanes {
		out = appendPacket(out, sequenceHeader(t.sequence(i), &lanes[i], t, start))
	}
	next := len(lanes)
	if t.Stages != nil {
		out = appendPacket(out, nsHeader(t.sequence(next), start, nil))
		next++
	}
	if t.Samples != nil {
		out = appendPacket(out, t.Samples.header(t.sequence(next), start))
	}
	return out
}

// identity returns what is said once of a trace: its uuid, attributes and devices, and of the root that processes and
// threads are ordered by their rank.
func identity(t *Trace) []byte {
	out := appendPacket(nil, traceUUID(t.UUID))
	if len(t.Attrs) > 0 {
		out = appendPacket(out, attributes(t.Attrs))
	}
	if len(t.GPUs) > 0 {
		out = appendPacket(out, gpuInfo(t.GPUs))
	}
	return appendDescriptor(out, message(nil).uint(1, 0).uint(19, 1).uint(20, 1))
}

// descriptors returns those of the tracks of a part and of the lanes that overlaps need.
func descriptors(t *Trace, lanes []lane) []byte {
	var out []byte
	for i := range t.Tracks {
		out = appendDescriptor(out, descriptor(t, i))
	}
	for i := range lanes {
		if l := &lanes[i]; l.uuid >= t.uuid(len(t.Tracks)) && (i == 0 || lanes[i-1].uuid != l.uuid) {
			out = appendDescriptor(out, overflow(t, l))
		}
	}
	return out
}

// message is a protobuf message under construction.
type message []byte

func (m message) uint(field protowire.Number, v uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
}

func (m message) str(field protowire.Number, v string) message {
	if v == "" {
		return m
	}
	return protowire.AppendString(protowire.AppendTag(m, field, protowire.BytesType), v)
}

func (m message) sub(field protowire.Number, v message) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
}

func appendPacket(out []byte, packet message) []byte { return message(out).sub(1, packet) }

func appendDescriptor(out []byte, d message) []byte {
	return appendPacket(out, message(nil).sub(60, d))
}

func sequenceHeader(seq uint32, l *lane, t *Trace, start int64) message {
	clocks := message(nil).
		sub(1, message(nil).uint(1, clockSequence).uint(2, uint64(start/l.unit)).uint(3, 1).uint(4, uint64(l.unit))).
		sub(1, message(nil).uint(1, clockBoottime).uint(2, uint64(start)))
	if t.HasRealtime {
		clocks = clocks.sub(1, message(nil).uint(1, clockRealtime).uint(2, uint64(t.Realtime+start)))
	}
	clocks = clocks.uint(2, clockBoottime)
	defaults := message(nil).uint(58, clockSequence).sub(11, message(nil).uint(11, l.uuid))
	return message(nil).uint(10, uint64(seq)).uint(13, flagCleared).sub(59, defaults).sub(6, clocks)
}

func traceUUID(id [2]uint64) message {
	return message(nil).sub(89, message(nil).uint(1, id[0]).uint(2, id[1]))
}

func attributes(attrs []Attr) message {
	var m message
	for _, a := range attrs {
		attr := message(nil).str(1, a.Key)
		if a.IsStr {
			attr = protowire.AppendString(protowire.AppendTag(attr, 3, protowire.BytesType), a.Str)
		} else {
			attr = attr.uint(2, uint64(a.Int))
		}
		m = m.sub(1, attr)
	}
	return message(nil).sub(126, m)
}

// uuid numbers tracks from one counter: pids and tids could collide with each other and with groups. Each part of a trace
// has a range of its own.
func (t *Trace) uuid(i int) uint64 { return uint64(t.Part)<<32 + uint64(i) + 1 }

// sequence numbers the lanes of all parts.
func (t *Trace) sequence(lane int) uint32 { return t.before + uint32(lane) + 1 }

// Values of TrackDescriptor.
const (
	orderExplicit = 3
	mergeNone     = 2
	mergeByKey    = 3
)

func descriptor(t *Trace, i int) message {
	tr := &t.Tracks[i]
	m := message(nil).uint(1, t.uuid(i))
	if tr.Parent >= 0 {
		m = m.uint(5, t.uuid(tr.Parent))
	}
	switch tr.Kind {
	case Process:
		p := message(nil).uint(1, uint64(tr.PID)).str(6, tr.Name)
		for _, label := range tr.Labels {
			p = p.str(8, label)
		}
		m = m.sub(3, p)
	case Thread:
		m = m.sub(4, message(nil).uint(1, uint64(tr.PID)).uint(2, uint64(tr.TID)).str(5, tr.Name))
	case Counter:
		m = m.str(2, tr.Name).sub(8, message(nil).str(6, tr.Unit).str(7, tr.ShareKey))
	case Row:
		m = m.str(2, tr.Name)
		if !tr.Merge {
			m = m.uint(15, mergeNone)
		}
	}
	m = m.str(14, tr.Description)
	if tr.Explicit {
		m = m.uint(11, orderExplicit)
	}
	if g := tr.GPU; g != nil && g.Stream >= 0 {
		m = m.sub(3000, message(nil).uint(1, uint64(g.ID)).uint(3, uint64(g.Stream)))
	} else if g != nil {
		m = m.sub(3000, message(nil).uint(1, uint64(g.ID)))
	}
	return m.uint(12, uint64(int64(tr.Order)))
}

// overflow describes a further lane of a track: a child row, drawn as one with the other lanes. The viewer orders the
// rows of a thread by name, and shows the thread's own with its number behind the name: a bracket would come before that.
func overflow(t *Trace, l *lane) message {
	return message(nil).uint(1, l.uuid).uint(5, t.uuid(l.track)).str(2, t.Tracks[l.track].Name+" overlap").
		uint(15, mergeByKey).str(16, "overlap").uint(12, 1<<20)
}

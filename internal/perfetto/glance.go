package perfetto

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// Glance is what can be told of a trace by passing over it once, in little memory.
type Glance struct {
	Attrs     []Attr
	Processes []string // names of those with a slice of the colour asked for, sorted
}

// Int returns the value of a number among the attributes, and whether it is there.
func (g *Glance) Int(key string) (int64, bool) {
	for _, a := range g.Attrs {
		if a.Key == key && !a.IsStr {
			return a.Int, true
		}
	}
	return 0, false
}

// maxPacket bounds what is kept of a trace at one time. Write makes packets of a few hundred bytes, but for attributes.
const maxPacket = 16 << 20

// GlanceAt passes over the bytes of a trace. It keeps no event, and does not care for what Read would object to. With an
// error comes what was seen before it.
func GlanceAt(r io.Reader, color string) (*Glance, error) {
	g := &glancer{color: color, colorOf: map[uint64]uint64{}, trackOf: map[uint64]uint64{}, tracks: map[uint64]glanceTrack{}, seen: map[uint64]bool{}}
	br := bufio.NewReaderSize(r, 1<<20)
	var buf []byte
	for {
		tag, err := br.ReadByte()
		if err == io.EOF {
			return g.result(), nil
		}
		if err != nil {
			return g.result(), err
		}
		size, err := binary.ReadUvarint(br)
		if err != nil || tag != 1<<3|2 || size > maxPacket {
			return g.result(), errors.Join(errWire, err)
		}
		buf = slices.Grow(buf[:0], int(size))[:size]
		if _, err := io.ReadFull(br, buf); err != nil {
			return g.result(), err
		}
		if !g.packet(buf) {
			return g.result(), errWire
		}
	}
}

type glanceTrack struct {
	parent  uint64
	process bool
	name    string
}

type glancer struct {
	Glance
	color   string
	colorOf map[uint64]uint64 // sequence -> number of the colour in it
	trackOf map[uint64]uint64 // sequence -> track of events that name none
	tracks  map[uint64]glanceTrack
	seen    map[uint64]bool // tracks with a slice of the colour
}

func (g *glancer) packet(p []byte) bool {
	var seq, flags uint64
	var interned, defaults, event []byte
	ok := fields(p, func(f field) {
		switch f.num {
		case 10:
			seq = f.v
		case 13:
			flags = f.v
		case 12:
			interned = f.b
		case 59:
			defaults = f.b
		case 11:
			event = f.b
		case 60:
			g.descriptor(f.b)
		case 126:
			g.Attrs = append(g.Attrs, readAttrs(f.b)...)
		}
	})
	if flags&1 != 0 {
		delete(g.colorOf, seq)
		delete(g.trackOf, seq)
	}
	if interned != nil {
		g.intern(seq, interned)
	}
	fields(defaults, func(f field) {
		if f.num == 11 {
			fields(f.b, func(f field) {
				if f.num == 11 {
					g.trackOf[seq] = f.v
				}
			})
		}
	})
	if event != nil {
		g.event(seq, event)
	}
	return ok
}

func (g *glancer) intern(seq uint64, p []byte) {
	fields(p, func(f field) {
		if f.num != 43 {
			return
		}
		var id uint64
		found := false
		fields(f.b, func(f field) {
			switch f.num {
			case 1:
				id = f.v
			case 2:
				found = string(f.b) == g.color
			}
		})
		if found {
			g.colorOf[seq] = id
		}
	})
}

func (g *glancer) event(seq uint64, p []byte) {
	track, found := g.trackOf[seq], false
	id := g.colorOf[seq] // 0 is no string's number
	fields(p, func(f field) {
		switch f.num {
		case 11:
			track = f.v
		case 54:
			found = id != 0 && f.v == id
		case 53:
			found = string(f.b) == g.color
		}
	})
	if found {
		g.seen[track] = true
	}
}

func (g *glancer) descriptor(p []byte) {
	var uuid uint64
	var t glanceTrack
	fields(p, func(f field) {
		switch f.num {
		case 1:
			uuid = f.v
		case 5:
			t.parent = f.v
		case 3:
			t.process = true
			fields(f.b, func(f field) {
				if f.num == 6 {
					t.name = string(f.b)
				}
			})
		}
	})
	g.tracks[uuid] = t
}

// result finds the processes of the tracks.
func (g *glancer) result() *Glance {
	for uuid := range g.seen {
		t, ok := g.tracks[uuid]
		for steps := 0; ok && !t.process && steps < 100; steps++ { // a chain of parents may be a circle
			t, ok = g.tracks[t.parent]
		}
		if ok && t.process {
			g.Processes = append(g.Processes, t.name)
		}
	}
	slices.Sort(g.Processes)
	g.Processes = slices.Compact(g.Processes)
	return &g.Glance
}

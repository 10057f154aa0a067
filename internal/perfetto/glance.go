package perfetto

import "slices"

// Glance is what can be told of a trace without replaying its events.
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

// GlanceAt looks at the bytes of a trace, which may end anywhere. It tells what stands before the first packet that is none.
func GlanceAt(data []byte, color string) *Glance {
	rd := newReader()
	rd.packets(data)
	g, seen := &Glance{Attrs: rd.im.Attrs}, map[uint64]bool{} // tracks with a slice of the colour
	for i := range rd.events {
		e := &rd.events[i]
		if seen[e.track] || rd.decode(e).color != color {
			continue
		}
		seen[e.track] = true
		at, ok := rd.byUUID[e.track]
		for steps := 0; ok && rd.im.Tracks[at].Kind != Process && steps < maxParents; steps++ {
			at, ok = rd.byUUID[rd.im.Tracks[at].parentUUID]
		}
		if ok && rd.im.Tracks[at].Kind == Process {
			g.Processes = append(g.Processes, rd.im.Tracks[at].Name)
		}
	}
	slices.Sort(g.Processes)
	g.Processes = slices.Compact(g.Processes)
	return g
}

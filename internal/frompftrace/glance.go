package frompftrace

import (
	"slices"

	"overlay/internal/wire"
)

// Glance is what can be told of a trace without pairing its events.
type Glance struct {
	r         *reader
	Processes []string // names of those with an event of the colour asked for, sorted
}

// Int returns the value of a number among the attributes, and whether it is there.
func (g *Glance) Int(key string) (int64, bool) { return g.r.attr(key) }

// GlanceAt looks at the bytes of a trace, which may end anywhere.
func GlanceAt(data []byte, color string) *Glance {
	r := newReader(data, "")
	r.scan()
	g, seen := &Glance{r: r}, make([]bool, len(r.tracks))
	for i := range r.recs {
		rec := &r.recs[i]
		if rec.kind == kindRender || seen[rec.track] || r.color(rec) != color {
			continue
		}
		seen[rec.track] = true
		at, ok := rec.track, true
		for steps := 0; ok && !r.tracks[at].process && steps < maxParents; steps++ {
			at, ok = r.trackOf[r.tracks[at].parent]
		}
		if ok && r.tracks[at].process {
			g.Processes = append(g.Processes, string(r.tracks[at].name.raw))
		}
	}
	slices.Sort(g.Processes)
	g.Processes = slices.Compact(g.Processes)
	return g
}

// color is the string whose colour the viewer gives an event, "" for that of its name.
func (r *reader) color(rec *record) string {
	f := wire.Over(r.message(rec))
	for f.Skip(tagAnnotation); f.Next(); f.Skip(tagAnnotation) {
		if f.Num == eventColorIID {
			return string(r.states[rec.state].colors.get(f.V).raw)
		}
	}
	return ""
}

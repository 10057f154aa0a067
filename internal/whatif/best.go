package whatif

import (
	"overlay/internal/critpath"
	"overlay/internal/trace"
)

// OfHotspot returns the activities that a hotspot of a path sums up: those of its name and collective on threads, or on
// the GPU.
func (m *Model) OfHotspot(h *critpath.Hotspot) Set {
	tr := m.g.Trace
	named := tr.ByName(func(name string) bool { return critpath.NormalName(name) == h.Name })
	device := tr.Events[h.Event].Kind.Device()
	s, unnamed := NewSelector(m, nil), critpath.NewUnnamed(m.g)
	return s.events(func(id trace.EventID) bool {
		e := &tr.Events[id]
		return e.Kind.Device() == device && named(e.Name) && unnamed.Collective(id) == h.Collective
	})
}

// Best asks for each of the first n hotspots of the recorded path what half its time would give, and none at all. shown
// is how reports show one.
func (m *Model) Best(path *critpath.Path, n int, shown func(*critpath.Hotspot) string) []Scenario {
	var out []Scenario
	for i, h := range critpath.Hotspots(m.g, path) {
		if i >= n {
			break
		}
		on := m.OfHotspot(&h)
		for _, f := range [...]struct {
			word string
			num  int64
		}{{"0.5", 1}, {"0", 0}} {
			out = append(out, Scenario{Name: shown(&h) + " x " + f.word, Changes: []Change{{Verb: Scale, On: on, Num: f.num, Den: 2}}})
		}
	}
	return out
}

package report

import (
	"cmp"
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/whatif"
)

// Gain is what could be gained at something on the path, by a replay of the run without it.
type Gain struct {
	What   string  `json:"what" about:"class or hotspot"`
	Name   string  `json:"name"`
	Shown  string  `json:"readable" about:"the name as reports show it"`
	NS     int64   `json:"critical_ns" unit:"ns" about:"its time on the path"`
	AtMost int64   `json:"saves_at_most_ns" unit:"ns" about:"of the window, if it took no time at all"`
	Share  float64 `json:"saves_at_most_share" unit:"share" about:"of the window"`
	Half   int64   `json:"half_saves_ns" unit:"ns" about:"of the window, if it took half the time"`
	Window int64   `json:"window_then_ns" unit:"ns" about:"the window if it took no time at all"`
	Then   string  `json:"then_bound_by" about:"the class with the most time on the path then"`
}

// gains replays the run without what is on the path: classes and hotspots, most gain first.
func gains(r *Report, s Source) []Gain {
	out := []Gain{}
	if !s.Gains || s.Model == nil || s.Path.Duration <= 0 {
		return out
	}
	m := s.Model
	var changes []whatif.Change
	total := critpath.Breakdown(s.Path)
	for c, ns := range total.Class {
		if ns > 0 && critpath.Class(c) != critpath.ClassIdle {
			out = append(out, Gain{What: "class", Name: critpath.Class(c).String(), Shown: "all " + critpath.Class(c).Words(), NS: ns})
			changes = append(changes, m.OfClass(critpath.Class(c)))
		}
	}
	for _, h := range r.hot {
		if h.NS == 0 {
			break
		}
		out = append(out, Gain{What: "hotspot", Name: h.Name, Shown: r.Names.Hotspot(&h), NS: h.NS})
		changes = append(changes, whatif.Change{On: m.OfHotspot(&h)})
	}
	for i, c := range m.Ceilings(changes) {
		g := &out[i]
		g.Window, g.Then = c.Zero, c.Then.String()
		g.AtMost, g.Half = r.Window.Duration-c.Zero, r.Window.Duration-c.Half
		g.Share = signedShare(g.AtMost, r.Window.Duration)
	}
	slices.SortStableFunc(out, func(a, b Gain) int { return cmp.Compare(b.AtMost, a.AtMost) })
	return out
}

// gainHotspots is for how many hotspots a report says what could be gained.
const gainHotspots = 10

// gainSection shows what replays say of each class and hotspot: how much shorter the window is without it.
func (r *Report) gainSection(list []tables.Table) Section {
	t := tables.Find(list, "gains")
	return Section{"gains", "What could be gained", "The run replayed without it: no work on it saves more than this, since something else binds then." + r.withoutEarlier(), filled([]Grid{gridWorth(t, maxRows, "saves_at_most_share", "rows",
		label("without", func(l tables.Line) Cell {
			if l.Str("what") == "class" {
				return Cell{Text: l.Str("readable")}
			}
			return shownCell(l)
		}), bar(t, "saves_at_most_ns", "pale", ""), figure(t, "saves at most", "saves_at_most_ns"), r.ofWindow(t, "saves_at_most_share", "saves_at_most_ns"), figure(t, "with half of it", "half_saves_ns"),
		extra(figure(t, "on the path", "critical_ns")), wordsOf("then bound by", "{class then_bound_by}"))})}
}

package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Difference compares two reports; differences are after minus before.
type Difference struct {
	Schema   string   `json:"schema"`
	Before   *Report  `json:"before"`
	After    *Report  `json:"after"`
	Window   Change   `json:"window"`
	Slower   float64  `json:"slower_percent"` // below 0: faster
	Classes  []Change `json:"classes"`        // largest effect first
	Hotspots []Change `json:"hotspots"`       // of the hotspots of either side
}

// Change is one value before and after, ns.
type Change struct {
	Name   string `json:"name"`
	Before int64  `json:"before_ns"`
	After  int64  `json:"after_ns"`
	Effect int64  `json:"effect_ns"`
}

// Compare makes the difference. For hotspots to be complete both reports must list all of them.
func Compare(before, after *Report) *Difference {
	d := &Difference{Schema: "overlay-diff/1", Before: before, After: after,
		Window: Change{"window", before.Window.Duration, after.Window.Duration, after.Window.Duration - before.Window.Duration}}
	d.Slower = 100 * share(d.Window.Effect, before.Window.Duration)
	if d.Window.Effect < 0 {
		d.Slower = -100 * share(-d.Window.Effect, before.Window.Duration)
	}
	d.Classes = changes(before.Path.ByClass, after.Path.ByClass)
	sum := func(r *Report) map[string]int64 {
		m := map[string]int64{}
		for _, h := range r.Hotspots {
			m[h.Name] += h.NS
		}
		return m
	}
	d.Hotspots = changes(sum(before), sum(after))
	return d
}

// changes joins two maps, the largest effect first, then by name.
func changes(a, b map[string]int64) []Change {
	out := []Change{}
	for k, v := range a {
		out = append(out, Change{k, v, b[k], b[k] - v})
	}
	for k, v := range b {
		if _, ok := a[k]; !ok {
			out = append(out, Change{k, 0, v, v})
		}
	}
	slices.SortFunc(out, func(x, y Change) int {
		return cmp.Or(cmp.Compare(max(y.Effect, -y.Effect), max(x.Effect, -x.Effect)), cmp.Compare(x.Name, y.Name))
	})
	return out
}

// WriteJSON writes the difference as JSON.
func (d *Difference) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(d)
}

// WriteText writes the difference on about one screen, top hotspots at most.
func (d *Difference) WriteText(w io.Writer, o TextOptions, top int) error {
	t := &text{w: bufio.NewWriter(w), o: o, width: max(cmp.Or(o.Width, 100), 60)}
	t.line("before  %s, %s, bound by %s", Shorten(plain(d.Before.Input.Name), 60), MS(d.Before.Window.Duration), classWords[d.Before.Path.BoundBy])
	t.line("after   %s, %s, bound by %s", Shorten(plain(d.After.Input.Name), 60), MS(d.After.Window.Duration), classWords[d.After.Path.BoundBy])
	t.line("%s", t.bold(d.verdict()))
	t.line("")
	t.line("  %12s %12s %13s  %s", "before", "after", "effect", "on the path")
	for _, c := range d.Classes {
		t.line("  %12s %12s %13s  %s", MS(c.Before), MS(c.After), signed(c.Effect), classWords[c.Name])
	}
	t.line("")
	t.line("  %12s %12s %13s  %s", "before", "after", "effect", "hotspot")
	for i, c := range d.Hotspots {
		if i == top || c.Effect == 0 {
			break
		}
		t.line("  %12s %12s %13s  %s", MS(c.Before), MS(c.After), signed(c.Effect), Shorten(plain(Readable(c.Name)), t.width-43))
	}
	return t.w.Flush()
}

// verdict is the difference of the windows in words.
func (d *Difference) verdict() string {
	switch {
	case d.Window.Effect > 0:
		return fmt.Sprintf("%.1f %% slower", d.Slower)
	case d.Window.Effect < 0:
		return fmt.Sprintf("%.1f %% faster", -d.Slower)
	}
	return "as long as before"
}

func signed(ns int64) string {
	if ns > 0 {
		return "+" + MS(ns)
	}
	return MS(ns)
}

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"overlay/internal/tables"
)

// Difference compares two reports; differences are after minus before.
type Difference struct {
	Schema    string     `json:"schema"`
	Before    *Report    `json:"before" table:"-"`
	After     *Report    `json:"after" table:"-"`
	Window    Change     `json:"window" table:"window" about:"length of the window"`
	Slower    float64    `json:"slower_percent" unit:"percent" about:"below 0: faster"`
	Classes   []Change   `json:"classes" table:"classes" about:"time on the path by class, largest effect first"`
	Hotspots  []Change   `json:"hotspots" table:"hotspots" about:"time on the path by name, of the hotspots of either side"`
	Explained *Explained `json:"explained,omitempty" table:"explained" about:"how much of the difference follows from the time that names take"`
}

// Change is one value before and after, ns.
type Change struct {
	Name   string `json:"name"`
	Before int64  `json:"before_ns" unit:"ns"`
	After  int64  `json:"after_ns" unit:"ns"`
	Effect int64  `json:"effect_ns" unit:"change"`
}

// Compare makes the difference. For hotspots to be complete both reports must list all of them.
func Compare(before, after *Report) *Difference {
	d := &Difference{Schema: "overlay-diff/1", Before: before, After: after,
		Window: Change{"window", before.Window.Duration, after.Window.Duration, after.Window.Duration - before.Window.Duration}}
	d.Slower = 100 * tables.ShareOf(d.Window.Effect, before.Window.Duration)
	if d.Window.Effect < 0 {
		d.Slower = -100 * tables.ShareOf(-d.Window.Effect, before.Window.Duration)
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

// Tables gives the difference as tables; those of the two reports are theirs.
func (d *Difference) Tables() []tables.Table {
	return tables.From("difference", "how much longer the window takes", d)
}

// WriteText writes the difference on about one screen, top hotspots at most.
func (d *Difference) WriteText(w io.Writer, o TextOptions, top int) error {
	t := newText(w, o, d.Tables())
	side := func(name string, r *Report) {
		s := fmt.Sprintf("%s, %s, %s", Shorten(Plain(r.Input.Name), min(60, t.width-24)), tables.Duration(r.Window.Duration), r.Bound())
		for i, l := range wrapText(s, t.width-8) {
			t.line("%-7s %s", []string{name, ""}[min(i, 1)], l)
		}
	}
	side("before", d.Before)
	side("after", d.After)
	t.line("%s", t.bold(d.Verdict()))
	change := func(l tables.Line, name string) {
		t.line("  %12s %12s %13s  %s", l.Show("before_ns"), l.Show("after_ns"), l.Show("effect_ns"), name)
	}
	t.line("")
	t.line("  %12s %12s %13s  %s", "before", "after", "effect", "on the path")
	for l := range t.table("classes").Lines(-1) {
		change(l, classWords[l.Str("name")])
	}
	t.line("")
	t.line("  %12s %12s %13s  %s", "before", "after", "effect", "hotspot")
	for l := range t.table("hotspots").Lines(top) {
		if l.Value("effect_ns").Int() == 0 {
			break
		}
		change(l, Shorten(Plain(Readable(l.Str("name"))), t.width-43))
	}
	t.explained(d, top)
	return t.w.Flush()
}

// Verdict is the difference of the windows in words.
func (d *Difference) Verdict() string {
	switch {
	case d.Window.Effect > 0:
		return tables.FormatPercent(d.Slower) + " longer"
	case d.Window.Effect < 0:
		return tables.FormatPercent(-d.Slower) + " shorter"
	}
	return "as long as before"
}

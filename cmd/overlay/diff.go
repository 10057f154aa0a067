package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"overlay/internal/critpath"
)

// diff compares two traces, analysed in the same way.
func (j *job) diff() error {
	if j.opts.json || j.opts.html != "" {
		return errNotYet
	}
	var sides [2]side
	for i, name := range j.files {
		a, err := j.analyse(name)
		if err != nil {
			return err
		}
		sides[i] = sideOf(name, a)
	}
	before, after := sides[0].window, sides[1].window
	if limit := j.opts.failIfSlower; limit >= 0 && float64(after) > float64(before)*(1+limit/100) {
		j.verdict = fmt.Errorf("%w: %s %s against %s, more than %v %% longer", errSlower, j.files[1], milliseconds(after), milliseconds(before), limit)
	}
	j.result = func(w io.Writer) error { return writeDiff(w, &sides[0], &sides[1]) }
	return nil
}

// side is what diff keeps of one trace.
type side struct {
	name   string
	window int64 // ns
	bound  critpath.Class
	class  [critpath.NumClasses]int64
	spots  map[string]int64 // critical time by name
}

func sideOf(name string, a analysis) side {
	t := critpath.Breakdown(a.path)
	s := side{name: name, window: a.path.Window.End - a.path.Window.Start, bound: critpath.BoundBy(&t.Class), class: t.Class, spots: map[string]int64{}}
	for _, h := range critpath.Hotspots(a.graph, a.path) {
		s.spots[h.Name] += h.NS
	}
	return s
}

// changesListed is how many hotspots diff lists.
const changesListed = 10

func writeDiff(w io.Writer, a, b *side) error {
	fmt.Fprintf(w, "before %s, bound by %s\nafter  %s, bound by %s\n", a.name, a.bound.Words(), b.name, b.bound.Words())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(x, y int64, name string) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t  %s\n", milliseconds(x), milliseconds(y), signed(y-x), change(x, y), name)
	}
	fmt.Fprintf(t, "before\tafter\tdifference\t\t\n")
	line(a.window, b.window, "window")
	for c := range a.class {
		if a.class[c] != 0 || b.class[c] != 0 {
			line(a.class[c], b.class[c], critpath.Class(c).Words())
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	names := changed(a.spots, b.spots)
	if names = names[:min(len(names), changesListed)]; len(names) == 0 {
		return nil
	}
	fmt.Fprintf(w, "hotspots that changed most\n")
	for _, n := range names {
		line(a.spots[n], b.spots[n], shorten(n, 60))
	}
	return t.Flush()
}

// changed lists the names whose time differs, the largest difference first, then by name.
func changed(a, b map[string]int64) []string {
	var names []string
	for n := range a {
		if a[n] != b[n] {
			names = append(names, n)
		}
	}
	for n := range b {
		if _, ok := a[n]; !ok && b[n] != 0 {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(x, y string) int {
		return cmp.Or(cmp.Compare(abs(b[y]-a[y]), abs(b[x]-a[x])), cmp.Compare(x, y))
	})
	return names
}

func abs(n int64) int64 { return max(n, -n) }

func signed(ns int64) string {
	if ns < 0 {
		return "-" + milliseconds(-ns)
	}
	return "+" + milliseconds(ns)
}

func change(before, after int64) string {
	if before == 0 {
		return "new"
	}
	return fmt.Sprintf("%+.1f %%", 100*float64(after-before)/float64(before))
}

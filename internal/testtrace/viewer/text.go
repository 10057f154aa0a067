package viewer

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"overlay/internal/perfetto"
)

// Rows returns the tracks in the order in which the viewer shows them: global rows by name, then processes by rank,
// each with its threads by rank, then its other rows by name (by rank below a row that says so).
func Rows(im *Imported) []int32 {
	children := make(map[int][]int32)
	for i := range im.Tracks {
		children[im.Tracks[i].Parent] = append(children[im.Tracks[i].Parent], int32(i))
	}
	group := func(t *ReadTrack) int {
		switch t.Kind {
		case perfetto.Process:
			return 1
		case perfetto.Thread:
			return 0
		}
		if t.Parent < 0 {
			return 0 // above the processes
		}
		return 2
	}
	var rows []int32
	var walk func(parent int)
	walk = func(parent int) {
		c := children[parent]
		slices.SortStableFunc(c, func(a, b int32) int {
			x, y := &im.Tracks[a], &im.Tracks[b]
			if g := cmp.Compare(group(x), group(y)); g != 0 {
				return g
			}
			byRank := x.Kind == perfetto.Process && im.ProcessOrder || x.Kind == perfetto.Thread && im.ThreadOrder ||
				parent >= 0 && im.Tracks[parent].Explicit
			if byRank && x.Order != y.Order {
				return cmp.Compare(x.Order, y.Order)
			}
			return cmp.Compare(x.Name, y.Name)
		})
		for _, r := range c {
			rows = append(rows, r)
			walk(int(r))
		}
	}
	walk(-1)
	return rows
}

// Write writes everything as text: rows in the viewer's order with their slices and values, arrows, attributes,
// problems.
func Write(w io.Writer, im *Imported) error {
	out := bufio.NewWriter(w)
	bySlice := make(map[int32][]int32)
	for i := range im.Slices {
		bySlice[im.Slices[i].Track] = append(bySlice[im.Slices[i].Track], int32(i))
	}
	byPoint := make(map[int32][]int32)
	for i := range im.Points {
		byPoint[im.Points[i].Track] = append(byPoint[im.Points[i].Track], int32(i))
	}
	for _, r := range Rows(im) {
		depth := 0
		for p := im.Tracks[r].Parent; p >= 0; p = im.Tracks[p].Parent {
			depth++
		}
		fmt.Fprintf(out, "%s%s\n", strings.Repeat("  ", depth), trackText(im, r))
		for _, id := range bySlice[r] {
			s := &im.Slices[id]
			fmt.Fprintf(out, "%s%s\n", strings.Repeat("  ", depth+1+int(s.Depth)), sliceText(im, id))
		}
		for _, id := range byPoint[r] {
			p := &im.Points[id]
			fmt.Fprintf(out, "%s%d %g\n", strings.Repeat("  ", depth+1), p.TS, p.Value)
		}
	}
	for _, f := range im.Flows {
		a, b := &im.Slices[f.From], &im.Slices[f.To]
		fmt.Fprintf(out, "flow %d %q@%d -> %q@%d\n", f.ID, a.Name, a.TS, b.Name, b.TS)
	}
	for _, a := range im.Attrs {
		if a.IsStr {
			fmt.Fprintf(out, "attribute %s = %q\n", a.Key, a.Str)
		} else {
			fmt.Fprintf(out, "attribute %s = %d\n", a.Key, a.Int)
		}
	}
	if im.HasUUID {
		fmt.Fprintf(out, "uuid %016x%016x\n", im.UUID[0], im.UUID[1])
	}
	if im.HasRealtime {
		fmt.Fprintf(out, "realtime %+d\n", im.Realtime)
	}
	var names []string
	for name := range im.Problems {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(out, "problem %s: %d\n", name, im.Problems[name])
	}
	return out.Flush()
}

func trackText(im *Imported, i int32) string {
	t := &im.Tracks[i]
	var b strings.Builder
	switch {
	case t.Kind == perfetto.Process:
		fmt.Fprintf(&b, "process %q pid=%d", t.Name, t.PID)
	case t.Kind == perfetto.Thread:
		fmt.Fprintf(&b, "thread %q pid=%d tid=%d", t.Name, t.PID, t.TID)
	case t.Kind == perfetto.Counter:
		fmt.Fprintf(&b, "counter %q", t.Name)
	case t.MergeKey != "":
		fmt.Fprintf(&b, "lane %q", t.Name)
	default:
		fmt.Fprintf(&b, "row %q", t.Name)
	}
	fmt.Fprintf(&b, " order=%d", t.Order)
	if t.Explicit {
		b.WriteString(" explicit")
	}
	if t.MergeKey != "" {
		b.WriteString(" key=" + t.MergeKey)
	}
	if t.Unit != "" {
		b.WriteString(" unit=" + t.Unit)
	}
	if len(t.Labels) > 0 {
		b.WriteString(" labels=" + strings.Join(t.Labels, ","))
	}
	if t.Description != "" {
		b.WriteString(" | " + strings.ReplaceAll(t.Description, "\n", " / "))
	}
	return b.String()
}

// sliceText is a slice in one line: time, length, name, category, colour, arguments.
func sliceText(im *Imported, id int32) string {
	s := &im.Slices[id]
	var b strings.Builder
	if s.Instant {
		fmt.Fprintf(&b, "%d instant %q", s.TS, s.Name)
	} else {
		fmt.Fprintf(&b, "%d +%d %q", s.TS, s.Dur, s.Name)
	}
	if s.Category != "" {
		b.WriteString(" " + s.Category)
	}
	if s.Color != "" {
		b.WriteString(" color=" + s.Color)
	}
	for i, a := range im.Args(id) {
		sep := " "
		if i == 0 {
			sep = " {"
		}
		fmt.Fprintf(&b, "%s%s=%s", sep, a.Key, a.Value())
	}
	if len(im.Args(id)) > 0 {
		b.WriteString("}")
	}
	return b.String()
}

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"overlay/internal/memory"
	"overlay/internal/tables"
)

// devicesWithMemory are those that hold enough beside the others to be shown.
func (r *Report) devicesWithMemory() (list []*memory.Use) {
	most := int64(0)
	for i := range r.Memory {
		most = max(most, r.Memory[i].Peak)
	}
	for i := range r.Memory {
		if u := &r.Memory[i]; u.Peak > most/1000 {
			list = append(list, u)
		}
	}
	return list
}

// peak says when a device held the most.
func (r *Report) peak(u *memory.Use) string {
	s := fmt.Sprintf("%s: %s after %s", u.Device, tables.FormatBytes(u.Peak), tables.Duration(u.PeakAt-r.Window.Start))
	if u.Step != "" {
		s += ", in " + Plain(u.Step)
	}
	if u.Reserved > 0 {
		s += fmt.Sprintf("; at most %s reserved", tables.FormatBytes(u.Reserved))
	}
	return s
}

// memorySection has a table for each device.
func (r *Report) memorySection(list []tables.Table) (s Section) {
	s.Name, s.Title = "memory", "Memory"
	holders := tables.Find(list, "memory_holders")
	if holders == nil {
		return s
	}
	of := holders.By("device")
	names := tables.Find(list, "memory")
	for _, u := range r.devicesWithMemory() {
		var order []int
		for l := range of(names.Line(slices.IndexFunc(r.Memory, func(m memory.Use) bool { return m.Device == u.Device }))) {
			if len(order) < cardRows && 100*l.Value("bytes").Int() >= u.Peak {
				order = append(order, l.Row)
			}
		}
		s.Says += r.peak(u) + ". "
		share := func(ns int64) Cell { return shareCell(ns, u.Peak) }
		g := gridIn(holders, order, "holders", label("allocated by", func(l tables.Line) Cell {
			return Cell{Text: cmp.Or(l.Str("operator"), "no operator"), Small: strings.Join(nonEmpty(after("in ", l.Str("module")), after("from ", l.Str("line"))), " ")}
		}), bars("", func(l tables.Line) []Part {
			return []Part{{"handoff", tables.ShareOf(l.Value("bytes").Int(), u.Peak), l.Show("bytes")}}
		}), Column{Head: "share", Number: true, Unit: tables.Share, cell: func(l tables.Line) Cell { return share(l.Value("bytes").Int()) }},
			figure(holders, "bytes", "bytes"), figure(holders, "allocations", "count"))
		for _, x := range []struct {
			bytes int64
			what  string
		}{{u.Others, "others"}, {u.Unseen, "what no event here allocated, such as weights"}} {
			if x.bytes > 0 {
				g.add(Cell{Text: x.what}, Cell{}, share(x.bytes), Cell{Text: tables.FormatBytes(x.bytes)}, Cell{})
			}
		}
		g.Title, g.Left = u.Device, len(u.Holders)-len(order)
		s.Grids = append(s.Grids, g)
	}
	s.Grids = filled(s.Grids)
	return s
}

package report

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/memory"
	"overlay/internal/tables"
)

// maxHolders is how many of what holds a peak a text lists.
const maxHolders = 5

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

// memory prints the peak of each device that held anything, and what holds it.
func (t *text) memory(r *Report) {
	shown := r.devicesWithMemory()
	if len(shown) > 0 {
		t.head("memory: the most that was allocated")
	}
	for _, u := range shown {
		t.para("  " + r.peak(u))
		if len(u.Holders) == 0 {
			continue
		}
		t.line("  %7s %11s %8s  %s", "share", "bytes", "count", "allocated by")
		line := func(bytes int64, count, who string) {
			t.line("  %7s %11s %8s  %s", tables.FormatShare(tables.ShareOf(bytes, u.Peak)), tables.FormatBytes(bytes), count, Shorten(who, t.width-32))
		}
		for _, h := range first(u.Holders, t.most(maxHolders)) {
			line(h.Bytes, tables.Plain(int64(h.Count)), holderWords(h))
		}
		t.rest("  ", len(u.Holders)-t.most(maxHolders))
		if u.Others > 0 {
			line(u.Others, "", "others")
		}
		if u.Unseen > 0 {
			line(u.Unseen, "", "what no event here allocated, such as weights")
		}
	}
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

// holderWords is what allocated: an operator, and the module and line that it was called from.
func holderWords(h memory.Holder) string {
	words := []string{Plain(h.Operator)}
	if h.Operator == "" {
		words[0] = "no operator"
	}
	if h.Module != "" {
		words = append(words, "in "+Plain(h.Module))
	}
	if h.Line != "" {
		words = append(words, "from "+Plain(h.Line))
	}
	return strings.Join(words, " ")
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
			if len(order) < cardRows {
				order = append(order, l.Row)
			}
		}
		s.Says += r.peak(u) + ". "
		g := gridIn(holders, order, "holders", label("allocated by", func(l tables.Line) Cell { return Cell{Text: holderWords(memory.Holder{Operator: l.Str("operator")})} }),
			bars("", func(l tables.Line) []Part {
				return []Part{{"handoff", tables.ShareOf(l.Value("bytes").Int(), u.Peak), l.Show("bytes")}}
			}), figure(holders, "bytes", "bytes"), figure(holders, "allocations", "count"), wordsOf("module", "{module}"), wordsOf("from", "{line}"))
		g.Title, g.Left = u.Device, len(u.Holders)-len(order)
		s.Grids = append(s.Grids, g)
	}
	s.Grids = filled(s.Grids)
	return s
}

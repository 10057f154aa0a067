package roster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// oneJob refuses inputs that cannot be ranks of one job.
func (b *builder) oneJob() error {
	for _, m := range b.in {
		if m.Rank >= worldLimit {
			return fmt.Errorf("rank %d in %s: jobs of up to %d ranks can be read", m.Rank, b.entries[m.Entry].Name, worldLimit)
		}
	}
	if len(b.in) < 2 { // one trace is one rank, whatever it says
		return nil
	}
	var sized, jobbed *Entry
	for _, m := range b.in {
		e := &b.entries[m.Entry]
		if e.World > 0 {
			if sized == nil {
				sized = e
			}
			if sized.World != e.World {
				return fmt.Errorf("world size %d in %s, %d in %s: one job at a time", sized.World, sized.Name, e.World, e.Name)
			}
		}
		if e.Job != "" {
			if jobbed == nil {
				jobbed = e
			}
			if jobbed.Job != e.Job {
				return fmt.Errorf("job %s in %s, %s in %s: one job at a time", jobbed.Job, jobbed.Name, e.Job, e.Name)
			}
		}
	}
	for _, m := range b.in {
		e := &b.entries[m.Entry]
		if sized != nil && m.Rank >= sized.World {
			if e.World > 0 {
				sized = e
			}
			return fmt.Errorf("rank %d in %s, but world size %d in %s: one job at a time", m.Rank, e.Name, sized.World, sized.Name)
		}
	}
	return b.groups()
}

// groups refuses a process group that has other members in another trace. Groups of one name without a common member
// are sisters: PyTorch numbers the parts of a split group alike.
func (b *builder) groups() error {
	type known struct {
		ranks []int64
		entry *Entry
	}
	seen := map[string][]known{}
	for _, m := range b.in {
		e := &b.entries[m.Entry]
		for _, g := range e.Groups {
			same := false
			for _, k := range seen[g.Name] {
				if same = slices.Equal(k.ranks, g.Ranks); same {
					break
				}
				if k.entry != e && slices.ContainsFunc(g.Ranks, func(r int64) bool { _, in := slices.BinarySearch(k.ranks, r); return in }) {
					return fmt.Errorf("process group %s is ranks %s in %s, %s in %s: one job at a time", g.Name, List(k.ranks), k.entry.Name, List(g.Ranks), e.Name)
				}
			}
			if !same {
				seen[g.Name] = append(seen[g.Name], known{g.Ranks, e})
			}
		}
	}
	return nil
}

// choose makes members of what is left: of several captures of each rank the one that the user wants.
func (b *builder) choose(capture int) error {
	by := func(x, y Member) int {
		ex, ey := &b.entries[x.Entry], &b.entries[y.Entry]
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(ex.Window[0], ey.Window[0]), compareNames(ex.Name, ey.Name))
	}
	slices.SortStableFunc(b.in, by)
	var of [][]Member // by rank
	for i, m := range b.in {
		if i == 0 || m.Rank != b.in[i-1].Rank {
			of = append(of, nil)
		}
		of[len(of)-1] = append(of[len(of)-1], m)
	}
	k := len(of[0])
	for _, list := range of {
		if len(list) == k {
			continue
		}
		if len(list) < 2 {
			list = of[0]
		}
		return fmt.Errorf("rank %d twice, in %s and in %s: give one capture of each rank", list[0].Rank, b.entries[list[0].Entry].Name, b.entries[list[1].Entry].Name)
	}
	b.r.Captures = k
	switch {
	case capture > k:
		return &ChoiceError{fmt.Sprintf("--capture %d of %d: there %s", capture, k, countOf(k, "is 1 capture", "are %d captures"))}
	case capture == 0 && k > 1 && len(of) == 1:
		a, c := &b.entries[of[0][0].Entry], &b.entries[of[0][1].Entry]
		return fmt.Errorf("rank %d twice, in %s and in %s: give one of them, or choose with --capture 1 to --capture %d", of[0][0].Rank, a.Name, c.Name, k)
	case capture == 0 && k > 1:
		return fmt.Errorf("%d ranks have %d captures each: %s; choose --capture N", len(of), k, b.captures(of))
	}
	for _, list := range of {
		chosen := list[max(capture, 1)-1]
		b.r.Members = append(b.r.Members, chosen)
	}
	return nil
}

// captures tells captures apart by their steps, else by their times.
func (b *builder) captures(of [][]Member) string {
	var parts []string
	for c := range of[0] {
		if c == 8 {
			parts = append(parts, "…")
			break
		}
		first, last := int64(-1), int64(-1)
		for _, list := range of {
			if e := &b.entries[list[c].Entry]; e.FirstStep >= 0 {
				if first < 0 {
					first = e.FirstStep
				}
				first, last = min(first, e.FirstStep), max(last, e.LastStep)
			}
		}
		switch e := &b.entries[of[0][c].Entry]; {
		case first < 0:
			parts = append(parts, fmt.Sprintf("%d %s", c+1, e.Name))
		case first == last:
			parts = append(parts, fmt.Sprintf("%d step %d", c+1, first))
		default:
			parts = append(parts, fmt.Sprintf("%d steps %d-%d", c+1, first, last))
		}
	}
	return strings.Join(parts, ", ")
}

func countOf(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// List writes ranks in order shortly: 0-3, 7, 9-11.
func List(ranks []int64) string {
	var s strings.Builder
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		if i > 0 {
			s.WriteString(", ")
		}
		if i > 0 && s.Len() > 60 {
			return s.String() + "…"
		}
		fmt.Fprint(&s, ranks[i])
		if j > i {
			fmt.Fprintf(&s, "-%d", ranks[j])
		}
		i = j + 1
	}
	return s.String()
}

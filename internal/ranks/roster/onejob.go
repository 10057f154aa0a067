package roster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
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
	var sized *Entry
	for _, m := range b.in {
		if e := &b.entries[m.Entry]; e.World > 0 {
			sized = e
			break
		}
	}
	if err := b.agree("world size ", func(e *Entry) string {
		if e.World <= 0 {
			return ""
		}
		return strconv.FormatInt(e.World, 10)
	}); err != nil {
		return err
	}
	if err := b.agree("job ", func(e *Entry) string { return e.Job }); err != nil {
		return err
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

// agree refuses inputs that say different things of their job. Those that say something else than most are named, as they are what to
// take out. said is empty where an input says nothing.
func (b *builder) agree(what string, said func(*Entry) string) error {
	count := map[string]int{}
	for _, m := range b.in {
		if s := said(&b.entries[m.Entry]); s != "" {
			count[s]++
		}
	}
	if len(count) < 2 {
		return nil
	}
	words := slices.SortedFunc(maps.Keys(count), func(x, y string) int { return cmp.Or(cmp.Compare(count[y], count[x]), CompareNames(x, y)) })
	usual := words[0]
	clear := count[usual] > count[words[1]]
	var saying []*Entry
	for _, m := range b.in {
		if e := &b.entries[m.Entry]; said(e) != "" {
			saying = append(saying, e)
		}
	}
	if !clear {
		usual = said(saying[0])
	}
	first := saying[slices.IndexFunc(saying, func(e *Entry) bool { return said(e) == usual })]
	odd := slices.DeleteFunc(saying, func(e *Entry) bool { return said(e) == usual })
	if !clear {
		return fmt.Errorf("%s%s in %s, %s in %s: one job at a time", what, said(first), first.Name, said(odd[0]), odd[0].Name)
	}
	return fmt.Errorf("%s%s in %s, %s in %s and %s: take out what is not of this job: %s", what, said(odd[0]), odd[0].Name, usual, first.Name,
		countOf(count[usual]-1, "1 more", "%d more"), nameSome(odd))
}

// nameSome names a few inputs, and says how many there are beside.
func nameSome(list []*Entry) string {
	const most = 3
	var names []string
	for i, e := range list {
		if i == most {
			return strings.Join(names, ", ") + countOf(len(list)-most, " and 1 more", " and %d more")
		}
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
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
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(ex.Window[0], ey.Window[0]), CompareNames(ex.Name, ey.Name))
	}
	slices.SortStableFunc(b.in, by)
	var of [][]Member // by rank
	for i, m := range b.in {
		if i == 0 || m.Rank != b.in[i-1].Rank {
			of = append(of, nil)
		}
		of[len(of)-1] = append(of[len(of)-1], m)
	}
	k, err := b.captureCount(of)
	if err != nil {
		return err
	}
	b.r.Captures = k
	switch {
	case capture > k:
		return &ChoiceError{fmt.Sprintf("--capture %d of %d: there %s", capture, k, countOf(k, "is 1 capture", "are %d captures"))}
	case capture == 0 && k > 1 && len(of) == 1:
		a, c := &b.entries[of[0][0].Entry], &b.entries[of[0][1].Entry]
		return fmt.Errorf("rank %d twice, in %s and in %s%s: give one of them, or choose with --capture 1 to --capture %d", of[0][0].Rank, a.Name, c.Name, differ(a, c), k)
	case capture == 0 && k > 1:
		return fmt.Errorf("%d ranks have %d captures each: %s; choose --capture N", len(of), k, b.captures(of))
	}
	for _, list := range of {
		chosen := list[max(capture, 1)-1]
		b.r.Members = append(b.r.Members, chosen)
	}
	return nil
}

// captureCount is how many traces each rank has. Where ranks have different numbers of them, the error names those that have another one
// than most.
func (b *builder) captureCount(of [][]Member) (int, error) {
	count := map[int]int{}
	for _, list := range of {
		count[len(list)]++
	}
	if len(count) == 1 {
		return len(of[0]), nil
	}
	usual := 0
	for k, n := range count {
		if n > count[usual] || n == count[usual] && k < usual {
			usual = k
		}
	}
	odd := slices.DeleteFunc(slices.Clone(of), func(list []Member) bool { return len(list) == usual })
	if i := slices.IndexFunc(odd, func(list []Member) bool { return len(list) > 1 }); usual == 1 {
		x, y := &b.entries[odd[i][0].Entry], &b.entries[odd[i][1].Entry]
		more := ""
		if n := len(odd) - 1; n > 0 {
			more = countOf(n, " (and 1 more rank)", " (and %d more ranks)")
		}
		return 0, fmt.Errorf("rank %d twice%s, in %s and in %s%s: which one is meant? Take the other one out, or name the files to read", odd[i][0].Rank, more, x.Name, y.Name, differ(x, y))
	}
	e := &b.entries[odd[0][0].Entry]
	return 0, fmt.Errorf("rank %d has %s, in %s, where %s %d: give as many of each rank, or the files of one capture", odd[0][0].Rank, countOf(len(odd[0]), "1 capture", "%d captures"), e.Name,
		countOf(count[usual], "1 rank has", "%d ranks have"), usual)
}

// differ says of two traces of one rank what tells which of them is meant.
func differ(x, y *Entry) string {
	switch days := (max(x.Window[0], y.Window[0]) - min(x.Window[0], y.Window[0])) / dayApart; {
	case x.Truncated != y.Truncated && x.Truncated:
		return " (" + x.Name + " is cut)"
	case x.Truncated != y.Truncated:
		return " (" + y.Name + " is cut)"
	case days > 0:
		return fmt.Sprintf(", recorded %s apart", countOf(int(days), "1 day", "%d days"))
	}
	return ""
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

// Ranges writes ascending ranks as 0-3, 7, 9-11.
func Ranges[T int | int64](ranks []T) string {
	var s strings.Builder
	for i, j := 0, 0; i < len(ranks); i = j + 1 {
		for j = i; j+1 < len(ranks) && ranks[j+1] == ranks[j]+1; j++ {
		}
		if i > 0 {
			s.WriteString(", ")
		}
		fmt.Fprint(&s, ranks[i])
		if j > i {
			fmt.Fprintf(&s, "-%d", ranks[j])
		}
	}
	return s.String()
}

// List is the beginning of Ranges: as many as fit about 60 letters.
func List(ranks []int64) string {
	all := Ranges(ranks)
	const room = 59
	if at := strings.Index(all[min(room, len(all)):], ", "); at >= 0 {
		return all[:room+at] + ", …"
	}
	return all
}

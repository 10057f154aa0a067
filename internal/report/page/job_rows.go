package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/report"
	"overlay/internal/stat"
	"overlay/internal/tables"
)

// How much the page of a job shows.
const (
	allRows    = 128 // ranks that have a row each; of more the worst, and the middle of the rest
	worstRows  = 32
	stairRows  = 40 // of the staircase
	heatSteps  = 60 // columns; of more steps, neighbours are one
	nameRows   = 14
	smallRows  = 48 // ranks from which rows are low
	leastMark  = 100
	farSpreads = 6
)

// stairs is a step, a row a rank.
type stairs struct {
	Title, Note string
	Key         []report.Key
	Rows        []stairRow
	Ticks       []spot
}

type stairRow struct {
	Label, Title string // short, and in full
	Parts        []block
}

// stairs shows the worst step: the longest that is whole on every rank, else the longest; without steps the window.
func (p *jobPage) stairs() *stairs {
	j := p.j
	from, to := j.Window[0], j.Window[1]
	s := &stairs{Title: "Who waits for whom"}
	var worst *ranks.JobStep
	for i := range p.v.Steps {
		x := &p.v.Steps[i]
		if x.Duration <= 0 || x.Start+x.Duration > to || x.Start < from || worst != nil && (worst.Whole && !x.Whole || worst.Whole == x.Whole && worst.Duration >= x.Duration) {
			continue
		}
		worst = x
	}
	if worst != nil {
		from, to = worst.Start, worst.Start+worst.Duration
		s.Title = fmt.Sprintf("Who waits for whom in step %d", worst.Number)
		if len(p.v.Steps) > 1 {
			s.Title += ", the longest"
		}
	}
	if to <= from || p.r.Job.Matching.Instances == 0 {
		return nil
	}
	whole, used := to-from, map[string]bool{}
	shown, hosts := p.interesting(stairRows, from, to), p.hosts()
	for _, m := range shown {
		row := stairRow{Label: p.rank(m)}
		row.Title = row.Label
		if h := report.Plain(j.Members[m].Host); h != "" {
			row.Title += " on " + h
			if hosts > 1 {
				row.Label += " · " + report.Shorten(shortHost(h), 10)
			}
		}
		for _, x := range j.Strip(m).Thin(whole / 800) {
			if x.Start, x.End = max(x.Start, from), min(x.End, to); x.Start >= x.End {
				continue
			}
			b := p.block(x.Start, x.End, from, whole)
			var text string
			b.Kind, text = p.piece(&x)
			if b.Kind != "wait" {
				used[b.Kind] = true
			}
			b.Title = text + ", " + tables.Duration(x.End-x.Start)
			if (x.End-x.Start)*26 > whole {
				b.Text = text
			}
			if x.Path {
				b.Kind += " path"
				b.Title += ", on the path"
			}
			row.Parts = append(row.Parts, b)
		}
		s.Rows = append(s.Rows, row)
	}
	for c := range critpath.NumClasses {
		if used[c.String()] {
			s.Key = append(s.Key, report.Key{Kind: c.String(), Word: c.Words()})
		}
	}
	if n := len(j.Members); n > len(shown) {
		s.Note = fmt.Sprintf("%d of %s: those on the path, then those that waited least and most.", len(shown), tables.Counted(n, "rank"))
	}
	for i := range 5 {
		s.Ticks = append(s.Ticks, spot{At: float64(i) / 4, Label: tables.ShortDuration(whole * int64(i) / 4)})
	}
	return s
}

// piece says what a rank does in a piece of its strip: the class that colours it, or wait, and words.
func (p *jobPage) piece(x *ranks.StripPiece) (kind, text string) {
	switch x.Part {
	case ranks.InWait:
		return "wait", "waits for " + p.rank(x.Whom)
	case ranks.Absent:
		return "wait", "waits for a rank without a trace"
	case ranks.Late:
		return "untraced", "not recorded"
	case ranks.Transfers:
		return "communication", "transfer"
	case ranks.Collective:
		return "communication", "communication"
	}
	return x.Class.String(), x.Class.Words()
}

// interesting lists members by rank: all, or of many those on the path in [from, to] and those that waited least and most.
func (p *jobPage) interesting(limit int, from, to int64) []int32 {
	j := p.j
	all := make([]int32, len(j.Members))
	for m := range all {
		all[m] = int32(m)
	}
	if len(all) <= limit {
		return all
	}
	take := map[int32]bool{}
	for i := range p.v.Stragglers {
		for _, m := range p.v.Stragglers[i].Members {
			if len(take) < limit/4 {
				take[m] = true
			}
		}
	}
	path := make([]int64, len(all))
	for _, s := range j.Stays {
		path[s.Member] += max(min(s.End, to)-max(s.Start, from), 0)
	}
	byPath := slices.Clone(all)
	slices.SortStableFunc(byPath, func(a, b int32) int { return cmp.Compare(path[b], path[a]) })
	for _, m := range byPath {
		if path[m] > 0 && len(take) < limit/2 {
			take[m] = true
		}
	}
	waited := slices.Clone(all)
	slices.SortStableFunc(waited, func(a, b int32) int { return cmp.Compare(j.Waits.ByMember[a].Waited, j.Waits.ByMember[b].Waited) })
	for i := 0; len(take) < limit && i < len(waited); i++ {
		take[waited[i]] = true
		if len(take) < limit {
			take[waited[len(waited)-1-i]] = true
		}
	}
	return slices.DeleteFunc(all, func(m int32) bool { return !take[m] })
}

// hosts is how many hosts the ranks name.
func (p *jobPage) hosts() int {
	names := map[string]bool{}
	for m := range p.j.Members {
		names[p.j.Members[m].Host] = true
	}
	return len(names)
}

// shortHost is the name of a host without its domain; that of an address is all of it.
func shortHost(s string) string {
	if name, _, ok := strings.Cut(s, "."); ok && strings.ContainsFunc(name, unicode.IsLetter) {
		return name
	}
	return s
}

// heat is a map of cells, the fuller the colour the more.
type heat struct {
	Title, Most, Note string
	Heads             []string // a text a column, "" where the one before goes on
	Rows              []heatRow
	Small             bool
}

// head is what stands above some columns of a heat map.
type head struct {
	Text string
	Of   int  // columns
	Wide bool // more than one, so that the text stands over the first
}

// headsOver are the heads, each as wide as the columns up to the next one.
func headsOver(texts []string) (out []head) {
	for _, text := range texts {
		if n := len(out); text == "" && n > 0 {
			out[n-1].Of, out[n-1].Wide = out[n-1].Of+1, true
		} else {
			out = append(out, head{Text: text, Of: 1})
		}
	}
	return out
}

// headed reports whether column c of so many has a head: of more than there is room for it is one of eight or so, but no last one that would have too little room.
func headed(c, columns int) bool {
	every := (columns + 7) / 8
	return columns <= 12 || c%every == 0 && columns-c > every/2
}

// stepColumns says how many of so many steps are a column, what stands above the columns, and what they are in words.
func stepColumns(steps int, number func(i int) int64) (every int, heads []string, says string) {
	every, says = (steps+heatSteps-1)/heatSteps, "a column for each step"
	if every > 1 {
		says = fmt.Sprintf("a column for %d steps", every)
	}
	heads = make([]string, (steps+every-1)/every)
	for c := range heads {
		if headed(c, len(heads)) {
			heads[c] = tables.Plain(number(c * every))
		}
	}
	return every, heads, says
}

type heatRow struct {
	Label string
	Cells []heatCell
}

type heatCell struct {
	Of     float64 // of the strongest colour
	Marked bool
	Title  string
}

// heats are the maps of ranks by steps: what each waited, and what the others waited for it; in a pipeline also what all waited for each stage.
func (p *jobPage) heats() ([]heat, string) {
	steps := slices.DeleteFunc(slices.Clone(p.v.Steps), func(s ranks.JobStep) bool { return s.Duration <= 0 || !s.Whole && p.v.Judged > 0 })
	n := len(p.j.Members)
	if len(steps) < 2 || n < 2 { // a map of one column says less than the table of ranks
		return nil, ""
	}
	every, heads, note := stepColumns(len(steps), func(i int) int64 { return int64(steps[i].Number) })
	columns := len(heads)
	var rows, stages []string
	for m := range p.j.Members {
		rows = append(rows, p.rank(int32(m)))
	}
	stageOf := p.j.StageOf()
	for st := range slices.Max(stageOf) + 1 {
		stages = append(stages, "stage "+tables.Plain(int64(st)))
	}
	lengths := make([]int64, columns)
	wait, blame, ofStage := newGrid(n, columns), newGrid(n, columns), newGrid(len(stages), columns)
	for i := range steps {
		s, c := &steps[i], i/every
		lengths[c] += s.Duration
		for m, ns := range s.Caused {
			wait[m][c] += min(s.Wait[m], s.Duration)
			blame[m][c] += ns / int64(n-1)
			if st := stageOf[m]; st >= 0 {
				ofStage[st][c] += ns / int64(n-1)
			}
		}
	}
	one := func(title string, names []string, v [][]int64, word string) heat {
		h := heat{Title: title, Heads: heads}
		top := 0.05
		for m := range v {
			for c := range columns {
				top = max(top, tables.ShareOf(v[m][c], lengths[c]))
			}
		}
		h.Most = tables.FormatShare(top) + " of a step"
		h.Rows, h.Note = heatRows(names, v, func(who string, c int, ns int64) heatCell {
			x := tables.ShareOf(ns, lengths[c])
			return heatCell{Of: x / top, Title: fmt.Sprintf("%s, step %d: %s %s, %s", who, steps[c*every].Number, tables.Duration(ns), word, tables.FormatShare(x))}
		})
		h.Small = len(h.Rows) > smallRows
		return h
	}
	note = "A row for each rank, " + note + "."
	if p.v.Judged == 0 {
		note += " No step is complete on every rank."
	}
	const word = "waited for it by each other rank on the average"
	list := []heat{one("Waiting in collectives", rows, wait, "waited"), one("Waited for by the others", rows, blame, word)}
	if len(stages) > 1 {
		list = append(list, one("Waited for, by stage of the pipeline", stages, ofStage, word))
	}
	return list, note
}

func newGrid(rows, columns int) [][]int64 {
	grid := make([][]int64, rows)
	for i := range grid {
		grid[i] = make([]int64, columns)
	}
	return grid
}

// heatRows makes a row of each name; of many for those with most, and one for the middle of the rest.
func heatRows(names []string, v [][]int64, cell func(who string, c int, ns int64) heatCell) (rows []heatRow, note string) {
	order := make([]int, len(v))
	for m := range order {
		order[m] = m
	}
	if len(v) > allRows {
		worst := func(m int) (sum int64) {
			for _, ns := range v[m] {
				sum += ns
			}
			return sum
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worst(b), worst(a)) })
		order = order[:worstRows]
	}
	add := func(label, who string, at func(c int) int64) {
		row := heatRow{Label: label}
		for c := range v[0] {
			row.Cells = append(row.Cells, cell(who, c, at(c)))
		}
		rows = append(rows, row)
	}
	shown := map[int]bool{}
	for _, m := range order {
		shown[m] = true
		add(names[m], names[m], func(c int) int64 { return v[m][c] })
	}
	if len(order) == len(v) {
		return rows, ""
	}
	rest := tables.Grouped(int64(len(v)-worstRows)) + " others"
	add(rest, "median of "+rest, func(c int) int64 {
		var list []int64
		for m := range v {
			if !shown[m] {
				list = append(list, v[m][c])
			}
		}
		return stat.Median(list)
	})
	return rows, fmt.Sprintf("The %d ranks with most, and the median of the others.", worstRows)
}

// nameKey is work of one name, of threads or of the device.
type nameKey struct {
	name string
	host bool
}

// names is the map of names by ranks: what takes some ranks longer than the one in the middle.
func (p *jobPage) names() *heat {
	j, n := p.j, len(p.j.Members)
	if n < 3 {
		return nil
	}
	sums, whole := map[nameKey][]int64{}, int64(0)
	for m := range j.Members {
		x := &j.Members[m]
		for i := range x.Spent {
			sp := &x.Spent[i]
			key := nameKey{x.Names[sp.Name], sp.Host}
			if sums[key] == nil {
				sums[key] = make([]int64, n)
			}
			sums[key][m] += sp.Busy
		}
	}
	for i := range p.v.Steps {
		whole += p.v.Steps[i].Duration
	}
	type line struct {
		key      nameKey
		mid, far int64 // of the row: the middle, and how far others usually are from it
		most     int64 // beyond the middle, of one rank
	}
	var lines []line
	for key, v := range sums {
		l := line{key: key, mid: stat.Median(slices.Clone(v))}
		l.most = max(slices.Max(v)-l.mid, 0)
		l.far = stat.Spread(v, l.mid)
		if l.most*leastMark*2 >= whole && l.most > 0 {
			lines = append(lines, l)
		}
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(b.most, a.most), cmp.Compare(a.key.name, b.key.name), cmp.Compare(b2i(a.key.host), b2i(b.key.host)))
	})
	if len(lines) == 0 {
		return nil
	}
	lines = lines[:min(len(lines), nameRows)]
	shown := p.interesting(allRows, j.Window[0], j.Window[1])
	top := int64(1)
	for _, l := range lines {
		top = max(top, l.most)
	}
	h := &heat{Most: tables.Duration(top) + " more"}
	for i, m := range shown {
		head := ""
		if headed(i, len(shown)) {
			head = tables.Plain(int64(j.Members[m].Rank))
		}
		h.Heads = append(h.Heads, head)
	}
	for _, l := range lines {
		name := report.Plain(report.Readable(l.key.name))
		where := "device"
		if l.key.host {
			where = "threads"
		}
		row := heatRow{Label: report.Shorten(name, 60)}
		for _, m := range shown {
			d := sums[l.key][m] - l.mid
			row.Cells = append(row.Cells, heatCell{Of: tables.ShareOf(d, top), Marked: d > farSpreads*l.far && d*leastMark >= whole,
				Title: fmt.Sprintf("%s, %s, %s: %s, the median %s", p.rank(m), name, where, tables.Duration(sums[l.key][m]), tables.Duration(l.mid))})
		}
		h.Rows = append(h.Rows, row)
	}
	h.Note = "Columns are ranks."
	if len(shown) < n {
		h.Note = fmt.Sprintf("Columns are %d of %s: those on the path, then those that waited least and most.", len(shown), tables.Counted(n, "rank"))
	}
	return h
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// block is a stretch of time of a row.
type block struct {
	Kind        string
	Left, Wide  float64 // of the row
	Text, Title string
}

// jobPage makes the parts of the page.
type jobPage struct {
	r *report.JobReport
	j *ranks.Job
	v *ranks.Verdict
}

func (p *jobPage) rank(m int32) string { return "rank " + tables.Plain(int64(p.j.Members[m].Rank)) }

func (p *jobPage) block(from, to, start, whole int64) block {
	return block{Left: float64(from-start) / float64(whole), Wide: float64(to-from) / float64(whole)}
}

package manyranks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"overlay/internal/critpath"
	"overlay/internal/overlay"
	"overlay/internal/ranks"
	"overlay/internal/tables"
)

// what is what the path is in at a moment: a class of work on a rank, time before the trace of a rank begins, or a wait for a
// rank without a trace.
type what struct {
	member int32
	kind   uint8
}

// Kinds of what, after those that are classes.
const (
	unrecorded = uint8(critpath.NumClasses) + iota
	missing
)

func whatOf(s *ranks.Segment) what {
	switch s.Kind {
	case critpath.Unrecorded:
		return what{s.Member, unrecorded}
	case critpath.MissingRank:
		return what{s.Member, missing}
	}
	return what{s.Member, uint8(s.Kind.Class())}
}

func (w what) words() string {
	switch w.kind {
	case unrecorded:
		return "not recorded"
	case missing:
		return "missing rank"
	}
	return critpath.Class(w.kind).Words()
}

func (w what) color() string {
	if w.kind >= unrecorded {
		return critpath.ClassUntraced.ViewerColor()
	}
	return critpath.Class(w.kind).ViewerColor()
}

// stretch is time of the path in one thing.
type stretch struct {
	start, end int64
	what       what
	most       int64 // of it, how much is what it is named after
}

const (
	worthWord = 2   // per cent of a bar from which something is named in it
	mostWords = 5   // things named in a bar
	spread    = 10  // per cent: where nothing has more of the path, it is spread over the ranks
	smoothing = 400 // nothing in the lowest layer is shorter than the window over this
	wideBar   = 50  // a bar has a name where so many of its width fit into the window
)

// verdictTrack is the root row, readable while everything is collapsed: the verdict, a bar a step, and below on which rank
// the path is, and in what.
func (p *Picture) verdictTrack(v *ranks.Verdict) overlay.Track {
	j := p.j
	t := overlay.Track{Name: overlay.TrackRoot, Parent: -1, Category: overlay.CategorySummary, Description: "What bounds the job: the critical path over all ranks, on one clock.\n" +
		"Top: on which rank the path is, and in what. Middle: the same path cut at the steps. Bottom: stretch by stretch, smoothed to 1/400 of the window.\n" +
		"Group \"Ranks\": a strip for each rank, that shows when it waits, and for whom.\n" + overlay.Legend}
	sums, class := p.byWhat(j.Window[0], j.Window[1])
	name, most := slow(j, v), mostWords
	if name != "" { // the row is as wide as the screen, and who is slow comes first
		most = 2
	}
	name += p.verdict(sums, &class, j.Window[1]-j.Window[0], most)
	t.Slices = append(t.Slices, p.bar(j.Window[0], j.Window[1], name, sums, &class))
	at := j.Window[0]
	part := func(from, to int64, name func(words string) string) {
		if from, to = max(from, at), min(to, j.Window[1]); from >= to {
			return
		}
		if name != nil {
			sums, class := p.byWhat(from, to)
			t.Slices = append(t.Slices, p.bar(from, to, name(p.shares(sums, &class, to-from, mostWords)+" · "+tables.ShortDuration(to-from)), sums, &class))
		}
		for _, s := range p.smooth(from, to) {
			t.Slices = append(t.Slices, p.stretchSlice(&s))
		}
		at = to
	}
	if !slices.ContainsFunc(v.Steps, func(s ranks.JobStep) bool { return s.Start+s.Duration > j.Window[0] && s.Start < j.Window[1] }) {
		part(j.Window[0], j.Window[1], nil)
		return t
	}
	outside := func(string) string { return "outside steps" }
	for i := range v.Steps {
		s := &v.Steps[i]
		part(at, s.Start, outside)
		part(s.Start, s.Start+s.Duration, func(words string) string { return fmt.Sprintf("Step %d: %s", s.Number, words) })
	}
	part(at, j.Window[1], outside)
	return t
}

// slow says who has more work than its peers, before all else.
func slow(j *ranks.Job, v *ranks.Verdict) string {
	if len(v.Stragglers) == 0 || v.Stragglers[0].Kind == ranks.OneOff {
		return ""
	}
	line := j.Headline(v)
	return strings.ToUpper(line[:1]) + line[1:] + ". "
}

// verdict is the sentence of the window, d ns long.
func (p *Picture) verdict(sums []share, class *byClass, d int64, most int) string {
	words := p.shares(sums, class, d, most)
	switch {
	case words == "":
		return "No critical path · " + tables.ShortDuration(d)
	case sumOf(class) == 0:
		return "Mostly not recorded: " + words + " · " + tables.ShortDuration(d)
	}
	return "Bound by " + words + " · " + tables.ShortDuration(d)
}

type byClass = [critpath.NumClasses]int64

// share is time of one thing.
type share struct {
	what what
	ns   int64
}

// byWhat sums the path from one moment to another, most first. What is not recorded is in no class.
func (p *Picture) byWhat(from, to int64) ([]share, byClass) {
	var class byClass
	sums := map[what]int64{}
	p.each(from, to, func(s, e int64, w what) {
		sums[w] += e - s
		if w.kind < unrecorded {
			class[w.kind] += e - s
		}
	})
	list := make([]share, 0, len(sums))
	for w, ns := range sums {
		list = append(list, share{w, ns})
	}
	slices.SortFunc(list, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.what.kind, b.what.kind), cmp.Compare(a.what.member, b.what.member))
	})
	return list, class
}

// each visits the path in [from, to] in order of time.
func (p *Picture) each(from, to int64, visit func(start, end int64, w what)) {
	path := p.j.Path
	i, _ := slices.BinarySearchFunc(path, from, func(s ranks.Segment, t int64) int { return cmp.Compare(s.End, t+1) })
	for ; i < len(path) && path[i].Start < to; i++ {
		if s, e := max(path[i].Start, from), min(path[i].End, to); s < e {
			visit(s, e, whatOf(&path[i]))
		}
	}
}

// shares names what has at least 2 % of d: "CPU of rank 7 51 %, of rank 4 49 %". Where the path is spread over many ranks, the
// classes, and over how many.
func (p *Picture) shares(sums []share, class *byClass, d int64, most int) string {
	if spreadOut(sums, d) {
		return p.spreadShares(sums, class, d)
	}
	var words, unknown []string
	last := unrecorded
	for _, s := range sums {
		if s.ns*100 < worthWord*d || len(words) == most {
			continue
		}
		percent := tables.WholePercent(s.ns, d)
		switch rank := p.j.Members[s.what.member].Rank; s.what.kind {
		case unrecorded:
			unknown = append(unknown, fmt.Sprintf("%s not recorded (rank %d's trace begins late)", percent, rank))
		case missing:
			unknown = append(unknown, percent+" waiting for ranks without a trace")
		case last:
			words = append(words, fmt.Sprintf("of rank %d %s", rank, percent))
		default:
			words = append(words, fmt.Sprintf("%s of rank %d %s", s.what.words(), rank, percent))
			last = s.what.kind
		}
	}
	if len(words) == 0 {
		return strings.Join(unknown, ", ")
	}
	return strings.Join(append([]string{strings.Join(words, ", ")}, unknown...), "; ")
}

// spreadOut reports whether nothing has a tenth of d.
func spreadOut(sums []share, d int64) bool { return len(sums) > 0 && sums[0].ns*100 < spread*d }

func (p *Picture) spreadShares(sums []share, class *byClass, d int64) string {
	on := map[int32]bool{}
	for _, s := range sums {
		on[s.what.member] = true
	}
	order := make([]critpath.Class, 0, len(class))
	for c := range class {
		if class[c]*100 >= worthWord*d && class[c] > 0 {
			order = append(order, critpath.Class(c))
		}
	}
	slices.SortStableFunc(order, func(a, b critpath.Class) int { return cmp.Compare(class[b], class[a]) })
	words := make([]string, len(order))
	for i, c := range order {
		words[i] = c.Words() + " " + tables.WholePercent(class[c], d)
	}
	return strings.Join(words, ", ") + " over " + tables.Counted(len(on), "rank")
}

// bar covers [start, end] of the window. Its args sum to its length.
func (p *Picture) bar(start, end int64, name string, sums []share, class *byClass) overlay.Slice {
	s := overlay.Slice{Start: start - p.Origin, Dur: end - start, Name: name, Color: critpath.ClassUntraced.ViewerColor()}
	if i := slices.IndexFunc(sums, func(x share) bool { return x.what.kind < unrecorded }); i >= 0 { // what its name begins with
		s.Color = sums[i].what.color()
		if spreadOut(sums, end-start) {
			s.Color = critpath.BoundBy(class).ViewerColor()
		}
		s.Args = append(s.Args, overlay.Arg{Key: overlay.ArgClass, Str: critpath.BoundBy(class).String(), IsStr: true})
	}
	for c := range class {
		if class[c] > 0 {
			s.Args = append(s.Args, overlay.Arg{Key: critpath.Class(c).String() + "_ns", Int: class[c]})
		}
	}
	if rest := end - start - sumOf(class); rest > 0 {
		s.Args = append(s.Args, overlay.Arg{Key: "unrecorded_ns", Int: rest})
	}
	return s
}

func sumOf(class *byClass) (sum int64) {
	for _, ns := range class {
		sum += ns
	}
	return sum
}

// smooth cuts [from, to] into stretches: what is as long as 1/400 of the window stands alone, shorter ones are collected up to that
// length and shown as what has most of it.
func (p *Picture) smooth(from, to int64) []stretch {
	least := max((p.j.Window[1]-p.j.Window[0])/smoothing, 1)
	var out []stretch
	pending := map[what]int64{}
	start := from
	put := func(s stretch) {
		if n := len(out); n > 0 && (out[n-1].what == s.what || s.end-s.start < least/2) {
			if out[n-1].what == s.what {
				out[n-1].most += s.most
			}
			out[n-1].end = s.end
			return
		}
		out = append(out, s)
	}
	flush := func(end int64) {
		if start == end {
			return
		}
		best, ns := what{}, int64(-1)
		for w, n := range pending {
			if n > ns || n == ns && (w.member < best.member || w.member == best.member && w.kind < best.kind) {
				best, ns = w, n
			}
		}
		put(stretch{start, end, best, ns})
		clear(pending)
		start = end
	}
	run := stretch{start: from, end: from}
	next := func() {
		switch d := run.end - run.start; {
		case d == 0:
		case d >= least:
			flush(run.start)
			put(stretch{run.start, run.end, run.what, d})
			start = run.end
		default:
			pending[run.what] += d
			if run.end-start >= least {
				flush(run.end)
			}
		}
	}
	p.each(from, to, func(s, e int64, w what) {
		if w != run.what {
			next()
			run = stretch{start: s, what: w}
		}
		run.end = e
	})
	next()
	flush(to)
	return out
}

func (p *Picture) stretchSlice(s *stretch) overlay.Slice {
	d := s.end - s.start
	rank := p.j.Members[s.what.member].Rank
	name := overlay.NoName
	if d >= (p.j.Window[1]-p.j.Window[0])/wideBar {
		name = fmt.Sprintf("rank %d: %s", rank, s.what.words())
		if float64(s.most) < 0.995*float64(d) {
			name += " " + tables.WholePercent(s.most, d)
		}
	}
	out := overlay.Slice{Start: s.start - p.Origin, Dur: d, Name: name, Color: s.what.color(), Args: []overlay.Arg{{Key: overlay.ArgRank, Int: int64(rank)}}}
	if s.what.kind < unrecorded {
		out.Args = append(out.Args, overlay.Arg{Key: overlay.ArgClass, Str: critpath.Class(s.what.kind).String(), IsStr: true})
	}
	return out
}

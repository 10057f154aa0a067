// Package roster decides which of a set of traces are the ranks of one job, and which rank each of them is. It knows
// neither files nor formats: it takes what traces say of themselves, and their names.
package roster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Entry is one input, as far as a name and a trace tell of themselves.
type Entry struct {
	Name   string // as messages call it
	Member string // where it lies inside of the input: what ranks are told by; the last part comes first
	Fault  string // why it is no trace; then the rest is empty

	Recorded int64 // rank that the trace itself records, -1
	Said     int64 // rank that all its collectives say, -1
	World    int64 // number of ranks, 0 when not said
	Job      string
	Groups   []Group

	Host      string   // "" when not said
	Device    int64    // -1 when not said
	Events    int      // of the trace
	Window    [2]int64 // unix ns
	FirstStep int64    // numbers of profiler steps, -1 without any
	LastStep  int64
	Steps     int
	Working   bool // it holds device operations or collectives
	Truncated bool
	Digest    [4]int64 // of its bytes
}

// Group is a process group of which all members are known, ascending.
type Group struct {
	Name  string
	Ranks []int64
}

// Evidence is how the rank of a trace is known.
type Evidence string

// The kinds of evidence, the best first.
const (
	Recorded Evidence = "recorded" // the trace says its rank
	Op       Evidence = "op"       // its collectives do
	Name     Evidence = "name"     // its name does, among those of the others
	Order    Evidence = "order"    // nothing does: numbered by name
)

// Member is a rank of the job.
type Member struct {
	Entry int // index into the entries
	Rank  int64
	By    Evidence
}

// Left is an input that is no rank of the job.
type Left struct {
	Entry int
	Why   string
}

// Roster is the job. Members are in order of rank, each rank once.
type Roster struct {
	Members  []Member
	World    int64   // number of ranks of the job, as far as it is known
	Missing  []int64 // ranks without a trace, ascending
	Captures int     // of each rank; the members are those of the chosen one
	Left     []Left  // in the order of the entries
	Notes    []string
}

// Options are what the user says.
type Options struct {
	Capture int  // which of several captures of each rank, from 1; 0 for none chosen
	Strict  bool // inputs must not be left out
}

// ChoiceError is a choice that there is not.
type ChoiceError struct{ msg string }

func (e *ChoiceError) Error() string { return e.msg }

// worldLimit bounds what is believed of the size of a job.
const worldLimit = 1 << 20

// dayApart is the distance of windows at which clocks may be wrong by anything.
const dayApart = 24 * 3600 * 1_000_000_000

// Make decides. The result does not depend on the order of the entries, but for the indexes in it.
func Make(entries []Entry, o Options) (*Roster, error) {
	b := builder{entries: entries, r: &Roster{Captures: 1}}
	b.leave()
	if len(b.in) == 0 {
		return nil, b.nothing()
	}
	b.identify()
	if err := b.oneJob(); err != nil {
		return nil, err
	}
	if err := b.choose(o.Capture); err != nil {
		return nil, err
	}
	b.size()
	b.cut()
	slices.SortFunc(b.r.Left, func(x, y Left) int { return strings.Compare(entries[x.Entry].Name, entries[y.Entry].Name) })
	if o.Strict && len(b.r.Left) > 0 {
		l := b.r.Left[0]
		return nil, fmt.Errorf("%s: --strict: %s", entries[l.Entry].Name, strings.TrimPrefix(l.Why, entries[l.Entry].Name+": "))
	}
	return b.r, nil
}

// Ranks finds the rank of each entry as Make does, of entries that need not be of one job; also of those that Make leaves out, where their names
// tell it. It is -1 where nothing does. Copies are the entries that have a rank and the same bytes as another one.
func Ranks(entries []Entry) (ranks []int64, copies []int) {
	b := builder{entries: entries, r: &Roster{}}
	b.leave()
	b.identify()
	ranks = slices.Repeat([]int64{-1}, len(entries))
	for _, m := range b.in {
		ranks[m.Entry] = m.Rank
	}
	var silent []int
	var names []string
	for _, l := range b.r.Left {
		switch e := &entries[l.Entry]; {
		case e.Fault != "":
		case max(e.Recorded, e.Said) >= 0: // the same bytes again
			ranks[l.Entry] = cmp.Or(e.Recorded+1, e.Said+1) - 1
			copies = append(copies, l.Entry)
		default:
			silent, names = append(silent, l.Entry), append(names, e.Member)
		}
	}
	if len(silent) > 0 {
		for k, rank := range byName(names, worldLimit) {
			ranks[silent[k]] = rank
		}
	}
	return ranks, copies
}

type builder struct {
	entries []Entry
	in      []Member // those that are left, by name
	r       *Roster
}

func (b *builder) drop(entry int, why string) { b.r.Left = append(b.r.Left, Left{entry, why}) }

// leave takes out what is no trace of a rank: faulty inputs, the same bytes again, and files of another kind.
func (b *builder) leave() {
	var order []int
	for i := range b.entries {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(x, y int) int { return CompareNames(b.entries[x].Name, b.entries[y].Name) })
	first := map[[4]int64]int{} // of equal ones the first by name, but not a copy
	for _, i := range order {
		e := &b.entries[i]
		if same, twice := first[e.Digest]; e.Fault == "" && (!twice || copyOf(b.entries[same].Name, e.Name)) {
			first[e.Digest] = i
		}
	}
	ranked := slices.ContainsFunc(b.entries, func(e Entry) bool { return e.Fault == "" && (e.Recorded >= 0 || e.Said >= 0) })
	for _, i := range order {
		e := &b.entries[i]
		same := first[e.Digest]
		switch {
		case e.Fault != "":
			b.drop(i, e.Fault)
		case same != i && e.Digest != [4]int64{}:
			b.drop(i, "the same bytes as "+b.entries[same].Name)
		case ranked && e.Recorded < 0 && e.Said < 0 && !e.Working:
			b.drop(i, "no rank of the job: no rank recorded, no device operations, no collectives")
		default:
			b.in = append(b.in, Member{Entry: i, Rank: -1})
		}
	}
}

// nothing says why no input is a trace.
func (b *builder) nothing() error {
	first := slices.MinFunc(b.r.Left, func(x, y Left) int {
		return CompareNames(b.entries[x.Entry].Name, b.entries[y.Entry].Name)
	})
	if len(b.r.Left) == 1 {
		return fmt.Errorf("%s", first.Why)
	}
	return fmt.Errorf("none of %d files is a trace; the first: %s", len(b.r.Left), first.Why)
}

// identify finds the rank of each input: the recorded rank, else the rank that its collectives imply, else the rank in its name among the
// inputs without a recorded one, else its place in the order of names.
func (b *builder) identify() {
	var silent []int // indexes into in
	for i := range b.in {
		e := &b.entries[b.in[i].Entry]
		switch {
		case e.Recorded >= 0:
			b.in[i].Rank, b.in[i].By = e.Recorded, Recorded
		case e.Said >= 0:
			b.in[i].Rank, b.in[i].By = e.Said, Op
		default:
			silent = append(silent, i)
		}
	}
	if len(silent) == 0 {
		return
	}
	var names []string
	limit := int64(worldLimit)
	for _, i := range silent {
		e := &b.entries[b.in[i].Entry]
		names = append(names, e.Member)
		if e.World > 0 {
			limit = min(limit, e.World)
		}
	}
	if ranks := byName(names, limit); ranks != nil {
		for k, i := range silent {
			b.in[i].Rank, b.in[i].By = ranks[k], Name
		}
		return
	}
	if len(silent) == len(b.in) {
		for k, i := range silent {
			b.in[i].Rank, b.in[i].By = int64(k), Order
		}
		if len(b.in) > 1 {
			b.r.Notes = append(b.r.Notes, "no trace says its rank: numbered by name")
		}
		return
	}
	for _, i := range silent {
		b.drop(b.in[i].Entry, "neither the trace nor its name says which rank it is")
	}
	b.in = slices.DeleteFunc(b.in, func(m Member) bool { return m.Rank < 0 })
}

// size finds how many ranks there are and which have no trace.
func (b *builder) size() {
	r, largest := b.r, int64(0)
	for _, m := range r.Members {
		e := &b.entries[m.Entry]
		r.World = max(r.World, e.World)
		largest = max(largest, m.Rank+1)
		for _, g := range e.Groups {
			largest = max(largest, int64(len(g.Ranks)), g.Ranks[len(g.Ranks)-1]+1)
		}
	}
	if r.World == 0 {
		r.World = largest
	}
	r.World = min(r.World, worldLimit)
	next := int64(0)
	for _, m := range append(r.Members[:len(r.Members):len(r.Members)], Member{Rank: r.World}) {
		for ; next < m.Rank; next++ {
			r.Missing = append(r.Missing, next)
		}
		next = m.Rank + 1
	}
	b.apart()
}

// apart warns when windows are so far apart that clocks may be wrong by anything.
func (b *builder) apart() {
	var first, last *Entry
	for _, m := range b.r.Members {
		e := &b.entries[m.Entry]
		if first == nil || e.Window[0] < first.Window[0] {
			first = e
		}
		if last == nil || e.Window[0] > last.Window[0] {
			last = e
		}
	}
	if last.Window[0]-first.Window[0] > dayApart {
		b.r.Notes = append(b.r.Notes, fmt.Sprintf("%s begins more than a day after %s: are they traces of one run?", last.Name, first.Name))
	}
}

// cut says which members end early: what follows is not known of them, and looks like waiting in others.
func (b *builder) cut() {
	var list []*Entry
	for _, m := range b.r.Members {
		if e := &b.entries[m.Entry]; e.Truncated {
			list = append(list, e)
		}
	}
	if len(list) > 0 && len(b.r.Members) > 1 {
		b.r.Notes = append(b.r.Notes, countOf(len(list), "1 trace is cut", "%d traces are cut")+", and what would follow is not known: "+nameSome(list))
	}
}

// Package parts turns the summary of a rank into tables and back, so that ranks can be summarized wherever their traces are, and
// put together elsewhere. It knows no files. What it reads is untrusted: Summary says what does not hold together.
package parts

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"overlay/internal/columns"
	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// Schema names the form of the file.
const Schema = "overlay-summary/4"

// Tables that messages name.
const (
	rankTable   = "summary_rank"
	givenTable  = "summary_given"
	chainsTable = "summary_chains"
	partsTable  = "summary_parts"
)

// form is a table of summaries: how many rows it has, how room is made for them, and its columns.
type form struct {
	name, about string
	rows        func(*builder) int
	make        func(*builder, int)
	cols        []col
}

// col is a column: a number or a text, out of a summary and into one.
type col struct {
	name, about string
	unit        tables.Unit
	near        bool
	later       bool // files of this form that are older do not have it
	get         func(b *builder, i int) int64
	set         func(b *builder, i int, v int64)
	text        func(b *builder, i int) string
	setText     func(b *builder, i int, v string)
	guess       func(b *builder, i int) int64 // what a number is likely to be, by what is read before it; nil for 0
}

// beyond is a column of which the file keeps only what its numbers are more than a guess: most such differences are small, or none.
func (c col) beyond(guess func(b *builder, i int) int64) col {
	c.guess = guess
	return c
}

// more is what the file keeps of a number.
func (c *col) more(b *builder, i int) int64 {
	if c.guess == nil {
		return c.get(b, i)
	}
	return c.get(b, i) - c.guess(b, i)
}

// put takes what the file has kept of a number.
func (c *col) put(b *builder, i int, more int64) {
	if c.guess != nil {
		more += c.guess(b, i)
	}
	c.set(b, i, more)
}

// builder is a summary that is being written or read, and what is kept otherwise in tables.
type builder struct {
	*ranks.Summary
	names      map[string]ranks.Name
	runs       []int32 // of each stub
	to         []int64 // where each stub ends
	ends       []critpath.StubEnd
	chains     []chain
	chainParts []int32 // of each chain: how many it has
	parts      []part
	partFirst  []int32 // parts of chain i: parts[partFirst[i]:partFirst[i+1]]
	reasons    []string
	err        error
}

// chain is one of the operation of.
type chain struct {
	of, from int32
	fixed    int64
}

// part is one of a chain.
type part struct {
	ranks.PartOf
	ns int64
}

// unpacked is a summary to be written.
func unpacked(s *ranks.Summary) *builder {
	b := &builder{Summary: s}
	for i := range s.Stubs {
		end, _ := s.Stubs[i].End()
		b.runs, b.to, b.ends = append(b.runs, s.First[i+1]-s.First[i]), append(b.to, s.To(int32(i))), append(b.ends, end)
	}
	b.partFirst = append(b.partFirst, 0)
	if s.Chains.Known() {
		r := ranks.ChainReader{}
		for op := range int32(len(s.Stubs)) {
			for r.Read(s, op, 0); r.Next(); {
				c := r.Chain()
				b.chains, b.chainParts = append(b.chains, chain{op, c.From, c.Fixed}), append(b.chainParts, int32(len(c.Parts)))
				for _, p := range c.Parts {
					b.parts = append(b.parts, part{s.Chains.Of[p.Of], p.NS})
				}
				b.partFirst = append(b.partFirst, int32(len(b.parts)))
			}
		}
	}
	b.reasons = slices.Sorted(maps.Keys(s.Quality))
	return b
}

// opBefore is the operation before another.
func (b *builder) opBefore(i int) *ranks.Op {
	if i == 0 {
		return &ranks.Op{Start: b.Window[0], Launch: b.Window[0]}
	}
	return &b.Ops[i-1]
}

// startOf is when an operation starts, or the window ends.
func (b *builder) startOf(i int32) int64 {
	if i >= 0 && int(i) < len(b.Ops) {
		return b.Ops[i].Start
	}
	return b.Window[1]
}

// endOf is when an operation ends; the start of the window where there is none.
func (b *builder) endOf(i int32) int64 {
	if i >= 0 && int(i) < len(b.Ops) {
		return b.Ops[i].End
	}
	return b.Window[0]
}

// met is when what a stub meets is over, or starts.
func (b *builder) met(stub int) int64 {
	end, ref := b.Stubs[stub].End()
	if end == critpath.AtStub {
		return b.startOf(ref)
	}
	return b.endOf(ref)
}

// restOfStub is what the last run of a stub takes; 0 for the others.
func (b *builder) restOfStub(run int) int64 {
	stub := owner(b.First, run)
	if run+1 < int(b.First[stub+1]) {
		return 0
	}
	rest := b.startOf(int32(stub)) - b.to[stub]
	for _, r := range b.Runs[b.First[stub]:run] {
		rest -= r.Dur
	}
	return rest
}

// between is how long after the end of what it follows from a chain's operation started.
func (b *builder) between(c *chain) int64 { return b.startOf(c.of) - b.endOf(c.from) }

// restOfChain is what the last part of a chain takes if the chain is what was waited for; 0 for the others.
func (b *builder) restOfChain(p int) int64 {
	k := owner(b.partFirst, p)
	if p+1 < int(b.partFirst[k+1]) {
		return 0
	}
	rest := b.between(&b.chains[k]) - b.chains[k].fixed
	for _, x := range b.parts[b.partFirst[k]:p] {
		rest -= x.ns
	}
	return rest
}

// owner is of which a row is, by where those of each begin.
func owner(first []int32, row int) int {
	at, _ := slices.BinarySearch(first, int32(row+1))
	return at - 1
}

// borders are where rows begin that belong to others, each of which has so many.
func (b *builder) borders(counts []int32, rows int) []int32 {
	list, sum := make([]int32, 1, len(counts)+1), int64(0)
	for _, n := range counts {
		if sum += int64(n); n < 0 || sum > int64(rows) {
			b.fail("%d rows of one of them, and there are %d of all", n, rows)
			return nil
		}
		list = append(list, int32(sum))
	}
	if sum != int64(rows) {
		b.fail("%d rows, and %d that belong to something", rows, sum)
	}
	return list
}

func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

// name finds a name in the table of names.
func (b *builder) name(s string) ranks.Name {
	n, ok := b.names[s]
	if !ok {
		b.fail("a name that is not in the table of names")
	}
	return n
}

// fit turns a number into a smaller type.
func fit[T int32 | int | ranks.Rank | trace.EventID](b *builder, v int64) T {
	if t := T(v); int64(t) == v {
		return t
	}
	b.fail("the number %d is out of range", v)
	return 0
}

// word finds a word among those that a type has, up to n.
func word[T ~uint8](b *builder, n T, s string, words func(T) string) T {
	for t := range n {
		if words(t) == s {
			return t
		}
	}
	b.fail("%q is unknown", s)
	return 0
}

// Empty are the tables without rows: their names and columns.
func Empty() []columns.Table {
	list := make([]columns.Table, len(forms))
	for k := range forms {
		f := &forms[k]
		list[k] = columns.Table{Name: f.name, About: f.about}
		for i := range f.cols {
			c := &f.cols[i]
			x := columns.Column{Column: tables.Column{Name: c.name, Unit: c.unit, About: c.about}, Type: columns.Int64, Near: c.near}
			if c.text != nil {
				x.Type, x.Unit = columns.Text, tables.Text
			}
			list[k].Cols = append(list[k].Cols, x)
		}
	}
	return list
}

// Tables are those of a summary.
func Tables(s *ranks.Summary) []columns.Table {
	b, list := unpacked(s), Empty()
	for k := range forms {
		list[k].Rows = forms[k].rows(b)
		for i := range forms[k].cols {
			c := &forms[k].cols[i]
			d := columns.Data{Int: func(row int) (int64, bool) { return c.get(b, row), true }}
			if c.text != nil {
				d = columns.Data{Str: func(row int) (string, bool) { return c.text(b, row), true }}
			}
			list[k].Data = append(list[k].Data, d)
		}
	}
	return list
}

// finish puts together what stands in several tables, and checks it.
func (b *builder) finish() error {
	if err := b.packChains(); err != nil {
		return err
	}
	if b.Window[1] < b.Window[0] || b.Window[0] < math.MinInt64/4 || b.Window[1] > math.MaxInt64/4 || b.Rank < 0 {
		return fmt.Errorf("%s: rank %d with a window from %d to %d", rankTable, b.Rank, b.Window[0], b.Window[1])
	}
	for i := range b.Kinds {
		if k := &b.Kinds[i]; k.Group < 0 || int(k.Group) >= len(b.Groups) {
			return fmt.Errorf("summary_kinds: row %d is of group %d of %d", i, k.Group, len(b.Groups))
		}
	}
	for i := range b.Ops {
		if o := &b.Ops[i]; o.Kind < 0 || o.Start < b.Window[0]-1<<60 || o.End > b.Window[1]+1<<60 {
			return fmt.Errorf("summary_operations: row %d: [%d, %d] of kind %d", i, o.Start, o.End, o.Kind)
		}
	}
	for i := range b.Steps {
		if s := &b.Steps[i]; s.End < s.Start || i > 0 && s.Start < b.Steps[i-1].Start {
			return fmt.Errorf("summary_steps: row %d: [%d, %d]", i, s.Start, s.End)
		}
	}
	for i := range b.Spent {
		if s := &b.Spent[i]; s.Step < 0 || int(s.Step) >= len(b.Steps) {
			return fmt.Errorf("summary_spent: row %d is of step %d of %d", i, s.Step, len(b.Steps))
		}
	}
	for i := range b.Given {
		if g := &b.Given[i]; g.Step < 0 || int(g.Step) >= len(b.Steps) || g.Amount <= 0 || g.Busy <= 0 {
			return fmt.Errorf("%s: row %d is of step %d of %d, amount %d, time %d", givenTable, i, g.Step, len(b.Steps), g.Amount, g.Busy)
		}
	}
	if err := b.Check(); err != nil {
		return err
	}
	for i, at := range b.to {
		if to := b.To(int32(i)); at != to {
			return fmt.Errorf("summary_stubs: row %d ends at %d, and by its runs at %d", i, at, to)
		}
	}
	return nil
}

// packChains puts chains together with their operations and parts.
func (b *builder) packChains() error {
	if len(b.chains) == 0 {
		return nil
	}
	var kinds []ranks.PartOf
	list, at := make([]ranks.Part, len(b.parts)), map[ranks.PartOf]int32{}
	for i, p := range b.parts {
		k, ok := at[p.PartOf]
		if !ok {
			k = int32(len(kinds))
			kinds, at[p.PartOf] = append(kinds, p.PartOf), k
		}
		list[i] = ranks.Part{Of: k, NS: p.ns}
	}
	next, of := 0, make([]ranks.Chain, 0, 8)
	b.SetChains(kinds, func(op int) []ranks.Chain {
		for of = of[:0]; next < len(b.chains) && int(b.chains[next].of) == op; next++ {
			of = append(of, ranks.Chain{From: b.chains[next].from, Fixed: b.chains[next].fixed, Parts: list[b.partFirst[next]:b.partFirst[next+1]]})
		}
		return of
	})
	if next < len(b.chains) {
		return fmt.Errorf("%s: row %d is of operation %d of %d, or out of order", chainsTable, next, b.chains[next].of, len(b.Stubs))
	}
	return nil
}

func stubEnd(e critpath.StubEnd) string { return [...]string{"start", "operation", "stub"}[e] }

// Package parts turns the summary of a rank into tables and back, so that ranks can be summarized wherever their traces are, and
// put together elsewhere. It knows no files. What it reads is untrusted: Summary says what does not hold together.
package parts

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"overlay/internal/columns"
	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// Schema names the form of the file.
const Schema = "overlay-summary/3"

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
	rows        func(*ranks.Summary) int
	make        func(*builder, int)
	cols        []col
}

// col is a column: a number or a text, out of a summary and into one.
type col struct {
	name, about string
	unit        tables.Unit
	near        bool
	later       bool // files of this form that are older do not have it
	get         func(s *ranks.Summary, i int) int64
	set         func(b *builder, i int, v int64)
	text        func(s *ranks.Summary, i int) string
	setText     func(b *builder, i int, v string)
}

// builder is a summary that is being read.
type builder struct {
	*ranks.Summary
	names               map[string]ranks.Name
	runs                []int32 // of each stub
	chainOf, chainParts []int32 // of each chain: its operation, and how many parts it has
	to                  []int64 // where each stub ends
	ends                []critpath.StubEnd
	reasons             []string
	err                 error
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

// Summary makes a summary of its tables, in the order of Empty.
func Summary(list []columns.Table) (*ranks.Summary, error) {
	b := &builder{Summary: &ranks.Summary{Quality: map[string]int{}}}
	if len(list) != len(forms) || list[0].Rows != 1 {
		return nil, fmt.Errorf("%s: expected one row", rankTable)
	}
	for k := range forms {
		f, t := &forms[k], &list[k]
		if t.Rows > math.MaxInt32 {
			return nil, fmt.Errorf("%s: too many rows", f.name)
		}
		f.make(b, t.Rows)
		for i := range f.cols {
			c := &f.cols[i]
			for row := range t.Rows {
				if c.text != nil {
					v, _ := t.Data[i].Text(row)
					c.setText(b, row, v)
				} else {
					v, _ := t.Data[i].Int(row)
					c.set(b, row, v)
				}
			}
			if b.err != nil {
				return nil, fmt.Errorf("%s, column %s: %w", f.name, c.name, b.err)
			}
		}
		if f.name == "summary_names" {
			b.names = make(map[string]ranks.Name, len(b.Names))
			for i, n := range b.Names {
				b.names[n] = ranks.Name(i)
			}
		}
	}
	if err := b.finish(); err != nil {
		return nil, err
	}
	return b.Summary, nil
}

// finish puts together what stands in several tables, and checks it.
func (b *builder) finish() error {
	sum := int64(0)
	b.First = make([]int32, 0, len(b.runs)+1)
	for _, n := range b.runs {
		b.First = append(b.First, int32(sum))
		if sum += int64(n); n < 0 || sum > int64(len(b.Runs)) {
			return fmt.Errorf("summary_stubs: %d runs of a stub, and there are %d of all", n, len(b.Runs))
		}
	}
	b.First = append(b.First, int32(sum))
	if int(sum) != len(b.Runs) {
		return fmt.Errorf("summary_runs: %d rows, and stubs have %d", len(b.Runs), sum)
	}
	if err := b.chains(); err != nil {
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

// chains puts chains together with their operations and parts.
func (b *builder) chains() error {
	if len(b.Chains) == 0 {
		if len(b.Parts) > 0 {
			return fmt.Errorf("%s: %d rows, and there are no chains", partsTable, len(b.Parts))
		}
		return nil
	}
	b.ChainFirst = make([]int32, 1, len(b.Stubs)+1)
	sum := int64(0)
	for i := range b.Chains {
		of, n := int(b.chainOf[i]), b.chainParts[i]
		if of < len(b.ChainFirst)-1 || of >= len(b.Stubs) {
			return fmt.Errorf("%s: row %d is of operation %d of %d", chainsTable, i, of, len(b.Stubs))
		}
		for len(b.ChainFirst) <= of {
			b.ChainFirst = append(b.ChainFirst, int32(i))
		}
		b.Chains[i].First = int32(sum)
		if sum += int64(n); n < 0 || sum > int64(len(b.Parts)) {
			return fmt.Errorf("%s: %d parts of a chain, and there are %d of all", chainsTable, n, len(b.Parts))
		}
	}
	if sum != int64(len(b.Parts)) {
		return fmt.Errorf("%s: %d rows, and chains have %d", partsTable, len(b.Parts), sum)
	}
	for len(b.ChainFirst) <= len(b.Stubs) {
		b.ChainFirst = append(b.ChainFirst, int32(len(b.Chains)))
	}
	return nil
}

// reasons are the keys of the quality of a summary, in order.
func reasons(s *ranks.Summary) []string {
	list := make([]string, 0, len(s.Quality))
	for r := range s.Quality {
		list = append(list, r)
	}
	slices.SortFunc(list, cmp.Compare)
	return list
}

func stubEnd(e critpath.StubEnd) string { return [...]string{"start", "operation", "stub"}[e] }

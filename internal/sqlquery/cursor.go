package sqlquery

import (
	"math"
	"sort"

	"github.com/ncruces/go-sqlite3"

	"overlay/internal/columns"
)

// cursor goes through the rows that a plan leaves.
type cursor struct {
	t     *table
	terms []bound

	part   int // index into table.parts; len is the end
	row    int
	to     int     // rows of the part end here
	list   []int32 // the rows, where an index gave them
	at     int     // in list
	byList bool
}

// bound is a term with its argument.
type bound struct {
	term
	text string
	n    int64
}

// Filter begins a pass. An argument that is NULL fits no row: a comparison with NULL is never true, and treating it as 0
// would join every row without a value to row 0.
func (c *cursor) Filter(_ int, plan string, args ...sqlite3.Value) error {
	c.terms = c.terms[:0]
	for i, x := range decodePlan(plan) {
		if args[i].Type() == sqlite3.NULL {
			c.part = len(c.t.parts)
			return nil
		}
		if b, ok := bind(x, &c.t.cols[x.column], args[i]); ok {
			c.terms = append(c.terms, b)
		}
	}
	c.part = -1
	c.nextPart()
	return nil
}

// bind takes the argument of a term. An argument of another type than the column's is left to SQLite, which knows how the
// two compare.
func bind(x term, col *columns.Column, arg sqlite3.Value) (b bound, ok bool) {
	b = bound{term: x}
	switch arg.Type() {
	case sqlite3.INTEGER:
		b.n = arg.Int64()
		return b, col.Type != columns.Text
	case sqlite3.TEXT:
		b.text = arg.Text()
		return b, col.Type == columns.Text
	}
	return b, false
}

// nextPart goes to the next set that can have rows and finds which.
func (c *cursor) nextPart() {
	for c.part++; c.part < len(c.t.parts); c.part++ {
		if c.enter(&c.t.parts[c.part]) {
			c.settle()
			if c.row < c.to {
				return
			}
		}
	}
}

// enter finds the rows of a part that the terms leave.
func (c *cursor) enter(p *part) bool {
	c.row, c.to, c.byList, c.at = 0, p.Rows, false, 0
	for i := range c.terms {
		b := &c.terms[i]
		k := b.column - numKeys
		switch b.how {
		case byPart:
			if b.column == 0 && p.run != b.text || b.column == 1 && p.rank != b.n {
				return false
			}
		case bySearch:
			c.narrow(p, k, b)
		case byIndex:
			key := b.n
			if p.Cols[k].Type == columns.Text {
				s, ok := p.index(k).syms[b.text]
				if !ok {
					return false
				}
				key = int64(s)
			}
			c.list, c.byList = p.rowsOf(k, key), true
		}
	}
	return c.row < c.to
}

// narrow keeps the rows of a column that rises which a comparison leaves.
func (c *cursor) narrow(p *part, k int, b *bound) {
	value := p.Data[k].Int
	first := func(n int64) int { // row whose value is n or more
		return sort.Search(p.Rows, func(row int) bool {
			v, _ := value(row)
			return v >= n
		})
	}
	above := func(n int64) int {
		if n == math.MaxInt64 {
			return p.Rows
		}
		return first(n + 1)
	}
	switch b.op {
	case sqlite3.INDEX_CONSTRAINT_EQ:
		c.row, c.to = max(c.row, first(b.n)), min(c.to, above(b.n))
	case sqlite3.INDEX_CONSTRAINT_GE:
		c.row = max(c.row, first(b.n))
	case sqlite3.INDEX_CONSTRAINT_GT:
		c.row = max(c.row, above(b.n))
	case sqlite3.INDEX_CONSTRAINT_LE:
		c.to = min(c.to, above(b.n))
	case sqlite3.INDEX_CONSTRAINT_LT:
		c.to = min(c.to, first(b.n))
	}
}

// settle goes on to a row of the list of an index, from the present one.
func (c *cursor) settle() {
	if !c.byList {
		return
	}
	for from, to := c.row, c.to; c.at < len(c.list); c.at++ {
		if row := int(c.list[c.at]); row >= from && row < to {
			c.row = row
			return
		}
	}
	c.row = c.to
}

// Next goes to the next row that the terms leave.
func (c *cursor) Next() error {
	c.row++
	c.at++
	if c.settle(); c.row >= c.to {
		c.nextPart()
	}
	return nil
}

// EOF reports whether there is no row any more.
func (c *cursor) EOF() bool { return c.part >= len(c.t.parts) }

// RowID numbers the rows of all sets.
func (c *cursor) RowID() (int64, error) { return int64(c.part)<<32 | int64(c.row), nil }

// Column gives one value of the present row.
func (c *cursor) Column(ctx sqlite3.Context, n int) error {
	p := &c.t.parts[c.part]
	switch n {
	case 0:
		ctx.ResultText(p.run)
		return nil
	case 1:
		ctx.ResultInt64(p.rank)
		return nil
	}
	if n -= numKeys; n >= len(p.Data) { // a set without arguments beside one with them
		return nil
	}
	d := &p.Data[n]
	switch {
	case d.Int != nil:
		if v, ok := d.Int(c.row); ok {
			ctx.ResultInt64(v)
		}
	case d.Float != nil:
		if v, ok := d.Float(c.row); ok {
			ctx.ResultFloat(v)
		}
	default:
		if s, ok := d.Text(c.row); ok {
			ctx.ResultText(s)
		}
	}
	return nil
}

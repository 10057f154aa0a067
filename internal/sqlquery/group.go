package sqlquery

import (
	"github.com/ncruces/go-sqlite3"

	"overlay/internal/columns"
)

// GROUP BY over texts needs rows in an order in which equal ones stand together, whatever the order of the groups is.
// SQLite sorts for that and compares texts; symbols are sorted by counting.

// byGroup marks a term of a plan that is a column to group by.
const byGroup = 'g'

// groupTerms are the columns of a GROUP BY, if all of them can be grouped here.
func (t *table) groupTerms(idx *sqlite3.IndexInfo) []term {
	const adjacent = 1 // what SQLite calls a query whose equal rows only have to stand together
	if len(idx.OrderBy) == 0 || idx.Distinct() != adjacent {
		return nil
	}
	var terms []term
	for _, o := range idx.OrderBy {
		if o.Column < 0 || !t.groupable(o.Column) {
			return nil
		}
		terms = append(terms, term{column: o.Column, how: byGroup})
	}
	return terms
}

func (t *table) groupable(column int) bool {
	if column < numKeys {
		return true
	}
	if t.cols[column].Type != columns.Text {
		return false
	}
	for i := range t.parts {
		if k := column - numKeys; k >= len(t.parts[i].Data) || t.parts[i].Data[k].Sym == nil {
			return false
		}
	}
	return true
}

// place is a row of a part.
type place struct{ part, row int32 }

// group collects the rows that the plan leaves and puts equal ones together.
func (c *cursor) group() {
	var rows []place
	for ; c.part < len(c.t.parts); c.advance() {
		rows = append(rows, place{int32(c.part), int32(c.row)})
	}
	spare := make([]place, len(rows))
	for i := len(c.groups) - 1; i >= 0; i-- { // stable, from the last column to the first
		key, keys := c.t.groupKeys(c.groups[i].column)
		at := make([]int32, keys+1)
		for _, p := range rows {
			at[key(p)+1]++
		}
		for k := range keys {
			at[k+1] += at[k]
		}
		for _, p := range rows {
			k := key(p)
			spare[at[k]] = p
			at[k]++
		}
		rows, spare = spare, rows
	}
	c.grouped, c.atGroup = rows, -1
	c.nextGrouped()
}

func (c *cursor) nextGrouped() {
	if c.atGroup++; c.atGroup < len(c.grouped) {
		p := c.grouped[c.atGroup]
		c.part, c.row = int(p.part), int(p.row)
		return
	}
	c.part = len(c.t.parts)
}

// groupKeys numbers the values of a column over all sets: equal values have one number, of n. Null has number 0.
func (t *table) groupKeys(column int) (key func(p place) int32, n int32) {
	n = 1
	if column < numKeys {
		number, of := make([]int32, len(t.parts)), map[any]int32{}
		for i := range t.parts {
			var v any = t.parts[i].run
			if column == 1 {
				v = t.parts[i].rank
			}
			if _, ok := of[v]; !ok {
				of[v] = n
				n++
			}
			number[i] = of[v]
		}
		return func(p place) int32 { return number[p.part] }, n
	}
	numbers, of := make([][]int32, len(t.parts)), map[string]int32{}
	for i := range t.parts {
		d := &t.parts[i].Data[column-numKeys]
		numbers[i] = make([]int32, len(d.Syms))
		for s, text := range d.Syms {
			if _, ok := of[text]; !ok {
				of[text] = n
				n++
			}
			numbers[i][s] = of[text]
		}
	}
	return func(p place) int32 {
		s, ok := t.parts[p.part].Data[column-numKeys].Sym(int(p.row))
		if !ok {
			return 0
		}
		return numbers[p.part][s]
	}, n
}

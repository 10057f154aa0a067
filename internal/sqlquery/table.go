package sqlquery

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/ncruces/go-sqlite3"

	"overlay/internal/columns"
)

// table is a virtual table: the rows of all sets, one set after another.
type table struct {
	name  string
	cols  []columns.Column // with the keys run and rank first
	parts []part
	rows  int
}

// part is the rows of one set.
type part struct {
	run  string
	rank int64
	*columns.Table

	indexed []index // per column of the set
}

// index finds the rows of a value: rows sorted by the value of one column. It is made when a join first asks for it.
type index struct {
	once sync.Once
	rows []int32
	keys []int64           // of rows, ascending
	syms map[string]uint32 // of a column of texts: the number of each
}

const numKeys = 2 // run and rank

func newTable(form *columns.Table, sets []columns.Set) *table {
	t := &table{name: form.Name, cols: slices.Concat(columns.Keys, form.Cols)}
	for i := range sets {
		s := &sets[i]
		for k := range s.Tables {
			if x := &s.Tables[k]; x.Name == form.Name {
				t.parts = append(t.parts, part{run: s.Run, rank: s.Rank, Table: x, indexed: make([]index, len(x.Cols))})
				t.rows += x.Rows
				if len(x.Cols) > len(form.Cols) { // events with arguments
					t.cols = slices.Concat(columns.Keys, x.Cols)
				}
			}
		}
	}
	return t
}

func (t *table) declaration() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE x(")
	for i := range t.cols {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(sqlite3.QuoteIdentifier(t.cols[i].Name) + " " + t.cols[i].Type.SQL())
	}
	return b.String() + ")"
}

// A plan is what BestIndex tells Filter: for each argument the column and what is done with it. It travels as text, three
// bytes a term.
type term struct {
	column int
	op     sqlite3.IndexConstraintOp
	how    byte
}

// What is done with a term.
const (
	byPart   = 'p' // run or rank: leave out sets
	bySearch = 's' // a column that rises: search its rows
	byIndex  = 'i' // equal to a value that a join gives: look it up
)

func encodePlan(terms []term) string {
	b := make([]byte, 0, 3*len(terms))
	for _, x := range terms {
		b = append(b, byte(x.column)+' ', byte(x.op)+' ', x.how)
	}
	return string(b)
}

func decodePlan(s string) []term {
	terms := make([]term, 0, len(s)/3)
	for ; len(s) >= 3; s = s[3:] {
		terms = append(terms, term{int(s[0] - ' '), sqlite3.IndexConstraintOp(s[1] - ' '), s[2]})
	}
	return terms
}

// BestIndex chooses what is used of the constraints of a query. None is left to Filter alone: SQLite checks them again,
// so a term only ever saves rows.
func (t *table) BestIndex(idx *sqlite3.IndexInfo) error {
	rows := float64(t.rows)
	cost := rows
	var terms []term
	indexed := false
	for i, c := range idx.Constraint {
		if !c.Usable || c.Column < 0 {
			continue
		}
		x, ok := t.termFor(idx, i, c)
		if !ok || x.how == byIndex && indexed { // one index is enough
			continue
		}
		switch x.how {
		case byPart:
			rows /= float64(max(1, min(len(t.parts), 64)))
			cost = min(cost, rows)
		case bySearch:
			if c.Op == sqlite3.INDEX_CONSTRAINT_EQ {
				rows = min(rows, float64(max(1, len(t.parts))))
			} else {
				rows /= 4
			}
			cost = min(cost, rows+5)
		case byIndex:
			indexed = true
			rows = max(1, rows/1000)
			cost = rows + 100 // and the index has to be made
		}
		terms = append(terms, x)
		idx.ConstraintUsage[i] = sqlite3.IndexConstraintUsage{ArgvIndex: len(terms)}
	}
	idx.IdxStr = encodePlan(terms)
	idx.EstimatedCost, idx.EstimatedRows = max(cost, 1), int64(max(rows, 1))
	if o := idx.OrderBy; len(o) == 1 && len(t.parts) <= 1 && !o[0].Desc && o[0].Column >= 0 && t.cols[o[0].Column].Rising {
		idx.OrderByConsumed = true
	}
	return nil
}

// termFor says how a constraint is used, if it is.
func (t *table) termFor(idx *sqlite3.IndexInfo, i int, c sqlite3.IndexConstraint) (term, bool) {
	col := &t.cols[c.Column]
	equal := c.Op == sqlite3.INDEX_CONSTRAINT_EQ
	ordered := equal || c.Op == sqlite3.INDEX_CONSTRAINT_GT || c.Op == sqlite3.INDEX_CONSTRAINT_GE || c.Op == sqlite3.INDEX_CONSTRAINT_LT || c.Op == sqlite3.INDEX_CONSTRAINT_LE
	x := term{c.Column, c.Op, 0}
	switch {
	case !ordered || col.Type == columns.Float64:
		return x, false
	case col.Type == columns.Text && idx.Collation(i) != "BINARY":
		return x, false
	case c.Column < numKeys:
		x.how = byPart
		return x, equal
	case col.Rising:
		x.how = bySearch
		return x, true
	case !equal:
		return x, false
	}
	x.how = byIndex
	_, err := idx.RHSValue(i) // where the query says it one pass by SQLite is cheaper than an index
	return x, err != nil
}

// Open makes a cursor; cursors share nothing that changes but the indexes.
func (t *table) Open() (sqlite3.VTabCursor, error) { return &cursor{t: t}, nil }

// rowsOf are the rows of a part with a key in a column, ascending.
func (p *part) rowsOf(c int, key int64) []int32 {
	x := p.index(c)
	from, ok := slices.BinarySearch(x.keys, key)
	if !ok {
		return nil
	}
	to := from + sort.Search(len(x.keys)-from, func(i int) bool { return x.keys[from+i] > key })
	return x.rows[from:to]
}

// index makes the index of a column of a part. Rows without a value are not in it.
func (p *part) index(c int) *index {
	x := &p.indexed[c]
	x.once.Do(func() {
		d := &p.Data[c]
		key := d.Int
		if p.Cols[c].Type == columns.Text {
			key = x.numberTexts(d, p.Rows)
		}
		type entry struct {
			key int64
			row int32
		}
		list := make([]entry, 0, p.Rows)
		for row := range p.Rows {
			if k, ok := key(row); ok {
				list = append(list, entry{k, int32(row)})
			}
		}
		slices.SortFunc(list, func(a, b entry) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.row, b.row)) })
		x.rows, x.keys = make([]int32, len(list)), make([]int64, len(list))
		for i, e := range list {
			x.rows[i], x.keys[i] = e.row, e.key
		}
	})
	return x
}

// numberTexts gives each text of a column a number, and returns the number of a row's text.
func (x *index) numberTexts(d *columns.Data, rows int) func(row int) (int64, bool) {
	x.syms = map[string]uint32{}
	number := func(s string) uint32 {
		n, ok := x.syms[s]
		if !ok {
			n = uint32(len(x.syms))
			x.syms[s] = n
		}
		return n
	}
	if d.Sym == nil { // the texts are in the rows alone
		return func(row int) (int64, bool) {
			s, ok := d.Str(row)
			if !ok {
				return 0, false
			}
			return int64(number(s)), true
		}
	}
	numbers := make([]uint32, len(d.Syms)) // several symbols may have the same text
	for i, s := range d.Syms {
		numbers[i] = number(s)
	}
	return func(row int) (int64, bool) {
		s, ok := d.Sym(row)
		if !ok {
			return 0, false
		}
		return int64(numbers[s]), true
	}
}

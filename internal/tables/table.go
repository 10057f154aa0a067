// Package tables holds results in one shape: tables whose columns have units. Text, page and later encoders read them;
// whatever shows a number takes it from here, so that a time is never shown as a share.
//
// The types of the report are the definition of the tables: From reads name, unit and meaning of each column from the
// tags of the fields. format.go is the one place where numbers become text.
package tables

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Unit is what the values of a column are.
type Unit uint8

// The units. Every number has one; Text is for words only.
const (
	Text      Unit = iota
	NS             // a length of time, ns
	Change         // a difference of such, ns: more than before is above 0
	Time           // a moment on the trace's own clock, ns
	Bytes          // an amount of memory
	PerSecond      // a bandwidth, GB/s
	Flops          // floating point operations
	Share          // a ratio, 0 to 1
	Percent        // a ratio, 0 to 100
	Count          // how many; a mean of such is a float
	Ref            // a position in traceEvents
	ID             // a number that names something: a device, a stream, a node
	Flag           // true or false
	numUnits
)

var unitNames = [numUnits]string{"text", "ns", "change", "time", "bytes", "gb_per_s", "flop", "share", "percent", "count", "ref", "id", "flag"}

func (u Unit) String() string { return unitNames[u] }

// Column is a quantity with its unit.
type Column struct {
	Name  string // as in the JSON report
	Unit  Unit
	About string
}

// Table is a list of rows. Row fills values, one a column, with row i.
type Table struct {
	Name  string
	About string
	Cols  []Column
	Rows  int
	Row   func(i int, values []Value)
}

// Value is one cell: a number, a text or nothing.
type Value struct {
	kind kind
	bits uint64 // of the number
	text string
	list []string
}

type kind uint8

const (
	none kind = iota
	integer
	float
	text
	list
)

// Int is an integer; a Flag is 1 or 0.
func Int(n int64) Value { return Value{kind: integer, bits: uint64(n)} }

// Float is a number that need not be whole.
func Float(x float64) Value { return Value{kind: float, bits: math.Float64bits(x)} }

// Str is a text.
func Str(s string) Value { return Value{kind: text, text: s} }

// List is several texts in order.
func List(names []string) Value { return Value{kind: list, list: names} }

// IsNull reports whether there is no value; the zero Value is none.
func (v Value) IsNull() bool { return v.kind == none }

// Int is the number without what follows the point, 0 for what is none.
func (v Value) Int() int64 {
	switch v.kind {
	case integer:
		return int64(v.bits)
	case float:
		return int64(math.Float64frombits(v.bits))
	}
	return 0
}

// Float is the number, 0 for what is none.
func (v Value) Float() float64 {
	switch v.kind {
	case integer:
		return float64(int64(v.bits))
	case float:
		return math.Float64frombits(v.bits)
	}
	return 0
}

// Str is the text, "" for what is none; the texts of a list with arrows between them.
func (v Value) Str() string {
	if v.kind == list {
		return strings.Join(v.list, Arrow)
	}
	return v.text
}

// List is the texts of a list, nil for what is none.
func (v Value) List() []string { return v.list }

// Arrow stands between the texts of a list.
const Arrow = " → "

// Exact is the value as encoders of data and sorting need it: no separators, no unit.
func (v Value) Exact() string {
	switch v.kind {
	case integer:
		return strconv.FormatInt(int64(v.bits), 10)
	case float:
		return strconv.FormatFloat(math.Float64frombits(v.bits), 'g', -1, 64)
	}
	return v.Str()
}

// Line is one row, read by the names of its columns.
type Line struct {
	table  *Table
	Row    int // its number
	Values []Value
}

// Lines gives the first n rows, all when n is negative.
func (t *Table) Lines(n int) iter.Seq[Line] {
	if n < 0 || n > t.Rows {
		n = t.Rows
	}
	return func(yield func(Line) bool) {
		for i := range n {
			if !yield(t.Line(i)) {
				return
			}
		}
	}
}

// Line is row i.
func (t *Table) Line(i int) Line {
	l := Line{t, i, make([]Value, len(t.Cols))}
	t.Row(i, l.Values)
	return l
}

// col finds a column. A name that the table does not have is a bug.
func (l Line) col(name string) int {
	i := slices.IndexFunc(l.table.Cols, func(c Column) bool { return c.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("tables: internal error: %s has no column %s", l.table.Name, name))
	}
	return i
}

// Column is a column by its name. A name that the table does not have is a bug.
func (t *Table) Column(name string) Column { return t.Cols[Line{table: t}.col(name)] }

// Value is the cell of a column.
func (l Line) Value(col string) Value { return l.Values[l.col(col)] }

// Str is the text of a column as it stands.
func (l Line) Str(col string) string { return l.Value(col).Str() }

// Exact is the cell of a column without separators and unit.
func (l Line) Exact(col string) string { return l.Value(col).Exact() }

// Sorted is the table with the rows in another order: those with the most in a column first.
func (t *Table) Sorted(col string) *Table {
	order := make([]int, t.Rows)
	sizes := make([]float64, t.Rows)
	for i := range order {
		order[i], sizes[i] = i, t.Line(i).Value(col).Float()
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	sorted := *t
	sorted.Row = func(i int, values []Value) { t.Row(order[i], values) }
	return &sorted
}

// By groups the rows of t by some columns. The returned function gives those that belong to a row of the table around
// it: the ones with the same values.
func (t *Table) By(cols ...string) func(l Line) iter.Seq[Line] {
	group := func(l Line) string {
		var key strings.Builder
		for _, c := range cols {
			key.WriteString(l.Exact(c) + "\x00")
		}
		return key.String()
	}
	rows := map[string][]int{}
	for i := range t.Rows {
		k := group(t.Line(i))
		rows[k] = append(rows[k], i)
	}
	return func(l Line) iter.Seq[Line] {
		return func(yield func(Line) bool) {
			for _, i := range rows[group(l)] {
				if !yield(t.Line(i)) {
					return
				}
			}
		}
	}
}

// Find returns the table of a name, nil without.
func Find(list []Table, name string) *Table {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

package parts

import (
	"fmt"
	"math"
	"strings"

	"overlay/internal/columns"
	"overlay/internal/ranks"
	"overlay/internal/tables"
)

// File is the one table that a summary is kept as: a row for each value of its tables, column by column. What a Parquet file says of each of
// its columns takes more room than what most columns of summaries hold, and here each text is kept once.
var File = columns.Table{Name: "summary", About: "what the other ranks of its job need to know of a rank: each value of its tables, column by column", Cols: []columns.Column{
	{Column: tables.Column{Name: "part", Unit: tables.Text, About: "name of the table, without summary_"}, Type: columns.Text},
	{Column: tables.Column{Name: "field", Unit: tables.Text, About: "name of the column"}, Type: columns.Text},
	{Column: tables.Column{Name: "more", Unit: tables.ID, About: "of a number: what it is more than is to be expected; else 0"}, Type: columns.Int64, Mixed: true},
	{Column: tables.Column{Name: "text", Unit: tables.Text, About: "of a text, else empty"}, Type: columns.Text},
}}

// Columns of File.
const (
	partCol = iota
	fieldCol
	moreCol
	textCol
)

// symbols are a column of texts that is being made.
type symbols struct {
	rows  []uint32
	list  []string
	index map[string]uint32
}

func (x *symbols) add(s string, times int) {
	n, ok := x.index[s]
	if !ok {
		if x.index == nil {
			x.index = map[string]uint32{}
		}
		n = uint32(len(x.list))
		x.index[s], x.list = n, append(x.list, s)
	}
	for range times {
		x.rows = append(x.rows, n)
	}
}

func (x *symbols) data() columns.Data {
	return columns.Data{Syms: x.list, Sym: func(row int) (uint32, bool) { return x.rows[row], true }}
}

// Cells gives a summary as the table File.
func Cells(s *ranks.Summary) columns.Table {
	var part, field, text symbols
	var values []int64
	b := unpacked(s)
	for k := range forms {
		f := &forms[k]
		rows := f.rows(b)
		for i := range f.cols {
			c := &f.cols[i]
			part.add(partOf(f.name), rows)
			field.add(c.name, rows)
			for row := range rows {
				v, word := int64(0), ""
				if c.text != nil {
					word = c.text(b, row)
				} else {
					v = c.more(b, row)
				}
				values = append(values, v)
				text.add(word, 1)
			}
		}
	}
	t := File
	t.Rows = len(values)
	t.Data = []columns.Data{part.data(), field.data(), {Int: func(row int) (int64, bool) { return values[row], true }}, text.data()}
	return t
}

func partOf(table string) string { return strings.TrimPrefix(table, File.Name+"_") }

// Summary makes a summary of the table File. Columns that are not known are left out.
func Summary(t columns.Table) (*ranks.Summary, error) {
	if t.Rows > math.MaxInt32 {
		return nil, fmt.Errorf("%d rows are too many", t.Rows)
	}
	type span struct{ from, rows int }
	known := map[[2]string]span{}
	at := func(row int) (part, field uint32) {
		part, _ = t.Data[partCol].Sym(row)
		field, _ = t.Data[fieldCol].Sym(row)
		return part, field
	}
	for row := 0; row < t.Rows; {
		from := row
		p, f := at(row)
		for row++; row < t.Rows; row++ {
			if q, g := at(row); p != q || f != g {
				break
			}
		}
		part, field := t.Data[partCol].Syms[p], t.Data[fieldCol].Syms[f]
		if _, ok := known[[2]string{part, field}]; ok {
			return nil, fmt.Errorf("column %s of part %s stands there twice", field, part)
		}
		known[[2]string{part, field}] = span{from, row - from}
	}
	b := &builder{Summary: &ranks.Summary{Quality: map[string]int{}}}
	for k := range forms {
		f := &forms[k]
		rows := known[[2]string{partOf(f.name), f.cols[0].name}].rows
		if f.name == rankTable && rows != 1 {
			return nil, fmt.Errorf("%s: expected one row", rankTable)
		}
		if f.make(b, rows); b.err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, b.err)
		}
		for i := range f.cols {
			c := &f.cols[i]
			x, there := known[[2]string{partOf(f.name), c.name}]
			if !there && c.later {
				continue
			}
			if x.rows != rows {
				return nil, fmt.Errorf("part %s: column %s has %d rows of %d", partOf(f.name), c.name, x.rows, rows)
			}
			for row := range rows {
				if c.text != nil {
					v, _ := t.Data[textCol].Text(x.from + row)
					c.setText(b, row, v)
				} else {
					v, _ := t.Data[moreCol].Int(x.from + row)
					c.put(b, row, v)
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

// Package columns holds tables column by column, as writers of Parquet and engines for SQL take them: a column says its
// name, unit, meaning and type, and gives the value of any row. It knows nothing of traces.
//
// tables.Table is for tables that people read; these here have a row for each event of a trace, so that a value must not
// cost an allocation: texts are numbers of symbols in a list that many rows share.
package columns

import "overlay/internal/tables"

// Type is how a value is stored.
type Type uint8

// The types.
const (
	Int32 Type = iota
	Int64
	Float64
	Bool
	Text
)

// SQL is the type in the words of SQL.
func (t Type) SQL() string { return [...]string{"INTEGER", "BIGINT", "DOUBLE", "BOOLEAN", "TEXT"}[t] }

// Column is one quantity.
type Column struct {
	tables.Column
	Type   Type
	Null   bool // a row may be without a value
	Near   bool // values lie near those of the row before: written as differences
	Mixed  bool // values of many sizes, such as several quantities: written byte by byte, all lowest bytes first
	Rising bool // Near, and no value is below that of the row before, and none is null: ranges are found by search
}

// Data gives the values of a column. Which function is set follows from the type: Int for Int32, Int64 and Bool (0 or
// 1), Float for Float64; for Text Sym, or Str where every row has a text of its own. ok is false for null.
type Data struct {
	Int   func(row int) (v int64, ok bool)
	Float func(row int) (v float64, ok bool)
	Sym   func(row int) (sym uint32, ok bool) // index into Syms
	Syms  []string                            // no text occurs twice among those that a row has
	Str   func(row int) (s string, ok bool)
}

// Text is the value of a column of type Text.
func (d *Data) Text(row int) (string, bool) {
	if d.Sym == nil {
		return d.Str(row)
	}
	s, ok := d.Sym(row)
	if !ok {
		return "", false
	}
	return d.Syms[s], true
}

// Table is a list of rows: Data[i] has the values of Cols[i].
type Table struct {
	Name, About string
	Cols        []Column
	Data        []Data
	Rows        int
}

// Set is the tables of one trace, those of one rank of one run.
type Set struct {
	Run    string
	Rank   int64
	Tables []Table
}

// Keys are the columns that tell the sets apart. They are the names of folders where tables are files, and never columns
// of the files themselves.
var Keys = []Column{
	{Column: tables.Column{Name: "run", Unit: tables.Text, About: "name of the job, by default the folder of the input"}, Type: Text},
	{Column: tables.Column{Name: "rank", Unit: tables.ID, About: "of the process in its job"}, Type: Int64},
}

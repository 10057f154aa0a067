package sqlquery

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"

	"overlay/internal/limits"
	"overlay/internal/tables"
)

// Value is one value of a result: nil, int64, float64 or string.
type Value any

func valueOf(stmt *sqlite3.Stmt, i int) Value {
	switch stmt.ColumnType(i) {
	case sqlite3.INTEGER:
		return stmt.ColumnInt64(i)
	case sqlite3.FLOAT:
		return stmt.ColumnFloat(i)
	case sqlite3.TEXT:
		return stmt.ColumnText(i)
	case sqlite3.BLOB:
		return string(stmt.ColumnRawBlob(i))
	}
	return nil
}

// Encoder writes the rows of a result.
type Encoder interface {
	Begin(names []string) error
	Row(row []Value) error // the row may be changed afterwards
	End() error
}

// Formats are the names of the encoders.
var Formats = []string{"table", "csv", "json", "jsonl"}

// NewEncoder returns the encoder of a name of Formats. clean, if it is not nil, makes texts of a table and of CSV fit to be shown.
func NewEncoder(format string, w io.Writer, clean func(string) string) Encoder {
	if clean == nil {
		clean = func(s string) string { return s }
	}
	switch format {
	case "csv":
		return &csvEncoder{w: csv.NewWriter(w), clean: clean}
	case "json", "jsonl":
		return &jsonEncoder{w: w, list: format == "json"}
	}
	return &tableEncoder{w: w, clean: clean}
}

// show is a value as text; a missing one is empty. Fractions have as many digits as SQLite prints.
func show(v Value) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return tables.Number(v)
	case string:
		return v
	}
	return ""
}

type csvEncoder struct {
	w     *csv.Writer
	clean func(string) string
}

func (e *csvEncoder) Begin(names []string) error {
	fields := make([]string, len(names))
	for i, n := range names {
		fields[i] = e.clean(n)
	}
	return e.w.Write(fields)
}

func (e *csvEncoder) Row(row []Value) error {
	fields := make([]string, len(row))
	for i, v := range row {
		fields[i] = e.clean(show(v))
	}
	return e.w.Write(fields)
}

func (e *csvEncoder) End() error {
	e.w.Flush()
	return e.w.Error()
}

// jsonEncoder writes an object a row: in a list, or one a line.
type jsonEncoder struct {
	w     io.Writer
	list  bool
	names []string // as JSON
	rows  int
}

func (e *jsonEncoder) Begin(names []string) error {
	for _, n := range names {
		e.names = append(e.names, quoted(n))
	}
	return nil
}

func (e *jsonEncoder) Row(row []Value) error {
	var b strings.Builder
	switch {
	case e.list && e.rows == 0:
		b.WriteString("[\n")
	case e.list:
		b.WriteString(",\n")
	}
	e.rows++
	b.WriteByte('{')
	for i, v := range row {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(e.names[i] + ": ")
		switch v := v.(type) {
		case nil:
			b.WriteString("null")
		case string:
			b.WriteString(quoted(v))
		case float64:
			if math.IsInf(v, 0) || math.IsNaN(v) { // JSON has no such number
				b.WriteString("null")
				break
			}
			b.WriteString(show(v))
		default:
			b.WriteString(show(v))
		}
	}
	b.WriteByte('}')
	if !e.list {
		b.WriteByte('\n')
	}
	_, err := io.WriteString(e.w, b.String())
	return err
}

func (e *jsonEncoder) End() error {
	end := ""
	switch {
	case e.list && e.rows == 0:
		end = "[]\n"
	case e.list:
		end = "\n]\n"
	}
	_, err := io.WriteString(e.w, end)
	return err
}

func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		panic("sqlquery: internal error: a string without JSON form")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// widest is how many characters a text has in a table: kernels made from templates have names of 1,500.
const widest = 100

// tableEncoder writes columns for people: numbers to the right, texts to the left and not without end.
type tableEncoder struct {
	w     io.Writer
	clean func(string) string
	rows  [][]string // the names first
	right []bool     // per column: it has numbers and no texts
	held  int        // bytes, about
}

// errHeld is that a table is too long to be held.
var errHeld = fmt.Errorf("a table of more than %s cannot be laid out: ask for fewer rows, or for --format csv or jsonl, which come row by row", tables.FormatMegabytes(limits.QueryHeld, 0))

func (e *tableEncoder) cell(s string) string {
	s = e.clean(s)
	if utf8.RuneCountInString(s) > widest {
		s = string([]rune(s)[:widest-1]) + "…"
	}
	return s
}

func (e *tableEncoder) Begin(names []string) error {
	row := make([]string, len(names))
	e.right = make([]bool, len(names))
	for i, n := range names {
		row[i], e.right[i] = e.cell(n), true
	}
	e.rows = append(e.rows, row)
	return nil
}

func (e *tableEncoder) Row(row []Value) error {
	cells := make([]string, len(row))
	for i, v := range row {
		cells[i] = e.cell(show(v))
		if _, text := v.(string); text {
			e.right[i] = false
		}
		e.held += len(cells[i]) + 16
	}
	if e.held > limits.QueryHeld {
		return errHeld
	}
	e.rows = append(e.rows, cells)
	return nil
}

func (e *tableEncoder) End() error {
	width := make([]int, len(e.right))
	for _, row := range e.rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	rule := make([]string, len(width))
	for i, n := range width {
		rule[i] = strings.Repeat("-", n)
	}
	var line strings.Builder
	for _, row := range slices.Insert(e.rows, 1, rule) {
		line.Reset()
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if e.right[i] {
				cell = pad + cell
			} else {
				cell += pad
			}
			line.WriteString(cell + "  ")
		}
		if _, err := io.WriteString(e.w, strings.TrimRight(line.String(), " ")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

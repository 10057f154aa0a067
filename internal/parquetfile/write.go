// Package parquetfile writes tables as Parquet files and reads them back. It knows columns and nothing of what is in
// them.
//
// Encodings: texts by dictionary; integers that lie near each other as differences (DELTA_BINARY_PACKED), others plain;
// pages compressed by zstd level 1; groups of 128 Ki rows. Times are plain INT64: engines read timestamps of ns in different
// ways. The same table gives the same bytes.
package parquetfile

import (
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"overlay/internal/columns"
)

// Options say how a file is written.
type Options struct {
	Schema  string // kept as the metadata overlay.schema
	Version string // of the program, kept as created_by
	Compat  bool   // for old readers: plain encodings and snappy
}

// The keys of the metadata of a file.
const (
	keySchema = "overlay.schema"
	keyAbout  = "overlay.about"
)

// rowsPerGroup bounds the memory of a writer and is the unit that readers skip or share out.
const rowsPerGroup = 128 << 10

// batch is how many values go to the library at once.
const batch = 4096

// Write writes a table.
func Write(w io.Writer, t *columns.Table, o Options) error {
	var codec compress.Codec = &zstd.Codec{Level: zstd.SpeedFastest}
	if o.Compat {
		codec = &snappy.Codec{}
	}
	out := parquet.NewWriter(w, parquet.NewSchema(t.Name, parquet.SchemaOf(reflect.New(rowType(t, o.Compat)).Interface())),
		parquet.Compression(codec), parquet.CreatedBy("overlay", o.Version, ""),
		parquet.KeyValueMetadata(keySchema, o.Schema), parquet.KeyValueMetadata(keyAbout, t.About))
	values := make([]parquet.Value, 0, batch)
	for from := 0; from < t.Rows; from += rowsPerGroup {
		to := min(from+rowsPerGroup, t.Rows)
		for c, col := range out.ColumnWriters() {
			if err := writeColumn(col, t, c, from, to, values); err != nil {
				return err
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return out.Close()
}

// rowType is a struct that the library turns into a schema: in its own words columns would be sorted by name.
func rowType(t *columns.Table, compat bool) reflect.Type {
	types := [...]reflect.Type{columns.Int32: reflect.TypeFor[int32](), columns.Int64: reflect.TypeFor[int64](), columns.Float64: reflect.TypeFor[float64](),
		columns.Bool: reflect.TypeFor[bool](), columns.Text: reflect.TypeFor[string]()}
	fields := make([]reflect.StructField, len(t.Cols))
	for i := range t.Cols {
		c := &t.Cols[i]
		tag := c.Name
		if c.Null {
			tag += ",optional"
		}
		switch {
		case c.Type == columns.Text && (t.Data == nil || t.Data[i].Str == nil):
			tag += ",dict"
		case c.Near && !compat:
			tag += ",delta"
		}
		fields[i] = reflect.StructField{Name: "F" + strconv.Itoa(i), Type: types[c.Type], Tag: reflect.StructTag(`parquet:"` + tag + `"`)}
	}
	return reflect.StructOf(fields)
}

func writeColumn(w *parquet.ColumnWriter, t *columns.Table, c, from, to int, values []parquet.Value) error {
	d, null := &t.Data[c], t.Cols[c].Null
	level := 0
	if null {
		level = 1
	}
	value := valueOf(t.Cols[c].Type, d)
	for from < to {
		values = values[:0]
		for end := min(to, from+batch); from < end; from++ {
			v, ok := value(from)
			switch {
			case ok:
				values = append(values, v.Level(0, level, c))
			case null:
				values = append(values, parquet.Value{}.Level(0, 0, c))
			default:
				panic("parquetfile: internal error: no value in " + t.Name + "." + t.Cols[c].Name)
			}
		}
		if _, err := w.WriteRowValues(values); err != nil {
			return err
		}
	}
	return nil
}

// valueOf gives the values of a column in the form of the library.
func valueOf(typ columns.Type, d *columns.Data) func(row int) (parquet.Value, bool) {
	switch typ {
	case columns.Int32:
		return func(row int) (parquet.Value, bool) {
			v, ok := d.Int(row)
			return parquet.Int32Value(int32(v)), ok
		}
	case columns.Int64:
		return func(row int) (parquet.Value, bool) {
			v, ok := d.Int(row)
			return parquet.Int64Value(v), ok
		}
	case columns.Bool:
		return func(row int) (parquet.Value, bool) {
			v, ok := d.Int(row)
			return parquet.BooleanValue(v != 0), ok
		}
	case columns.Float64:
		return func(row int) (parquet.Value, bool) {
			v, ok := d.Float(row)
			return parquet.DoubleValue(v), ok
		}
	}
	if d.Sym == nil {
		return func(row int) (parquet.Value, bool) {
			s, ok := d.Str(row)
			return textValue(s), ok
		}
	}
	made := make([]parquet.Value, len(d.Syms)) // each text is made once
	return func(row int) (parquet.Value, bool) {
		s, ok := d.Sym(row)
		if !ok {
			return parquet.Value{}, false
		}
		if made[s].IsNull() {
			made[s] = textValue(d.Syms[s])
		}
		return made[s], true
	}
}

// textValue is a text as the format wants it: engines refuse what is no UTF-8.
func textValue(s string) parquet.Value {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	return parquet.ValueOf(s)
}

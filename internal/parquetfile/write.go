// Package parquetfile writes tables as Parquet files and reads them back. It knows columns and nothing of what is in
// them.
//
// Encodings: texts by dictionary; integers that lie near each other as differences (DELTA_BINARY_PACKED), those of many sizes byte by byte
// (BYTE_STREAM_SPLIT), others plain;
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

// creator is who signs the files.
const creator = "overlay"

// rowsPerGroup bounds the memory of a writer and is the unit that readers skip or share out.
const rowsPerGroup = 128 << 10

// batch is how many values go to the library at once.
const batch = 4096

// Write writes a table.
func Write(w io.Writer, t *columns.Table, o Options) error {
	var codec compress.Codec = zstdCodec{}
	if o.Compat {
		codec = &snappy.Codec{}
	}
	options := []parquet.WriterOption{parquet.NewSchema(t.Name, parquet.SchemaOf(reflect.New(rowType(t, o.Compat)).Interface())),
		parquet.Compression(codec), parquet.CreatedBy(creator, o.Version, ""),
		parquet.KeyValueMetadata(keySchema, o.Schema), parquet.KeyValueMetadata(keyAbout, t.About)}
	for i := range t.Cols {
		if t.Cols[i].Type == columns.Text { // nobody asks for a range of names, and names are long
			options = append(options, parquet.SkipPageBounds(t.Cols[i].Name), parquet.SkipPageStatistics(t.Cols[i].Name))
		}
	}
	out := parquet.NewWriter(w, options...)
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
		case c.Mixed && !compat:
			tag += ",split"
		}
		fields[i] = reflect.StructField{Name: "F" + strconv.Itoa(i), Type: types[c.Type], Tag: reflect.StructTag(`parquet:"` + tag + `"`)}
	}
	return reflect.StructOf(fields)
}

// writeColumn hands rows of a column to the library, a batch at a time.
func writeColumn(w *parquet.ColumnWriter, t *columns.Table, c, from, to int, values []parquet.Value) error {
	fill := filler(t, c)
	for from < to {
		end := min(to, from+batch)
		values = values[:end-from]
		fill(from, values)
		if _, err := w.WriteRowValues(values); err != nil {
			return err
		}
		from = end
	}
	return nil
}

// filler returns what fills values with rows of a column from a row on.
func filler(t *columns.Table, c int) func(from int, values []parquet.Value) {
	d, null := &t.Data[c], t.Cols[c].Null
	// level says whether a value is there. A column that always has one needs no levels.
	level := func(v *parquet.Value, ok bool) {
		switch {
		case null && ok:
			v.SetDefinitionLevel(1)
		case null:
			*v = parquet.Value{}
		case !ok:
			panic("parquetfile: internal error: no value in " + t.Name + "." + t.Cols[c].Name)
		}
	}
	switch typ := t.Cols[c].Type; {
	case typ == columns.Int32:
		return func(from int, values []parquet.Value) {
			for i := range values {
				v, ok := d.Int(from + i)
				values[i] = parquet.Int32Value(int32(v))
				if null || !ok {
					level(&values[i], ok)
				}
			}
		}
	case typ == columns.Int64:
		return func(from int, values []parquet.Value) {
			for i := range values {
				v, ok := d.Int(from + i)
				values[i] = parquet.Int64Value(v)
				if null || !ok {
					level(&values[i], ok)
				}
			}
		}
	case typ == columns.Bool:
		return func(from int, values []parquet.Value) {
			for i := range values {
				v, ok := d.Int(from + i)
				values[i] = parquet.BooleanValue(v != 0)
				level(&values[i], ok)
			}
		}
	case typ == columns.Float64:
		return func(from int, values []parquet.Value) {
			for i := range values {
				v, ok := d.Float(from + i)
				values[i] = parquet.DoubleValue(v)
				level(&values[i], ok)
			}
		}
	case d.Sym == nil:
		return func(from int, values []parquet.Value) {
			for i := range values {
				s, ok := d.Str(from + i)
				values[i] = textValue(s)
				level(&values[i], ok)
			}
		}
	}
	made := make([]parquet.Value, len(d.Syms)) // each text is made once
	return func(from int, values []parquet.Value) {
		for i := range values {
			s, ok := d.Sym(from + i)
			if !ok {
				level(&values[i], false)
				continue
			}
			if made[s].IsNull() {
				made[s] = textValue(d.Syms[s])
				level(&made[s], true)
			}
			values[i] = made[s]
		}
	}
}

// textValue is a text as the format wants it: engines refuse what is no UTF-8.
func textValue(s string) parquet.Value {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	return parquet.ValueOf(s)
}

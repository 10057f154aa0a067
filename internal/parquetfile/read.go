package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"

	"overlay/internal/columns"
	"overlay/internal/limits"
)

// Read reads the columns of a file that a table has, into memory: form says what the table is called, its columns and
// their types. Columns that the file has besides are left out; one that it lacks is an error that names the schemas.
// What is not a table of that schema, or is broken, is an error too, and so is a file that unpacks to far more than tables of traces do.
func Read(r io.ReaderAt, size int64, form columns.Table, schema string) (t columns.Table, err error) {
	defer func() {
		if x := recover(); x != nil { // the library panics on some broken files
			err = fmt.Errorf("broken Parquet: %v", x)
		}
	}()
	f, err := parquet.OpenFile(r, size)
	if err != nil {
		return t, fmt.Errorf("broken Parquet, or none: %w", err)
	}
	found, ok := f.Lookup(keySchema)
	if !ok {
		return t, errors.New("a Parquet file that was not made by 'overlay export'")
	}
	room, buf := limits.TableAnyway+limits.TableRatio*size, make([]parquet.Value, 256)
	t = columns.Table{Name: form.Name, About: form.About, Cols: form.Cols, Data: make([]columns.Data, len(form.Cols)), Rows: int(f.NumRows())}
	for i := range form.Cols {
		leaf, ok := f.Schema().Lookup(form.Cols[i].Name)
		if !ok && form.Cols[i].Null {
			t.Data[i] = empty(form.Cols[i].Type)
			continue
		}
		if !ok {
			return t, fmt.Errorf("no column %s: the file is of schema %s, this is %s; export the trace again", form.Cols[i].Name, found, schema)
		}
		if got, want := leaf.Node.Type().Kind(), kindOf(form.Cols[i].Type); got != want {
			return t, fmt.Errorf("column %s has the type %s instead of %s: the file is of schema %s, this is %s; export the trace again", form.Cols[i].Name, got, want, found, schema)
		}
		if t.Data[i], err = readColumn(f, leaf.ColumnIndex, &form.Cols[i], t.Rows, buf, &room); err != nil {
			return t, err
		}
	}
	return t, nil
}

// Own reports whether a file is one that Write has made, of whatever schema.
func Own(r io.ReaderAt, size int64) (own bool) {
	defer func() {
		if recover() != nil { // the library panics on some broken files
			own = false
		}
	}()
	f, err := parquet.OpenFile(r, size)
	if err == nil {
		_, own = f.Lookup(keySchema)                                        // other writers keep it when they change a table
		own = own && strings.HasPrefix(f.Metadata().CreatedBy, creator+" ") // and sign with their own name
	}
	return own
}

func kindOf(t columns.Type) parquet.Kind {
	return [...]parquet.Kind{columns.Int32: parquet.Int32, columns.Int64: parquet.Int64, columns.Float64: parquet.Double, columns.Bool: parquet.Boolean, columns.Text: parquet.ByteArray}[t]
}

// empty is a column of nulls.
func empty(t columns.Type) columns.Data {
	switch t {
	case columns.Float64:
		return columns.Data{Float: func(int) (float64, bool) { return 0, false }}
	case columns.Text:
		return columns.Data{Sym: func(int) (uint32, bool) { return 0, false }}
	}
	return columns.Data{Int: func(int) (int64, bool) { return 0, false }}
}

// values are what was read of one column.
type values struct {
	ints    []int64
	floats  []float64
	syms    []uint32
	null    []bool // nil as long as there is none
	list    []string
	of      map[string]uint32
	ofGroup []uint32 // of the texts of the row group that is read: 1 + index into list
	texts   int64    // bytes of list
}

// held is about how much memory the values take, bytes.
func (v *values) held() int64 {
	return int64(8*len(v.ints)+8*len(v.floats)+4*len(v.syms)+len(v.null)+32*len(v.list)) + v.texts
}

// readColumn reads the values of a column and takes their memory from room.
func readColumn(f *parquet.File, column int, c *columns.Column, rows int, buf []parquet.Value, room *int64) (columns.Data, error) {
	v, n := &values{}, 0
	switch fit := min(int64(rows), *room/8); c.Type { // what a broken file says of its rows is not believed
	case columns.Text:
		v.syms, v.of = make([]uint32, 0, fit), map[string]uint32{}
	case columns.Float64:
		v.floats = make([]float64, 0, fit)
	default:
		v.ints = make([]int64, 0, fit)
	}
	for g, group := range f.RowGroups() {
		v.ofGroup = v.ofGroup[:0]
		pages := group.ColumnChunks()[column].Pages()
		for {
			p, err := pages.ReadPage()
			if err == io.EOF {
				break
			}
			if err == nil {
				var got int
				got, err = v.addPage(p, buf, c.Type, *room)
				n += got
				parquet.Release(p)
			}
			if err != nil {
				pages.Close()
				return columns.Data{}, fmt.Errorf("broken Parquet in column %s, row group %d: %w", c.Name, g, err)
			}
		}
		pages.Close()
	}
	*room -= v.held()
	if n != rows {
		return columns.Data{}, fmt.Errorf("broken Parquet: column %s has %d rows of %d", c.Name, n, rows)
	}
	return v.data(c.Type), nil
}

// errUnpacks is that a file holds far more than its size lets expect.
var errUnpacks = errors.New("the table unpacks to more than its file can hold: export the trace again")

func (v *values) addPage(p parquet.Page, buf []parquet.Value, t columns.Type, room int64) (n int, err error) {
	if d := p.Dictionary(); t == columns.Text && d != nil && p.NumNulls() == 0 && v.null == nil {
		data := p.Data()
		if n = v.addIndexes(d, data.Int32()); v.held() > room {
			return n, errUnpacks
		}
		return n, nil
	}
	if data := p.Data(); t == columns.Int64 && p.Dictionary() == nil && p.NumNulls() == 0 && v.null == nil {
		if v.ints = append(v.ints, data.Int64()...); v.held() > room {
			return int(p.NumValues()), errUnpacks
		}
		return int(p.NumValues()), nil
	}
	r := p.Values()
	for {
		got, err := r.ReadValues(buf)
		for i := range buf[:got] {
			v.add(&buf[i], t)
		}
		n += got
		if v.held() > room {
			return n, errUnpacks
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// addIndexes adds texts that a page names by their places in the dictionary of its row group.
func (v *values) addIndexes(d parquet.Dictionary, list []int32) int {
	if len(v.ofGroup) == 0 {
		v.ofGroup = append(v.ofGroup, make([]uint32, d.Len())...)
	}
	for _, i := range list {
		if v.ofGroup[i] == 0 {
			x := d.Index(i)
			v.ofGroup[i] = 1 + v.sym(x.ByteArray())
		}
		v.syms = append(v.syms, v.ofGroup[i]-1)
	}
	return len(list)
}

func (v *values) add(x *parquet.Value, t columns.Type) {
	null := x.IsNull()
	if null && v.null == nil {
		v.null = make([]bool, max(len(v.ints), len(v.floats), len(v.syms)))
	}
	if v.null != nil {
		v.null = append(v.null, null)
	}
	switch t {
	case columns.Text:
		var s uint32
		if !null {
			s = v.sym(x.ByteArray())
		}
		v.syms = append(v.syms, s)
	case columns.Float64:
		var f float64
		if !null {
			f = x.Double()
		}
		v.floats = append(v.floats, f)
	default:
		var n int64
		switch {
		case null:
		case t == columns.Bool:
			if x.Boolean() {
				n = 1
			}
		case t == columns.Int32:
			n = int64(x.Int32())
		default:
			n = x.Int64()
		}
		v.ints = append(v.ints, n)
	}
}

func (v *values) sym(b []byte) uint32 {
	if s, ok := v.of[string(b)]; ok {
		return s
	}
	s := uint32(len(v.list))
	v.list = append(v.list, string(b))
	v.texts += int64(len(b))
	v.of[v.list[s]] = s
	return s
}

func (v *values) data(t columns.Type) columns.Data {
	has := func(row int) bool { return v.null == nil || !v.null[row] }
	switch t {
	case columns.Float64:
		return columns.Data{Float: func(row int) (float64, bool) { return v.floats[row], has(row) }}
	case columns.Text:
		return columns.Data{Syms: v.list, Sym: func(row int) (uint32, bool) { return v.syms[row], has(row) }}
	}
	return columns.Data{Int: func(row int) (int64, bool) { return v.ints[row], has(row) }}
}

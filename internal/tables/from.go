package tables

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
)

// From reads the tables of a value: a struct is a table of one row, a list of structs one of many. Nil gives none.
//
// A field is a column. Its name is that of the JSON; the tag `unit` says what its number is, which every number needs;
// `about` says what it means. A struct in a field gives columns with the name of the field before theirs; where they
// have the unit "*" it is that of the field. With the tag `table` it is a table of its own, of that name.
//
// Lists of structs and maps in a field are tables below: a row an entry, after the columns of the outer row that have
// the tag `key`. They are named after the outer table and the field, or by the tag `table`; "-" leaves a field out. The
// keys of a map are a column named by the tag `entry`.
func From(name, about string, v any) []Table {
	x := reflect.ValueOf(v)
	switch {
	case !x.IsValid() || (x.Kind() == reflect.Pointer || x.Kind() == reflect.Slice) && x.IsNil():
		return nil
	case x.Kind() == reflect.Pointer:
		x = x.Elem()
	}
	l := level{name: name, about: about, of: x.Type()}
	if x.Kind() == reflect.Slice {
		l.of = l.of.Elem()
	}
	l.rows = rowsOf(x, l.of)
	var out []Table
	l.add(&out)
	return out
}

// rows are the rows of a table: how many, and row i.
type rows struct {
	n  int
	at func(i int) reflect.Value
}

// level is one table in the making with what lies around it.
type level struct {
	name, about string
	of          reflect.Type // of a row
	rows        rows

	keys  []Column                    // of the tables around it
	outer func(i int, values []Value) // fills them for row i
}

// leaf is a field that holds one value.
type leaf struct {
	Column
	index []int
	key   bool
}

// below is a field that holds a table.
type below struct {
	name, about string
	index       []int
	of          reflect.Type
}

// add appends the table of a level, if it has columns of its own, and those below it.
func (l *level) add(out *[]Table) {
	leaves, nested := fields(l.of, l.name, "", nil, "")
	if len(leaves) > 0 {
		cols := slices.Clone(l.keys)
		for _, f := range leaves {
			cols = append(cols, f.Column)
		}
		n := len(l.keys)
		*out = append(*out, Table{Name: l.name, About: l.about, Cols: cols, Rows: l.rows.n, Row: func(i int, values []Value) {
			if n > 0 {
				l.outer(i, values)
			}
			row := l.rows.at(i)
			for k := range leaves {
				values[n+k] = valueOf(row.FieldByIndex(leaves[k].index))
			}
		}})
	}
	var keys []leaf
	for _, f := range leaves {
		if f.key {
			keys = append(keys, f)
		}
	}
	for _, b := range nested {
		l.descend(b, keys).add(out)
	}
}

// descend makes the level of a field. keys are the columns that tell the rows of l apart.
func (l *level) descend(b below, keys []leaf) *level {
	c := &level{name: b.name, about: b.about, of: b.of, keys: slices.Clone(l.keys)}
	for _, k := range keys {
		c.keys = append(c.keys, k.Column)
	}
	parts := make([]rows, l.rows.n)  // the rows of c below each row of l
	first := make([]int, l.rows.n+1) // rows of c before those
	for i := range parts {
		parts[i] = rowsOf(l.rows.at(i).FieldByIndex(b.index), b.of)
		first[i+1] = first[i] + parts[i].n
	}
	row := func(i int) int { return sort.SearchInts(first, i+1) - 1 } // of l, around row i of c
	c.rows = rows{first[len(parts)], func(i int) reflect.Value { r := row(i); return parts[r].at(i - first[r]) }}
	n := len(l.keys)
	c.outer = func(i int, values []Value) {
		r := row(i)
		if n > 0 {
			l.outer(r, values)
		}
		for k := range keys {
			values[n+k] = valueOf(l.rows.at(r).FieldByIndex(keys[k].index))
		}
	}
	return c
}

// fields lists what a struct holds, in its order.
func fields(t reflect.Type, table, prefix string, index []int, unit string) (leaves []leaf, nested []below) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		own := f.Tag.Get("table")
		if !f.IsExported() || name == "-" || own == "-" {
			continue
		}
		at := append(slices.Clone(index), i)
		u := f.Tag.Get("unit")
		if u == "*" {
			u = unit
		}
		b := below{name: own, about: f.Tag.Get("about"), index: at, of: f.Type}
		if own == "" {
			b.name = table + "_" + prefix + name
		}
		switch k := f.Type.Kind(); {
		case k == reflect.Struct && own != "":
			nested = append(nested, b)
		case k == reflect.Struct:
			if name != "" {
				name += "_"
			}
			l, n := fields(f.Type, table, prefix+name, at, u)
			leaves, nested = append(leaves, l...), append(nested, n...)
		case k == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct, k == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			b.of = f.Type.Elem()
			nested = append(nested, b)
		case k == reflect.Map:
			b.of = entryType(f)
			nested = append(nested, b)
		case k == reflect.Slice && f.Type.Elem().Kind() == reflect.Int:
			b.of = numberType(f)
			nested = append(nested, b)
		default:
			leaves = append(leaves, leaf{Column{prefix + name, unitOf(f, u), f.Tag.Get("about")}, at, f.Tag.Get("key") != ""})
		}
	}
	return leaves, nested
}

// unitOf reads the unit of a field. A number without one is a bug.
func unitOf(f reflect.StructField, unit string) Unit {
	switch k := f.Type.Kind(); {
	case k == reflect.String, k == reflect.Slice && f.Type.Elem().Kind() == reflect.String:
		return Text
	case k == reflect.Bool:
		return Flag
	}
	u := slices.Index(unitNames[:], unit)
	if u <= int(Text) {
		panic(fmt.Sprintf("tables: internal error: field %s has the unit %q", f.Name, unit))
	}
	return Unit(u)
}

// entryType is the row of a map: its key and its number, which is named after its unit.
func entryType(f reflect.StructField) reflect.Type {
	unit := f.Tag.Get("unit")
	return reflect.StructOf([]reflect.StructField{
		{Name: "Key", Type: reflect.TypeFor[string](), Tag: reflect.StructTag(fmt.Sprintf("json:%q", f.Tag.Get("entry")))},
		{Name: "Value", Type: f.Type.Elem(), Tag: reflect.StructTag(fmt.Sprintf("json:%q unit:%q", unit, unit))}})
}

// numberType is the row of a list of numbers.
func numberType(f reflect.StructField) reflect.Type {
	return reflect.StructOf([]reflect.StructField{
		{Name: "Value", Type: f.Type.Elem(), Tag: reflect.StructTag(fmt.Sprintf("json:%q unit:%q", f.Tag.Get("entry"), f.Tag.Get("unit")))}})
}

// rowsOf gives the rows that a field holds; those of a map by its keys.
func rowsOf(v reflect.Value, of reflect.Type) rows {
	switch k := v.Kind(); {
	case k == reflect.Pointer && v.IsNil():
		return rows{}
	case k == reflect.Pointer:
		return rows{1, func(int) reflect.Value { return v.Elem() }}
	case k == reflect.Struct:
		return rows{1, func(int) reflect.Value { return v }}
	case k == reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		return rows{len(keys), func(i int) reflect.Value { return rowWith(of, keys[i], v.MapIndex(keys[i])) }}
	case v.Type().Elem().Kind() != reflect.Struct:
		return rows{v.Len(), func(i int) reflect.Value { return rowWith(of, v.Index(i)) }}
	}
	return rows{v.Len(), v.Index}
}

// rowWith makes a row of its fields.
func rowWith(of reflect.Type, fields ...reflect.Value) reflect.Value {
	row := reflect.New(of).Elem()
	for i, f := range fields {
		row.Field(i).Set(f)
	}
	return row
}

// valueOf reads one cell.
func valueOf(v reflect.Value) Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return Value{}
		}
		return valueOf(v.Elem())
	case reflect.String:
		return Str(v.String())
	case reflect.Float64:
		return Float(v.Float())
	case reflect.Bool:
		if v.Bool() {
			return Int(1)
		}
		return Int(0)
	case reflect.Slice:
		return List(v.Interface().([]string))
	}
	return Int(v.Int())
}

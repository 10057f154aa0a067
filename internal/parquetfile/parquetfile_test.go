package parquetfile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"overlay/internal/columns"
	"overlay/internal/tables"
)

func column(name string, t columns.Type, null, near bool) columns.Column {
	return columns.Column{Column: tables.Column{Name: name}, Type: t, Null: null, Near: near}
}

// every is a table with each type, with and without nulls, of n rows.
func every(n int) columns.Table {
	syms := []string{"", "a", "längst", "broken \xff", strings.Repeat("x", 3000)}
	odd := func(f func(i int) int64) func(int) (int64, bool) {
		return func(i int) (int64, bool) { return f(i), i%3 != 1 }
	}
	return columns.Table{Name: "every", About: "all types", Rows: n,
		Cols: []columns.Column{column("z32", columns.Int32, false, true), column("a64", columns.Int64, false, true), column("n64", columns.Int64, true, false), column("n32", columns.Int32, true, false),
			column("f", columns.Float64, false, false), column("nf", columns.Float64, true, false), column("b", columns.Bool, false, false),
			column("s", columns.Text, false, false), column("ns", columns.Text, true, false), column("own", columns.Text, true, false)},
		Data: []columns.Data{
			{Int: func(i int) (int64, bool) { return int64(i), true }},
			{Int: func(i int) (int64, bool) { return 1<<62 + int64(i)*7 - int64(i%5), true }},
			{Int: odd(func(i int) int64 { return -int64(i) << 40 })},
			{Int: odd(func(i int) int64 { return -int64(i) })},
			{Float: func(i int) (float64, bool) { return float64(i) / 3, true }},
			{Float: func(i int) (float64, bool) { return float64(i), i%2 == 0 }},
			{Int: func(i int) (int64, bool) { return int64(i & 1), true }},
			{Syms: syms, Sym: func(i int) (uint32, bool) { return uint32(i % len(syms)), true }},
			{Syms: syms, Sym: func(i int) (uint32, bool) { return uint32(i % len(syms)), i%7 != 0 }},
			{Str: func(i int) (string, bool) { return fmt.Sprint("row ", i), i%4 != 0 }},
		}}
}

func write(t testing.TB, table *columns.Table, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, table, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRoundTrip writes tables of all sizes around a batch and a group, and reads them back.
func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, batch - 1, batch, batch + 1, rowsPerGroup + 1} {
		for _, compat := range []bool{false, true} {
			want := every(n)
			src := write(t, &want, Options{Schema: "s/1", Compat: compat})
			got, err := Read(bytes.NewReader(src), int64(len(src)), want, "s/1")
			if err != nil {
				t.Fatal(err)
			}
			if got.Rows != n {
				t.Fatalf("%d rows of %d", got.Rows, n)
			}
			for c := range want.Cols {
				for i := range n {
					if a, b := cell(&want, c, i), cell(&got, c, i); a != b {
						t.Fatalf("%d rows, %s of row %d: %q, want %q", n, want.Cols[c].Name, i, b, a)
					}
				}
			}
		}
	}
}

func cell(t *columns.Table, c, i int) string {
	d := &t.Data[c]
	switch t.Cols[c].Type {
	case columns.Text:
		s, ok := d.Text(i)
		if !ok {
			s = ""
		}
		return fmt.Sprint(strings.ToValidUTF8(s, "\ufffd"), ok)
	case columns.Float64:
		v, ok := d.Float(i)
		if !ok {
			v = 0
		}
		return fmt.Sprint(v, ok)
	}
	v, ok := d.Int(i)
	if !ok {
		v = 0
	}
	return fmt.Sprint(v, ok)
}

// TestForm looks at a file as other readers do: names in order, types, no logical types that engines read in different
// ways, encodings.
func TestForm(t *testing.T) {
	table := every(10)
	src := write(t, &table, Options{Schema: "s/1", Version: "v9"})
	f, err := parquet.OpenFile(bytes.NewReader(src), int64(len(src)))
	if err != nil {
		t.Fatal(err)
	}
	want := `message every {
	required int32 z32 (INT(32,true));
	required int64 a64 (INT(64,true));
	optional int64 n64 (INT(64,true));
	optional int32 n32 (INT(32,true));
	required double f;
	optional double nf;
	required boolean b;
	required binary s (STRING);
	optional binary ns (STRING);
	optional binary own (STRING);
}`
	if got := f.Schema().String(); got != want {
		t.Errorf("schema:\n%s\nwant\n%s", got, want)
	}
	for key, want := range map[string]string{keySchema: "s/1", keyAbout: "all types"} {
		if got, _ := f.Lookup(key); got != want {
			t.Errorf("%s: %q", key, got)
		}
	}
	if got := f.Metadata().CreatedBy; !strings.HasPrefix(got, "overlay version v9") {
		t.Errorf("created by %q", got)
	}
	encodings := fmt.Sprint(f.Metadata().RowGroups[0].Columns[0].MetaData.Encoding, f.Metadata().RowGroups[0].Columns[7].MetaData.Encoding)
	if !strings.Contains(encodings, "DELTA_BINARY_PACKED") || !strings.Contains(encodings, "RLE_DICTIONARY") {
		t.Errorf("encodings %s", encodings)
	}
	if again := write(t, &table, Options{Schema: "s/1", Version: "v9"}); !bytes.Equal(src, again) {
		t.Error("the same table gives other bytes")
	}
}

// TestOtherSchema reads files of other versions: columns that are missing or of another type say so, further ones are
// left out, and a missing one that may be null is null.
func TestOtherSchema(t *testing.T) {
	table := every(3)
	src := write(t, &table, Options{Schema: "s/2"})
	read := func(form columns.Table) (columns.Table, error) {
		return Read(bytes.NewReader(src), int64(len(src)), form, "s/1")
	}
	form := columns.Table{Name: "every", Cols: []columns.Column{table.Cols[1], column("later", columns.Text, true, false), column("later2", columns.Int64, true, false)}}
	got, err := read(form)
	if err != nil || got.Rows != 3 {
		t.Fatal(err)
	}
	if _, ok := got.Data[1].Text(2); ok {
		t.Error("a column that is not there has a value")
	}
	if _, ok := got.Data[2].Int(2); ok {
		t.Error("a column that is not there has a value")
	}
	for _, c := range []struct {
		col  columns.Column
		want string
	}{
		{column("gone", columns.Int64, false, false), "no column gone: the file is of schema s/2, this is s/1"},
		{column("s", columns.Int64, false, false), "column s has the type BYTE_ARRAY instead of INT64: the file is of schema s/2, this is s/1"},
	} {
		if _, err := read(columns.Table{Name: "every", Cols: []columns.Column{c.col}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v", err)
		}
	}
}

// TestDamage flips and cuts bytes: an error or the same rows, never a panic.
func TestDamage(t *testing.T) {
	table := every(300)
	src := write(t, &table, Options{Schema: "s/1"})
	for i := 0; i < len(src); i += 13 {
		bad := bytes.Clone(src)
		bad[i] ^= 0x5a
		Read(bytes.NewReader(bad), int64(len(bad)), table, "s/1")
		Read(bytes.NewReader(src[:i]), int64(i), table, "s/1")
	}
	for _, bad := range [][]byte{nil, []byte("PAR1"), []byte("no table at all, just some text"), src[:len(src)/2]} {
		if _, err := Read(bytes.NewReader(bad), int64(len(bad)), table, "s/1"); err == nil || !strings.Contains(err.Error(), "broken Parquet") {
			t.Errorf("%v", err)
		}
	}
}

// TestOwn knows files of Write from files of other writers, also where these kept the metadata.
func TestOwn(t *testing.T) {
	table := every(3)
	src := write(t, &table, Options{Schema: "s/1", Version: "v9"})
	type row struct{ A int64 }
	other := func(options ...parquet.WriterOption) []byte {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[row](&b, options...)
		w.Write([]row{{1}})
		w.Close()
		return b.Bytes()
	}
	for i, c := range []struct {
		src  []byte
		want bool
	}{{src, true}, {src[:len(src)/2], false}, {nil, false}, {other(), false}, {other(parquet.KeyValueMetadata(keySchema, "s/1")), false}, {other(parquet.CreatedBy("overlay", "v9", "")), false}} {
		if got := Own(bytes.NewReader(c.src), int64(len(c.src))); got != c.want {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
}

// TestUnpacks reads a file of some kB that unpacks to 80 MB of one number.
func TestUnpacks(t *testing.T) {
	const rows = 10_000_000
	table := columns.Table{Name: "bomb", Cols: []columns.Column{column("n", columns.Int64, false, false)}, Rows: rows,
		Data: []columns.Data{{Int: func(int) (int64, bool) { return 7, true }}}}
	src := write(t, &table, Options{Schema: "s/1"})
	if len(src) > 80_000 {
		t.Fatalf("no bomb: %d bytes", len(src))
	}
	if _, err := Read(bytes.NewReader(src), int64(len(src)), table, "s/1"); err == nil || !strings.Contains(err.Error(), "unpacks to more than its file can hold") {
		t.Error(err)
	}
}

// TestDecimals: databases write 0.01 as a decimal number, which is a whole one with a place for the point.
func TestDecimals(t *testing.T) {
	schema := parquet.NewSchema("t", parquet.Group{"a": parquet.Decimal(3, 9, parquet.Int32Type), "b": parquet.Optional(parquet.Decimal(6, 18, parquet.Int64Type)), "c": parquet.Int(64)})
	var b bytes.Buffer
	w := parquet.NewWriter(&b, schema)
	if _, err := w.WriteRows([]parquet.Row{
		{parquet.Int32Value(12345).Level(0, 0, 0), parquet.Int64Value(-7).Level(0, 1, 1), parquet.Int64Value(-7).Level(0, 0, 2)},
		{parquet.Int32Value(0).Level(0, 0, 0), parquet.NullValue().Level(0, 0, 1), parquet.Int64Value(70).Level(0, 0, 2)},
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := Rows(bytes.NewReader(b.Bytes()), int64(b.Len()), func([]string) ([]int, error) { return []int{0, 1, 2}, nil }, func(cells []string) error {
		got = append(got, strings.Join(cells, " "))
		return nil
	})
	if want := "12.345 -0.000007 -7,0.000  70"; err != nil || strings.Join(got, ",") != want {
		t.Errorf("%q %v, not %q", got, err, want)
	}
}

package parquetfile

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"overlay/internal/limits"
)

// Rows reads some columns of a table of any writer as text, row by row: what is null is "". pick finds them among the names of all columns. The
// cells are valid until the next row.
func Rows(r io.ReaderAt, size int64, pick func(names []string) (at []int, err error), row func(cells []string) error) (err error) {
	defer func() {
		if x := recover(); x != nil { // the library panics on some broken files
			err = fmt.Errorf("broken Parquet: %v", x)
		}
	}()
	f, err := parquet.OpenFile(r, size)
	if err != nil {
		return fmt.Errorf("broken Parquet, or none: %w", err)
	}
	paths := f.Schema().Columns()
	names, decimals := make([]string, len(paths)), make([]int, len(paths))
	for i, path := range paths {
		if leaf, ok := f.Schema().Lookup(path...); ok && len(path) == 1 && !leaf.Node.Repeated() { // nested ones are no cells
			names[i] = path[0]
			if t := leaf.Node.Type().LogicalType(); t != nil {
				if d, ok := t.Value.(*format.DecimalType); ok && d.Scale > 18 {
					return fmt.Errorf("broken Parquet: %d places behind the point in column %s", d.Scale, path[0])
				} else if ok {
					decimals[i] = int(d.Scale)
				}
			}
		}
	}
	at, err := pick(names)
	if err != nil {
		return err
	}
	const least = 16 // bytes of memory that a row takes
	if room := limits.TableAnyway + limits.TableRatio*size; f.NumRows() > room/least {
		return errUnpacks
	}
	cells, buf := make([]string, len(at)), make([]parquet.Row, 256)
	for g, group := range f.RowGroups() {
		rows := group.Rows()
		for {
			n, err := rows.ReadRows(buf)
			for _, values := range buf[:n] {
				for i, column := range at {
					if cells[i] = ""; column >= 0 {
						cells[i] = text(values[column], decimals[column])
					}
				}
				if err := row(cells); err != nil {
					rows.Close()
					return err
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				rows.Close()
				return fmt.Errorf("broken Parquet, row group %d: %w", g, err)
			}
		}
		rows.Close()
	}
	return nil
}

// text is a value as a person would write it. Of a decimal number so many digits stand behind the point.
func text(v parquet.Value, decimals int) string {
	n := int64(0)
	switch {
	case v.IsNull():
		return ""
	case v.Kind() == parquet.Int32:
		n = int64(v.Int32())
	case v.Kind() == parquet.Int64:
		n = v.Int64()
	default:
		return v.String()
	}
	s := strconv.FormatInt(n, 10)
	if decimals <= 0 {
		return s
	}
	digits, negative := strings.CutPrefix(s, "-")
	digits = strings.Repeat("0", max(decimals+1-len(digits), 0)) + digits
	at := len(digits) - decimals
	if s = digits[:at] + "." + digits[at:]; negative {
		s = "-" + s
	}
	return s
}

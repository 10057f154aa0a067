// Package digest holds results to what they were: a line for each input, with a checksum of each part of its result. Such a line
// does not say what is right, as the judges and the cases of a package do; it says at once, and in the package itself, that a
// change was none in behaviour, or in which part of the result it was one.
package digest

import (
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Of sums up a result: for each exported field of a struct how many things it holds, and a checksum of them, in order. What is
// not exported is left out, as are functions: both may change while the result stays.
func Of(v any) string {
	var parts []string
	fields(reflect.ValueOf(v), func(name string, f reflect.Value) {
		h := fnv.New32a()
		if n := write(h, f); n > 0 {
			parts = append(parts, fmt.Sprintf("%s:%d:%08x", name, n, h.Sum32()))
		}
	})
	return strings.Join(parts, " ")
}

// fields calls use for the exported fields of a struct, those of embedded structs among them.
func fields(v reflect.Value, use func(name string, f reflect.Value)) {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		use("all", v)
		return
	}
	for i := range v.NumField() {
		switch f := v.Type().Field(i); {
		case !f.IsExported():
		case f.Anonymous:
			fields(v.Field(i), use)
		default:
			use(f.Name, v.Field(i))
		}
	}
}

// write writes the numbers and texts below v and returns how many there are.
func write(w io.Writer, v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return write(w, v.Elem())
		}
	case reflect.Slice, reflect.Array:
		fmt.Fprint(w, v.Len(), ";")
		for i := range v.Len() {
			n += write(w, v.Index(i))
		}
	case reflect.Map:
		var list []string
		for at := v.MapRange(); at.Next(); {
			var one strings.Builder
			n += write(&one, at.Key()) + write(&one, at.Value())
			list = append(list, one.String())
		}
		slices.Sort(list)
		fmt.Fprint(w, list)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				n += write(w, v.Field(i))
			}
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Invalid:
	default:
		fmt.Fprint(w, v, ";")
		return 1
	}
	return n
}

// Check compares lines with those of testdata/digests/NAME.txt, or writes them there.
func Check(t testing.TB, name string, lines []string, update bool) {
	t.Helper()
	file := "testdata/digests/" + name + ".txt"
	if update {
		if err := os.MkdirAll("testdata/digests", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(old) != len(lines) {
		t.Errorf("%d results where there were %d", len(lines), len(old))
	}
	for i, line := range lines[:min(len(lines), len(old))] {
		was := strings.Fields(old[i])
		for k, part := range strings.Fields(line) {
			if k >= len(was) || was[k] != part {
				t.Errorf("%s: %s is another than before; where this is wanted, run the test with -update", strings.Fields(line)[0], part)
			}
		}
	}
}

package cdg_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestNoTableBySymbol: no table of the graph has an entry a symbol. A graph is also read beside a copy of its trace in
// which names are replaced and symbols have other numbers. The trace has so many names that no other table can be as
// long by chance.
func TestNoTableBySymbol(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "op 1 aten::op%d %d 5\ncall 1 cudaLaunchKernel %d 2 %d\nkernel 7 k%d %d 3 %d\n", i, 10*i, 10*i+1, i+1, i, 10*i+6, i+1)
	}
	for i := range 1000 { // slices without length on one thread: their names count, and so do their activities
		fmt.Fprintf(&text, "op 2 name%d 0 0\nop 2 name%d 1 0\n", i, i)
	}
	for _, mode := range []cdg.ThreadMode{cdg.ThreadsGIL, cdg.ThreadsExplicit} {
		tr := testtrace.Lines(t, text.String())
		g, err := graph.Build(tr, cdg.Options{Threads: mode})
		if err != nil {
			t.Fatal(err)
		}
		tables := 0
		var walk func(name string, v reflect.Value)
		walk = func(name string, v reflect.Value) {
			switch v.Kind() {
			case reflect.Pointer:
				if v.Type() != reflect.TypeFor[*trace.Trace]() && !v.IsNil() {
					walk(name, v.Elem())
				}
			case reflect.Struct:
				for i := range v.NumField() {
					walk(name+"."+v.Type().Field(i).Name, v.Field(i))
				}
			case reflect.Slice, reflect.Array:
				tables++
				if v.Len() == len(tr.Syms) {
					t.Errorf("%s has an entry a symbol", name)
				}
			}
		}
		walk("Graph", reflect.ValueOf(g))
		if tables < 10 {
			t.Errorf("only %d tables found in the graph", tables)
		}
	}
}

package advise

import (
	"bytes"
	"reflect"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
)

// TestActsInRanges: however small the ranges are that processors look at, rules see the same.
func TestActsInRanges(t *testing.T) {
	var text bytes.Buffer
	if err := testtrace.Large(&text, 20_000, false); err != nil {
		t.Fatal(err)
	}
	tr := testtrace.Parse(t, text.Bytes())
	g, err := graph.Build(tr, cdg.Options{Annotation: "ProfilerStep", Instance: "1:2"})
	if err != nil {
		t.Fatal(err)
	}
	p := testtrace.Path(t, g)
	want := newRun(g, p)
	defer func(was int) { actsRange = was }(actsRange)
	actsRange = 10
	if len(g.Acts) < 4*len(tr.Syms) {
		t.Fatalf("%d activities and %d names are one range", len(g.Acts), len(tr.Syms))
	}
	got := newRun(g, p)
	for _, x := range []struct {
		what      string
		got, want any
	}{
		{"names", got.names, want.names}, {"first", got.first, want.first}, {"list", got.list, want.list}, {"ops", got.ops, want.ops},
		{"waits", got.waits, want.waits}, {"waited", got.waited, want.waited}, {"own", got.own, want.own}, {"kinds", got.kinds, want.kinds},
	} {
		if !reflect.DeepEqual(x.got, x.want) {
			t.Errorf("other %s in small ranges", x.what)
		}
	}
	if len(got.list) == 0 || len(got.list) == len(g.Acts) || len(got.ops) == 0 {
		t.Errorf("%d of %d activities, %d operations in the window", len(got.list), len(g.Acts), len(got.ops))
	}
}

package critpath_test

import (
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/pathcheck"
	"overlay/internal/trace"
)

// TestRecordedWindow takes windows as the record of a slim trace gives them: they need not fit what is in the trace.
func TestRecordedWindow(t *testing.T) {
	find := func(b *testtrace.Builder, start, end int64) (*critpath.Path, error) {
		g, err := graph.Build(b.Parse(t), cdg.Options{Recorded: &cdg.Recorded{Window: cdg.Window{Start: start, End: end}}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := critpath.Exact(g)
		if err == nil {
			err = pathcheck.Check(p, g)
		}
		return p, err
	}
	b := testtrace.New()
	b.Thread(1, 1, "").Op("before", -5_000, 1_000)
	around := b.Thread(1, 2, "").Op("around", -5_000, 100_000).ID()
	p, err := find(b, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if p.Segments.Len() != 1 || p.Segments.List()[0].Event != around {
		t.Errorf("a slice around the whole window: %+v", p.Segments.List())
	}
	if p, err = find(b, 200_000, 300_000); err != nil || p.Segments.Len() != 1 || p.Segments.List()[0].Event != trace.NoEvent {
		t.Errorf("a window after everything: %+v, %v", p, err)
	}
	empty := testtrace.New()
	empty.Meta("process_name", 1, 0, "name", "python")
	if p, err = find(empty, 0, 10_000); err == nil {
		t.Errorf("a trace without activity has the path %+v", p.Segments.List())
	}
}

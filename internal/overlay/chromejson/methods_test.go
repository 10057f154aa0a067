package chromejson_test

import (
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/critpath/hta"
	"overlay/internal/overlay"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// byMethods draws the paths of the other methods, with all arrows: none where there is nothing to analyse.
func byMethods(t *testing.T, tr *trace.Trace) []*overlay.Drawing {
	t.Helper()
	g := testtrace.Graph(t, tr)
	if g.Window.End <= g.Window.Start {
		return nil
	}
	p, err := critpath.CTDA(g)
	if err != nil {
		t.Fatal(err)
	}
	all := overlay.Options{Flows: overlay.FlowsAll}
	list := []*overlay.Drawing{overlay.Annotate(g.Layout(), p, all)}
	if h, err := hta.Find(tr, hta.Options{First: -1, Last: -1}); err == nil {
		list = append(list, overlay.Annotate(g.Layout(), h.AsPath(), all))
	}
	return list
}

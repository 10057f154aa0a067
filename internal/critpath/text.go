package critpath

import (
	"fmt"
	"io"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// WriteText prints a path for people and tests: segments, then edges, then marks.
func (p *Path) WriteText(w io.Writer, g *graph.Graph) error {
	tr := g.Trace
	var err error
	line := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format+"\n", args...)
		}
	}
	name := func(e trace.EventID) string {
		if e == trace.NoEvent {
			return "-"
		}
		return tr.Name(e)
	}
	line("window %d %d", p.Window.Start, p.Window.End)
	for _, s := range p.Segments.All() {
		line("segment %d %d %s %s %s %q", s.Start, s.End, s.Kind, cdg.TrackText(tr, s.Track), s.Evidence, name(s.Event))
	}
	side := func(end bool) string {
		if end {
			return "end"
		}
		return "start"
	}
	for _, e := range p.Edges.All() {
		line("edge %s %q %s -> %q %s %d %s", e.Type, name(e.From), side(e.FromEnd), name(e.To), side(e.ToEnd), e.Weight, e.Evidence)
	}
	for _, m := range p.Marks.All() {
		line("mark %q %d id %d next %d", name(m.Event), m.NS, m.ID, m.Next)
	}
	return err
}

package pathcheck

import (
	"fmt"
	"io"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// WriteGraph prints lanes, activities with their waits, what threads waited for, and thread pairs, for people and tests.
func WriteGraph(w io.Writer, g *cdg.Graph) error {
	var err error
	line := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format+"\n", args...)
		}
	}
	name := func(a cdg.ActID) string {
		if a == cdg.NoAct {
			return ""
		}
		return g.Trace.Name(g.Acts[a].Event)
	}
	wait := func(x *cdg.Wait) {
		bound := ""
		if x.Bound {
			bound = " bound"
		}
		line("    <- %s %s %q %d +%d%s%s", x.Rule, x.Evidence, name(x.From), x.At, x.Lag, bound, noteNames[x.Note])
	}
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		what := "thread"
		if lane.Stream {
			what = "stream"
		}
		line("%s %s", what, trackText(g.Trace, lane.Track))
		for _, p := range g.Partners[l] {
			line("  takes turns with %s", trackText(g.Trace, g.Lanes[p].Track))
		}
		for a := lane.First; a < lane.Limit; a++ {
			line("  %q %d %d", name(a), g.Acts[a].Start, g.Acts[a].End)
			for i := range g.Sources(a) {
				wait(&g.Sources(a)[i])
			}
		}
		for i := g.PieceFirst[l]; i < g.PieceFirst[l+1]; i++ {
			if id := g.Pieces[i].Begun; id != cdg.NoWait {
				line("  at %d", g.Pieces[i].Start)
				wait(&g.Waits[id])
			}
		}
		for _, x := range g.Inside {
			if x.Lane == cdg.LaneID(l) && x.Wait != cdg.NoWait {
				line("  inside, at %d", x.At)
				wait(&g.Waits[x.Wait])
			}
		}
	}
	return err
}

var noteNames = [...]string{"", " late", " records_lost", " idle", " unrecorded"}

// WritePath prints a path for people and tests: segments, then edges, then marks.
func WritePath(w io.Writer, p *critpath.Path, g *graph.Graph) error {
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
		line("segment %d %d %s %s %s %q", s.Start, s.End, s.Kind, trackText(tr, s.Track), s.Evidence, name(s.Event))
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

package cdg

import (
	"fmt"
	"io"

	"overlay/internal/trace"
)

var ruleNames = [NumRules]string{"program", "stream_order", "launch", "event_wait", "graph_order", "sync", "queue_full", "handoff", "polled_wait",
	"before_recording", "untraced", "unexplained"}

func (r Rule) String() string { return ruleNames[r] }

// TrackText names a track by its ids: "7/7" for a stream of device 7, "100/101" for a thread.
func TrackText(tr *trace.Trace, t trace.TrackID) string {
	if t == trace.NoTrack {
		return "-"
	}
	pid := trace.Token{}
	if p := tr.Tracks[t].Proc; p != trace.NoProc {
		pid = tr.Procs[p].PID
	}
	return tokenText(tr, pid) + "/" + tokenText(tr, tr.Tracks[t].TID)
}

func tokenText(tr *trace.Trace, t trace.Token) string {
	if t.IsNum {
		return fmt.Sprint(t.Num)
	}
	return tr.Str(t.Raw)
}

// WriteText prints lanes, activities with their waits, what threads waited for, and thread pairs, for people and tests.
func (g *Graph) WriteText(w io.Writer) error {
	var err error
	line := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format+"\n", args...)
		}
	}
	name := func(a ActID) string {
		if a == NoAct {
			return ""
		}
		return g.Trace.Name(g.Acts[a].Event)
	}
	wait := func(x *Wait) {
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
		line("%s %s", what, TrackText(g.Trace, lane.Track))
		for _, p := range g.Partners[l] {
			line("  takes turns with %s", TrackText(g.Trace, g.Lanes[p].Track))
		}
		for a := lane.First; a < lane.Limit; a++ {
			line("  %q %d %d", name(a), g.Acts[a].Start, g.Acts[a].End)
			for i := range g.Sources(a) {
				wait(&g.Sources(a)[i])
			}
		}
		for i := g.PieceFirst[l]; i < g.PieceFirst[l+1]; i++ {
			if id := g.Pieces[i].Begun; id != NoWait {
				line("  at %d", g.Pieces[i].Start)
				wait(&g.Waits[id])
			}
		}
		for _, x := range g.Inside {
			if x.Lane == LaneID(l) && x.Wait != NoWait {
				line("  inside, at %d", x.At)
				wait(&g.Waits[x.Wait])
			}
		}
	}
	return err
}

var noteNames = [...]string{"", " late", " records_lost", " idle", " unrecorded"}

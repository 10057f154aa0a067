package cdg

import (
	"fmt"
	"io"

	"overlay/internal/trace"
)

var ruleNames = [NumRules]string{"program", "stream_order", "launch", "event_wait", "graph_order", "sync", "queue_full", "handoff", "polled_wait"}

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

// WriteText prints lanes, activities with their sources, and thread pairs, for people and tests.
func (d *Deps) WriteText(w io.Writer, tr *trace.Trace) error {
	var err error
	line := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format+"\n", args...)
		}
	}
	name := func(a ActID) string { return tr.Name(d.Acts[a].Event) }
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		what := "thread"
		if lane.Stream {
			what = "stream"
		}
		line("%s %s", what, TrackText(tr, lane.Track))
		for _, p := range d.partners(LaneID(l)) {
			line("  takes turns with %s", TrackText(tr, d.Lanes[p].Track))
		}
		for a := lane.First; a < lane.Limit; a++ {
			line("  %q %d %d", name(a), d.Acts[a].Start, d.Acts[a].End)
			for _, s := range d.Sources(a) {
				line("    <- %s %s %q %d", s.Rule, s.Evidence, name(s.From), d.Acts[s.From].End)
			}
		}
	}
	return err
}

func (d *Deps) partners(l LaneID) []LaneID {
	if d.Partners == nil {
		return nil
	}
	return d.Partners[l]
}

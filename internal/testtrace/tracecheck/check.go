// Package tracecheck holds traces to their invariants, for tests.
package tracecheck

import (
	"fmt"

	"overlay/internal/trace"
)

// Check verifies the invariants of a trace.
func Check(t *trace.Trace) error {
	if len(t.Syms) == 0 || t.Syms[0] != "" {
		return fmt.Errorf("trace: symbol 0 is not empty")
	}
	if t.Source == nil && len(t.Events) > 0 {
		return fmt.Errorf("trace: no source of args")
	}
	if t.Ext != nil && len(t.Ext) != len(t.Events) {
		return fmt.Errorf("trace: %d external ids for %d events", len(t.Ext), len(t.Events))
	}
	for i := range t.Events {
		e := &t.Events[i]
		switch {
		case int(e.Name) >= len(t.Syms) || int(e.Cat) >= len(t.Syms):
			return fmt.Errorf("trace: event %d: symbol out of range", i)
		case e.Track != trace.NoTrack && (e.Track < 0 || int(e.Track) >= len(t.Tracks)):
			return fmt.Errorf("trace: event %d: track %d of %d", i, e.Track, len(t.Tracks))
		case t.Dur(e) < 0:
			return fmt.Errorf("trace: event %d: dur %d", i, t.Dur(e))
		case e.Kind >= trace.NumKinds:
			return fmt.Errorf("trace: event %d: kind %d", i, e.Kind)
		}
		if l := t.Launch(trace.EventID(i)); l != trace.NoEvent && (l < 0 || int(l) >= len(t.Events) || !t.Events[l].Kind.Call() && !(t.LaunchByFlow && t.Events[l].Kind.Host()) || !e.Kind.Device()) {
			return fmt.Errorf("trace: event %d: launched by %d", i, l)
		}
	}
	for _, e := range t.GraphEdges {
		if e.From == e.To || !t.Events[e.From].Kind.Device() || !t.Events[e.To].Kind.Device() {
			return fmt.Errorf("trace: graph edge from event %d to %d", e.From, e.To)
		}
	}
	for i := range t.Tracks {
		if p := t.Tracks[i].Proc; p < 0 || int(p) >= len(t.Procs) {
			return fmt.Errorf("trace: track %d: process %d of %d", i, p, len(t.Procs))
		}
	}
	return nil
}

package kineto

import "fmt"

// Check verifies the invariants of a trace.
func (t *Trace) Check() error {
	if len(t.Syms) == 0 || t.Syms[0] != "" {
		return fmt.Errorf("kineto: symbol 0 is not empty")
	}
	if len(t.Launch) != len(t.Events) {
		return fmt.Errorf("kineto: %d launches for %d events", len(t.Launch), len(t.Events))
	}
	end := t.ListOff
	for i := range t.Events {
		e := &t.Events[i]
		switch {
		case int(e.Name) >= len(t.Syms) || int(e.Cat) >= len(t.Syms):
			return fmt.Errorf("kineto: event %d: symbol out of range", i)
		case e.Track != NoTrack && (e.Track < 0 || int(e.Track) >= len(t.Tracks)):
			return fmt.Errorf("kineto: event %d: track %d of %d", i, e.Track, len(t.Tracks))
		case e.Off < end || e.Off+int64(e.Len) > int64(len(t.Src)):
			return fmt.Errorf("kineto: event %d: bytes %d to %d, the event before ends at %d, the input at %d", i, e.Off, e.Off+int64(e.Len), end, len(t.Src))
		case int64(e.Args) >= int64(e.Len) && e.Args != 0:
			return fmt.Errorf("kineto: event %d: args outside of it", i)
		case e.Dur < 0:
			return fmt.Errorf("kineto: event %d: dur %d", i, e.Dur)
		case e.Kind >= NumKinds:
			return fmt.Errorf("kineto: event %d: kind %d", i, e.Kind)
		}
		end = e.Off + int64(e.Len)
		if l := t.Launch[i]; l != NoEvent && (l < 0 || int(l) >= len(t.Events) || !t.Events[l].Kind.Call() && !(t.foreign && t.Events[l].Kind.Host()) || !e.Kind.Device()) {
			return fmt.Errorf("kineto: event %d: launched by %d", i, l)
		}
	}
	for _, e := range t.GraphEdges {
		if e.From == e.To || !t.Events[e.From].Kind.Device() || !t.Events[e.To].Kind.Device() {
			return fmt.Errorf("kineto: graph edge from event %d to %d", e.From, e.To)
		}
	}
	for i := range t.Tracks {
		if p := t.Tracks[i].Proc; p < 0 || int(p) >= len(t.Procs) {
			return fmt.Errorf("kineto: track %d: process %d of %d", i, p, len(t.Procs))
		}
	}
	return nil
}

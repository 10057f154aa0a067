package pipeline

import (
	"io"

	"overlay/internal/overlay/chromejson"
	"overlay/internal/overlay/pftrace"
)

// Format is an output format.
type Format uint8

// The formats.
const (
	Perfetto Format = iota
	Chrome
)

// Written is what became of a trace in an output: one of the two.
type Written struct {
	Perfetto *pftrace.Stats
	Chrome   *chromejson.Stats
}

// Write writes a drawing; without an overlay, the trace alone. jobs is how many parts are encoded at a time; the bytes
// do not depend on it.
func (d Drawing) Write(w io.Writer, f Format, jobs int) (Written, error) {
	if f == Chrome {
		st, err := chromejson.Write(w, d.Trace, d.Overlay, chromejson.Options{Jobs: jobs})
		return Written{Chrome: &st}, err
	}
	st, err := pftrace.Write(w, d.Trace, d.Overlay, pftrace.Options{Jobs: jobs})
	return Written{Perfetto: &st}, err
}

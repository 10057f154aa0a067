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

// Write writes a drawing; without an overlay, the trace alone.
func (d Drawing) Write(w io.Writer, f Format) (Written, error) {
	if f == Chrome {
		st, err := chromejson.Write(w, d.Trace, d.Overlay)
		return Written{Chrome: &st}, err
	}
	st, err := pftrace.Write(w, d.Trace, d.Overlay)
	return Written{Perfetto: &st}, err
}

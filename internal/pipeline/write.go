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

// Write writes a picture; without a drawing, the trace alone.
func (p Picture) Write(w io.Writer, f Format) (Written, error) {
	if f == Chrome {
		st, err := chromejson.Write(w, p.Trace, p.Drawing)
		return Written{Chrome: &st}, err
	}
	st, err := pftrace.Write(w, p.Trace, p.Drawing)
	return Written{Perfetto: &st}, err
}

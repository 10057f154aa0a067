package kineto

import "overlay/internal/limits"

// Sink takes the text that a reader of another format makes of its input, and refuses it where that becomes too much. The text may
// be limits.Free bytes; a reader that makes more calls Allow for what it has read.
type Sink struct {
	*limits.Meter
	to Spool
}

// NewSink makes a sink over a spool.
func NewSink(to Spool, o Options) *Sink { return &Sink{limits.NewMeter(o.MaxExpand), to} }

// Write appends text, and counts it unless it was reserved.
func (s *Sink) Write(p []byte) (int, error) {
	if err := s.Meter.Write(int64(len(p))); err != nil {
		return 0, err
	}
	return s.to.Write(p)
}

// Bytes returns all that was written.
func (s *Sink) Bytes() ([]byte, error) { return s.to.Bytes() }

package inputs

import (
	"overlay/internal/kineto"
	"overlay/internal/trace"
)

type otherFormat struct {
	is     func(head []byte) bool
	parse  parser
	refuse func(name string) error // what its name says that it lacks; nil: nothing
}

// parser turns the bytes of a file into text in a spool, and reads that.
type parser func(src []byte, name string, o kineto.Options, to *kineto.Sink) (*trace.Trace, error)

//go:build quick

package inputs

import (
	"bytes"
	"errors"

	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// sqliteFormat refuses the databases of profilers: SQLite takes a third of the time that compiling the program takes.
var sqliteFormat = otherFormat{
	is: func(head []byte) bool { return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) },
	parse: func([]byte, string, kineto.Options, *kineto.Sink) (*trace.Trace, error) {
		return nil, LeftOut("reading databases")
	},
}

// LeftOut says how to get what this build lacks.
func LeftOut(what string) error {
	return errors.New(what + " is not in this quick build of 'make demo': 'make build' makes the whole program, in a minute or two")
}

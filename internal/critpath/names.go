package critpath

import (
	"overlay/internal/cdg"
	"overlay/internal/kineto"
)

// IsComm reports whether a kernel of that name communicates.
func IsComm(name string) bool { return commName.MatchString(name) }

// CallerOf returns a function that names the innermost Python frame of the user's code around an event, 0 without one.
func CallerOf(g *cdg.Graph) func(kineto.EventID) kineto.Sym {
	c := newCallers(g)
	return c.of
}

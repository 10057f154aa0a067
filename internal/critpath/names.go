package critpath

import (
	"strings"

	"overlay/internal/graph"
	"overlay/internal/trace"
)

// CallerOf returns a function that names the innermost Python frame of the user's code around an event, 0 without one.
func CallerOf(g *graph.Graph) func(trace.EventID) trace.Sym {
	c := newCallers(g)
	return c.of
}

// NormalName is a name as statistics group it: the addresses of Python objects and the path up to site-packages are cut, and names of steps
// have * for what differs from one step to the next.
func NormalName(s string) string {
	if of := trace.StepsLike(s); of != "" {
		return of
	}
	for {
		i := strings.Index(s, " at 0x")
		if i < 0 {
			break
		}
		j := i + len(" at 0x")
		for j < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[j]) >= 0 {
			j++
		}
		s = s[:i] + s[j:]
	}
	for _, dir := range [...]string{"/site-packages/", "/dist-packages/"} {
		if i := strings.LastIndex(s, dir); i >= 0 {
			s = s[i+len(dir):]
		}
	}
	return s
}

package kineto_test

import (
	"flag"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/digest"
	"overlay/internal/trace"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestSame holds what is read, the arguments of every event among it, to what it was.
func TestSame(t *testing.T) {
	var lines []string
	for _, m := range append(testtrace.Steady(t), testtrace.Odd(t)...) {
		type arg struct {
			Event trace.EventID
			Key   string
			Value trace.Value
		}
		var args []arg
		for id := range m.Trace.Events {
			m.Trace.Source.Args(trace.EventID(id), func(key string, v trace.Value) bool {
				args = append(args, arg{trace.EventID(id), key, v})
				return true
			})
		}
		read := *m.Trace
		read.Source = nil
		lines = append(lines, m.Name+" "+digest.Of(struct {
			*trace.Trace
			Args []arg
		}{&read, args}))
	}
	digest.Check(t, "traces", lines, *update)
}

package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"overlay/internal/outputs"
)

// TestExitStatus gives each kind of error its status and its one line.
func TestExitStatus(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		want   string
	}{
		{nil, 0, ""},
		{errors.New("cannot\nread"), 1, "overlay: cannot·read\n"},
		{&usageError{"no flag --x", "run"}, 2, "overlay: no flag --x; see 'overlay run --help'\n"},
		{&usageError{msg: "no command"}, 2, "overlay: no command; see 'overlay --help'\n"},
		{fmt.Errorf("cannot write: %w", outputs.ErrPipe), 141, ""},
		{errSlower, 3, "overlay: slower\n"},
		{&bugError{"cdg: internal error: x", []byte("stack\n")}, 1, "overlay: cdg: internal error: x; this is a bug in overlay, please report it with these lines\nstack\n"},
	} {
		var stderr strings.Builder
		p := &program{stderr: &stderr}
		if got := p.exitStatus(c.err); got != c.status || stderr.String() != c.want {
			t.Errorf("%v: status %d, %q; want %d, %q", c.err, got, stderr.String(), c.status, c.want)
		}
	}
}

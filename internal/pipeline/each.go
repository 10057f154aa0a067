package pipeline

import "overlay/internal/trace"

// Each solves n traces one after the other and hands each run to use, which may keep what it makes of it but not the
// run: one trace and its graph are held at a time. load reads trace i.
func Each(n int, o Options, load func(i int) (*trace.Trace, error), use func(i int, r *Run) error) error {
	for i := range n {
		tr, err := load(i)
		if err != nil {
			return err
		}
		r, err := Solve(tr, o, false)
		if err != nil {
			return &Error{i, err}
		}
		if err := use(i, r); err != nil {
			return err
		}
	}
	return nil
}

// Error is what went wrong with one of several traces.
type Error struct {
	Index int
	Err   error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap is the error itself.
func (e *Error) Unwrap() error { return e.Err }

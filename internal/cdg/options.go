package cdg

import (
	"fmt"

	"overlay/internal/clock"
)

// Options choose the window and the reading of threads. The zero value is the whole trace, threads decided from it.
type Options struct {
	Annotation string // window: events of annotations and ops whose name contains it; "" for the whole trace
	Instance   string // "N", or "A:B" from the start of A to the end of B; "" is the first
	Step       string // window: the name of a step as FindSteps gives it, or its number; "" for none
	Threads    ThreadMode
	Recorded   *Recorded // of the run that wrote this part of a trace; its window holds where none is asked for

	disabled uint32 // bit per Rule; tests switch rows of the dependency table off
	leaveOut string // a rule that is not applied, for tests
}

func (o *Options) without(r Rule) bool { return o.disabled&(1<<r) != 0 }

// ParseThreadMode reads the value of --threads.
func ParseThreadMode(s string) (ThreadMode, error) {
	for m, name := range threadModeNames {
		if s == name {
			return ThreadMode(m), nil
		}
	}
	return 0, fmt.Errorf("threads: %q is none of auto, gil, explicit", s)
}

// Recorded is what an earlier run took from the whole of a trace. A run on a part of it takes the same: neither the
// window nor the delays nor the clocks can be measured on what is left.
type Recorded struct {
	Window Window
	Delays Delays
	Clock  []clock.Correction
}

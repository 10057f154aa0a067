package cdg

import "overlay/internal/clock"

// Recorded is what an earlier run took from the whole of a trace. A run on a part of it takes the same: neither the
// window nor the delays nor the clocks can be measured on what is left.
type Recorded struct {
	Window Window
	Delays Delays
	Clock  []clock.Correction
}

// recall puts recorded delays in the place of measured ones.
func (b *builder) recall() {
	if b.o.Recorded != nil {
		b.d.Delays = b.o.Recorded.Delays
	}
}

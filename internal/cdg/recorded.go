package cdg

// Recorded is what an earlier run took from the whole of a trace. A run on a part of it takes the same: neither the
// window nor the delays can be measured on what is left.
type Recorded struct {
	Window Window
	Delays Delays
}

// recall puts recorded delays in the place of measured ones.
func (b *builder) recall() {
	if b.o.Recorded != nil {
		b.d.Delays = b.o.Recorded.Delays
	}
}

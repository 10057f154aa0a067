package critpath

// backward collects values from the last to the first, in blocks: a slice that grows would copy and touch each byte
// several times.
type backward[T any] struct {
	full  [][]T
	block []T // never empty but before the first value
}

const backwardBlock = 1 << 13

func (b *backward[T]) add(v T) {
	if len(b.block) == cap(b.block) {
		n := backwardBlock
		if b.block == nil {
			n = 1 << 8 // small traces
		} else {
			b.full = append(b.full, b.block)
		}
		b.block = make([]T, 0, n)
	}
	b.block = append(b.block, v)
}

// last returns the value that was added last; nil without any.
func (b *backward[T]) last() *T {
	if len(b.block) == 0 {
		return nil
	}
	return &b.block[len(b.block)-1]
}

// forward returns the values from the first to the last, and forgets them.
func (b *backward[T]) forward() []T {
	n := len(b.block)
	for _, block := range b.full {
		n += len(block)
	}
	out := make([]T, 0, n)
	for k := len(b.full); k >= 0; k-- {
		block := b.block
		if k < len(b.full) {
			block = b.full[k]
		}
		for i := len(block) - 1; i >= 0; i-- {
			out = append(out, block[i])
		}
	}
	*b = backward[T]{}
	return out
}

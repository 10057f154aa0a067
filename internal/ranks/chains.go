package ranks

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Chain is one way in which the start of an operation followed from an earlier one: not before the end of From, Fixed and all of its parts.
type Chain struct {
	From  int32 // operation, -1 for the start of the window
	Fixed int64 // delays, and what nothing changes, ns
	Parts []Part
}

// Part is own time in a chain.
type Part struct {
	Of int32 // what it is of: index into Chains.Of
	NS int64
}

// PartOf is what parts are of: one name if that is among those kept, else the rest of its class, for which Name is 0.
type PartOf struct {
	Name Name
	Work Work
}

// Work is a class of own time.
type Work uint8

// The classes.
const (
	OnDevice Work = iota // kernels, but for those that communicate
	Copying              // copies of the device
	OnThread             // operators and annotations
	Calling              // calls
	InPython             // frames
	NumWorks
)

func (w Work) String() string {
	return [NumWorks]string{"compute", "copy", "cpu", "runtime", "python"}[w]
}

// Host reports whether it is time of threads, else it is of the device.
func (w Work) Host() bool { return w >= OnThread }

// Chains say why each operation of a rank starts when it does, and last why its window ends. A job has millions of them, of which most numbers are small: each
// chain is how many operations before its own it comes from, its delay, how many parts it has, and these.
type Chains struct {
	Of   []PartOf // what parts are of, each once, in the order in which they are met
	text []byte
	from []uint32 // where those of an operation begin in text; nil where they were not looked for
}

// MakeChains keeps those of n operations, the end of the window among them. kinds is what their parts count into.
func MakeChains(n int, kinds []PartOf, of func(op int) []Chain) Chains {
	c, known := Chains{from: make([]uint32, 1, n+1)}, make([]int, len(kinds))
	for op := range n {
		for _, x := range of(op) {
			c.text = binary.AppendUvarint(c.text, uint64(uint32(int32(op)-x.From)))
			c.text = binary.AppendVarint(c.text, x.Fixed)
			c.text = binary.AppendUvarint(c.text, uint64(len(x.Parts)))
			for _, p := range x.Parts {
				if known[p.Of] == 0 {
					c.Of = append(c.Of, kinds[p.Of])
					known[p.Of] = len(c.Of)
				}
				c.text = binary.AppendUvarint(c.text, uint64(known[p.Of]-1))
				c.text = binary.AppendUvarint(c.text, uint64(p.NS))
			}
		}
		c.from = append(c.from, uint32(len(c.text)))
	}
	c.text = bytes.Clone(c.text)
	return c
}

// Known reports whether chains were looked for.
func (c *Chains) Known() bool { return c.from != nil }

// Size is how many bytes the chains of an operation take.
func (c *Chains) Size(op int32) int { return int(c.from[op+1] - c.from[op]) }

// ChainReader goes over the chains of an operation.
type ChainReader struct {
	Chain // its parts are there until the next one
	op    int32
	text  []byte
}

// Read goes to the chains of an operation. past is how far it was gone over before, see Left.
func (r *ChainReader) Read(c *Chains, op int32, past int) {
	r.op, r.text = op, c.text[int(c.from[op])+past:c.from[op+1]]
}

// Left is how many bytes of chains are to come.
func (r *ChainReader) Left() int { return len(r.text) }

// Next reads a chain.
func (r *ChainReader) Next() bool {
	if len(r.text) == 0 {
		return false
	}
	r.From, r.Parts = r.op-int32(r.number()), r.Parts[:0]
	fixed := r.number()
	r.Fixed = int64(fixed>>1) ^ -int64(fixed&1)
	for n := r.number(); n > 0; n-- {
		of := int32(r.number())
		r.Parts = append(r.Parts, Part{of, int64(r.number())})
	}
	return true
}

func (r *ChainReader) number() uint64 {
	if v := r.text[0]; v < 0x80 {
		r.text = r.text[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.text)
	r.text = r.text[n:]
	return v
}

// Len is how long a chain was.
func (c *Chain) Len() int64 {
	sum := c.Fixed
	for i := range c.Parts {
		sum += c.Parts[i].NS
	}
	return sum
}

// ChainFrom is when what a chain follows from was over: an operation, or -1 for the start of the window.
func (s *Summary) ChainFrom(op int32) int64 {
	if op < 0 {
		return s.Window[0]
	}
	return s.Ops[op].End
}

// checkChains verifies that chains lead forward and end not after what they explain.
func (s *Summary) checkChains() error {
	if !s.Chains.Known() {
		return nil
	}
	if len(s.Chains.from) != len(s.Stubs)+1 {
		return fmt.Errorf("ranks: chains of %d operations, and there are %d", len(s.Chains.from)-2, len(s.Ops))
	}
	for _, of := range s.Chains.Of {
		if of.Work >= NumWorks || int(of.Name) >= len(s.Names) {
			return fmt.Errorf("ranks: chains have parts of %+v", of)
		}
	}
	r := ChainReader{}
	for i := range int32(len(s.Stubs)) {
		for r.Read(&s.Chains, i, 0); r.Next(); {
			if r.From < -1 || r.From >= i {
				return fmt.Errorf("ranks: operation %d follows from %d", i, r.From)
			}
			const most = 1 << 59
			sum := r.Fixed
			for _, p := range r.Parts {
				if p.NS <= 0 || p.NS > most || sum > most || sum < -most {
					return fmt.Errorf("ranks: a chain of operation %d has the part %+v", i, p)
				}
				sum += p.NS
			}
			if sum > most || sum < -most || s.ChainFrom(r.From)+sum > s.from(i) {
				return fmt.Errorf("ranks: a chain ends after operation %d starts", i)
			}
		}
	}
	return nil
}

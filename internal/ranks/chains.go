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
// chain is how many operations before its own it comes from, by how much it was over before that starts, how many bytes its parts take, and these.
type Chains struct {
	Of   []PartOf // what parts are of, each once, in the order in which they are met
	text []byte
	from []uint32 // where those of an operation begin in text; nil where they were not looked for
}

// SetChains keeps those of all operations, the end of the window among them. kinds is what their parts count into.
func (s *Summary) SetChains(kinds []PartOf, of func(op int) []Chain) {
	c, known, parts := Chains{from: make([]uint32, 1, len(s.Stubs)+1)}, make([]int, len(kinds)), []byte(nil)
	for op := range s.Stubs {
		for _, x := range of(op) {
			late := -x.Fixed
			if parts = parts[:0]; x.From >= -1 && int(x.From) < min(op, len(s.Ops)) { // else Check says so
				late += s.from(int32(op)) - s.ChainFrom(x.From)
			}
			for _, p := range x.Parts {
				if known[p.Of] == 0 {
					c.Of = append(c.Of, kinds[p.Of])
					known[p.Of] = len(c.Of)
				}
				parts = binary.AppendUvarint(parts, uint64(known[p.Of]-1))
				parts = binary.AppendUvarint(parts, uint64(p.NS))
				late -= p.NS
			}
			from := uint64(uint32(int32(op)-x.From)) << 1
			if x.Fixed < 0 {
				from |= 1
			}
			c.text = binary.AppendUvarint(c.text, from)
			c.text = binary.AppendVarint(c.text, late)
			c.text = append(binary.AppendUvarint(c.text, uint64(len(parts))), parts...)
		}
		c.from = append(c.from, uint32(len(c.text)))
	}
	c.text = bytes.Clone(c.text)
	s.Chains = c
}

// Known reports whether chains were looked for.
func (c *Chains) Known() bool { return c.from != nil }

// Size is how many bytes the chains of an operation take.
func (c *Chains) Size(op int32) int { return int(c.from[op+1] - c.from[op]) }

// ChainReader goes over the chains of an operation.
type ChainReader struct {
	From  int32 // see Chain
	Early bool  // Fixed is less than 0: it may begin before what it follows from is over
	Slack int64 // by how much the chain was over before the operation started
	s     *Summary
	op    int32
	text  []byte
	own   []byte // the parts of the chain
	parts []Part
}

// Read goes to the chains of an operation. past is how far it was gone over before, see Left.
func (r *ChainReader) Read(s *Summary, op int32, past int) {
	r.s, r.op, r.text = s, op, s.Chains.text[int(s.Chains.from[op])+past:s.Chains.from[op+1]]
}

// Left is how many bytes of chains are to come.
func (r *ChainReader) Left() int { return len(r.text) }

// Next goes to the next chain.
func (r *ChainReader) Next() bool {
	if len(r.text) == 0 {
		return false
	}
	var from, slack, size uint64
	from, r.text = number(r.text)
	slack, r.text = number(r.text)
	size, r.text = number(r.text)
	r.From, r.Early, r.Slack = r.op-int32(uint32(from>>1)), from&1 != 0, int64(slack>>1)^-int64(slack&1)
	r.own, r.text = r.text[:size], r.text[size:]
	return true
}

// Parted reports whether the chain has own time.
func (r *ChainReader) Parted() bool { return len(r.own) > 0 }

// Parts are those of the chain, until the next call.
func (r *ChainReader) Parts() []Part {
	r.parts = r.parts[:0]
	for text := r.own; len(text) > 0; {
		var of, ns uint64
		of, text = number(text)
		ns, text = number(text)
		r.parts = append(r.parts, Part{int32(of), int64(ns)})
	}
	return r.parts
}

// Len is how long the chain was.
func (r *ChainReader) Len() int64 { return r.s.from(r.op) - r.s.ChainFrom(r.From) - r.Slack }

// Chain is the chain, whose parts are there until the next call.
func (r *ChainReader) Chain() Chain {
	c := Chain{r.From, r.Len(), r.Parts()}
	for _, p := range c.Parts {
		c.Fixed -= p.NS
	}
	return c
}

func number(text []byte) (uint64, []byte) {
	if v := text[0]; v < 0x80 {
		return uint64(v), text[1:]
	}
	v, n := binary.Uvarint(text)
	return v, text[n:]
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
		for r.Read(s, i, 0); r.Next(); {
			if r.From < -1 || r.From >= i {
				return fmt.Errorf("ranks: operation %d follows from %d", i, r.From)
			}
			const most = 1 << 59
			c := r.Chain()
			sum := c.Fixed
			for _, p := range c.Parts {
				if p.NS <= 0 || p.NS > most || sum > most || sum < -most {
					return fmt.Errorf("ranks: a chain of operation %d has the part %+v", i, p)
				}
				sum += p.NS
			}
			if sum > most || sum < -most || r.Slack < 0 {
				return fmt.Errorf("ranks: a chain ends after operation %d starts", i)
			}
		}
	}
	return nil
}

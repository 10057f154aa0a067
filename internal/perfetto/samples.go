package perfetto

import "io"

// Samples are stacks with a weight in ns, which the viewer adds up to a flame graph of what is selected (StackSample, of Perfetto 58). They
// have a packet sequence of their own.
type Samples struct {
	Source  string                               // who made them
	Counter string                               // what the weights are of
	PID     int64                                // of the process whose row they are on
	Frames  []string                             // what the frames of stacks are called
	List    []Sample                             // by TS
	Stack   func(of int32, room []int32) []int32 // a stack by its number, outermost frame first, as indices into Frames
}

// Sample is a stack at a time with a weight.
type Sample struct {
	TS, Weight int64
	Stack      int32 // for Samples.Stack
}

// header starts the sequence: its clock counts ns from start.
func (s *Samples) header(seq uint32, start int64) message {
	const ns = 1
	defaults := message(nil).str(1, s.Source).sub(2, message(nil).str(2, s.Counter).uint(3, ns))
	return nsHeader(seq, start, message(nil).sub(100, defaults))
}

// write writes the names of the frames, then a packet for each sample.
func (s *Samples) write(w io.Writer, seq uint32, start int64) (n int64, err error) {
	var names, frames, stack, event message
	for i, name := range s.Frames {
		id := uint64(i) + 1
		names, frames = names.sub(5, message(nil).uint(1, id).str(2, name)), frames.sub(6, message(nil).uint(1, id).uint(2, id))
	}
	out := appendPacket(nil, message(nil).sub(12, append(names, frames...)).uint(10, uint64(seq)))
	task := message(nil).uint(2, uint64(s.PID))
	var room []int32
	last := start
	for i := range s.List {
		x := &s.List[i]
		room = s.Stack(x.Stack, room)
		stack = stack[:0]
		for _, f := range room {
			stack = stack.uint(2, uint64(f)+1)
		}
		event = event[:0].sub(1, task).sub(5, stack).uint(11, uint64(x.Weight))
		k, err := w.Write(appendPacket(out, message(nil).sub(135, event).uint(10, uint64(seq)).uint(13, flagNeedsState).uint(8, uint64(x.TS-last))))
		if n += int64(k); err != nil {
			return n, err
		}
		out, last = out[:0], x.TS
	}
	return n, nil
}

package viewer

import (
	"strings"

	"overlay/internal/wire"
)

// Sample is a sample of a stack (StackSample).
type Sample struct {
	TS, Weight int64
	Stack      string // frames, the outermost first, with semicolons between
	Row        string // the process that it is on
	Counter    string // of the weight: its source, name and unit
}

// Samples reads the samples of stacks of a trace as Perfetto 58 does: what is interned, the default counter, and the clock of their sequence.
func Samples(data []byte) (out []Sample) {
	type sequence struct {
		names, frames map[uint64]string
		counter       string
		now           int64
	}
	sequences, processes := map[uint64]*sequence{}, map[uint64]string{}
	text := func(b []byte, num uint32) (s string) {
		wire.Each(b, func(f *wire.Fields) { s += pick(f.Num == num, string(f.S)) })
		return s
	}
	number := func(b []byte, num uint32) (n uint64) {
		wire.Each(b, func(f *wire.Fields) { n += pick(f.Num == num, f.V) })
		return n
	}
	part := func(b []byte, num uint32) []byte { return []byte(text(b, num)) }
	wire.Each(data, func(p *wire.Fields) {
		seq := number(p.S, 10)
		if number(p.S, 13)&1 != 0 || sequences[seq] == nil {
			sequences[seq] = &sequence{names: map[uint64]string{}, frames: map[uint64]string{}}
		}
		s := sequences[seq]
		if d := part(part(p.S, 59), 100); len(d) > 0 {
			s.counter = text(d, 1) + ": " + text(part(d, 2), 2) + pick(number(part(d, 2), 3) == 1, " in ns")
		}
		wire.Each(part(p.S, 6), func(f *wire.Fields) {
			if number(f.S, 1) == 6 {
				s.now = int64(number(f.S, 2))
			}
		})
		wire.Each(part(p.S, 12), func(f *wire.Fields) {
			switch id := number(f.S, 1); f.Num {
			case 5:
				s.names[id] = text(f.S, 2)
			case 6:
				s.frames[id] = s.names[number(f.S, 2)]
			}
		})
		if process := part(part(p.S, 60), 3); len(process) > 0 {
			processes[number(process, 1)] = text(process, 6)
		}
		sample := part(p.S, 135)
		if len(sample) == 0 {
			return
		}
		var stack []string
		wire.Each(part(sample, 5), func(f *wire.Fields) { stack = append(stack, s.frames[f.V]) })
		s.now += int64(number(p.S, 8))
		out = append(out, Sample{s.now, int64(number(sample, 11)), strings.Join(stack, ";"), processes[number(part(sample, 1), 2)], s.counter})
	})
	return out
}

func pick[T any](take bool, v T) (none T) {
	if take {
		return v
	}
	return none
}

package perfetto

import (
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// Stages are operations of devices as the viewer's tables of compute kernels want them (GpuRenderStageEvent). They stand
// beside the slices of the same operations: such an event has no category, no arguments of its own and no flow by id. They
// have a packet sequence of their own.
type Stages struct {
	Contexts []StageContext
	Queues   []string // names of the rows
	Kinds    []StageKind
	List     []Stage // by Start
	Fill     func(b *StageBody, s *Stage)
}

// StageContext is a process that uses devices. API is as Perfetto numbers them: 0 unknown, 4 CUDA, 5 HIP.
type StageContext struct {
	PID int64
	API int
}

// StageKind is what an operation is. Compute says that the tables of kernels list it.
type StageKind struct {
	Name    string
	Compute bool
}

// Stage is one operation. Its event id is its place in the list, from 1.
type Stage struct {
	Start, Dur           int64
	GPU                  int32
	Context, Queue, Kind int32 // indexes
	Stream               int64 // the logical queue; below 0 for none
	Ref                  int32 // for Fill
}

// StageMark is the description that all kinds have: readers that know it take the slices and leave the stages alone.
const StageMark = "drawn by overlay"

// Numbers of what is interned: stages and queues share one space.
const (
	firstKind  = 1
	firstQueue = 100
)

// StageBody is the description of one stage, given by Stages.Fill.
type StageBody struct {
	ev, in, launch message
	names, kernels map[string]uint64
	keys           map[string]uint64
}

// intern gives a string a number, and sends it with the packet when it is new.
func (b *StageBody) intern(of map[string]uint64, field, text protowire.Number, s string) uint64 {
	id, ok := of[s]
	if !ok {
		id = uint64(len(of)) + 1
		of[s] = id
		b.in = b.in.sub(field, message(nil).uint(1, id).str(text, s))
	}
	return id
}

// Name sets the name of an operation that is no kernel.
func (b *StageBody) Name(s string) { b.ev = b.ev.uint(20, b.intern(b.names, 2, 2, s)) }

// Kernel sets the name of a kernel.
func (b *StageBody) Kernel(s string) { b.ev = b.ev.uint(19, b.intern(b.kernels, 1000, 3, s)) }

// Grid sets how many groups of threads were launched, Group how many threads each has.
func (b *StageBody) Grid(d [3]uint32)  { b.launch = b.launch.sub(1, dim(d)) }
func (b *StageBody) Group(d [3]uint32) { b.launch = b.launch.sub(2, dim(d)) }

func dim(d [3]uint32) (m message) {
	for i, n := range d {
		m = m.uint(protowire.Number(i+1), uint64(n))
	}
	return m
}

// Int adds a number to what is said of the launch.
func (b *StageBody) Int(key string, v int64) {
	b.launch = b.launch.sub(3, message(nil).uint(1, b.intern(b.keys, 1001, 2, key)).uint(3, uint64(v)))
}

// Wait adds an earlier stage that had to be over, by its event id.
func (b *StageBody) Wait(id uint64) { b.ev = b.ev.uint(18, id) }

// nsHeader starts a sequence whose clock counts ns from start, with defaults of its packets beside the clock.
func nsHeader(seq uint32, start int64, defaults message) message {
	clocks := message(nil).
		sub(1, message(nil).uint(1, clockSequence).uint(2, uint64(start)).uint(3, 1).uint(4, 1)).
		sub(1, message(nil).uint(1, clockBoottime).uint(2, uint64(start))).
		uint(2, clockBoottime)
	return message(nil).uint(10, uint64(seq)).uint(13, flagCleared).sub(59, defaults.uint(58, clockSequence)).sub(6, clocks)
}

// interned is what all stages refer to.
func (s *Stages) interned() (in message) {
	for i, c := range s.Contexts {
		m := message(nil).uint(1, uint64(i)+1).uint(2, uint64(c.PID))
		if c.API != 0 {
			m = m.uint(3, uint64(c.API))
		}
		in = in.sub(23, m)
	}
	for i, k := range s.Kinds {
		m := message(nil).uint(1, firstKind+uint64(i)).str(2, k.Name).str(3, StageMark)
		if k.Compute {
			m = m.uint(4, 2)
		}
		in = in.sub(24, m)
	}
	for i, name := range s.Queues {
		in = in.sub(24, message(nil).uint(1, firstQueue+uint64(i)).str(2, name))
	}
	return in
}

// write writes the stages, one packet each.
func (s *Stages) write(w io.Writer, seq uint32, start int64) (n int64, err error) {
	b := &StageBody{names: map[string]uint64{}, kernels: map[string]uint64{}, keys: map[string]uint64{}}
	out := appendPacket(nil, message(nil).sub(12, s.interned()).uint(10, uint64(seq)))
	last := start
	for i := range s.List {
		st := &s.List[i]
		b.in, b.launch = b.in[:0], b.launch[:0]
		b.ev = b.ev[:0].uint(1, uint64(i)+1).uint(2, uint64(max(st.Dur, 1))).uint(5, uint64(st.Context)+1).uint(11, uint64(st.GPU)).
			uint(13, firstQueue+uint64(st.Queue)).uint(14, firstKind+uint64(st.Kind))
		s.Fill(b, st)
		if len(b.launch) > 0 {
			b.ev = b.ev.sub(21, b.launch)
		}
		if st.Stream >= 0 {
			b.ev = b.ev.uint(22, uint64(st.Stream))
		}
		var p message
		if len(b.in) > 0 {
			p = p.sub(12, b.in)
		}
		p = p.sub(53, b.ev).uint(10, uint64(seq)).uint(13, flagNeedsState).uint(8, uint64(st.Start-last))
		last = st.Start
		k, err := w.Write(appendPacket(out, p))
		if n += int64(k); err != nil {
			return n, err
		}
		out = out[:0]
	}
	return n, nil
}

// gpuInfo describes the devices, which have the numbers from 0 on.
func gpuInfo(gpus []GPU) message {
	var m message
	for _, g := range gpus {
		m = m.sub(1, message(nil).str(1, g.Name).str(2, g.Vendor).str(3, g.Model).str(4, g.Architecture))
	}
	return message(nil).sub(128, m)
}

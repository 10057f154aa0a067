package testtrace

import "math/rand/v2"

// Program is a training process for the simulator: what each host thread does, in order, and what each GPU operation
// costs. All delays are drawn when the program is made and stay with their activity, so that running it again with one
// activity shortened shows the effect of that alone. Times are ns.
type Program struct {
	Class   string // scenario class
	Threads []threadProgram
	Streams []int64 // numbers of the GPU streams
	Devices []int64 // per stream: its device

	QueueLimit    int   // operations that a stream holds before a launch blocks; 0 = no limit
	SyncRecords   bool  // cuda_sync records are written
	AMD           bool  // delays are those of AMD's devices
	DeviceZero    bool  // cuda_sync records name device 0, whatever the device
	IntegerMicros bool  // stamps in whole µs
	RecordFrom    int64 // what starts earlier is not recorded
	Explicit      bool  // threads run without a GIL: only blocking frames hand over
	World         World // how it is recorded

	instrs []instr
	ops    []opSpec
	after  []int32 // operations of the same graph that an operation waits for
	events int     // CUDA events
	conds  int     // conditions of threads
	locks  int
	jitter jitter
	flows  []int32 // pairs of instructions: forward op, backward op
	rng    *rand.Rand
}

// jitter are the ranges that delays are drawn from.
type jitter struct {
	launch, gap, wait, sync, wake span
}

type span struct{ lo, hi int64 }

func (s span) width() int64 { return s.hi - s.lo }

var (
	nvidia = jitter{launch: span{3500, 6500}, gap: span{700, 1500}, wait: span{1000, 2200}, sync: span{3000, 8000}, wake: span{4000, 20000}}
	amd    = jitter{launch: span{10000, 18000}, gap: span{1500, 3500}, wait: span{2500, 6000}, sync: span{4000, 10000}, wake: span{4000, 20000}}
)

type threadProgram struct {
	pid, tid   int64
	name       string
	background bool  // has nothing to do with the run; stops at until
	until      int64 // only for background threads, 0 = not known yet
	code       []int32
}

type opcode uint8

const (
	opOpen opcode = iota
	opClose
	opWork       // self time of the innermost slice
	opCall       // a call that only takes time
	opLaunch     // a call that starts operations
	opRecord     // cudaEventRecord
	opWaitEvent  // cudaStreamWaitEvent
	opStreamSync // blocking calls
	opDeviceSync
	opEventSync
	opPoll // self time until an operation ends: code that spins on memory
	opSignal
	opWait
	opAcquire
	opRelease
)

// instr is one step of a thread. Its index is the identity of the slice that it opens.
type instr struct {
	code   opcode
	kind   uint8 // of opOpen: index into sliceKinds
	block  uint8 // of opLaunch: the call returns after its own copy ended
	hidden bool  // not recorded
	said   uint8 // of waits for events: what became of their cuda_sync record
	stream int32
	ref    int32 // event, condition, lock; of opClose: the opOpen
	name   string
	dur    int64 // of work and calls
	before int64 // of a launch: what it takes before it hands its operation over, such as loading the kernel's code
	lat    int64 // of blocking steps: from release to return
	first  int32 // operations of a launch
	limit  int32
}

// What becomes of the cuda_sync record of a wait: the profiler may not know the event any more, or not know the stream.
const (
	recordWhole uint8 = iota
	recordUnresolved
	recordDropped
)

const (
	kindOp uint8 = iota
	kindAnnotation
	kindFrame
)

var sliceKinds = [...]string{"cpu_op", "user_annotation", "python_function"}

// opSpec is one GPU operation.
type opSpec struct {
	cat, name string
	stream    int32
	instr     int32
	dur       int64
	lat       int64 // launch call's start to earliest start
	gap       int64 // end of the stream's last operation to earliest start; negative: programmatic launch, they overlap
	wait      int64 // end of an operation on another stream to earliest start
	extra     int64 // first run only: the peer arrives so much later than this operation could end
	peer      int64 // time at which the peer lets the collective end; 0 = none
	after     int32 // first of the graph dependencies
	afterEnd  int32
	graph     bool // one of several of its launch
	fills     bool // needs all of its device: waits for the operation before it that did
	lost      bool // not recorded, though its launch may be
}

// NewProgram returns an empty program; delays are drawn from the seed.
func NewProgram(class string, seed uint64, amdLike bool) *Program {
	p := &Program{Class: class, AMD: amdLike, jitter: nvidia, rng: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))}
	if amdLike {
		p.jitter = amd
	}
	return p
}

func (p *Program) draw(s span) int64 { return s.lo + p.rng.Int64N(s.hi-s.lo+1) }

// between draws from [lo, hi].
func (p *Program) between(lo, hi int64) int64 { return p.draw(span{lo, hi}) }

// chance is true once in n.
func (p *Program) chance(percent int) bool { return p.rng.IntN(100) < percent }

// thread adds a host thread.
func (p *Program) thread(tid int64, name string) int {
	p.Threads = append(p.Threads, threadProgram{pid: 100, tid: tid, name: name})
	return len(p.Threads) - 1
}

func (p *Program) stream(number int64) int32 {
	return p.streamOn(0, number)
}

func (p *Program) streamOn(device, number int64) int32 {
	p.Streams = append(p.Streams, number)
	p.Devices = append(p.Devices, device)
	return int32(len(p.Streams) - 1)
}

// host writes the code of one thread.
type host struct {
	p  *Program
	th int
}

func (p *Program) on(th int) *host { return &host{p: p, th: th} }

func (h *host) add(in instr) int32 {
	h.p.instrs = append(h.p.instrs, in)
	id := int32(len(h.p.instrs) - 1)
	t := &h.p.Threads[h.th]
	t.code = append(t.code, id)
	return id
}

// slice runs body inside a slice.
func (h *host) slice(kind uint8, name string, body func()) int32 {
	id := h.add(instr{code: opOpen, kind: kind, name: name})
	body()
	h.add(instr{code: opClose, ref: id})
	return id
}

func (h *host) op(name string, body func()) int32 { return h.slice(kindOp, name, body) }
func (h *host) annotate(name string, body func()) { h.slice(kindAnnotation, name, body) }
func (h *host) frame(name string, body func())    { h.slice(kindFrame, name, body) }

// work spends time drawn from [lo, hi] in the innermost slice.
func (h *host) work(lo, hi int64) { h.add(instr{code: opWork, dur: h.p.between(lo, hi)}) }

func (h *host) call(name string, lo, hi int64) {
	h.add(instr{code: opCall, name: name, dur: h.p.between(lo, hi)})
}

// launch starts one operation.
func (h *host) launch(stream int32, name string, dur int64) *opSpec {
	return h.launchAs("cudaLaunchKernel", stream, "kernel", name, dur)
}

func (h *host) launchAs(call string, stream int32, cat, name string, dur int64) *opSpec {
	p := h.p
	n := int32(len(p.ops))
	h.add(instr{code: opLaunch, name: call, stream: stream, dur: p.between(3000, 6500), lat: p.draw(p.jitter.sync), first: n, limit: n + 1})
	p.ops = append(p.ops, p.newOp(cat, name, stream, dur))
	return &p.ops[n]
}

func (p *Program) newOp(cat, name string, stream int32, dur int64) opSpec {
	j := &p.jitter
	return opSpec{cat: cat, name: name, stream: stream, instr: int32(len(p.instrs) - 1), dur: dur, lat: p.draw(j.launch),
		gap: p.draw(j.gap), wait: p.draw(j.wait)}
}

// copyTo is a copy; a blocking one returns after it ended.
func (h *host) copyTo(stream int32, name string, dur int64, blocking bool) {
	h.launchAs("cudaMemcpyAsync", stream, "gpu_memcpy", name, dur)
	if blocking {
		h.p.instrs[len(h.p.instrs)-1].block = 1
	}
}

// graph launches a graph whose operations alternate between two streams, with joins.
func (h *host) graph(main, branch int32, n int, dur func() int64) {
	p := h.p
	first := int32(len(p.ops))
	h.add(instr{code: opLaunch, name: "cudaGraphLaunch", stream: main, dur: p.between(25_000, 60_000), first: first, limit: first + int32(n)})
	lat := p.between(12_000, 22_000)
	for i := range n {
		s := main
		if i > 0 && i < n-1 && p.chance(40) {
			s = branch
		}
		o := p.newOp("kernel", "graph_kernel_"+itoa(int64(i%5)), s, dur())
		o.lat, o.graph = lat+p.between(0, 800), true
		o.after = int32(len(p.after))
		last := [2]int32{-1, -1} // of the graph, per stream
		for k := first; k < first+int32(i); k++ {
			if p.ops[k].stream == main {
				last[0] = k
			} else {
				last[1] = k
			}
		}
		switch {
		case i == 0:
		case s == branch && last[0] >= 0 && (last[1] < 0 || p.chance(50)):
			p.after = append(p.after, last[0]) // fork
		case s == main && last[1] >= 0 && (i == n-1 || p.chance(50)):
			p.after = append(p.after, last[1]) // join
		}
		o.afterEnd = int32(len(p.after))
		p.ops = append(p.ops, o)
	}
}

// record and waitEvent are the two halves of an event wait between streams.
func (h *host) record(stream int32) int32 {
	ev := int32(h.p.events)
	h.p.events++
	h.add(instr{code: opRecord, name: "cudaEventRecord", stream: stream, ref: ev, dur: h.p.between(700, 2000)})
	return ev
}

func (h *host) waitEvent(stream, ev int32) {
	h.add(instr{code: opWaitEvent, name: "cudaStreamWaitEvent", stream: stream, ref: ev, dur: h.p.between(600, 1800)})
}

func (h *host) sync(code opcode, name string, stream, ev int32) {
	p := h.p
	h.add(instr{code: code, name: name, stream: stream, ref: ev, dur: p.between(1500, 4000), lat: p.draw(p.jitter.sync)})
}

func (h *host) streamSync(s int32) { h.sync(opStreamSync, "cudaStreamSynchronize", s, -1) }
func (h *host) deviceSync()        { h.sync(opDeviceSync, "cudaDeviceSynchronize", 0, -1) }

// deviceSyncOf synchronises the device of a stream.
func (h *host) deviceSyncOf(s int32) { h.sync(opDeviceSync, "cudaDeviceSynchronize", s, -1) }
func (h *host) eventSync(ev int32)   { h.sync(opEventSync, "cudaEventSynchronize", -1, ev) }
func (h *host) poll(ev int32)        { h.add(instr{code: opPoll, ref: ev, lat: h.p.between(500, 3000)}) }
func (h *host) acquire(lock int32) {
	h.add(instr{code: opAcquire, ref: lock, lat: h.p.between(1000, 8000)})
}
func (h *host) release(lock int32) { h.add(instr{code: opRelease, ref: lock}) }
func (h *host) signal(cond int32)  { h.add(instr{code: opSignal, ref: cond}) }
func (h *host) waitFor(cond int32) {
	h.add(instr{code: opWait, ref: cond, lat: h.p.draw(h.p.jitter.wake)})
}

// waitQuietly waits for something outside of the process that the other thread stands in for: no hand-off.
func (h *host) waitQuietly(cond int32) {
	h.add(instr{code: opWait, ref: cond, lat: h.p.between(100, 1000), hidden: true})
}

func (p *Program) cond() int32 { p.conds++; return int32(p.conds - 1) }
func (p *Program) lock() int32 { p.locks++; return int32(p.locks - 1) }

// Knobs are the durations that can be shortened: of steps, of returns from waits, of operations.
func (p *Program) knob(k int32) *int64 {
	n := int32(len(p.instrs))
	switch {
	case k < n:
		return &p.instrs[k].dur
	case k < 2*n:
		return &p.instrs[k-n].lat
	}
	return &p.ops[k-2*n].dur
}

// shorten takes d from a knob; the caller puts it back.
func (p *Program) shorten(k int32, d int64) {
	*p.knob(k) -= d
	if o := k - 2*int32(len(p.instrs)); o >= 0 && p.ops[o].peer != 0 {
		p.ops[o].peer -= d
	}
}

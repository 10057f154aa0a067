package testtrace

import (
	"math/rand/v2"
	"slices"
)

// Classes are the scenario classes of random programs.
var Classes = []string{"eager", "autograd", "streams", "ddp", "sync", "copies", "queue", "graphs", "overlap", "loader", "gil",
	"parallel", "hidden", "prewindow", "ondemand",
	"checkpoint", "python", "polled", "mixed", "explicit",
	"devices", "records", "neighbour", "edge", "lost", "drained", "cold", "pace"}

// Dropped is a class of programs of which records of operations are lost in the middle: nobody can tell all of what ran then.
const Dropped = "dropped"

// Random makes a program of a scenario class from a seed. What is no matter of the class is drawn: the vendor's launch
// latency, whole-µs stamps, cuda_sync records, threads that have nothing to do with it.
func Random(class string, seed uint64) *Program {
	if class == "tiny" {
		return Tiny(seed)
	}
	pick := rand.New(rand.NewPCG(seed, 77))
	p := NewProgram(class, seed, pick.IntN(3) == 0)
	p.SyncRecords = pick.IntN(2) == 0
	p.IntegerMicros = pick.IntN(5) == 0
	least := 2000 + pick.Int64N(18_000) // systems differ in how fast their threads wake up
	p.jitter.wake = span{least, least*3/2 + pick.Int64N(2*least)}
	g := &generator{p: p, class: class}
	has := func(classes ...string) bool {
		for _, c := range classes {
			if c == class {
				return true
			}
		}
		return class == "mixed" && p.chance(45)
	}
	is := func(classes ...string) bool { return slices.Contains(classes, class) }
	g.autograd = has("autograd", "ddp", "python", "explicit") || class != "gil" && p.chance(25) || is("pace")
	g.side, g.comm = has("streams", "copies") || is("records", "neighbour", "lost"), has("ddp") || is("records") && p.chance(50)
	g.syncs, g.copies, g.graphs, g.overlap = has("sync"), has("copies") || is("lost"), has("graphs") || is(Dropped) && p.chance(50), has("overlap")
	g.loader, g.frames, g.polls = has("loader") || is("pace") && p.chance(50), has("python") || is("pace") && p.chance(50), has("polled")
	g.devices, g.edge, g.steps = is("devices"), is("edge"), 2
	if g.devices {
		p.DeviceZero = p.chance(50)
	}
	if g.edge && p.chance(50) {
		p.jitter.sync = span{400, 3000} // the waiting thread spins
	}
	p.SyncRecords = p.SyncRecords || is("records")
	late, anywhere := has("prewindow") || is("drained"), has("ondemand")
	if late {
		g.steps = 3
	}
	if class == "queue" && p.chance(10) {
		p.QueueLimit, g.steps, g.scale = 1024, 1, 40
	}
	g.scale = p.between(1, 20)
	if class == "queue" || class == "prewindow" || class == "drained" || class == "overlap" || class == "hidden" {
		g.scale = p.between(12, 25)
	}
	if is("neighbour") && p.chance(60) { // launches decide more often
		g.scale = p.between(1, 3)
	}
	if has("queue") && p.QueueLimit == 0 {
		p.QueueLimit = int(p.between(8, 24))
	}
	switch class {
	case "gil":
		g.turns()
	case "explicit":
		p.Explicit = true
		g.freeThreads()
	default:
		if slices.Contains(Production, class) {
			g.produce(pick)
		} else {
			g.train()
		}
	}
	if has("checkpoint") || is("lost") && p.chance(50) {
		g.checkpoint()
	}
	if is("neighbour") {
		g.feeder()
	}
	if is("records") {
		g.loseRecords()
	}
	if is("cold") {
		p.coldLaunches()
	}
	if is("pace") {
		p.slowPython(p.between(2, 6))
	}
	if class == "parallel" || class != "pause" && p.chance(30) { // a collection stops all threads
		g.strangers()
	}
	for i := range p.Threads {
		if p.Threads[i].background {
			for _, id := range p.Threads[i].code {
				p.instrs[id].block |= 2
			}
		}
	}
	g.settle(has("hidden"), is("lost"), late, anywhere)
	return p
}

type generator struct {
	p                                                                           *Program
	class                                                                       string
	steps                                                                       int
	scale                                                                       int64 // how long kernels are
	autograd, side, comm, syncs, copies, graphs, overlap, loader, frames, polls bool
	devices, edge                                                               bool

	compute, copying, nccl, branch int32
	first, second                  int32 // compute streams of a model on two devices
	main, engine, pin              *host
	stepStart                      []int32 // first slice of each step
}

// spinKernel writes the memory that a thread spins on.
const spinKernel = "deep_ep_notify_dispatch"

var kernels = []string{"gemm_f16", "elementwise_kernel", "layer_norm", "softmax", "reduce_kernel", "flash_fwd"}

// train is a training loop: load, forward, loss, backward on a second thread or not, update.
func (g *generator) train() {
	p := g.p
	g.compute = p.stream(7)
	g.copying, g.nccl, g.branch = g.compute, g.compute, g.compute
	g.first, g.second = g.compute, g.compute
	if g.devices { // the default streams of both devices have the same number
		g.second = p.streamOn(1, []int64{7, 107}[p.rng.IntN(2)])
	}
	if g.side {
		g.copying = p.stream(20)
	}
	if g.comm {
		g.nccl = p.stream(24)
	}
	if g.graphs {
		g.branch = p.stream(28)
	}
	g.main = p.on(p.thread(100, "python"))
	if g.loader && p.chance(40) {
		g.pin = p.on(p.thread(103, "pt_data_pin"))
	}
	if g.autograd {
		g.engine = p.on(p.thread(101, "pt_autograd_0"))
	}
	layers := int(p.between(3, 7))
	if p.QueueLimit == 1024 {
		layers = 900
	}
	for s := range g.steps {
		g.stepStart = append(g.stepStart, int32(len(p.instrs)))
		body := func() { g.step(layers) }
		if p.chance(80) || s > 0 {
			g.main.annotate("ProfilerStep#"+itoa(int64(s+1)), body)
		} else {
			body()
		}
		g.main.work(500, 5000)
	}
	if g.devices {
		g.main.deviceSyncOf(g.second)
	}
	g.main.deviceSync()
	g.main.op("aten::last", func() { g.main.work(2000, 9000) })
}

func (g *generator) step(layers int) {
	p, m := g.p, g.main
	g.load()
	m.work(500, 4000)
	g.framed("train.py(20): forward", func() {
		for i := range layers {
			g.place(m, i, layers, true)
			g.beside(m)
			g.layer(m, "aten::linear", i)
		}
	})
	m.op("aten::nll_loss", func() { g.kernel(m, g.compute) })
	g.backward(layers)
	m.work(1000, 4000)
	m.annotate("Optimizer.step#SGD.step", func() {
		m.work(1000, 4000)
		for range p.between(1, 3) {
			m.op("aten::_foreach_add_", func() { g.kernel(m, g.compute) })
			m.work(300, 1500)
		}
	})
	if p.chance(40) || g.syncs {
		m.op("aten::item", func() {
			m.work(500, 1500)
			m.copyTo(g.compute, DtoHPageable, p.between(1200, 2500), true)
			m.streamSync(g.compute)
			m.work(500, 1500)
		})
	}
}

func (g *generator) framed(name string, body func()) {
	if !g.frames {
		body()
		return
	}
	m := g.main
	m.frame(name, func() {
		m.work(500, 3000)
		body()
		m.work(500, 3000)
	})
}

func (g *generator) load() {
	p, m := g.p, g.main
	if g.pin != nil {
		// A worker process is late, which only main's wait shows; then the batch is pinned.
		arrived, ready := p.cond(), p.cond()
		g.pin.waitQuietly(arrived)
		for range p.between(1, 3) {
			g.pin.op("aten::pin_memory", func() { g.pin.work(4000, 120_000) })
			g.pin.work(300, 1500)
		}
		g.pin.signal(ready)
		m.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", func() {
			m.work(2000, 10000)
			if p.chance(50) {
				m.work(10_000, 300_000)
			}
			m.signal(arrived)
			m.waitFor(ready)
			m.work(2000, 10000)
		})
		g.toDevice()
		return
	}
	m.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", func() {
		m.work(2000, 10000)
		if g.loader {
			for range p.between(1, 4) {
				m.op("aten::stack", func() { m.work(5000, 60000) })
				m.work(1000, 20000)
			}
		}
		if g.loader && p.chance(50) {
			m.work(50_000, 400_000) // a worker process is late
		}
	})
	g.toDevice()
}

// toDevice copies the batch.
func (g *generator) toDevice() {
	p, m := g.p, g.main
	if !g.copies && !g.side && !p.chance(40) {
		return
	}
	m.op("aten::copy_", func() {
		m.work(500, 2500)
		switch {
		case p.chance(40): // small pageable copies are staged and do not wait
			m.copyTo(g.copying, HtoDPageable, p.between(3000, 30000), p.chance(50))
		default:
			m.copyTo(g.copying, HtoDPinned, p.between(3000, 50000), false)
		}
		m.work(300, 1500)
	})
	if g.copying != g.compute {
		g.join(m, g.copying, g.compute)
	}
}

// join lets a stream wait for another.
func (g *generator) join(h *host, from, to int32) {
	ev := h.record(from)
	h.work(200, 1200)
	h.waitEvent(to, ev)
}

func (g *generator) kernel(h *host, s int32) {
	p := g.p
	h.work(1500, 8000)
	dur := p.between(1000, 4000) * g.scale
	if p.chance(15) {
		dur *= 4
	}
	o := h.launch(s, kernels[p.rng.IntN(len(kernels))], dur)
	if g.overlap && p.chance(60) {
		o.gap = -p.between(300, max(301, dur/4))
	}
	h.work(500, 3000)
}

func (g *generator) layer(h *host, name string, i int) int32 {
	p := g.p
	if g.graphs && p.chance(40) {
		h.work(2000, 8000)
		h.graph(g.compute, g.branch, int(p.between(4, 9)), func() int64 { return p.between(1500, 4000) * g.scale })
		h.work(1000, 4000)
	}
	id := h.op(name, func() {
		h.work(500, 3000)
		if p.chance(50) {
			h.op("aten::addmm", func() { g.kernel(h, g.compute) })
		}
		g.kernel(h, g.compute)
	})
	h.work(300, 2500)
	if g.side && p.chance(25) { // a side stream takes a part
		g.join(h, g.compute, g.copying)
		h.op("aten::copy_", func() { g.kernel(h, g.copying) })
		g.join(h, g.copying, g.compute)
	}
	if g.syncs && p.chance(25) {
		g.synchronise(h)
	}
	if g.edge && p.chance(40) {
		g.edges(h)
	}
	if g.copies && p.chance(30) {
		h.op("aten::to", func() {
			h.work(500, 2000)
			if p.chance(60) {
				h.copyTo(g.compute, DtoHPageable, p.between(1500, 20000), true)
			} else {
				h.copyTo(g.compute, DtoHPinned, p.between(1500, 20000), false)
			}
		})
	}
	if g.polls && p.chance(20) {
		h.frame("deep_ep/buffer.py(88): dispatch", func() {
			h.work(1000, 3000)
			h.launch(g.compute, spinKernel, p.between(600_000, 900_000))
			ev := h.mark(g.compute)
			h.poll(ev)
		})
	}
	return id
}

// mark is an event record that leaves no trace: what a spinning thread looks at is memory.
func (h *host) mark(s int32) int32 {
	ev := h.record(s)
	in := &h.p.instrs[len(h.p.instrs)-1]
	in.hidden, in.dur = true, 0
	return ev
}

func (g *generator) synchronise(h *host) {
	switch g.p.rng.IntN(3) {
	case 0:
		h.streamSync(g.compute)
	case 1:
		h.deviceSyncOf(g.compute)
	default:
		ev := h.record(g.compute)
		if g.p.chance(50) {
			h.op("aten::relu", func() { g.kernel(h, g.compute) })
		}
		h.eventSync(ev)
	}
}

// backward runs on the autograd thread, if there is one, while main waits in a gap, an annotation or a frame.
func (g *generator) backward(layers int) {
	p, m := g.p, g.main
	run := func(h *host) {
		for i := range layers {
			g.place(h, i, layers, false)
			g.beside(h)
			h.op("autograd::engine::evaluate_function: AddmmBackward0", func() {
				h.work(500, 3000)
				h.op("AddmmBackward0", func() { g.kernel(h, g.compute) })
				h.work(300, 1500)
			})
			if g.comm && (i%2 == 1 || i == layers-1) {
				g.allReduce(h)
			}
			h.work(300, 3000)
		}
		if g.comm {
			h.op("c10d::wait", func() {
				ev := h.record(g.nccl)
				h.waitEvent(g.compute, ev)
			})
		}
	}
	if !g.autograd {
		run(m)
		return
	}
	start, done := p.cond(), p.cond()
	call := func() {
		m.work(500, 4000)
		m.signal(start)
		m.waitFor(done)
		m.work(500, 3000)
	}
	g.engine.waitFor(start)
	g.engine.work(300, 3000)
	run(g.engine)
	g.engine.signal(done)
	switch {
	case g.frames:
		m.frame("<built-in method run_backward of torch._C._EngineBase object at 0x7f00>", call)
	case p.chance(30):
		m.annotate("## backward ##", call)
	default:
		call()
	}
}

func (g *generator) allReduce(h *host) {
	p := g.p
	h.work(500, 2000)
	h.op("c10d::allreduce_", func() {
		h.work(500, 2000)
		h.op("record_param_comms", func() {
			h.work(500, 3000)
			g.join(h, g.compute, g.nccl)
			o := h.launch(g.nccl, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", p.between(10_000, 60_000)*max(1, g.scale/4))
			if p.chance(30) {
				o.extra = p.between(20_000, 200_000)
			}
		})
	})
}

// turns are Python threads that share the GIL: each computes while it holds it.
func (g *generator) turns() {
	p := g.p
	g.compute = p.stream(7)
	gil := p.lock()
	n := int(p.between(2, 3))
	for i := range n {
		h := p.on(p.thread(int64(100+i), "python"))
		rounds := int(p.between(24, 32))
		for k := range rounds {
			h.acquire(gil)
			h.op("aten::step"+itoa(int64(i)), func() {
				h.work(3000, 20000)
				if p.chance(40) {
					g.kernel(h, g.compute)
				}
			})
			h.release(gil)
			if k < rounds-1 {
				h.work(200, 600)
			}
		}
	}
}

// freeThreads are threads without a GIL: main gives work to two workers that compute at once, and joins them.
func (g *generator) freeThreads() {
	p := g.p
	g.compute = p.stream(7)
	side := p.stream(13)
	m := p.on(p.thread(100, "python"))
	w := []*host{p.on(p.thread(101, "worker")), p.on(p.thread(102, "worker"))}
	for range int(p.between(3, 5)) {
		m.op("aten::prepare", func() { m.work(10_000, 80_000); g.kernel(m, g.compute) })
		var done [2]int32
		for i, h := range w {
			start := p.cond()
			done[i] = p.cond()
			m.work(300, 2000)
			m.signal(start)
			h.frame("threading.py(589): wait", func() { h.waitFor(start) })
			for range p.between(2, 5) {
				h.op("aten::work", func() { h.work(5000, 90_000); g.kernel(h, side) })
				h.work(300, 2000)
			}
			h.signal(done[i])
		}
		for i := range w {
			m.frame("threading.py(1100): join", func() { m.waitFor(done[i]) })
		}
		m.work(300, 2000)
	}
	m.deviceSync()
}

// checkpoint is a thread that saves the model: copies on a stream of its own, and a wait for each, while training goes on.
func (g *generator) checkpoint() {
	p := g.p
	s := p.stream(33)
	h := p.on(p.thread(140, "checkpoint"))
	for range p.between(3, 8) {
		h.op("aten::copy_", func() {
			h.work(2000, 9000)
			h.copyTo(s, DtoHPinned, p.between(10_000, 90_000), false)
			h.work(500, 2000)
		})
		ev := h.record(s)
		h.work(300, 2000)
		h.eventSync(ev)
		h.op("aten::clone", func() { h.work(3000, 30_000) })
		h.work(500, 4000)
	}
}

// strangers are a watchdog that queries events, and a thread that computes at the same time.
func (g *generator) strangers() {
	p := g.p
	h := p.on(p.thread(177, "pt_nccl_watchdg"))
	p.Threads[h.th].background = true
	for range 60 {
		h.call("cudaEventQuery", 700, 2500)
		h.work(5000, 60000)
	}
	if g.class == "gil" || p.chance(50) {
		return
	}
	h = p.on(p.thread(178, "logger"))
	p.Threads[h.th].background = true
	for range 60 {
		h.op("aten::sum", func() { h.work(5000, 40000) })
		h.work(1000, 9000)
	}
}

// settle runs the program once for what depends on its times: until when strangers run, when peers arrive, what is
// hidden, when recording begins.
func (g *generator) settle(hide, lose, late, anywhere bool) {
	p := g.p
	var r Run
	r.Simulate(p)
	for i := range p.Threads {
		p.Threads[i].until = r.End * 9 / 10
	}
	for _, order := range r.tail { // an operation is not released in the first half of the one before
		for i := 1; i < len(order); i++ {
			if op := &p.ops[order[i]]; op.gap < 0 {
				op.gap = -min(-op.gap, p.ops[order[i-1]].dur*4/10)
			}
		}
	}
	r.Simulate(p)
	if hide { // only launches whose operation was released by something else: nobody could know the others
		for o := range p.ops {
			op := &p.ops[o]
			if !op.graph && op.name != spinKernel && r.why[r.opBeg[o]] != byLaunch && p.chance(40) {
				p.instrs[op.instr].hidden = p.instrs[op.instr].block == 0
			}
		}
	}
	if lose {
		g.loseLaunches(&r)
	}
	if late && len(g.stepStart) > 1 { // the main thread starts the profiler between two steps
		p.RecordFrom = r.slice[g.stepStart[1]].start
	}
	if anywhere { // started from outside: in the middle of anything
		p.RecordFrom = p.between(r.End/20, r.End/3)
	}
	switch g.class {
	case "drained":
		p.forgetQueued(&r)
	case Dropped:
		p.dropRecords(&r)
	}
}

// Tiny makes a program of up to 12 activities: a few launches on one or two streams, waits and blocking calls.
func Tiny(seed uint64) *Program {
	p := NewProgram("tiny", seed, false)
	s, side := p.stream(7), p.stream(20)
	h := p.on(p.thread(100, "python"))
	used, last := 0, s
	for used < 9 {
		h.work(1500, 6000)
		switch p.rng.IntN(5) {
		case 0, 1:
			h.launch(s, "gemm", p.between(2000, 60_000))
			last = s
			used += 2
		case 2:
			h.op("aten::add", func() { h.work(3000, 30_000) })
			used++
		case 3:
			h.streamSync(last)
			used++
		default:
			ev := h.record(s)
			h.work(200, 1000)
			h.waitEvent(side, ev)
			h.launch(side, "copy_kernel", p.between(2000, 60_000))
			last = side
			used += 4
		}
	}
	h.op("aten::end", func() { h.work(2000, 5000) })
	return p
}

package testtrace

// Run is one simulated run of a program. Its buffers are used again by the next run.
//
// Everything that happens is a point with the point that it waited for last: the step between the two is either work
// of one activity or a delay of none. The critical path is the chain of these steps, back from the end.
type Run struct {
	p *Program

	at    []int64 // time of the point
	pred  []int32 // what released it, -1 at the start of a thread
	owner []int32 // activity that fills [pred, point], -1 = a delay
	knob  []int32 // what would have to be shorter, -1 = nothing
	why   []rule
	alts  []alt // other releases of a point that came nearly as late

	slice  []bounds // per activity: instructions, then operations
	outer  []int32  // per instruction that is a call: the slice around it, -1
	opEnd  []int32  // per operation: its end point
	opBeg  []int32
	thread []hostState
	tail   [][]int32       // per stream: operations in order
	pend   [][]int32       // per stream: operations that the next operation waits for
	filled map[int64]int32 // per device: the last operation that needs all of it
	events [][]int32       // per CUDA event: operations that it stands for
	known  []int32         // per CUDA event: the call that recorded it, -1 = never
	conds  []condState
	locks  []lockState
	deps   []dep // what truly waited for what, released last or not

	End int64 // last end of an activity of a thread or stream that takes part
}

type rule uint8

const (
	byProgram rule = iota
	byStream
	byLaunch
	byEvent
	byGraph
	bySync
	byQueue
	byHand
	byDevice
)

type bounds struct{ start, end int64 }

type alt struct {
	point, pred, owner int32
	margin             int64 // how much earlier it was released
}

// dep says that activity to waited for activity from; between threads they are thread numbers.
type dep struct {
	from, to int32
	why      rule
	at       int64
}

type hostState struct {
	pc     int
	clock  int64
	point  int32
	parked bool
	done   bool
	stack  []int32
}

type condState struct {
	set    bool
	point  int32
	thread int32
	waiter int32
}

type lockState struct {
	holder int32
	queue  []int32
}

// activity of an operation.
func (p *Program) opKey(o int32) int32 { return int32(len(p.instrs)) + o }

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Simulate runs the program.
func (r *Run) Simulate(p *Program) {
	r.p = p
	r.at, r.pred, r.owner, r.knob, r.why = r.at[:0], r.pred[:0], r.owner[:0], r.knob[:0], r.why[:0]
	r.alts, r.deps = r.alts[:0], r.deps[:0]
	r.slice = resize(r.slice, len(p.instrs)+len(p.ops))
	r.outer = resize(r.outer, len(p.instrs))
	for i := range r.outer {
		r.outer[i] = -1
	}
	for i := range r.slice {
		r.slice[i] = bounds{-1, -1}
	}
	r.opEnd, r.opBeg = resize(r.opEnd, len(p.ops)), resize(r.opBeg, len(p.ops))
	r.thread = resize(r.thread, len(p.Threads))
	r.tail, r.pend = resize(r.tail, len(p.Streams)), resize(r.pend, len(p.Streams))
	for s := range r.tail {
		r.tail[s], r.pend[s] = r.tail[s][:0], r.pend[s][:0]
	}
	r.filled = map[int64]int32{}
	r.events, r.known = resize(r.events, p.events), resize(r.known, p.events)
	for e := range r.events {
		r.events[e], r.known[e] = r.events[e][:0], -1
	}
	r.conds, r.locks = resize(r.conds, p.conds), resize(r.locks, p.locks)
	for i := range r.conds {
		r.conds[i] = condState{waiter: -1}
	}
	for i := range r.locks {
		r.locks[i].holder, r.locks[i].queue = -1, r.locks[i].queue[:0]
	}
	for i := range r.thread {
		t := &r.thread[i]
		*t = hostState{stack: t.stack[:0], clock: int64(i) * 100}
		t.point = r.add(t.clock, -1, -1, -1, byProgram)
	}
	for th := r.next(); th >= 0; th = r.next() {
		r.step(th)
	}
	r.End = 0
	for i := range r.at {
		r.End = max(r.End, r.ends(int32(i)))
	}
}

// ends is the time of a point if the makespan counts it: not that of background threads, nor of time without a slice.
func (r *Run) ends(i int32) int64 {
	o := r.owner[i]
	if o < 0 || r.slice[o].end < 0 || r.background(o) {
		return 0
	}
	return min(r.at[i], r.slice[o].end)
}

// background tells whether a slice is of a background thread, or an operation was launched there.
func (r *Run) background(key int32) bool {
	if n := int32(len(r.p.instrs)); key >= n {
		key = r.p.ops[key-n].instr
	}
	return r.p.instrs[key].background()
}

func (in *instr) background() bool { return in.block&2 != 0 }

func (r *Run) add(at int64, pred, owner, knob int32, why rule) int32 {
	r.at = append(r.at, at)
	r.pred = append(r.pred, pred)
	r.owner = append(r.owner, owner)
	r.knob = append(r.knob, knob)
	r.why = append(r.why, why)
	return int32(len(r.at) - 1)
}

// next is the thread that acts first.
func (r *Run) next() int32 {
	best := int32(-1)
	for i := range r.thread {
		t := &r.thread[i]
		if t.parked || t.done {
			continue
		}
		if best < 0 || t.clock < r.thread[best].clock {
			best = int32(i)
		}
	}
	return best
}

func (t *hostState) top() int32 {
	if len(t.stack) == 0 {
		return -1
	}
	return t.stack[len(t.stack)-1]
}

// advance moves a thread to a point.
func (r *Run) advance(th int32, at int64, pred, owner, knob int32, why rule) {
	t := &r.thread[th]
	t.point = r.add(at, pred, owner, knob, why)
	t.clock = at
}

func (r *Run) step(th int32) {
	p, t := r.p, &r.thread[th]
	tp := &p.Threads[th]
	if t.pc >= len(tp.code) || tp.background && tp.until > 0 && t.clock >= tp.until && len(t.stack) == 0 {
		t.done = true
		return
	}
	id := tp.code[t.pc]
	in := &p.instrs[id]
	t.pc++
	switch in.code {
	case opOpen:
		r.slice[id].start = t.clock
		t.stack = append(t.stack, id)
	case opClose:
		r.slice[in.ref].end = t.clock
		t.stack = t.stack[:len(t.stack)-1]
	case opWork:
		r.advance(th, t.clock+in.dur, t.point, t.top(), id, byProgram)
	case opSignal:
		r.signal(th, in)
	case opWait:
		r.wait(th, id)
	case opAcquire:
		r.acquire(th, id)
	case opRelease:
		r.unlock(in.ref)
	case opPoll:
		r.block(th, id, t.top(), r.events[in.ref], 0)
	default:
		r.slice[id].start, r.outer[id] = t.clock, t.top()
		r.runCall(th, id)
		r.slice[id].end = t.clock
	}
}

func (r *Run) runCall(th, id int32) {
	p, t := r.p, &r.thread[th]
	in := &p.instrs[id]
	switch in.code {
	case opCall:
		r.advance(th, t.clock+in.dur, t.point, id, id, byProgram)
	case opLaunch:
		r.launch(th, id)
	case opRecord:
		r.events[in.ref] = append(r.events[in.ref][:0], r.standing(in.stream)...)
		r.known[in.ref] = id
		r.advance(th, t.clock+in.dur, t.point, id, id, byProgram)
	case opWaitEvent:
		r.pend[in.stream] = append(r.pend[in.stream], r.events[in.ref]...)
		r.advance(th, t.clock+in.dur, t.point, id, id, byProgram)
	case opStreamSync:
		r.block(th, id, id, r.standing(in.stream), in.dur)
	case opEventSync:
		r.block(th, id, id, r.events[in.ref], in.dur)
	case opDeviceSync:
		var all []int32
		for s := range p.Streams {
			if p.Devices[s] != p.Devices[in.stream] {
				continue
			}
			all = append(all, r.standing(int32(s))...)
		}
		r.block(th, id, id, all, in.dur)
	}
}

// standing is what an event recorded now, or a synchronisation, waits for on a stream.
func (r *Run) standing(s int32) []int32 {
	n := len(r.tail[s])
	if n == 0 {
		return r.pend[s]
	}
	if len(r.pend[s]) == 0 {
		return r.tail[s][n-1:]
	}
	return append([]int32{r.tail[s][n-1]}, r.pend[s]...)
}

// block ends at the later of the call's own time and the end of the last operation waited for.
func (r *Run) block(th, id, owner int32, ops []int32, dur int64) {
	p, t := r.p, &r.thread[th]
	in := &p.instrs[id]
	from, start := t.point, t.clock
	best, own := int32(-1), start+dur
	for _, o := range ops {
		e := r.opEnd[o]
		r.deps = append(r.deps, dep{p.opKey(o), owner, bySync, r.at[e]})
		if best < 0 || r.at[e] > r.at[best] {
			best = e
		}
	}
	if best >= 0 && r.at[best] > start && r.at[best]+in.lat > own {
		r.advance(th, r.at[best]+in.lat, best, owner, id+int32(len(p.instrs)), bySync)
		for _, o := range ops {
			if e := r.opEnd[o]; e != best {
				r.near(t.point, e, owner, r.at[best]-r.at[e], p.jitter.sync.width())
			}
		}
		r.near(t.point, from, owner, r.at[best]+in.lat-own, p.jitter.sync.width())
		return
	}
	knob := id
	if dur == 0 {
		knob = -1
	}
	r.advance(th, own, from, owner, knob, byProgram)
	if best >= 0 {
		r.near(t.point, best, owner, own-r.at[best]-in.lat, p.jitter.sync.width())
	}
}

// near keeps a release that lost by less than the jitter of its delay.
func (r *Run) near(point, pred, owner int32, margin, width int64) {
	if margin < width && r.at[pred] <= r.at[point] {
		r.alts = append(r.alts, alt{point, pred, owner, margin})
	}
}

func (r *Run) launch(th, id int32) {
	p, t := r.p, &r.thread[th]
	in := &p.instrs[id]
	if in.before > 0 {
		r.advance(th, t.clock+in.before, t.point, id, -1, byProgram)
	}
	from, start, why := t.point, t.clock, byProgram
	if limit := p.QueueLimit; limit > 0 && !p.ops[in.first].graph {
		q := r.tail[in.stream]
		if n := len(q) - limit; n >= 0 && r.at[r.opEnd[q[n]]] > start {
			from, why = r.opEnd[q[n]], byQueue
			start = r.at[from]
			r.deps = append(r.deps, dep{p.opKey(q[n]), id, byQueue, start})
		}
	}
	for o := in.first; o < in.limit; o++ {
		r.enqueue(o, from, start)
	}
	if in.limit > in.first+1 { // what follows a graph waits for all of it
		last := in.limit - 1
		for o := in.first; o < last; o++ {
			if p.ops[o].stream != in.stream {
				r.pend[in.stream] = append(r.pend[in.stream], o)
			}
		}
	}
	if in.block&1 != 0 {
		o := [1]int32{in.first}
		r.block(th, id, id, o[:], in.dur)
		return
	}
	r.advance(th, start+in.dur, from, id, id, why)
}

// enqueue decides when an operation starts: after the last of its releases.
func (r *Run) enqueue(o, call int32, now int64) {
	p := r.p
	op := &p.ops[o]
	type release struct {
		at, width int64
		point     int32
		why       rule
	}
	var buf [12]release
	rel := append(buf[:0], release{now + op.lat, p.jitter.launch.width(), call, byLaunch})
	if q := r.tail[op.stream]; len(q) > 0 {
		last := q[len(q)-1]
		e := r.opEnd[last]
		if op.gap < 0 { // overlap: released inside the operation before
			b := r.opBeg[last]
			e = r.add(max(r.at[b], r.at[e]+op.gap), b, p.opKey(last), 2*int32(len(p.instrs))+last, byProgram)
			rel = append(rel, release{r.at[e], p.jitter.gap.width(), e, byStream})
		} else {
			rel = append(rel, release{r.at[e] + op.gap, p.jitter.gap.width(), e, byStream})
		}
	}
	key := p.opKey(o)
	wait := func(src int32, why rule) {
		e := r.opEnd[src]
		r.deps = append(r.deps, dep{p.opKey(src), key, why, r.at[e]})
		rel = append(rel, release{r.at[e] + op.wait, p.jitter.wait.width(), e, why})
	}
	for _, src := range p.after[op.after:op.afterEnd] {
		wait(src, byGraph)
	}
	for _, src := range r.pend[op.stream] {
		if !op.graph || p.ops[src].instr != op.instr {
			wait(src, byEvent)
		}
	}
	r.pend[op.stream] = r.pend[op.stream][:0]
	if dev := p.Devices[op.stream]; op.fills {
		if x, ok := r.filled[dev]; ok && p.ops[x].stream != op.stream {
			e := r.opEnd[x]
			rel = append(rel, release{r.at[e] + op.gap, p.jitter.gap.width(), e, byDevice})
		}
		r.filled[dev] = o
	}
	best := 0
	for i := range rel {
		if rel[i].at > rel[best].at {
			best = i
		}
	}
	start := r.add(rel[best].at, rel[best].point, -1, -1, rel[best].why)
	for i := range rel {
		if i != best {
			r.near(start, rel[i].point, -1, rel[best].at-rel[i].at, max(rel[i].width, rel[best].width))
		}
	}
	if op.extra > 0 && op.peer == 0 {
		op.peer = r.at[start] + op.dur + op.extra
	}
	end := max(r.at[start]+op.dur, op.peer)
	if q := r.tail[op.stream]; len(q) > 0 {
		end = max(end, r.at[r.opEnd[q[len(q)-1]]])
	}
	r.opBeg[o] = start
	r.opEnd[o] = r.add(end, start, key, 2*int32(len(p.instrs))+o, byProgram)
	r.slice[key] = bounds{r.at[start], end}
	r.tail[op.stream] = append(r.tail[op.stream], o)
}

func (r *Run) signal(th int32, in *instr) {
	c := &r.conds[in.ref]
	c.set, c.point, c.thread = true, r.thread[th].point, th
	if c.waiter >= 0 {
		r.wake(c.waiter, th, c.point)
	}
}

func (r *Run) wait(th, id int32) {
	t := &r.thread[th]
	c := &r.conds[r.p.instrs[id].ref]
	if !c.set {
		c.waiter, t.parked = th, true
		return
	}
	if lat := r.p.instrs[id].lat; r.at[c.point]+lat > t.clock { // signalled, not yet through
		from, arrived := t.point, t.clock
		r.handOver(th, c.thread, id, r.at[c.point]+lat, c.point)
		r.near(t.point, from, t.top(), t.clock-arrived, r.p.jitter.wake.width())
		return
	}
	from := t.point
	r.advance(th, t.clock, from, t.top(), -1, byProgram)
	r.near(t.point, c.point, -1, t.clock-r.at[c.point]-r.p.instrs[id].lat, r.p.jitter.wake.width())
}

// wake lets a parked thread go on after the step that it waits in.
func (r *Run) wake(th, by, point int32) {
	t := &r.thread[th]
	id := r.p.Threads[th].code[t.pc-1]
	at := max(r.at[point]+r.p.instrs[id].lat, t.clock)
	t.parked = false
	r.handOver(th, by, id, at, point)
}

func (r *Run) handOver(th, by, id int32, at int64, point int32) {
	why := byHand
	if r.p.instrs[id].hidden {
		why = byProgram
	} else {
		r.deps = append(r.deps, dep{by, th, byHand, at})
	}
	r.advance(th, at, point, -1, id+int32(len(r.p.instrs)), why)
}

func (r *Run) acquire(th, id int32) {
	l := &r.locks[r.p.instrs[id].ref]
	if l.holder < 0 {
		l.holder = th
		return
	}
	l.queue = append(l.queue, th)
	r.thread[th].parked = true
}

func (r *Run) unlock(lock int32) {
	l := &r.locks[lock]
	by := l.holder
	l.holder = -1
	if len(l.queue) == 0 {
		return
	}
	th := l.queue[0]
	l.queue = append(l.queue[:0], l.queue[1:]...)
	l.holder = th
	r.wake(th, by, r.thread[by].point)
}

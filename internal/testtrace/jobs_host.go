package testtrace

import (
	"math"
	"math/rand/v2"
)

// jobAct is something that a trace shows: a slice of a thread or an operation of a stream.
type jobAct struct {
	rank, row  int32 // row: jobMain, jobGrad, then the streams
	kind       uint8 // see sliceKinds; above them jobCall and jobKernel
	lost       bool  // its record is
	name       string
	start, end int32 // points
	corr       int64 // of calls and operations
	op         int32 // of an operation: the op that launched it, -1
	inst       int32 // the collective that it belongs to, -1
	step       int32
}

const (
	jobMain int32 = iota
	jobGrad
	jobCompute // first of the streams
)

// Kinds of activities beyond those of sliceKinds.
const (
	jobCall   uint8 = 10
	jobKernel uint8 = 11
)

// jobWorker writes down what one rank does.
type jobWorker struct {
	j       *Job
	rank    int32
	rng     *rand.Rand
	cursor  [2]int32   // per thread: the point at which it stands
	open    [2][]int32 // per thread: slices that are open
	streams []int64    // their numbers
	last    []int32    // per stream: the end of its last operation, -1
	pend    [][]int32  // per stream: ends that its next operation waits for
	corr    int64
	step    int32
	done    map[int32]int32 // per group: collectives so far
	paused  int32           // last step in which it paused
	begun   int32           // point from which the profiler records
}

func (j *Job) newWorker(rank int32) *jobWorker {
	w := &jobWorker{j: j, rank: rank, rng: rand.New(rand.NewPCG(j.Seed, 0x776f726b+uint64(rank))), step: -1, paused: -1, done: map[int32]int32{}, corr: 100}
	w.cursor = [2]int32{j.graph.point(rank), j.graph.point(rank)}
	w.stream(7)
	return w
}

// stream is the row of a stream; the first is that of compute.
func (w *jobWorker) stream(number int64) int32 {
	for i, n := range w.streams {
		if n == number {
			return jobCompute + int32(i)
		}
	}
	w.streams, w.last, w.pend = append(w.streams, number), append(w.last, -1), append(w.pend, nil)
	return jobCompute + int32(len(w.streams)-1)
}

func (w *jobWorker) add(row int32, kind uint8, name string, start int32) int32 {
	w.j.acts = append(w.j.acts, jobAct{rank: w.rank, row: row, kind: kind, name: name, start: start, end: -1, inst: -1, op: -1, step: w.step})
	return int32(len(w.j.acts) - 1)
}

// within runs body inside a slice of a thread.
func (w *jobWorker) within(row int32, kind uint8, name string, body func()) int32 {
	id := w.add(row, kind, name, w.cursor[row])
	w.open[row] = append(w.open[row], id)
	body()
	w.open[row] = w.open[row][:len(w.open[row])-1]
	w.j.acts[id].end = w.cursor[row]
	return id
}

func (w *jobWorker) op(row int32, name string, body func()) int32 {
	return w.within(row, kindOp, name, body)
}

// hostJitter spreads a duration of host work: what is long consists of much, which does not vary together.
func (w *jobWorker) hostJitter(d int64) int64 {
	return w.jitter(d, 8/math.Sqrt(max(1, float64(d)/8000)))
}

// jitter spreads a duration by some percent of it, times the noise of the job.
func (w *jobWorker) jitter(d int64, percent float64) int64 {
	f := 1 + w.rng.NormFloat64()*percent/100*w.j.Noise
	return max(100, int64(float64(d)*max(f, 0.5)))
}

// work spends time of the innermost slice.
func (w *jobWorker) work(row int32, d int64) {
	owner := int32(-1)
	if n := len(w.open[row]); n > 0 {
		owner = w.open[row][n-1]
	}
	w.spend(row, owner, w.hostJitter(int64(float64(d)*w.j.shape.host)))
}

func (w *jobWorker) spend(row, owner int32, d int64) {
	w.spendTuned(row, owner, w.j.hostCost(w.rank, w.step, d), d)
}

func (w *jobWorker) spendTuned(row, owner int32, d, clean int64) {
	g := &w.j.graph
	p := g.point(w.rank)
	g.edge(w.cursor[row], p, g.tune(d, clean), owner, 0)
	w.cursor[row] = p
}

// call is a runtime call that takes time.
func (w *jobWorker) call(row int32, name string, d int64) int32 {
	w.corr++
	id := w.add(row, jobCall, name, w.cursor[row])
	w.spend(row, id, w.jitter(d, 8))
	w.j.acts[id].end, w.j.acts[id].corr = w.cursor[row], w.corr
	return id
}

// launch starts an operation: when its launch, its stream and the events that the stream waits for allow it. Who calls
// gives it an end.
func (w *jobWorker) launch(row, stream int32, name, call string) (op int32) {
	g, s := &w.j.graph, stream-jobCompute
	id := w.call(row, call, 4500)
	start := g.point(w.rank)
	g.edge(w.j.acts[id].start, start, -1, -1, 3500+w.rng.Int64N(3000))
	if w.last[s] >= 0 {
		g.edge(w.last[s], start, -1, -1, 700+w.rng.Int64N(800))
	}
	for _, p := range w.pend[s] {
		g.edge(p, start, -1, -1, 1000+w.rng.Int64N(1200))
	}
	w.pend[s] = w.pend[s][:0]
	op = w.add(stream, jobKernel, name, start)
	w.j.acts[op].corr = w.corr
	for _, o := range w.open[row] {
		if w.j.acts[o].kind == kindOp {
			w.j.acts[op].op = o
		}
	}
	return op
}

// kernel is an operation that runs for so long.
func (w *jobWorker) kernel(row int32, name string, d int64) {
	g := &w.j.graph
	d = w.jitter(d, 1)
	op := w.launch(row, jobCompute, name, "cudaLaunchKernel")
	end := g.point(w.rank)
	g.edge(w.j.acts[op].start, end, g.tune(w.j.kernelCost(w.rank, w.step, name, d), w.j.evenCost(w.rank, w.step, name, d)), op, 0)
	w.finish(op, end)
}

func (w *jobWorker) finish(op, end int32) {
	w.j.acts[op].end = end
	w.last[w.j.acts[op].row-jobCompute] = end
}

// join lets the next operation of a stream wait for the last one of another.
func (w *jobWorker) join(row, from, to int32) {
	w.call(row, "cudaEventRecord", 900)
	w.call(row, "cudaStreamWaitEvent", 800)
	if p := w.last[from-jobCompute]; p >= 0 {
		w.pend[to-jobCompute] = append(w.pend[to-jobCompute], p)
	}
}

// sync waits until a stream is done.
func (w *jobWorker) sync(row, stream int32) {
	p := w.last[stream-jobCompute]
	if row != jobMain || p < 0 {
		panic("testtrace: internal error: a made job waits for nothing")
	}
	w.waitFor("cudaStreamSynchronize", p)
}

// waitFor lets the main thread wait for the end of an operation.
func (w *jobWorker) waitFor(call string, end int32) {
	id := w.call(jobMain, call, 2500)
	w.j.graph.edge(end, w.cursor[jobMain], -1, -1, 3000+w.rng.Int64N(4000))
	w.j.acts[id].end = w.cursor[jobMain]
}

// handOver lets another thread go on where this one stands.
func (w *jobWorker) handOver(from, to int32) {
	g := &w.j.graph
	p := g.after(w.cursor[from], 8000+w.rng.Int64N(8000))
	g.edge(w.cursor[to], p, -1, -1, 0)
	w.cursor[to] = p
}

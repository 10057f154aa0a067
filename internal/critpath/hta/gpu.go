package hta

import (
	"cmp"
	"slices"

	"overlay/internal/critpath"
)

// kernelGap is the peer's KERNEL_KERNEL_DELAY_THRESHOLD_US: a longer gap on a stream is no edge.
const kernelGap = 1500 * 1000

// queues holds what the peer's TraceCounters gives: for each launch and each kernel of the whole frame the length of
// its stream's queue after it.
type queues struct {
	length   []int32 // per row; -1 without one
	launches []int32 // rows, in frame order
	kernel   []int32 // per launch: the row of its operation, -1
}

// queueLengths follows _get_queue_length_time_series_for_rank: +1 at the start of a launch, -1 at the start of its
// operation, cumulated per stream number. Ties are decided by an unstable sort, which is part of the result.
func (in *input) queueLengths() (queues, error) {
	q := queues{length: none(len(in.rows))}
	byCorr := map[int64]int32{} // correlation of a launch -> row of the operation, -1 before it is met
	for i := range in.rows {
		if r := &in.rows[i]; in.is(r, isLaunch) && r.partner > 0 {
			q.launches = append(q.launches, int32(i))
			byCorr[r.corr] = -1
		}
	}
	var kernels []int32
	for i := range in.rows {
		r := &in.rows[i]
		if r.stream == -1 {
			continue
		}
		at, ok := byCorr[r.corr]
		if !ok {
			continue
		}
		if at >= 0 {
			return q, raises("two operations share correlation %d of a launch (AssertionError)", r.corr)
		}
		byCorr[r.corr] = int32(i)
		kernels = append(kernels, int32(i))
	}
	if len(kernels) == 0 {
		return q, raises("no launch with an operation is in the trace (AssertionError)")
	}
	q.kernel = make([]int32, len(q.launches))
	streams := map[int64]int32{} // stream number -> dense
	streamOf := func(s int64) int32 {
		id, ok := streams[s]
		if !ok {
			id = int32(len(streams))
			streams[s] = id
		}
		return id
	}
	n := len(q.launches) + len(kernels)
	rows, dense, keys := make([]int32, 0, n), make([]int32, 0, n), make([]int64, 0, n)
	for i, l := range q.launches {
		q.kernel[i] = byCorr[in.rows[l].corr]
		d := int32(-1)
		if k := q.kernel[i]; k >= 0 {
			d = streamOf(in.rows[k].stream)
		}
		rows, dense, keys = append(rows, l), append(dense, d), append(keys, in.rows[l].ts)
	}
	for _, k := range kernels {
		rows, dense, keys = append(rows, k), append(dense, streamOf(in.rows[k].stream)), append(keys, in.rows[k].ts)
	}
	length := make([]int32, len(streams))
	for _, i := range unstableOrder(keys) {
		d := dense[i]
		if d < 0 {
			continue
		}
		if int(i) < len(q.launches) {
			length[d]++
		} else {
			length[d]--
		}
		q.length[rows[i]] = length[d]
	}
	return q, nil
}

// addKernels adds the edges of GPU rows in the peer's order (_construct_graph_from_kernels).
func (b *builder) addKernels() error {
	q, err := b.in.queueLengths()
	if err != nil {
		return err
	}
	k := &kernelWalk{builder: b, q: q, waitFor: none(len(b.in.rows)), lastEnd: map[int64]int{}}
	k.pair()
	var list []int32
	var keys []int64
	for _, p := range b.in.clip {
		r := &b.in.rows[p]
		if r.partner < 0 || r.stream == -1 && !b.in.is(r, isEventSync|isContextSync) {
			continue
		}
		key := r.ts
		if b.isSync(r) {
			key = r.end()
		}
		list, keys = append(list, p), append(keys, key)
	}
	for _, i := range unstableOrder(keys) {
		if b.isSync(&b.in.rows[list[i]]) {
			err = k.sync(list[i])
		} else {
			err = k.kernel(list[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) isSync(r *row) bool { return b.in.tr.Syms[r.cat] == "cuda_sync" }

// kernelWalk is the state of the pass over GPU rows.
type kernelWalk struct {
	*builder
	q       queues
	ends    []int32       // last end node per stream, in order of first use
	lastEnd map[int64]int // stream number -> index in ends
	waitFor []int32       // per operation row: row of the operation that it waits for, -1; one slot, the last wins

	records    map[int64]int32 // correlation of a cudaEventRecord -> row of the launch before it, -1
	nextLaunch map[int32]int32 // row of a cudaStreamWaitEvent -> row of the next launch, -1
}

func (k *kernelWalk) endOf(stream int64) int32 {
	if i, ok := k.lastEnd[stream]; ok {
		return k.ends[i]
	}
	return -1
}

func (k *kernelWalk) sync(p int32) error {
	r := &k.in.rows[p]
	call := k.in.at[r.partner]
	callEnd := int32(-1)
	if call >= 0 {
		callEnd = k.end[call]
	}
	switch {
	case k.in.is(r, isStreamWait|isEventSync):
		launch, ok := k.records[r.waitRecord]
		if !ok || launch < 0 {
			return nil
		}
		src := k.in.at[k.in.rows[launch].partner]
		if k.in.is(r, isEventSync) {
			if src >= 0 && k.end[src] >= 0 && callEnd >= 0 {
				k.add(k.end[src], callEnd, critpath.SyncDependencyEdge, true, noOwner)
			}
			return nil
		}
		next, ok := k.nextLaunch[call]
		if !ok {
			return raises("the wait call of position %d is unknown to it (KeyError)", r.ev)
		}
		if next >= 0 && src >= 0 {
			if dst := k.in.at[k.in.rows[next].partner]; dst >= 0 {
				k.waitFor[dst] = src
			}
		}
	case k.in.is(r, isStreamSync):
		if e := k.endOf(r.stream); e >= 0 && callEnd >= 0 {
			k.add(e, callEnd, critpath.SyncDependencyEdge, true, noOwner)
		}
	case k.in.is(r, isContextSync):
		for _, e := range k.ends {
			if callEnd >= 0 {
				k.add(e, callEnd, critpath.SyncDependencyEdge, true, noOwner)
			}
		}
	default:
		return raises("unknown cuda_sync event %q (AssertionError)", k.in.tr.Syms[r.name])
	}
	return nil
}

func (k *kernelWalk) kernel(p int32) error {
	r := &k.in.rows[p]
	start, end := k.start[p], k.end[p]
	if start < 0 {
		return raises("the operation at position %d has no nodes", r.ev)
	}
	k.add(start, end, critpath.OperatorEdge, false, r.ev)
	waited := int32(-1) // end node of the operation that it waits for
	if src := k.waitFor[p]; src >= 0 && k.end[src] >= 0 {
		waited = k.end[src]
		k.add(waited, start, critpath.SyncDependencyEdge, true, noOwner)
	}
	k.waitFor[p] = -1
	last := k.endOf(r.stream)
	launch := k.in.at[r.partner]
	made := false
	if launch >= 0 && k.q.length[launch] == 1 && k.q.length[p] == 0 && k.earlier(last, k.in.rows[launch].ts) && k.earlier(waited, k.in.rows[launch].ts) {
		if k.start[launch] < 0 {
			return raises("the launch of position %d has no nodes (AssertionError)", r.ev)
		}
		k.add(k.start[launch], start, critpath.LaunchDelayEdge, false, noOwner)
		made = true
	} else if last >= 0 && r.ts-k.g.Nodes[last].TS < kernelGap && k.earlier(waited, k.g.Nodes[last].TS) {
		k.add(last, start, critpath.KernelDelayEdge, false, k.g.Nodes[last].Event)
	}
	if k.g.opts.ZeroLaunch && !made && launch >= 0 && k.start[launch] >= 0 {
		k.add(k.start[launch], start, critpath.LaunchDelayEdge, true, noOwner)
	}
	k.setEnd(r.stream, end)
	return nil
}

// earlier: there is no such node, or it lies strictly before ts.
func (k *kernelWalk) earlier(node int32, ts int64) bool { return node < 0 || k.g.Nodes[node].TS < ts }

func (k *kernelWalk) setEnd(stream int64, node int32) {
	i, ok := k.lastEnd[stream]
	if !ok {
		i = len(k.ends)
		k.lastEnd[stream] = i
		k.ends = append(k.ends, -1)
	}
	k.ends[i] = node
}

// pair finds the launch before each event record and the launch after each stream wait (_get_cuda_event_record_df
// and its twin), by start times of calls over the whole frame.
func (k *kernelWalk) pair() {
	k.records, k.nextLaunch = map[int64]int32{}, map[int32]int32{}
	in := k.in
	type lane struct{ pid, tid, stream int64 }
	recordLane := map[int64]lane{} // correlation of a record -> where it was put, told by those who wait for it
	for i := range in.rows {
		if r := &in.rows[i]; r.waitStream > -1 {
			recordLane[r.waitRecord] = lane{pid: r.pid, stream: r.waitStream}
		}
	}
	byTime := identity(len(k.q.launches)) // indexes into q.launches
	ts := func(i int32) int64 { return in.rows[k.q.launches[i]].ts }
	slices.SortStableFunc(byTime, func(a, b int32) int { return cmp.Compare(ts(a), ts(b)) })
	onStream, onThread := map[lane][]int32{}, map[lane][]int32{} // launch rows by time
	for _, i := range byTime {
		op, l := k.q.kernel[i], k.q.launches[i]
		if op < 0 {
			continue
		}
		s := lane{pid: in.rows[op].pid, stream: in.rows[op].stream}
		onStream[s] = append(onStream[s], l)
		t := lane{in.rows[l].pid, in.rows[l].tid, in.rows[op].stream}
		onThread[t] = append(onThread[t], l)
	}
	for i := range in.rows {
		r := &in.rows[i]
		switch {
		case in.is(r, isRecord):
			if s, ok := recordLane[r.corr]; ok {
				k.records[r.corr] = lastBefore(in, onStream[s], r.ts)
			}
		case in.is(r, isWaitCall) && r.partner > 0:
			if p := in.at[r.partner]; p >= 0 && in.rows[p].stream != -1 {
				k.nextLaunch[int32(i)] = firstAfter(in, onThread[lane{r.pid, r.tid, in.rows[p].stream}], r.ts)
			}
		}
	}
}

func lastBefore(in *input, launches []int32, ts int64) int32 {
	n, _ := slices.BinarySearchFunc(launches, ts+1, func(l int32, t int64) int { return cmp.Compare(in.rows[l].ts, t) })
	if n == 0 {
		return -1
	}
	return launches[n-1]
}

func firstAfter(in *input, launches []int32, ts int64) int32 {
	n, _ := slices.BinarySearchFunc(launches, ts, func(l int32, t int64) int { return cmp.Compare(in.rows[l].ts, t) })
	if n == len(launches) {
		return -1
	}
	return launches[n]
}

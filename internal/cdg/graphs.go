package cdg

var graphsRule = rule{name: "graphs", find: func(b *builder) { graphWaits{b}.find() }}

type graphWaits struct{ *builder }

// find lets operations of one graph launch wait for each other, by recorded edges where there are any, else across
// streams by times, and what is launched next on any stream that a graph used wait for all of the graph.
func (b graphWaits) find() {
	d := b.d
	last := map[ActID]ActID{} // per graph launch: its operation with the latest end
	for _, a := range b.byEnd {
		if b.graph[a] {
			last[b.launch[a]] = a
		}
	}
	b.graphWait = map[ActID]ActID{}
	edges := b.readGraphEdges()
	if len(last) == 0 {
		return
	}
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if !lane.Stream {
			continue
		}
		for a := lane.First; a < lane.Limit; a++ {
			if x := b.recordedOrder(a, &edges); x != NoAct {
				b.graphWait[a] = x
				continue
			}
			x := NoAct
			if l := b.launch[a]; b.graph[a] && (!edges.launched[l] || d.Acts[a].Start-d.Acts[l].Start > b.launchMax(a, l)) { // the recorded edges may be some of them
				x = b.graphSource(a)
			}
			if x == NoAct && b.pos[a] > 0 {
				x = b.graphBefore(a, last)
			}
			if x != NoAct {
				b.graphWait[a] = x
				b.add(a, x, GraphOrder, ByGraph)
			}
		}
	}
}

// graphBefore returns the operation that ended last of the graph launched before an operation on its stream, if it
// ran on another stream.
func (b graphWaits) graphBefore(a ActID, last map[ActID]ActID) ActID {
	d := b.d
	before := b.order[d.Acts[a].Lane][b.pos[a]-1]
	if !b.graph[before] || b.launch[before] == b.launch[a] {
		return NoAct
	}
	x := last[b.launch[before]]
	if d.Acts[x].Lane == d.Acts[a].Lane || d.Acts[x].End > d.Acts[a].Start+b.clockGrain || d.Acts[x].Start >= d.Acts[a].Start {
		return NoAct
	}
	return x
}

// graphSource returns the operation of the same graph launch, on another stream, that ended last before k started;
// one that ended so shortly before that no delay fits counts only without any other.
func (b graphWaits) graphSource(k ActID) ActID {
	d := b.d
	act := &d.Acts[k]
	from := act.Start - 30*us
	if p := b.pred[k]; p != NoAct {
		from = max(from, d.Acts[p].End+d.Delays.Kernel.Min)
	}
	lo, hi := b.endsIn(from-1, act.Start+b.clockGrain)
	late := NoAct
	for i := hi - 1; i >= lo; i-- {
		x := b.byEnd[i]
		if b.launch[x] != b.launch[k] || d.Acts[x].Lane == act.Lane || d.Acts[x].Start >= act.Start {
			continue
		}
		if b.tooLate(x, k) {
			if late == NoAct {
				late = x
			}
			continue
		}
		return x
	}
	if p := b.pred[k]; p != NoAct && act.Start-d.Acts[p].End <= d.Delays.Kernel.Max {
		return NoAct // the predecessor explains it better
	}
	return late
}

// tooLate reports whether an operation ended so shortly before another started that it can hardly be its reason:
// every delay on the GPU takes about Kernel.Min. In traces of whole µs a delay of Kernel.Min can still show as less.
func (b *facts) tooLate(x, k ActID) bool {
	gap := b.d.Acts[k].Start - b.d.Acts[x].End
	if b.clockGrain == us {
		return gap < b.d.Delays.Kernel.Min
	}
	return gap < b.d.Delays.Kernel.Min/2
}

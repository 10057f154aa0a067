package cdg

// graphEdges are the dependencies inside of graph launches that the profiler recorded.
type graphEdges struct {
	from     map[ActID][]ActID // per operation: those before it that take time
	launched map[ActID]bool    // graph launches whose edges are recorded
}

// readGraphEdges takes the recorded edges. An operation without length, such as a recorded event, cannot be entered:
// a successor of such an operation waits for its predecessors instead.
func (b graphWaits) readGraphEdges() graphEdges {
	d := b.d
	e := graphEdges{map[ActID][]ActID{}, map[ActID]bool{}}
	direct := map[ActID][]ActID{}
	for _, edge := range b.tr.GraphEdges {
		from, to := d.ActOf[edge.From], d.ActOf[edge.To]
		if from == NoAct || to == NoAct {
			continue
		}
		direct[to] = append(direct[to], from)
		if l := b.launch[to]; l != NoAct {
			e.launched[l] = true
		}
	}
	for to := range direct {
		seen := map[ActID]bool{to: true}
		var sources []ActID
		open := append([]ActID(nil), direct[to]...)
		for len(open) > 0 {
			x := open[len(open)-1]
			open = open[:len(open)-1]
			if seen[x] {
				continue
			}
			seen[x] = true
			if act := &d.Acts[x]; act.End > act.Start {
				sources = append(sources, x)
			} else {
				open = append(open, direct[x]...)
			}
		}
		e.from[to] = sources
	}
	return e
}

// recordedOrder lets an operation wait for those that a recorded edge leads from, and returns the one that ended last;
// NoAct for an operation that only its launch releases.
func (b graphWaits) recordedOrder(k ActID, e *graphEdges) ActID {
	last := NoAct
	for _, x := range e.from[k] {
		b.add(k, x, GraphOrder, ByGraph)
		if last == NoAct || b.d.Acts[x].End > b.d.Acts[last].End || b.d.Acts[x].End == b.d.Acts[last].End && x < last {
			last = x
		}
	}
	return last
}

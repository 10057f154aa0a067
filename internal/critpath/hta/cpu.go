package hta

import (
	"cmp"
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/trace"
)

// addLockEdges models the lock of the CUDA runtime: allocating, launching and copying calls of all threads in one
// order (_construct_graph_from_cuda_runtime_events). When two calls overlap, the one that ends later loses its own
// duration; that is what the peer does.
func (b *builder) addLockEdges() {
	var starts []int32
	last := int32(-1)
	for i := range b.g.Nodes {
		n := int32(i)
		if !b.in.is(b.row(n), isLock) {
			continue
		}
		if !b.g.Nodes[n].End {
			starts = append(starts, n)
			last = n
			continue
		}
		for len(starts) > 0 {
			p := starts[len(starts)-1]
			starts = starts[:len(starts)-1]
			if b.g.Nodes[p].Event == b.g.Nodes[n].Event {
				b.add(p, n, critpath.OperatorEdge, false, b.g.Nodes[n].Event)
			} else {
				b.add(p, n, critpath.DependencyEdge, true, noOwner)
			}
		}
		if last >= 0 && b.g.Nodes[last].End {
			b.add(last, n, critpath.DependencyEdge, true, noOwner)
		}
		last = n
	}
}

// addCallStacks walks the call stack of each CPU thread (_construct_graph_from_call_stacks).
func (b *builder) addCallStacks() {
	from, to, merge := b.backwardThread()
	rows := slices.Clone(b.in.clip)
	tid := func(p int32) int64 {
		if t := b.in.rows[p].tid; !merge || t != from {
			return t
		}
		return to
	}
	slices.SortStableFunc(rows, func(x, y int32) int {
		return cmp.Or(cmp.Compare(b.in.rows[x].pid, b.in.rows[y].pid), cmp.Compare(tid(x), tid(y)), cmp.Compare(b.in.rows[x].ev, b.in.rows[y].ev))
	})
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && b.in.rows[rows[n]].pid == b.in.rows[rows[0]].pid && tid(rows[n]) == tid(rows[0]) {
			n++
		}
		if b.isCPU(rows[:n]) {
			b.walkThread(rows[:n])
		}
		rows = rows[n:]
	}
}

// isCPU: a group is a CPU thread when no row has a stream.
func (b *builder) isCPU(rows []int32) bool {
	for _, p := range rows {
		if b.in.rows[p].stream >= 0 {
			return false
		}
	}
	return true
}

// backwardThread finds the thread whose rows the peer re-labels: exactly one tid with "autograd" in a name, exactly
// one with "forward", both not 0 and different.
func (b *builder) backwardThread() (backward, forward int64, ok bool) {
	var bwd, fwd []int64
	for _, p := range b.in.clip {
		r := &b.in.rows[p]
		if c := b.in.tr.Syms[r.cat]; c != "cpu_op" && c != "user_annotation" {
			continue
		}
		if b.in.is(r, isAutograd) && !slices.Contains(bwd, r.tid) {
			bwd = append(bwd, r.tid)
		}
		if b.in.is(r, isForward) && !slices.Contains(fwd, r.tid) {
			fwd = append(fwd, r.tid)
		}
	}
	if len(bwd) != 1 || len(fwd) != 1 || bwd[0] == 0 || fwd[0] == 0 || bwd[0] == fwd[0] {
		return 0, 0, false
	}
	return bwd[0], fwd[0], true
}

// mark is one end of a row on a thread.
type mark struct {
	ts, dur int64
	row     int32
	ev      trace.EventID
	end     bool
}

// before is the peer's order of starts and ends (hta/common/call_stack.py, _less_than).
func before(a, c mark) int {
	if a.row == c.row {
		return bool2int(a.end) - bool2int(c.end)
	}
	if a.ts != c.ts {
		return cmp.Compare(a.ts, c.ts)
	}
	switch {
	case !a.end && !c.end:
		return cmp.Or(cmp.Compare(c.dur, a.dur), cmp.Compare(a.ev, c.ev))
	case a.end && c.end:
		return cmp.Or(cmp.Compare(a.dur, c.dur), cmp.Compare(c.ev, a.ev))
	case a.dur > 0 && c.dur > 0:
		return bool2int(!a.end) - bool2int(!c.end)
	case a.dur == 0 && c.dur == 0:
		return cmp.Compare(a.ev, c.ev)
	}
	return bool2int(a.end) - bool2int(c.end)
}

// walkThread builds the stack of one thread and adds its edges in one pass: entering and leaving in stack order is
// the peer's depth-first walk of the tree. An end pops whatever is on top.
func (b *builder) walkThread(rows []int32) {
	marks := make([]mark, 0, 2*len(rows))
	for _, p := range rows {
		r := &b.in.rows[p]
		dur := max(r.dur, 0)
		marks = append(marks, mark{r.ts, dur, p, r.ev, false}, mark{r.ts + dur, dur, p, r.ev, true})
	}
	slices.SortStableFunc(marks, before)
	w := walker{b: b, last: -1, lastParent: noOwner}
	for _, m := range marks {
		if !m.end {
			w.enter(m.row)
			w.stack = append(w.stack, m.row)
		} else if n := len(w.stack); n > 0 {
			top := w.stack[n-1]
			w.stack = w.stack[:n-1]
			w.exit(top)
		}
	}
}

type walker struct {
	b          *builder
	stack      []int32 // rows
	last       int32   // node
	lastParent trace.EventID
	depth      int
}

// parent is the event on top of the stack, nodes or not.
func (w *walker) parent() trace.EventID {
	if n := len(w.stack); n > 0 {
		return w.b.in.rows[w.stack[n-1]].ev
	}
	return noOwner
}

// lockPair: the edge between two runtime calls that hold the lock was made before.
func (w *walker) lockPair(x, y int32) bool {
	b := w.b
	return b.in.is(b.row(x), isLock) && b.in.is(b.row(y), isLock) && !(b.g.Nodes[x].End && !b.g.Nodes[y].End)
}

func (w *walker) enter(p int32) {
	n := w.b.start[p]
	if n < 0 {
		return
	}
	if w.last >= 0 && !w.lockPair(w.last, n) {
		if w.depth == 0 {
			w.b.add(w.last, n, critpath.DependencyEdge, true, noOwner)
		} else {
			w.b.add(w.last, n, critpath.OperatorEdge, false, w.b.ownerOf(w.last, n, w.lastParent))
		}
	}
	w.last, w.lastParent = n, w.parent()
	w.depth++
}

func (w *walker) exit(p int32) {
	n := w.b.end[p]
	if n < 0 {
		return
	}
	if w.last >= 0 && !w.lockPair(w.last, n) {
		w.b.add(w.last, n, critpath.OperatorEdge, w.b.in.is(w.b.row(n), isBlocking), w.b.ownerOf(w.last, n, w.lastParent))
	}
	w.last, w.lastParent = n, w.parent()
	w.depth--
}

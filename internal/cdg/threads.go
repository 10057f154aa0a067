package cdg

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"overlay/internal/trace"
)

// threadInfo is what hand-offs and waits need to know of a thread.
type threadInfo struct {
	busy      []Span // union of its ops and calls, ascending
	busyTime  int64
	contested []Span // of busy, where sifted: what meets busy time of another thread
	sifted    bool
	launches  []ActID // calls that launched operations, in time order
	records   []ActID // cudaEventRecord calls, in time order
	ops       int     // ops, annotations and frames, or launches where calls are all that was recorded: a thread with other calls only is a watchdog
	autograd  bool    // runs autograd nodes and carries no steps, or is named pt_autograd_*
	pinMemory bool    // runs pin_memory ops
	blocks    bool    // has slices in which it waits for other threads (explicit mode)
}

// markerOp names ops that are annotations: the first schemas wrote both with one category.
var markerOp = regexp.MustCompile(`^(` + trace.StepPrefix + `|enumerate\(Data(Loader|Pipe)\)#|Optimizer\.|## )`)

// describeThreads gathers what each thread does.
func (b *builder) describeThreads() {
	d := b.d
	b.threads = make([]threadInfo, len(d.Lanes))
	b.waits = map[trace.ProcID][]ActID{}
	b.records = map[trace.ProcID][]int64{}
	counts := make([]int, len(d.Lanes)) // of launching calls
	for a := b.firstOp; int(a) < len(d.Acts); a++ {
		if l := b.launch[a]; l != NoAct && b.ofCall[l] == a {
			counts[d.Acts[l].Lane]++
		}
	}
	isNode, isStep, isPin := b.nameFlags()
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if lane.Stream {
			continue
		}
		t := &b.threads[l]
		t.launches = make([]ActID, 0, counts[l])
		t.busy = make([]Span, 0, b.busyRuns(LaneID(l)))
		steps := false
		var copies []ActID
		for a := lane.First; a < lane.Limit; a++ {
			act, e := &d.Acts[a], b.event(a)
			if b.ofCall[a] != NoAct {
				t.launches = append(t.launches, a)
			}
			switch {
			case d.Marker(a):
				t.ops++
				steps = steps || isStep[e.Name]
				continue
			case e.Kind == trace.CPUOp:
				t.ops++
				t.autograd = t.autograd || isNode[e.Name]
				t.pinMemory = t.pinMemory || isPin[e.Name]
			default:
				switch b.calls[e.Name] {
				case streamWait:
					b.waits[lane.Proc] = append(b.waits[lane.Proc], a)
				case streamSync, deviceSync, eventSync, freeCall, submit:
					b.syncCalls = append(b.syncCalls, a)
				case asyncCopy, blockingCopy:
					copies = append(copies, a)
				case eventRecord:
					b.records[lane.Proc] = append(b.records[lane.Proc], act.Start)
					t.records = append(t.records, a)
				}
			}
			t.busy = cover(t.busy, act)
		}
		if copies != nil {
			b.copyCalls = append(b.copyCalls, copies)
		}
		b.sortCalls(t.launches)
		b.sortCalls(t.records)
		for _, s := range t.busy {
			t.busyTime += s.End - s.Start
		}
		t.autograd = t.autograd && !steps || strings.Contains(b.tr.Tracks[lane.Track].Name, "pt_autograd")
	}
	b.takeLaunchesForOps()
	for p := range b.records {
		slices.Sort(b.records[p])
	}
	for p := range b.waits {
		b.sortCalls(b.waits[p])
	}
}

// busyRuns is about how many intervals the union of a thread's ops and calls has: it has no more, unless frames cover
// an op that goes on around them.
func (b *builder) busyRuns(l LaneID) int {
	d := b.d
	n, inside := 0, false
	for _, p := range d.Pieces[d.PieceFirst[l]:d.PieceFirst[l+1]] {
		works := p.Owner != NoAct && !d.Marker(p.Owner)
		if works && !inside {
			n++
		}
		inside = works
	}
	return n
}

// takeLaunchesForOps lets the threads that launch stand for those that run ops in processes of which only calls were
// recorded: there a thread with calls only is no watchdog.
func (b *builder) takeLaunchesForOps() {
	hasOps := map[trace.ProcID]bool{}
	for l := range b.threads {
		if b.threads[l].ops > 0 {
			hasOps[b.d.Lanes[l].Proc] = true
		}
	}
	for l := range b.threads {
		if t := &b.threads[l]; !hasOps[b.d.Lanes[l].Proc] {
			t.ops = len(t.launches)
		}
	}
}

// sortCalls puts calls into the order in which they were made.
func (b *builder) sortCalls(calls []ActID) {
	if !slices.IsSortedFunc(calls, b.callOrder) {
		slices.SortFunc(calls, b.callOrder)
	}
}

// callOrder is callLess as a comparison.
func (b *builder) callOrder(x, y ActID) int {
	if b.callLess(x, y) {
		return -1
	}
	if b.callLess(y, x) {
		return 1
	}
	return cmp.Compare(x, y)
}

// nameFlags evaluates once per name what threads are told by.
func (b *builder) nameFlags() (node, step, pin []bool) {
	n := len(b.tr.Syms)
	node, step, pin = make([]bool, n), make([]bool, n), make([]bool, n)
	for i, s := range b.tr.Syms {
		node[i] = strings.HasPrefix(s, "autograd::engine::evaluate_function") || strings.HasPrefix(s, "torch::autograd::") // the first schema has no evaluate_function
		step[i] = strings.HasPrefix(s, trace.StepPrefix)
		pin[i] = strings.Contains(s, "pin_memory")
	}
	return
}

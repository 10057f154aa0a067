package advise

import (
	"maps"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// The rules about single waits.
const (
	byPythonCondition = "sync-python-condition"
	byItem            = "sync-item"
	byDynamicSize     = "sync-dynamic-size"
	byHostTensor      = "sync-host-tensor"
	byExplicit        = "sync-explicit"
)

// syncCauses tells what made a call wait: the first of the list around it. Operators that wait contain others that do, as
// aten::is_nonzero contains aten::item; then the one that stands first here is what the user wrote.
var syncCauses = []struct {
	id  string
	ops []string
}{
	{byPythonCondition, []string{"aten::is_nonzero"}},
	{byItem, []string{"aten::item", "aten::_local_scalar_dense"}},
	{byDynamicSize, []string{"aten::nonzero", "aten::masked_select", "aten::_unique2", "aten::unique_dim", "aten::unique_consecutive", "aten::repeat_interleave", "aten::bincount"}},
}

// asked is the id of the rule about the operators around a call that wait, "" without them, and the innermost operator around it.
func asked(r *run, call cdg.ActID) (id string, inner cdg.ActID) {
	first := len(syncCauses)
	inner = cdg.NoAct
	for a := call; a != cdg.NoAct && first > 0; a = r.g.Parent[a] {
		if r.kind(a) == trace.CPUOp {
			if inner == cdg.NoAct {
				inner = a
			}
			first = min(first, int(r.causes.of(r.tr, r.syms[a])))
		}
	}
	if first < len(syncCauses) {
		id = syncCauses[first].id
	}
	return id, inner
}

// syncCause is the place of an operator in the list of causes, behind its end for others.
func syncCause(name string) uint32 {
	for i := range syncCauses {
		if slices.Contains(syncCauses[i].ops, name) {
			return uint32(i)
		}
	}
	return uint32(len(syncCauses))
}

// causeOf is the id of the rule that a wait belongs to.
func causeOf(r *run, w *wait) string {
	id, inner := asked(r, w.call)
	if id != "" {
		return id
	}
	verb := r.verb(w.call)
	copies := verb == vendors.AsyncCopy || verb == vendors.BlockingCopy
	switch {
	case inner != cdg.NoAct && (copies || verb == vendors.StreamSync) && r.kind(w.for_) == trace.Memcpy && toDevice(r.name(w.for_)) && slices.Contains(tensorMakers, r.name(inner)):
		if pageable(r.name(w.for_)) && r.bytes(w.for_) >= largeCopy { // a finding of its own
			return ""
		}
		return byHostTensor
	case inner == cdg.NoAct && (verb == vendors.DeviceSync || verb == vendors.StreamSync):
		return byExplicit
	}
	return "" // such as a copy to the host, which the program reads next
}

// waitsOf lists the waits of one cause.
func (r *run) waitsOf(id string) []wait { return r.byCause()[id] }

func (r *run) waitsByCause() map[string][]wait {
	of := map[string][]wait{}
	for i := range r.waits {
		c := causeOf(r, &r.waits[i])
		of[c] = append(of[c], r.waits[i])
	}
	for c, list := range of {
		of[c] = slices.Clip(list)
	}
	return of
}

// waiting is what all rules about waits find: how often, how long, and where.
func waiting(r *run, list []wait, do string) *found {
	if len(list) == 0 {
		return nil
	}
	f := &found{change: r.scenario(), do: do}
	ns := int64(0)
	for _, w := range list {
		ns += w.ns
		f.events.list = append(f.events.list, w.call)
	}
	f.change.noWait(list)
	f.numbers = []Number{countOf("waits", len(list)), timeOf("waited", ns)}
	f.saw = tables.Counted(len(list), "wait")
	return f
}

// syncRules are the rules about single waits: they differ in which waits they are about, and in words.
var syncRules = []struct {
	id, why, title, cause string
	action                []string
	verify, do            string
	only                  func(*run, []wait) []wait // of the waits with that cause; nil for all
}{
	{byPythonCondition, "aten::is_nonzero is around the waiting call", "Python decides on a value that the GPU computes",
		"if, while, assert and bool() of a tensor wait until the GPU has computed it, and then nothing is queued",
		[]string{"torch.where instead of if", "decide on the host from data that is there"},
		"aten::is_nonzero is gone", "torch.where instead of if on a tensor", nil},
	{byItem, "aten::item is around the waiting call", "values are read back from the GPU one by one",
		".item(), float() and printing wait until everything before them is computed, and then nothing is queued",
		[]string{"keep the value on the GPU: loss_sum += loss.detach(), and read it every N steps"},
		"aten::item waits once in N steps", "keep values on the GPU, read them every N steps", nil},
	{byDynamicSize, "the operator around the waiting call has a result whose size only the GPU knows", "sizes of tensors are computed on the GPU",
		"the CPU has to know how large the result of nonzero, unique or a mask as index is before it can go on",
		[]string{"torch.where or a multiplied mask instead of a mask as index", "nonzero_static(size=...), repeat_interleave(output_size=...)", "fixed sizes with padding"},
		"aten::nonzero and its like are gone, or do not wait", "fixed sizes: torch.where instead of masks as index", nil},
	// A device synchronisation blocks until all that was asked of the device is done, by the documents of CUDA and HIP.
	{byExplicit, "the call stands outside of every operator: the program asks for it", "the program waits for the GPU in the middle of the run",
		"after synchronize() nothing is queued, and the GPU waits for the CPU",
		[]string{"remove torch.cuda.synchronize()", "take times with torch.cuda.Event(enable_timing=True), and read them at the end"},
		"no synchronisation between the first and the last launch", "remove torch.cuda.synchronize(); time with events", midRun},
}

func init() {
	for _, s := range syncRules {
		kind := Predicted
		if s.id == byDynamicSize {
			kind = AtMost // some sizes have to be known
		}
		add(rule{id: s.id, group: Specific, class: critpath.ClassSync, kind: kind, level: Medium, why: s.why, title: s.title, cause: s.cause,
			scenario: "these calls return without waiting; what they wait for stays", action: s.action, verify: s.verify, find: func(r *run) *found {
				list := r.waitsOf(s.id)
				if s.only != nil {
					list = s.only(r, list)
				}
				return waiting(r, list, s.do)
			}})
	}
}

// midRun keeps the waits between the first launch and the last: before and after them it is the measurement that waits. It leaves out those for what
// was copied to the host, which the CPU reads next, and those in a process with a pool after which the thread launches nothing before it waits for
// its next work: the thread answers with what the device computed.
func midRun(r *run, list []wait) (out []wait) {
	first, last := r.spanOfLaunches()
	for _, w := range list {
		if at := r.g.Acts[w.call].Start; at > first && at < last && !toHost(r.name(w.for_)) {
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return nil
	}
	rests, launched := r.rests(), r.launchStarts()
	return slices.DeleteFunc(out, func(w wait) bool { return r.answers(w.call, rests, launched) })
}

// rests are, by thread of processes that have a pool of threads, the starts of the gaps in which the thread waited for work or for another thread.
func (r *run) rests() map[cdg.LaneID][]int64 {
	g, pools, rests := r.g, map[trace.ProcID]bool{}, map[cdg.LaneID][]int64{}
	for l := range g.Lanes {
		for i := int(g.PieceFirst[l]); i+1 < int(g.PieceFirst[l+1]); i++ {
			id := g.Pieces[i+1].Begun
			if g.Pieces[i].Owner != cdg.NoAct || id == cdg.NoWait {
				continue
			}
			idle := g.Waits[id].Note == cdg.Idle
			if pools[g.Lanes[l].Proc] = pools[g.Lanes[l].Proc] || idle; idle || g.Waits[id].Rule == cdg.Handoff {
				rests[cdg.LaneID(l)] = append(rests[cdg.LaneID(l)], g.Pieces[i].Start)
			}
		}
	}
	maps.DeleteFunc(rests, func(l cdg.LaneID, _ []int64) bool { return !pools[g.Lanes[l].Proc] })
	return rests
}

// launchStarts are, by thread, when it launches, in order of time.
func (r *run) launchStarts() map[cdg.LaneID][]int64 {
	out := map[cdg.LaneID][]int64{}
	for _, l := range r.launches {
		if l != cdg.NoAct {
			act := &r.g.Acts[l]
			out[act.Lane] = append(out[act.Lane], act.Start)
		}
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

// answers reports whether the thread of a call launches nothing between the call and the thread's next rest.
func (r *run) answers(call cdg.ActID, rests, launched map[cdg.LaneID][]int64) bool {
	act := &r.g.Acts[call]
	list := rests[act.Lane]
	if len(list) == 0 {
		return false
	}
	until := r.g.Window.End
	if n, _ := slices.BinarySearch(list, act.End); n < len(list) {
		until = list[n]
	}
	starts := launched[act.Lane]
	n, _ := slices.BinarySearch(starts, act.End)
	return n == len(starts) || starts[n] >= until
}

// findLaunches finds the starts of the first and of the last call that launches a kernel, of runs without kernels any operation. After it
// nothing can be queued any more, so a wait costs nothing there.
func (r *run) findLaunches() (first, last int64) {
	kernels := len(r.names[trace.Kernel]) > 0
	for _, o := range r.ops {
		if l := r.launch(o); l != cdg.NoAct && (!kernels || r.kind(o) == trace.Kernel) {
			at := r.g.Acts[l].Start
			if first == 0 || at < first {
				first = at
			}
			last = max(last, at)
		}
	}
	return first, last
}

package cdg

import (
	"slices"
	"strings"

	"overlay/internal/par"
	"overlay/internal/trace"
)

// describer finds out what each thread does.
type describer struct{ *builder }

// describeThreads gathers what each thread does.
func (b describer) describeThreads() {
	d := b.d
	b.threads = make([]threadInfo, len(d.Lanes))
	b.waits = map[trace.ProcID][]ActID{}
	b.records = map[trace.ProcID][]ActID{}
	isNode, isStep, isPin := b.nameFlags()
	names := threadNames{isNode, isStep, isPin}
	parts := make([]threadPart, 0, len(d.Lanes))
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		for a, size := lane.First, ActID(rangeSize); !lane.Stream && a < lane.Limit; a += size {
			parts = append(parts, threadPart{lane: LaneID(l), from: a, to: min(lane.Limit, a+size)})
		}
	}
	par.Each(len(parts), func(i int) { parts[i].describe(b.builder, &names) })
	for len(parts) > 0 {
		n := 1
		for n < len(parts) && parts[n].lane == parts[0].lane {
			n++
		}
		b.joinThread(parts[:n])
		parts = parts[n:]
	}
	b.takeLaunchesForOps()
	for p := range b.records {
		b.sortCalls(b.records[p])
	}
	for p := range b.waits {
		b.sortCalls(b.waits[p])
	}
}

// threadNames says by name what threads are told by.
type threadNames struct{ node, step, pin []bool }

// threadPart is what some activities of a thread, which follow one another, say of it.
type threadPart struct {
	threadInfo
	lane     LaneID
	from, to ActID
	steps    bool
	syncs    []ActID // calls that wait for the GPU
	waits    []ActID // calls that make a stream wait
}

func (t *threadPart) describe(b *builder, names *threadNames) {
	d := b.d
	for a := t.from; a < t.to; a++ {
		act, e := &d.Acts[a], b.event(a)
		if b.ofCall[a] != NoAct {
			t.launches = append(t.launches, a)
		}
		switch {
		case d.Marker(a):
			t.ops++
			t.steps = t.steps || names.step[e.Name]
			continue
		case e.Kind == trace.CPUOp:
			t.ops++
			t.autograd = t.autograd || names.node[e.Name]
			t.pinMemory = t.pinMemory || names.pin[e.Name]
		default:
			switch b.calls[e.Name] {
			case streamWait:
				t.waits = append(t.waits, a)
			case streamSync, deviceSync, eventSync, freeCall, submit:
				t.syncs = append(t.syncs, a)
			case eventRecord:
				t.records = append(t.records, a)
			}
		}
		t.busy = cover(t.busy, Span{act.Start, act.End})
	}
}

// joinThread puts together what the parts of a thread say of it.
func (b describer) joinThread(parts []threadPart) {
	lane := parts[0].lane
	l, t := &b.d.Lanes[lane], &b.threads[lane]
	launches, busy, steps := 0, 0, false
	for i := range parts {
		launches += len(parts[i].launches)
		busy += len(parts[i].busy)
	}
	t.launches, t.busy = make([]ActID, 0, launches), make([]Span, 0, busy)
	for i := range parts {
		x := &parts[i]
		t.launches, t.records = append(t.launches, x.launches...), append(t.records, x.records...)
		t.ops += x.ops
		t.autograd, t.pinMemory, steps = t.autograd || x.autograd, t.pinMemory || x.pinMemory, steps || x.steps
		for _, s := range x.busy {
			t.busy = cover(t.busy, s)
		}
		b.syncCalls = append(b.syncCalls, x.syncs...)
		if x.waits != nil {
			b.waits[l.Proc] = append(b.waits[l.Proc], x.waits...)
		}
		if x.records != nil {
			b.records[l.Proc] = append(b.records[l.Proc], x.records...)
		}
		x.threadInfo = threadInfo{}
	}
	b.sortCalls(t.launches)
	b.sortCalls(t.records)
	for _, s := range t.busy {
		t.busyTime += s.End - s.Start
	}
	t.autograd = t.autograd && !steps || strings.Contains(b.tr.Tracks[l.Track].Name, "pt_autograd")
}

// takeLaunchesForOps lets the threads that launch stand for those that run ops in processes of which only calls were
// recorded: there a thread with calls only is no watchdog.
func (b describer) takeLaunchesForOps() {
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
func (b *facts) sortCalls(calls []ActID) {
	if !slices.IsSortedFunc(calls, b.callOrder) {
		slices.SortFunc(calls, b.callOrder)
	}
}

// nameFlags evaluates once per name what threads are told by.
func (b describer) nameFlags() (node, step, pin []bool) {
	n := len(b.tr.Syms)
	node, step, pin = make([]bool, n), make([]bool, n), make([]bool, n)
	for i, s := range b.tr.Syms {
		node[i] = strings.HasPrefix(s, "autograd::engine::evaluate_function") || strings.HasPrefix(s, "torch::autograd::") // the first schema has no evaluate_function
		step[i] = strings.HasPrefix(s, trace.StepPrefix)
		pin[i] = strings.Contains(s, "pin_memory")
	}
	return
}

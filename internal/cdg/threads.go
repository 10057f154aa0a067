package cdg

import (
	"strings"

	"overlay/internal/kineto"
)

// threadInfo is what hand-offs and waits need to know of a thread.
type threadInfo struct {
	busy      []span // union of its ops and calls, ascending
	busyTime  int64
	launches  []ActID // calls that launched operations, in time order
	ops       int     // ops, annotations and frames: a thread with calls only is a watchdog
	autograd  bool    // runs autograd nodes and carries no steps, or is named pt_autograd_*
	pinMemory bool    // runs pin_memory ops
	marked    bool    // carries annotations or frames
	firstOp   ActID
}

type span struct{ start, end int64 }

// describeThreads gathers what each thread does.
func (b *builder) describeThreads() {
	d := b.d
	b.threads = make([]threadInfo, len(d.Lanes))
	d.threads = b.threads
	b.waits = make([][]ActID, len(d.Lanes))
	b.records = map[kineto.ProcID][]int64{}
	launches := make([]bool, len(d.Acts))
	for _, l := range b.launch {
		if l != NoAct {
			launches[l] = true
		}
	}
	isNode, isStep, isPin := b.nameFlags()
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if lane.Stream {
			continue
		}
		t := &b.threads[l]
		steps := false
		for a := lane.First; a < lane.Limit; a++ {
			act, e := &d.Acts[a], b.event(a)
			if launches[a] {
				t.launches = append(t.launches, a)
			}
			switch e.Kind {
			case kineto.Annotation, kineto.Python:
				t.marked = true
				t.ops++
				steps = steps || isStep[e.Name]
				continue
			case kineto.CPUOp:
				t.ops++
				t.autograd = t.autograd || isNode[e.Name]
				t.pinMemory = t.pinMemory || isPin[e.Name]
			default:
				switch b.calls[e.Name] {
				case streamWait:
					b.waits[l] = append(b.waits[l], a)
				case eventRecord:
					b.records[lane.Proc] = append(b.records[lane.Proc], act.Start)
				}
			}
			if n := len(t.busy); n > 0 && act.Start <= t.busy[n-1].end {
				t.busy[n-1].end = max(t.busy[n-1].end, act.End)
			} else if act.End > act.Start {
				t.busy = append(t.busy, span{act.Start, act.End})
			}
		}
		for _, s := range t.busy {
			t.busyTime += s.end - s.start
		}
		t.autograd = t.autograd && !steps || strings.Contains(b.tr.Tracks[lane.Track].Name, "pt_autograd")
	}
	for p := range b.records {
		sortInt64(b.records[p])
	}
}

// nameFlags evaluates once per name what threads are told by.
func (b *builder) nameFlags() (node, step, pin []bool) {
	n := len(b.tr.Syms)
	node, step, pin = make([]bool, n), make([]bool, n), make([]bool, n)
	for i, s := range b.tr.Syms {
		node[i] = strings.HasPrefix(s, "autograd::engine::evaluate_function")
		step[i] = strings.HasPrefix(s, "ProfilerStep#")
		pin[i] = strings.Contains(s, "pin_memory")
	}
	return
}

// Launches returns how many calls of a thread launched operations.
func (d *Deps) Launches(lane LaneID) int { return len(d.threads[lane].launches) }

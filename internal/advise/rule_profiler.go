package advise

import (
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/trace"
	"overlay/internal/vendors"
	"overlay/internal/whatif"
)

// What recording an event costs, as shares of the median own time of views, which compute nothing: so it follows how fast the CPU is. Measured
// by the clock on loops that were recorded with and without stacks, and run without a profiler (testdata/real, testdata/h100): 2.1 µs an operator, 1.0 µs a call
// and 0.3 µs a frame where half of the views take 0.85 µs and less. Most of it lies outside of what the event itself shows, so all that threads
// do is taken to be faster by one factor, that of threads which launch nothing, as one that loads batches, by another; what that is worth to the window
// says a replay.
const (
	costOfOp    = 2.5
	costOfCall  = 1.2
	costOfFrame = 0.35
	costWorth   = 0.02 // share of the window from which on it is worth a note
	mostCost    = 0.7  // of what threads take themselves: more than that was never measured
)

const withoutRecording = "the window without it"

var profilerCost = add(rule{
	id: "profiler-cost", group: Note, kind: None, level: Medium,
	why:      "counted by event, at what recording one cost where it was measured; a faster or slower profiler costs otherwise",
	title:    "recording itself takes a part of the time",
	cause:    "the profiler writes a record for each operator, call and frame, and the CPU waits for it",
	scenario: "threads are faster by one factor, those that launch nothing by another, and so is what lies between what they do",
	verify:   "the same step without a profiler takes as much less",
	find: func(r *run) *found {
		views, usual := viewTime(r)
		if views == nil || r.result(slowHostOps) != nil || r.tr.Recorder != vendors.PyTorch {
			return nil // nothing tells what recording an operator takes
		}
		view := float64(usual)
		costs := [trace.NumKinds]float64{trace.CPUOp: costOfOp, trace.Runtime: costOfCall, trace.Driver: costOfCall, trace.Python: costOfFrame}
		counts := [trace.NumKinds]int{}
		cold := r.cold()
		var host []cdg.ActID
		on := r.launching()
		other := func(a cdg.ActID) int { // 1 for a thread that launches nothing where others launch
			if slices.Contains(on, true) && !on[r.g.Acts[a].Lane] {
				return 1
			}
			return 0
		}
		spent, busy := [2]float64{}, [2]int64{r.total.Class[critpath.ClassUntraced]} // both of the path: threads that wait take no time of their own there
		for a := range r.firstOp {
			if !r.inside(a) || cold.Has(a) {
				continue
			}
			if r.own(a) > 0 {
				host = append(host, a)
			}
			if k := r.kind(a); r.mark(a) > 0 {
				busy[other(a)] += r.mark(a)
				if costs[k] > 0 {
					spent[other(a)] += costs[k] * view
					counts[k]++
				}
			}
		}
		cost := spent[0] + spent[1]
		if cost < costWorth*float64(r.window) {
			return nil
		}
		left := [2]float64{}
		for i := range left {
			left[i] = 1 - min(spent[i]/float64(max(busy[i], 1)), mostCost)
		}
		change := r.scenario()
		change.scale(host, func(a cdg.ActID, own int64) int64 { return int64(float64(own) * left[other(a)]) })
		change.changes = append(change.changes, whatif.Change{Verb: whatif.Delay, Num: int64(left[0] * percents), Den: percents, Kinds: []whatif.DelayClass{whatif.Untraced}})
		const compare = "compare a step with and without a profiler by the clock"
		do, action, less := compare, []string{compare}, ""
		switch {
		case stacks(r) && r.tr.Shapes:
			less = "record with with_stack=False, record_shapes=False"
		case stacks(r):
			less = "record with with_stack=False"
		case r.tr.Shapes:
			less = "record with record_shapes=False"
		}
		if less != "" {
			do, action = compare+"; "+less, []string{less, compare}
		}
		saw := countedAll(some{counts[trace.CPUOp], "operator"}, some{counts[trace.Runtime] + counts[trace.Driver], "call"}, some{counts[trace.Python], "frame"})
		return &found{do: do, action: action, saw: saw, change: change,
			numbers: []Number{timeOf("that the window is longer by, about", int64(cost)), timeOf(withoutRecording, r.window-int64(cost))}}
	},
})

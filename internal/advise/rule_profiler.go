package advise

import (
	"fmt"
	"strings"

	"overlay/internal/stat"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// What recording an event costs, as shares of the median own time of views, which compute nothing: so it follows how fast the CPU is. Measured
// by the clock on loops that were recorded with and without stacks, and run without a profiler (testdata/real): 2.1 µs an operator and 0.3 µs a
// frame where half of the views take 0.85 µs and less. Most of it lies outside of what the event itself shows.
const (
	costOfOp    = 2.5
	costOfCall  = 0.6
	costOfFrame = 0.35
	costWorth   = 0.02 // share of the window from which on it is worth a note
)

var profilerCost = add(rule{
	id: "profiler-cost", group: Note, kind: None, level: Medium,
	why:      "counted by event, at what recording one cost where it was measured; a faster or slower profiler costs otherwise",
	title:    "recording itself takes a part of the time",
	cause:    "the profiler writes a record for each operator, call and frame, and the CPU waits for it",
	scenario: "",
	verify:   "the same step without a profiler takes as much less",
	find: func(r *run) *found {
		views := r.named(opKinds, oneOf(viewOps...))
		if len(views) < fewOps || r.result(slowHostOps) != nil || r.tr.Recorder != vendors.PyTorch {
			return nil // nothing tells what recording an operator takes
		}
		own := make([]int64, len(views))
		for i, a := range views {
			own[i] = r.own(a)
		}
		view := float64(stat.Median(own))
		costs := [trace.NumKinds]float64{trace.CPUOp: costOfOp, trace.Runtime: costOfCall, trace.Driver: costOfCall, trace.Python: costOfFrame}
		counts := [trace.NumKinds]int{}
		spent := 0.0
		cold := r.cold()
		for a := range r.firstOp {
			if k := r.kind(a); costs[k] > 0 && r.mark(a) > 0 && r.inside(a) && !cold.Has(a) {
				spent += costs[k] * view
				counts[k]++
			}
		}
		cost := min(int64(spent), r.window/2)
		if float64(cost) < costWorth*float64(r.window) {
			return nil
		}
		var saw []string
		for _, x := range []struct {
			n    int
			noun string
		}{{counts[trace.CPUOp], "operator"}, {counts[trace.Runtime] + counts[trace.Driver], "call"}, {counts[trace.Python], "frame"}} {
			if x.n > 0 {
				saw = append(saw, tables.Counted(x.n, x.noun))
			}
		}
		do := "compare a step with and without a profiler by the clock"
		var action []string
		for _, x := range [...]struct {
			on   bool
			flag string
		}{{stacks(r), "with_stack"}, {r.tr.Shapes, "record_shapes"}} {
			if x.on {
				action = append(action, x.flag+"=False")
			}
		}
		if len(action) > 0 {
			do += "; record with " + strings.Join(action, ", ")
			action = []string{"record with " + strings.Join(action, ", ")}
		}
		return &found{do: do, action: append(action, "compare a step with and without a profiler by the clock"),
			saw:     fmt.Sprintf("about %s of the window: %s on the path", tables.FormatShare(tables.ShareOf(cost, r.window)), strings.Join(saw, ", ")),
			numbers: []Number{timeOf("about, of the critical path", cost), timeOf("the window without it", r.window-cost)}}
	},
})

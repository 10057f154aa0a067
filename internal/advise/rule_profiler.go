package advise

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

const (
	costOfFrame = 1_000 // ns that recording a frame takes at most
	costOfCall  = 500   // ns of a call of the runtime
	costOfOp    = 2_000 // ns of an operator
	workOfPiece = 0.2   // of what was recorded, at least so much is work
	costWorth   = 0.02  // share of the window from which on it is worth a note
)

var _ = add(rule{
	id: "profiler-cost", group: Note, kind: None, level: Low,
	why:      "nothing in a trace says how long the profiler took: it is bounded by the fastest of what computes nothing",
	title:    "a part of the critical path may be the profiler's own time",
	cause:    "the profiler writes a record for each operator, call and frame",
	scenario: "",
	verify:   "the same step without a profiler takes as much less",
	find: func(r *run) *found {
		fastest := func(list []cdg.ActID, most int64) int64 {
			if len(list) < fewOps {
				return 0
			}
			own := make([]int64, len(list))
			for i, a := range list {
				own[i] = r.own(a)
			}
			return min(cdg.Nth(own, len(own)/10), most)
		}
		views := r.named(opKinds, oneOf(viewOps...))
		if len(views) < fewOps {
			return nil // nothing tells what recording an operator takes
		}
		costs := [...]struct {
			what  string
			kinds []trace.Kind
			most  int64 // that recording one takes
		}{
			{"operator", opKinds, fastest(views, costOfOp)},
			{"call", callKinds, costOfCall},
			{"frame", frameKinds, fastest(r.named(frameKinds, func(s string) bool { return strings.HasPrefix(s, "<built-in") }), costOfFrame)},
		}
		var counts [len(costs)]int
		bound := int64(0)
		for _, m := range r.path.Marks.All() {
			a := r.g.ActOf[m.Event]
			if a == cdg.NoAct || !r.inside(a) {
				continue
			}
			for i := range costs {
				if x := &costs[i]; slices.Contains(x.kinds, r.kind(a)) {
					if on := min(m.NS, x.most, int64((1-workOfPiece)*float64(r.own(a)))); on > 0 {
						bound += on
						counts[i]++
					}
				}
			}
		}
		var saw []string
		for i, n := range counts {
			if n > 0 {
				saw = append(saw, tables.Counted(n, costs[i].what))
			}
		}
		if float64(bound) < costWorth*float64(r.window) || r.result(slowHostOps) != nil {
			return nil
		}
		do := "compare a step with and without a profiler by the clock"
		var action []string
		for _, x := range [...]struct {
			on   bool
			flag string
		}{{r.stacks(), "with_stack"}, {r.tr.Shapes, "record_shapes"}} {
			if x.on {
				action = append(action, x.flag+"=False")
			}
		}
		if len(action) > 0 {
			do += "; record with " + strings.Join(action, ", ")
			action = []string{"record with " + strings.Join(action, ", ")}
		}
		return &found{do: do, action: append(action, "compare a step with and without a profiler by the clock"),
			saw:     fmt.Sprintf("at most %s of the window: %s on the path", tables.FormatShare(tables.ShareOf(bound, r.window)), strings.Join(saw, ", ")),
			numbers: []Number{timeOf("at most, of the critical path", bound)}}
	},
})

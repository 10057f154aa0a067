package advise

import (
	"cmp"
	"fmt"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

const (
	fewPieces     = 8   // rounds of a loop that are no pattern
	fewInPiece    = 50  // launches from which on a round is no small piece: a layer, a token, a step
	worthOfPieces = 0.1 // of the window, what such loops hold of the critical path
)

var _ = add(rule{
	id: "small-pieces", group: Specific, kind: AtMost, level: Medium, limit: worthOfPieces,
	why:      "calls repeat in one order inside of one call; whether a round needs what the one before brings was not recorded",
	title:    "a loop in Python launches its work in small pieces",
	cause:    "each round costs the CPU as many operators and launches as all of them would together, and the device waits for the next one",
	scenario: "such a loop takes the CPU as long as one round, and so does its backward pass; devices compute as long as before",
	verify:   "the function launches a few kernels",
	find: func(r *run) *found {
		loops := r.loops()
		var rounds []cdg.ActID
		exposed, most, launches, in := int64(0), int64(0), 0, cdg.NoAct
		for i := range loops {
			x := &loops[i]
			ns := int64(0)
			for a := x.first; a < x.limit; a++ {
				ns += r.mark(a)
			}
			if exposed, launches = exposed+ns, launches+x.launches; ns > most {
				most, in = ns, x.in
			}
			rounds = append(rounds, x.rounds...)
		}
		if in == cdg.NoAct || float64(exposed) < worthOfPieces*float64(r.window) {
			return nil
		}
		do := "batch the loop in " + critpath.NormalName(r.tr.Str(cmp.Or(r.place(in), r.syms[in])))
		f := &found{events: events{list: rounds}, change: r.scenario(), do: do,
			saw:     fmt.Sprintf("%s with %s launches, %s exposed", tables.Counted(len(rounds), "round"), tables.Grouped(int64(launches)), tables.Duration(exposed)),
			action:  []string{do + ": one operator over all rounds, masks in place of conditions", "where a round needs the one before: a scan, a fused kernel, or a CUDA graph of the loop", "torch.compile of the loop"},
			numbers: []Number{countOf("loops", len(loops)), countOf("rounds", len(rounds)), countOf("launches", launches), timeOf("of the CPU that the GPU waits for", exposed)}}
		f.change.scale(r.inLoops(loops))
		return f
	},
})

// loop is a call of a Python function that calls the same things again and again in one order.
type loop struct {
	in           cdg.ActID   // the call of the function
	first, limit cdg.ActID   // what its rounds enclose
	rounds       []cdg.ActID // a call of each
	launches     int
}

// loops finds the outermost loops on threads that launch, in calls that begin and end in the window.
func (r *run) loops() (out []loop) {
	if len(r.names[trace.Python]) == 0 || len(r.ops) == 0 {
		return nil
	}
	upTo := make([]int32, r.firstOp+1)                     // how many launches lie before an activity
	launching := r.launchesOf(r.named(gpuKernel, anyName)) // copies have findings of their own
	for a := range r.firstOp {
		upTo[a+1] = upTo[a]
		if launching.Has(a) {
			upTo[a+1]++
		}
	}
	limits := make([]cdg.ActID, r.firstOp) // behind what lies in an activity, of all in one go: frames lie in each other a thousand deep
	for a := r.firstOp - 1; a >= 0; a-- {
		limits[a] = max(limits[a], a+1)
		if p := r.g.Parent[a]; p != cdg.NoAct {
			limits[p] = max(limits[p], limits[a])
		}
	}
	inside := func(a cdg.ActID) int { return int(upTo[limits[a]] - upTo[a]) }
	counts := make([]int32, len(r.tr.Syms))
	on, limit := r.launching(), cdg.ActID(0)
	var calls []cdg.ActID
	for p := range r.firstOp {
		act := &r.g.Acts[p]
		if p < limit || r.kind(p) != trace.Python || !on[act.Lane] || act.Start <= r.g.Window.Start || act.End >= r.g.Window.End || inside(p) < fewPieces {
			continue
		}
		calls = calls[:0]
		for a := p + 1; a < limits[p]; a = limits[a] {
			calls = append(calls, a)
			counts[r.syms[a]]++
		}
		rarest := cdg.NoAct // of those that launch in each round: what comes twice in a round tells rounds apart less well
		for _, a := range calls {
			if n := counts[r.syms[a]]; n >= fewPieces && inside(a) > 0 && (rarest == cdg.NoAct || n < counts[r.syms[rarest]]) {
				rarest = a
			}
		}
		for _, a := range calls {
			counts[r.syms[a]] = 0
		}
		if rarest == cdg.NoAct {
			continue
		}
		if x, ok := r.loopOf(p, calls, r.syms[rarest]); ok {
			x.launches = int(upTo[x.limit] - upTo[x.first])
			if x.launches <= fewInPiece*len(x.rounds) {
				out = append(out, x)
				limit = limits[p]
			}
		}
	}
	return out
}

// loopOf tells whether what a function calls is a loop whose rounds begin with a call of a name: three rounds of four are alike, they are none of
// different modules, which are layers, and none of them is a step of an optimizer.
func (r *run) loopOf(p cdg.ActID, calls []cdg.ActID, name trace.Sym) (x loop, ok bool) {
	module := func(a cdg.ActID) trace.Sym {
		for in := a; in < r.g.Enclosed(a); in++ {
			if strings.HasPrefix(r.name(in), "nn.Module") {
				return r.syms[in]
			}
		}
		return 0
	}
	alike, most, layers, last, between := map[trace.Sym]int{}, 0, 0, trace.Sym(0), trace.Sym(0)
	for _, a := range calls {
		switch s := r.syms[a]; {
		case s == name:
			m := module(a)
			if len(x.rounds) > 0 {
				alike[between]++
				most = max(most, alike[between])
				if m != last {
					layers++
				}
			}
			x.rounds, last, between = append(x.rounds, a), m, 0
		default:
			between = between*1_000_003 + s + 1
		}
	}
	n := len(x.rounds)
	if n < fewPieces || 4*most < 3*(n-1) || 2*layers >= n {
		return x, false
	}
	x.in, x.first, x.limit = p, x.rounds[0], r.g.Enclosed(x.rounds[n-1])
	for a := x.first; a < x.limit; a++ {
		if s := r.name(a); strings.HasPrefix(s, trace.StepPrefix) || strings.HasPrefix(s, "Optimizer.") {
			return x, false
		}
	}
	return x, true
}

// inLoops lists what the CPU does in loops and in their backward pass, in order, with what is left of an own time where a loop has one round.
func (r *run) inLoops(loops []loop) (list []cdg.ActID, left func(a cdg.ActID, own int64) int64) {
	rounds := make([]int64, r.firstOp)
	count := func(first, limit cdg.ActID, n int64) {
		for a := first; a < limit; a++ {
			rounds[a] = n
		}
	}
	numbers := map[int32]int64{} // rounds by the number that autograd gave to an operator
	for i := range loops {
		x := &loops[i]
		n := int64(len(x.rounds))
		count(x.first, x.limit, n)
		for a := x.first; a < x.limit; a++ {
			if s, ok := r.tr.Sequence(r.g.Acts[a].Event); ok && r.kind(a) == trace.CPUOp {
				numbers[s] = n
			}
		}
	}
	for _, a := range r.named(opKinds, func(s string) bool { return strings.HasPrefix(s, "autograd::engine::evaluate_function") }) {
		if s, ok := r.tr.Sequence(r.g.Acts[a].Event); ok && numbers[s] > 0 {
			count(a, r.g.Enclosed(a), numbers[s])
		}
	}
	for a, n := range rounds {
		if n > 0 {
			list = append(list, cdg.ActID(a))
		}
	}
	return list, func(a cdg.ActID, own int64) int64 { return own / rounds[a] }
}

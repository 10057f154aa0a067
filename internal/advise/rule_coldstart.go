package advise

import (
	"fmt"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/tables"
	"overlay/internal/vendors"
)

const (
	coldCall   = 1_000_000 // ns from which on a first call is slow: usual launches take 3 to 9 µs
	coldFactor = 20        // times the median of its name
	usualCall  = 20_000    // ns that a warm call takes at most
)

// firstOps are operators whose first instance makes something that stays: contexts, handles, plans.
var firstOps = []string{"aten::empty", "aten::empty_strided", "aten::zeros", "aten::ones", "aten::to", "aten::cudnn_convolution", "aten::miopen_convolution",
	"aten::view", "aten::as_strided", "aten::detach"}

var coldStart = add(rule{
	id: "cold-start", group: Specific, kind: Predicted, level: High,
	why:      "first calls that take a thousand times what later ones do",
	title:    "the window holds what happens once: contexts, modules and handles are made",
	cause:    "the first call of each kind loads code and makes contexts; in a long run that is nothing",
	scenario: "each such call takes what later ones take, at most 20 µs",
	action: []string{"profile after warm-up: torch.profiler.schedule(wait=1, warmup=3, active=3)",
		"in production: a pass of warm-up before the first request, CUDA_MODULE_LOADING=EAGER"},
	verify: "no call of the window takes 1 ms without waiting",
	find: func(r *run) *found {
		cold := r.coldCalls()
		r.addColdOps(&cold)
		if len(cold) == 0 {
			return nil
		}
		f := &found{events: events{cold, usualCall}, change: r.scenario(), do: "profile after warm-up: schedule(wait=1, warmup=3, active=3)",
			saw:     fmt.Sprintf("%s, %s", tables.Counted(len(cold), "first call"), tables.Duration(sum(cold, func(a cdg.ActID) int64 { return r.own(a) }))),
			numbers: []Number{countOf("calls", len(cold)), timeOf("in them", sum(cold, func(a cdg.ActID) int64 { return r.own(a) }))}}
		f.change.scale(cold, func(_ cdg.ActID, own int64) int64 { return min(own, usualCall) })
		return f
	},
})

// coldCalls lists slow calls that are the first of their name, or launch a kernel for the first time. A name that is
// slow all over the run is no cold start.
func (r *run) coldCalls() []cdg.ActID {
	firstOf := make([]bool, len(r.tr.Syms))
	firstLaunch := r.m.NewSet()
	launches := make([]int64, 0, len(r.ops))
	for _, o := range r.ops {
		if l := r.launch(o); l != cdg.NoAct {
			launches = append(launches, r.g.Acts[l].Start)
			if s := r.event(o).Name; !firstOf[s] {
				firstOf[s] = true
				firstLaunch.Add(l)
			}
		}
	}
	quarter := r.g.Window.End
	if len(launches) > 0 {
		quarter = cdg.Nth(launches, len(launches)/4) // of the launches, because slow first calls stretch time
	}
	var out []cdg.ActID
	for _, k := range callKinds {
		for _, s := range r.names[k] {
			if !vendors.IsAPI(r.tr.Str(s)) {
				continue
			}
			calls := r.list[r.first[s]:r.first[s+1]]
			if v := r.verb(calls[0]); v.Blocks() || v == vendors.AsyncCopy || v == vendors.BlockingCopy || v == vendors.GraphLaunch {
				continue
			}
			out = append(out, r.coldOf(calls, firstLaunch.Has, quarter)...)
		}
	}
	slices.Sort(out)
	return out
}

// coldOf lists the cold calls of one name.
func (r *run) coldOf(calls []cdg.ActID, first func(cdg.ActID) bool, quarter int64) []cdg.ActID {
	earliest := slices.MinFunc(calls, func(a, b cdg.ActID) int { return int(min(max(r.g.Acts[a].Start-r.g.Acts[b].Start, -1), 1)) })
	var durs []int64
	for _, a := range calls {
		if a != earliest {
			durs = append(durs, r.own(a))
		}
	}
	usual := max(median(durs), 1)
	if len(durs) == 0 {
		usual = usualCall
	}
	var slow, cold []cdg.ActID
	long, late := int64(0), int64(0)
	for _, a := range calls {
		if r.own(a) <= coldCall || r.own(a) <= coldFactor*usual || r.waited.Has(a) {
			continue
		}
		slow = append(slow, a)
		long += r.own(a)
		if r.g.Acts[a].Start > quarter {
			late += r.own(a)
		}
		if a == earliest || first(a) {
			cold = append(cold, a)
		}
	}
	if len(slow) >= 5 && 5*late > long {
		return nil // slow all over: memory is allocated again and again, or the like
	}
	return cold
}

// addColdOps adds first instances of operators that make something.
func (r *run) addColdOps(out *[]cdg.ActID) {
	for _, name := range firstOps {
		list := r.named(opKinds, oneOf(name))
		if len(list) == 0 {
			continue
		}
		first := slices.MinFunc(list, func(a, b cdg.ActID) int { return int(min(max(r.g.Acts[a].Start-r.g.Acts[b].Start, -1), 1)) })
		if r.own(first) > coldCall {
			*out = append(*out, first)
		}
	}
}

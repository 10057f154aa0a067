package advise

import (
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// hostShare is the part of the window that threads which launch hold of the critical path from which on they hold the device up.
const hostShare = 0.1

// recordingFrame reports whether a frame is the profiler's own.
var recordingFrame = containsAny("torch/profiler/", "torch/autograd/profiler.py", ": start_trace", ": stop_trace")

var hostBound = add(rule{
	id: "host-bound", group: General, rank: 5, kind: AtMost, level: Low, limit: 0.05,
	why:      "that the CPU takes no time at all is the best case; recording stacks makes Python slower than it is",
	title:    "the GPU waits for the CPU",
	cause:    "what runs on the CPU between two launches takes longer than the kernel that was launched before",
	scenario: "operators, calls and frames of threads that launch take no time",
	verify:   "the CPU's share of the critical path falls",
	find: func(r *run) *found {
		on := r.launching()
		alone := !slices.Contains(on, true) // a run of the CPU alone: operators are its work
		idle := r.fits(frameKinds, func(s string) bool { return cdg.WaitingFrame(s) || recordingFrame(s) })
		list := make([]cdg.ActID, 0, r.firstOp)
		for a := range r.firstOp {
			frame := r.kind(a) == trace.Python
			if !r.inside(a) || frame && idle[r.syms[a]] || !frame && (alone || r.g.Marker(a)) { // what an annotation has of its own was not recorded
				continue
			}
			if on[r.g.Acts[a].Lane] || alone {
				list = append(list, a)
			}
		}
		python, exposed, n := int64(0), int64(0), 0
		cold := r.cold()
		shown := func(a cdg.ActID) bool { return r.mark(a) > 0 && !r.waited.Has(a) && !cold.Has(a) }
		for _, a := range list {
			if shown(a) {
				n++
				if exposed += r.mark(a); r.kind(a) == trace.Python {
					python += r.mark(a)
				}
			}
		}
		least := hostShare * float64(r.window)
		if cost := r.result(profilerCost); cost != nil && alone {
			least += float64(cost.numbers[0].NS) // most of what frames take there
		}
		if float64(exposed) < least {
			return nil
		}
		marked := make([]cdg.ActID, 0, n)
		for _, a := range list {
			if shown(a) {
				marked = append(marked, a)
			}
		}
		p := r.program()
		do, action := p.fewerLaunches()
		if 2*python > exposed {
			action = append(action, "move Python out of the loop: lists, dictionaries, logging, checks")
		}
		if !stacks(r) && !alone && !p.compiled && !p.graphs && r.tr.Recorder == vendors.PyTorch { // a loop over small pieces is no case for a compiler, and which loop it is nobody sees here
			do = "record a short run with_stack=True, which names the loop"
			action = append([]string{do}, action...)
		}
		name, ns := longestFrame(r, marked)
		if 2*ns > exposed {
			do = "move " + critpath.NormalName(name) + " out of the loop, or shorten it"
			action = append([]string{do}, action...)
		}
		f := &found{change: r.scenario(), saw: tables.Duration(exposed) + " exposed", do: do, action: action, events: events{list: marked, exposed: true},
			numbers: []Number{timeOf("of the CPU that the GPU waits for", exposed), timeOf("of it in Python", python)}}
		if top := r.lines(marked, r.mark); len(top) > 0 && 10*top[0].NS >= 3*exposed {
			f.saw += ", " + tables.Duration(top[0].NS) + " of it in " + top[0].Line
		}
		if alone {
			f.title, f.cause = "Python itself takes the time between operators", "the interpreter runs one frame after the other, and no operator meanwhile"
			f.do, f.action = "move Python out of the loop; vectorise it", []string{"operators on whole tensors in place of loops over values, and libraries of C in place of loops in Python", "another process or thread for what the next step does not need"}
			if top := r.lines(marked, r.mark); len(top) > 0 {
				f.do = "shorten " + top[0].Line
				f.action = append([]string{f.do}, f.action...)
			}
			f.numbers = []Number{timeOf("of Python on the critical path", python), timeOf("of it in "+critpath.NormalName(name), ns)}
		}
		if launchesWait(r) {
			f.title, f.cause = "launches wait for their kernels", "a setting for debugging makes each launch return when its kernel is over"
			f.do, f.action = "unset CUDA_LAUNCH_BLOCKING", []string{"unset CUDA_LAUNCH_BLOCKING, HIP_LAUNCH_BLOCKING and AMD_SERIALIZE_KERNEL"}
		}
		f.change.zero(list)
		return f
	},
})

// launchesWait reports whether most launches return when their kernel is over, as the documents of CUDA and HIP say of CUDA_LAUNCH_BLOCKING
// and HIP_LAUNCH_BLOCKING. Of other runtimes no such setting is known.
func launchesWait(r *run) bool {
	p, waits, launches := r.program(), 0, 0
	for _, o := range r.ops {
		if l := r.launch(o); l != cdg.NoAct && r.kind(o) == trace.Kernel && r.dur(o) > longerThanLaunch && r.verb(l) != vendors.GraphLaunch {
			if launches++; r.g.Acts[l].End >= r.g.Acts[o].End {
				waits++
			}
		}
	}
	return (p.cuda || p.hip) && launches >= fewLaunches && 2*waits >= launches
}

const (
	fewLaunches      = 50     // that say nothing of a setting
	longerThanLaunch = 10_000 // ns that a kernel takes, which a launch that does not wait never does
)

// longestFrame is the name of the frames of a list with the most time on the path.
func longestFrame(r *run, list []cdg.ActID) (name string, most int64) {
	sums := map[trace.Sym]int64{}
	for _, a := range list {
		if r.kind(a) == trace.Python {
			s := r.syms[a]
			if sums[s] += r.mark(a); sums[s] > most {
				name, most = r.tr.Str(s), sums[s]
			}
		}
	}
	return name, most
}

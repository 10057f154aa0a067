package advise

import (
	"cmp"
	"slices"
	"sort"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

const (
	longFrame = 100_000 // ns that a frame takes which holds the loop up by itself; shorter ones are the price of Python
	codeShare = 0.05    // of the window that such frames of a name hold of the critical path
)

var _ = add(rule{
	id: "host-code", group: Specific, kind: AtMost, level: Medium, limit: codeShare,
	why:      "frames of Python were recorded, and nothing is launched in them; whether the loop needs what they do there is not known",
	title:    "code on the host holds up the loop",
	cause:    "a function that launches nothing runs between launches, and the devices wait for it",
	scenario: "these calls take no time",
	verify:   "the function is off the critical path",
	find: func(r *run) *found {
		if len(r.names[trace.Python]) == 0 || len(r.ops) == 0 {
			return nil
		}
		kernels := r.launchesOf(slices.DeleteFunc(slices.Clone(r.ops), func(o cdg.ActID) bool { return r.kind(o) == trace.Memcpy }))
		until := func(a cdg.ActID) cdg.ActID { // not r.g.Enclosed: the annotation of a step begins inside the profiler's call, and outlasts it
			rest := r.g.Acts[a+1 : min(r.g.Lanes[r.g.Acts[a].Lane].Limit, r.firstOp)]
			return a + 1 + cdg.ActID(sort.Search(len(rest), func(i int) bool { return rest[i].Start >= r.g.Acts[a].End }))
		}
		loads := r.fits(markKinds, ownWork)
		next := r.firstOp // the first launch of a kernel behind an activity, or what has a finding of its own
		launches := make([]bool, r.firstOp)
		for a := r.firstOp - 1; a >= 0; a-- {
			if kernels.Has(a) || loads[r.syms[a]] {
				next = a
			}
			launches[a] = r.kind(a) == trace.Python && next < until(a)
		}
		other := r.fits(frameKinds, func(s string) bool { return cdg.WaitingFrame(s) || recordingFrame(s) || collecting(s) })
		byName := map[trace.Sym][]cdg.ActID{}
		marks := map[trace.Sym]int64{}
		var fed []cdg.ActID // the work of threads that launch nothing, for which the others wait
		on, beside := r.launching(), int64(0)
		cold, end := r.cold(), r.g.Window.End
		for a := cdg.ActID(0); a < r.firstOp; {
			switch e := r.event(a); {
			case other[e.Name] || loads[e.Name]:
				a = until(a) // a wait, or a finding of its own
			case r.callers != nil && !on[r.g.Acts[a].Lane]:
				if r.mark(a) > 0 && !cold.Has(a) {
					fed = append(fed, a)
					beside += r.mark(a)
				}
				a++
			case e.Kind != trace.Python || launches[a] || !r.inside(a) || r.dur(a) < longFrame || r.g.Acts[a].End >= end || cold.Has(a):
				a++
			default:
				limit := until(a)
				for in := a; in < limit; in++ {
					if !other[r.syms[in]] {
						marks[e.Name] += r.mark(in)
					}
				}
				byName[e.Name] = append(byName[e.Name], a)
				a = limit
			}
		}
		var names []trace.Sym
		for s, ns := range marks {
			if float64(ns) >= minShare*float64(r.window) {
				names = append(names, s)
			}
		}
		slices.SortFunc(names, func(x, y trace.Sym) int { return cmp.Or(cmp.Compare(marks[y], marks[x]), cmp.Compare(x, y)) })
		top := r.lines(fed, r.mark)
		if float64(beside) < codeShare*float64(r.window) {
			top = nil
		}
		if len(top) == 0 && (len(names) == 0 || float64(marks[names[0]]) < codeShare*float64(r.window)) {
			return nil
		}
		var list []cdg.ActID
		for _, s := range names {
			list = append(list, byName[s]...)
		}
		slices.Sort(list)
		f := r.about(list, "call", "calls", "")
		f.action = []string{"a thread or a process for what the next step does not need, work for the device in between"}
		f.events.expected = -1
		f.change.shrink(list, 0)
		if len(top) > 0 && (len(names) == 0 || top[0].NS > marks[names[0]]) {
			f.title, f.cause = "the loop waits for another thread", "a thread that launches nothing is slower than the loop which waits for it"
			f.do, f.saw = "shorten "+top[0].Line, tables.Duration(beside)+" on the path"
			f.action = []string{"several threads for it, or processes, as Python runs in one thread at a time: DataLoader(num_workers=N)"}
		} else {
			f.do = "shorten " + critpath.NormalName(r.tr.Str(names[0]))
		}
		f.action = slices.Insert(f.action, 0, f.do+", or move it out of the loop")
		if len(top) > 0 {
			if len(list) == 0 {
				f.numbers = nil
			}
			f.numbers = append(f.numbers, timeOf("of other threads on the critical path", beside))
			f.events.list, f.events.exposed = append(f.events.list, fed...), true
			slices.Sort(f.events.list)
			f.change.zero(fed)
		}
		return f
	},
})

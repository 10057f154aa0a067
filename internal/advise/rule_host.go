package advise

import (
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// hostShare is the part of the window that threads which launch hold of the critical path from which on they hold the device up.
const hostShare = 0.1

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
		recording := r.fits(frameKinds, containsAny("torch/profiler/", "torch/autograd/profiler.py", ": start_trace", ": stop_trace"))
		list, marked := make([]cdg.ActID, 0, r.firstOp), []cdg.ActID{}
		for a := range r.firstOp {
			frame := r.kind(a) == trace.Python
			if !r.inside(a) || frame && (cdg.WaitingFrame(r.name(a)) || recording[r.event(a).Name]) || !frame && (alone || r.g.Marker(a)) { // what an annotation has of its own was not recorded
				continue
			}
			if on[r.g.Acts[a].Lane] || alone {
				list = append(list, a)
			}
		}
		counted := r.m.SetOf(list...)
		python, exposed := int64(0), int64(0)
		for _, m := range r.path.Marks.All() {
			if a := r.g.ActOf[m.Event]; a != cdg.NoAct && a < r.firstOp && m.NS > 0 && counted.Has(a) && !r.waited.Has(a) && !r.once(a) {
				marked = append(marked, a)
				if exposed += m.NS; r.kind(a) == trace.Python {
					python += m.NS
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
		do, action := r.program().fewerLaunches()
		if 2*python > exposed {
			action = append(action, "move Python out of the loop: lists, dictionaries, logging, checks")
		}
		name, ns := r.longestFrame(marked)
		if 2*ns > exposed {
			do = "move " + critpath.NormalName(name) + " out of the loop, or shorten it"
			action = append([]string{do}, action...)
		}
		f := &found{change: r.scenario(), saw: tables.Duration(exposed) + " exposed", do: do, action: action, events: events{list: marked, exposed: true},
			numbers: []Number{timeOf("of the CPU that the GPU waits for", exposed), timeOf("of it in Python", python)}}
		if alone {
			f.title, f.cause = "Python itself takes the time between operators", "the interpreter runs one frame after the other, and no operator meanwhile"
			f.do, f.action = "move Python out of the loop; vectorise it", []string{"operators on whole tensors in place of loops over values, and libraries of C in place of loops in Python", "another process or thread for what the next step does not need"}
			if top := r.lines(marked, r.mark); len(top) > 0 {
				f.do = "shorten " + top[0].Line
			}
			f.numbers = []Number{timeOf("of Python on the critical path", python), timeOf("of it in "+critpath.NormalName(name), ns)}
		}
		if held, by := r.heldBack(counted); 3*held > python && 2*python > exposed {
			f.title, f.cause = "another thread holds Python's interpreter", "one thread runs Python at a time: where another one is busy, each return from C waits for up to 5 ms (sys.getswitchinterval)"
			f.do, f.action = "move what "+by+" does to a process", []string{"what the other thread does in a process of its own", "a free-threaded build of Python", "a shorter sys.setswitchinterval"}
			f.saw = tables.Duration(held) + " beside " + by
			f.numbers = append(f.numbers, timeOf("of it beside another thread that runs Python", held))
		}
		f.change.zero(list)
		return f
	},
})

// longestFrame is the name of the frames of a list with the most time on the path.
func (r *run) longestFrame(list []cdg.ActID) (name string, most int64) {
	sums := map[trace.Sym]int64{}
	for _, a := range list {
		if r.kind(a) == trace.Python {
			s := r.event(a).Name
			if sums[s] += r.mark(a); sums[s] > most {
				name, most = r.tr.Str(s), sums[s]
			}
		}
	}
	return name, most
}

const (
	heldPiece = 300_000 // ns in which a thread does nothing that is recorded
	heldBy    = 6       // borders that another thread has meanwhile at least, if it runs Python
	busyOften = 100_000 // ns in which it has one, if it does
)

// heldBack is how much of the path lies in stretches of Python in which nothing is recorded but what another thread of Python does, and where that
// thread is most of the time.
func (r *run) heldBack(counted whatif.Set) (ns int64, by string) {
	most := map[trace.Sym]int64{}
	var name trace.Sym
	for _, s := range r.path.Segments.All() {
		a := cdg.NoAct
		if s.Event != trace.NoEvent && s.End-s.Start >= heldPiece {
			a = r.g.ActOf[s.Event]
		}
		if a == cdg.NoAct || a >= r.firstOp || !counted.Has(a) || r.kind(a) != trace.Python {
			continue
		}
		for l := range r.g.Lanes {
			lane := &r.g.Lanes[l]
			if lane.Stream || cdg.LaneID(l) == r.g.Acts[a].Lane || lane.Proc != r.g.Lanes[r.g.Acts[a].Lane].Proc {
				continue
			}
			first, last := r.g.PieceAt(cdg.LaneID(l), s.Start), r.g.PieceAt(cdg.LaneID(l), s.End)
			if borders := last - first; borders < heldBy || int64(borders)*busyOften < s.End-s.Start || r.g.Pieces[last].Owner == cdg.NoAct || r.kind(r.g.Pieces[last].Owner) != trace.Python {
				continue
			}
			ns += s.End - s.Start
			for f := r.g.Pieces[last].Owner; f != cdg.NoAct; f = r.g.Parent[f] {
				if n := r.event(f).Name; r.kind(f) == trace.Python && critpath.UserFrame(r.tr.Str(n)) {
					if most[n] += s.End - s.Start; most[n] > most[name] {
						name = n
					}
					break
				}
			}
			break
		}
	}
	if name == 0 {
		return ns, "that thread"
	}
	return ns, critpath.NormalName(r.tr.Str(name))
}

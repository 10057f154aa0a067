package ranks

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// namesKept is how many names a summary keeps of a step, of threads and of the device each.
const namesKept = 50

// spend sums by step what the rank did, and where its own path was.
func (z *summarizer) spend(p *critpath.Path) {
	sums := make([][]int32, 2*len(z.s.Steps)) // of threads and of the device in each step, per name: 1 + index into list
	var list []Spent
	of := func(step int, name Name, host bool) *Spent {
		row := &sums[2*step+b2i(host)]
		if int(name) >= len(*row) {
			*row = append(*row, make([]int32, int(name)+1-len(*row))...)
		}
		if (*row)[name] == 0 {
			list = append(list, Spent{Step: int32(step), Name: name, Host: host})
			(*row)[name] = int32(len(list))
		}
		return &list[(*row)[name]-1]
	}
	z.alongPath(p, of)
	z.busyGPU(of)
	z.busyHost(of)
	if z.s.Quality == nil {
		z.s.Quality = map[string]int{}
	}
	if n := z.lost(); n > 0 {
		z.s.Quality[lostKernels] = n
	}
	slices.SortFunc(list, func(a, b Spent) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(b2i(a.Host), b2i(b.Host)), cmp.Compare(max(b.Path, b.Busy), max(a.Path, a.Busy)), cmp.Compare(a.Name, b.Name))
	})
	n, last := 0, [2]int{-1}
	z.s.Spent = slices.Clip(slices.DeleteFunc(list, func(x Spent) bool {
		if key := [2]int{int(x.Step), b2i(x.Host)}; key != last {
			last, n = key, 0
		}
		n++
		return n > namesKept
	}))
}

// alongPath clips the path of the rank to its steps.
func (z *summarizer) alongPath(p *critpath.Path, of func(int, Name, bool) *Spent) {
	steps, l := z.s.Steps, 0
	for _, seg := range p.Segments.All() {
		for l < len(steps) && steps[l].End <= seg.Start {
			l++
		}
		for j := l; j < len(steps) && steps[j].Start < seg.End; j++ {
			ns := min(seg.End, steps[j].End) - max(seg.Start, steps[j].Start)
			if ns <= 0 {
				continue
			}
			class := seg.Kind.Class()
			if z.isHost(seg.Event) {
				class = critpath.ClassComm
			}
			steps[j].Path[class] += ns
			if class != critpath.ClassComm && seg.Owned() {
				of(j, z.doing(seg.Event), !z.tr.Events[seg.Event].Kind.Device()).Path += ns
			}
		}
	}
}

// isHost tells a collective that a thread does.
func (z *summarizer) isHost(e trace.EventID) bool {
	return e != trace.NoEvent && z.g.ActOf[e] != cdg.NoAct && z.host[z.g.ActOf[e]] != nil
}

// busyGPU sums the operations of the device that do not communicate, by the step of their launch. Those without a launch
// that come before the first one with a launch in their stream were launched before the trace begins, in a step that it
// does not show: threads are ahead of the device as a rule.
func (z *summarizer) busyGPU(of func(int, Name, bool) *Spent) {
	g, tr := z.g, z.tr
	comm := map[cdg.ActID]bool{}
	for _, a := range z.acts {
		comm[a] = true
	}
	any := false
	for range tr.Launches() {
		any = true
		break
	}
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		if !lane.Stream {
			continue
		}
		launched := !any
		for a := lane.First; a < lane.Limit; a++ {
			act := &g.Acts[a]
			at := act.Start
			if l := tr.Launch(act.Event); l != trace.NoEvent {
				at, launched = tr.Events[l].Start, true
			}
			if comm[a] || act.End == act.Start || !launched {
				continue
			}
			if st := z.stepAt(at); st >= 0 {
				d := act.End - act.Start
				z.s.Steps[st].BusyGPU += d
				of(st, z.name(act.Event), false).took(d)
			}
		}
	}
}

func (z *summarizer) lost() (n int) {
	z.launches(func(_ cdg.ActID, there bool) {
		if !there {
			n++
		}
	})
	return n
}

// launches gives the calls in steps that launch a kernel, and whether that is recorded.
func (z *summarizer) launches(use func(call cdg.ActID, there bool)) {
	g, tr := z.g, z.tr
	there := make([]bool, len(tr.Events))
	for _, call := range tr.Launches() {
		there[call] = true
	}
	launches := tr.ByName(func(name string) bool { return vendors.VerbOf(name) == vendors.KernelLaunch })
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		for a := lane.First; a < lane.Limit && !lane.Stream; a++ {
			e := g.Acts[a].Event
			if !g.Call(a) || z.stepAt(g.Acts[a].Start) < 0 {
				continue
			}
			if launches(tr.Events[e].Name) {
				use(a, there[e])
			}
		}
	}
}

// busyHost sums the time of threads in which they did not wait, as far as that is known.
func (z *summarizer) busyHost(of func(int, Name, bool) *Spent) {
	z.working(func(owner cdg.ActID, step int, d int64) {
		z.s.Steps[step].BusyHost += d
		of(step, z.doing(z.g.Acts[owner].Event), true).took(d)
	})
}

// working gives the pieces of threads in steps in which they did not wait: to whom each belongs, and how long it is.
func (z *summarizer) working(use func(owner cdg.ActID, step int, d int64)) {
	g := z.g
	for l := range g.Lanes {
		if g.Lanes[l].Stream {
			continue
		}
		for i := int(g.PieceFirst[l]); i < int(g.PieceFirst[l+1]); i++ {
			owner := g.Pieces[i].Owner
			if owner == cdg.NoAct || z.waits(l, i) {
				continue
			}
			from, to := g.Pieces[i].Start, g.Acts[owner].End
			if i+1 < int(g.PieceFirst[l+1]) {
				to = g.Pieces[i+1].Start
			}
			if st := z.stepAt(from); st >= 0 && to > from {
				use(owner, st, to-from)
			}
		}
	}
}

// waits reports whether a thread waited in a piece: for an operation, be it one that was not recorded, or for another
// thread.
func (z *summarizer) waits(lane, piece int) bool {
	g := z.g
	if z.host[g.Pieces[piece].Owner] != nil {
		return true
	}
	if e := g.Acts[g.Pieces[piece].Owner].Event; g.Call(g.Pieces[piece].Owner) && vendors.VerbOf(z.tr.Name(e)).Blocks() {
		return true
	}
	if piece+1 >= int(g.PieceFirst[lane+1]) {
		return false
	}
	id := g.Pieces[piece+1].Begun
	if id == cdg.NoWait {
		return false
	}
	r := g.Waits[id].Rule
	return r == cdg.Handoff || r.Waits() == cdg.SliceWaits
}

func (x *Spent) took(d int64) {
	x.Calls++
	x.Busy += d
	x.Most = max(x.Most, d)
}

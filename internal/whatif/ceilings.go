package whatif

import (
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/par"
)

// Ceiling is what could be gained by making something faster.
type Ceiling struct {
	Zero int64          // the window if it took no time, ns: no work on it saves more
	Then critpath.Class // what the window would be bound by then
	Half int64          // the window if it took half its time, ns
}

// Ceilings replays each change with no time and with half the time. The changes are of Scale or Delay; their factor is
// not looked at. It keeps nothing of a replay but the numbers, so it may be asked for many.
func (m *Model) Ceilings(list []Change) []Ceiling {
	out := make([]Ceiling, len(list))
	par.Each(2*len(list), func(i int) {
		c := list[i/2]
		if c.Num, c.Den = 0, 2; i%2 == 1 {
			c.Num = 1
		}
		m.brief(func(r *Result) {
			r.replay(m, &Scenario{Changes: []Change{c}})
			if i%2 == 1 {
				out[i/2].Half = r.Window
				return
			}
			sum := r.Classes()
			out[i/2].Zero, out[i/2].Then = r.Window, critpath.BoundBy(&sum)
		})
	})
	return out
}

// OfClass is a change of all that a class of the path is made of: work, or delays.
func (m *Model) OfClass(c critpath.Class) Change {
	for k, class := range delayClass {
		if class == c && delayKind(k) != fixedDelay && delayKind(k) != lostDelay {
			return Change{Verb: Delay, Num: 1, Den: 1, Kinds: []DelayClass{DelayClass(k)}}
		}
	}
	on := m.NewSet()
	first, classes := m.firstOp, m.opClass
	if c == critpath.ClassCPU {
		first, classes = 0, m.class
	}
	for i, class := range classes() {
		if pathClasses[class] == c {
			on.Add(first + cdg.ActID(i))
		}
	}
	return Change{Verb: Scale, On: on, Num: 1, Den: 1}
}

package ranks

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/roofline"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// givenKept is of how many operators of a step a summary says what they were given: of those that take longest.
const givenKept = 12

// giver finds what operators were given.
type giver struct {
	*summarizer
	meter *roofline.Meter
	at    map[givenKey]int32 // index into rows
	rows  []givenRow
	last  map[cdg.ActID]int32 // the row of which an operator is
	known map[shaped]amount
}

type givenKey struct {
	step int32
	name Name
}

// givenRow is one operator in one step.
type givenRow struct {
	Given
	ops     []cdg.ActID // each once
	kernels []cdg.ActID
}

// shaped is what decides about an amount.
type shaped struct {
	name trace.Sym
	dims string
}

type amount struct {
	n    int64
	unit Unit
}

// give says what operators were given in each step: those that launched something on the device, or, without a device, those that threads were in.
func (z *summarizer) give() {
	if len(z.s.Steps) == 0 {
		return
	}
	x := &giver{summarizer: z, meter: roofline.NewMeter(z.g), at: map[givenKey]int32{}, last: map[cdg.ActID]int32{}, known: map[shaped]amount{}}
	if !x.onDevice() {
		x.onThreads()
	}
	slices.SortFunc(x.rows, func(a, b givenRow) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(b.Busy, a.Busy), cmp.Compare(a.Name, b.Name))
	})
	n, step := 0, int32(-1)
	for i := range x.rows {
		r := &x.rows[i]
		if r.Step != step {
			n, step = 0, r.Step
		}
		if n < givenKept && x.measure(r) {
			z.s.Given = append(z.s.Given, r.Given)
			n++
		}
	}
	z.s.Given = slices.Clip(z.s.Given)
}

// row is that of an operator, or of a kernel that no operator launched.
func (x *giver) row(step int, e trace.EventID) int32 {
	key := givenKey{int32(step), x.name(e)}
	at, ok := x.at[key]
	if !ok {
		at = int32(len(x.rows))
		x.at[key] = at
		x.rows = append(x.rows, givenRow{Given: Given{Step: key.step, Name: key.name}})
	}
	return at
}

// rowOf is the row of an operator in a step, which then has it.
func (x *giver) rowOf(step int, op cdg.ActID) int32 {
	at, ok := x.last[op]
	if !ok {
		at = x.row(step, x.g.Acts[op].Event)
		x.last[op] = at
		x.rows[at].ops = append(x.rows[at].ops, op)
	}
	return at
}

// operator is the innermost operator at or above an activity of a thread, NoAct for none.
func (x *giver) operator(a cdg.ActID) cdg.ActID {
	for depth := 0; a != cdg.NoAct && depth < 64; a, depth = x.g.Parent[a], depth+1 {
		if x.tr.Events[x.g.Acts[a].Event].Kind == trace.CPUOp {
			return a
		}
	}
	return cdg.NoAct
}

// onDevice takes the operations of the device by the step of their launch, those that communicate apart. Launches of which the operation has no record count for their
// operators, so that lost records make nobody's work less. It reports whether there is a device.
func (x *giver) onDevice() (any bool) {
	g, tr := x.g, x.tr
	comm := map[cdg.ActID]bool{}
	for _, a := range x.acts {
		comm[a] = true
	}
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		for a := lane.First; a < lane.Limit && lane.Stream; a++ {
			any = true
			act := &g.Acts[a]
			launch := tr.Launch(act.Event)
			if comm[a] || launch == trace.NoEvent || act.End == act.Start {
				continue
			}
			step, op := x.stepAt(tr.Events[launch].Start), cdg.NoAct
			if step < 0 {
				continue
			}
			if vendors.VerbOf(tr.Name(launch)) != vendors.GraphLaunch { // what a graph does is not what its operator was given
				op = x.operator(g.ActOf[launch])
			}
			var r *givenRow
			if op != cdg.NoAct {
				r = &x.rows[x.rowOf(step, op)]
			} else {
				r = &x.rows[x.row(step, act.Event)]
			}
			r.Busy += act.End - act.Start
			r.kernels = append(r.kernels, a)
		}
	}
	x.launches(func(call cdg.ActID, there bool) {
		if op := x.operator(call); !there && op != cdg.NoAct {
			x.rowOf(x.stepAt(g.Acts[call].Start), op)
		}
	})
	return any
}

// onThreads takes the time of threads by their operators.
func (x *giver) onThreads() {
	x.working(func(owner cdg.ActID, step int, d int64) {
		if x.tr.Events[x.g.Acts[owner].Event].Kind == trace.CPUOp {
			x.rows[x.rowOf(step, owner)].Busy += d
		}
	})
}

// measure says how much a row was given; false where nothing tells.
func (x *giver) measure(r *givenRow) bool {
	var sums, count [NumUnits]int64
	for _, op := range r.ops {
		if a := x.amount(op); a.n > 0 {
			sums[a.unit] = added(sums[a.unit], a.n)
			count[a.unit]++
		}
	}
	if count == [NumUnits]int64{} {
		for _, k := range r.kernels {
			sums[Threads] = added(sums[Threads], x.threads(x.g.Acts[k].Event))
		}
		r.Unit, r.Amount = Threads, sums[Threads]
		return r.Amount > 0 && r.Busy > 0
	}
	for u := range NumUnits {
		if count[u] > count[r.Unit] {
			r.Unit = u
		}
	}
	r.Amount = sums[r.Unit]
	return r.Busy > 0
}

// amount is what an operator was given by the shapes of its inputs, 0 where these are not recorded.
func (x *giver) amount(op cdg.ActID) (a amount) {
	e := x.g.Acts[op].Event
	dims, ok := x.tr.InputDims(e)
	if !ok {
		return a
	}
	key := shaped{x.tr.Events[e].Name, dims.Text}
	if a, ok := x.known[key]; ok {
		return a
	}
	if w, ok := x.meter.Work(op); ok && w.Matrix {
		a = amount{w.Flops, Flops}
	} else if ok {
		a = amount{w.Bytes, Bytes}
	} else if c, ok := roofline.ReadCall(x.tr, e); ok {
		a.unit = Elements
		for i := range c.In {
			if t := &c.In[i]; len(t.Dims) > 0 && t.Size > 0 {
				a.n = added(a.n, t.Len())
			}
		}
	}
	a.n = min(a.n, mostGiven)
	key.dims = strings.Clone(key.dims)
	x.known[key] = a
	return a
}

// mostGiven is more than an operator can be given, so that broken shapes do not add up to more than a number holds.
const mostGiven = 1 << 56

func added(a, b int64) int64 { return min(a+min(b, mostGiven), mostGiven) }

// threads is how many threads a kernel has, 0 where that is not recorded.
func (x *giver) threads(e trace.EventID) int64 {
	n, dims, inside := int64(1), 0, false
	x.tr.Args(e, func(key string, v trace.Value) bool {
		switch {
		case v.Kind == trace.End:
			inside = false
		case v.Kind == trace.Array && (key == "grid" || key == "block"):
			inside = true
		case inside:
			if d, ok := v.AsInt(); ok && d > 0 && n <= math.MaxInt32 {
				n *= min(d, math.MaxInt32)
				dims++
			}
		}
		return true
	})
	if dims == 0 {
		return 0
	}
	return n
}

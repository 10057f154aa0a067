package report

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"overlay/internal/ranks"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// Done is what a trace does, by name, and how it was recorded: what says whether two traces can be compared.
type Done struct {
	operators, kernels map[string]*calls
	shapes             map[string]map[string]bool // of the first calls of each operator
	devices            []string                   // their models, or numbers
	recorded           [len(recordings)]bool
	compiled           bool // names are those of compiled regions, which differ from version to version of one program
}

// calls is how often a name was called, and what the calls took.
type calls struct {
	n       int
	ns      int64
	squares float64
}

// recordings are what a trace may hold or not as it was asked for. What costs time while it is recorded makes times of the host longer.
var recordings = [...]string{"operators", "Python stacks", "input shapes", "memory events", "synchronisation events"}

// unknownModel stands for a device of which the trace says no model.
const unknownModel = "?"

// shapedCalls is of how many calls of an operator the shapes are looked at.
const shapedCalls = 4

// DoneIn lists the operators and kernels of a trace.
func DoneIn(tr *trace.Trace) *Done {
	d := &Done{operators: map[string]*calls{}, kernels: map[string]*calls{}, shapes: map[string]map[string]bool{}}
	of := [2][]*calls{make([]*calls, len(tr.Syms)), make([]*calls, len(tr.Syms))}
	numbers := map[int64]bool{}
	for i := range tr.Events {
		e := &tr.Events[i]
		kind, by := 0, d.operators
		switch e.Kind {
		case trace.Python:
			d.recorded[1] = true
			continue
		case trace.SyncRecord:
			d.recorded[4] = true
			continue
		case trace.Kernel:
			kind, by = 1, d.kernels
			numbers[tr.Procs[tr.Tracks[e.Track].Proc].Device] = true
		case trace.CPUOp:
			d.recorded[0] = true
		default:
			continue
		}
		c := of[kind][e.Name]
		if c == nil {
			c = d.named(by, tr.Str(e.Name))
			of[kind][e.Name] = c
		}
		if c.n < shapedCalls && kind == 0 && tr.Shapes {
			if v, ok := tr.InputDims(trace.EventID(i)); ok {
				name := tr.Str(e.Name)
				if d.shapes[name] == nil {
					d.shapes[name] = map[string]bool{}
				}
				d.shapes[name][v.Text] = true
			}
		}
		ns := tr.End(e) - e.Start
		c.n, c.ns, c.squares = c.n+1, c.ns+ns, c.squares+float64(ns)*float64(ns)
	}
	d.recorded[2], d.recorded[3] = tr.Shapes, slices.Contains(tr.Syms, "[memory]")
	for n := range numbers {
		d.devices = append(d.devices, cmp.Or(modelWords(tr.DeviceNames[n]), unknownModel))
	}
	slices.Sort(d.devices)
	return d
}

// modelWords is the model of a device without signs that mean something where it is shown.
func modelWords(name string) string {
	return Shorten(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '·'
	}, name), 40)
}

// named are the calls of a name. What torch.compile numbers or calls by a hash, which differs from version to version, is one.
func (d *Done) named(by map[string]*calls, name string) *calls {
	for _, of := range [...]string{"CompiledFxGraph", "Torch-Compiled Region", "triton_"} {
		if strings.Contains(name, of) {
			name, d.compiled = of, true
		}
	}
	if by[name] == nil {
		by[name] = &calls{}
	}
	return by[name]
}

// doneInJob lists what the ranks of a job spend most time in a step in, without steps how they communicate.
func doneInJob(j *ranks.Job) *Done {
	d := &Done{operators: map[string]*calls{}, kernels: map[string]*calls{}}
	for m := range j.Members {
		x := &j.Members[m]
		for _, s := range x.Spent {
			by := d.kernels
			if s.Host {
				by = d.operators
			}
			c := d.named(by, x.Names[s.Name])
			c.n, c.ns = c.n+int(s.Calls), c.ns+s.Busy
		}
		for i := range x.Ops {
			if len(x.Spent) == 0 { // there are no steps
				d.named(d.kernels, x.Names[x.Kinds[x.Ops[i].Kind].Name]).n++
			}
		}
	}
	return d
}

// Comparable is how much two traces do the same.
type Comparable struct {
	Same      bool     `json:"same_work" unit:"flag" about:"nothing says that they do different things"`
	Score     float64  `json:"alike_share" unit:"share" about:"how much they do the same: the mean of operators and kernels, less where shapes, devices or what was recorded differ"`
	Operators float64  `json:"operators_share" unit:"share" about:"of the names of operators of either, those of both"`
	Kernels   float64  `json:"kernels_share" unit:"share" about:"the same of kernels"`
	Shapes    float64  `json:"shapes_share" unit:"share" about:"of the operators of both that say their shapes, those that have some in common; 1 where they do not say"`
	Why       string   `json:"why,omitempty" about:"what differs, where they do not do the same"`
	Differs   []string `json:"differs" table:"differs" entry:"what" about:"what else is not alike, where they do"`
	recording bool     // what was recorded differs
	ByPlace   bool     `json:"-"` // they call the same work on devices by different names
}

const (
	// sameWork is the score from which on two traces do the same. Recorded pairs before and after a change, one model on devices of two
	// makers, and a training loop beside its compiled form have 0.5 and more; different programs up to 0.33.
	sameWork = 0.4
	// lessAlike is the part of the score that shapes, devices and recording can take.
	lessAlike = 0.2
)

// CompareDone says whether two traces do the same work. Kernels of a compiler get new names in each version of a program, so only the names of operators
// are compared there. Traces without any names count as the same work.
func CompareDone(a, b *Done) Comparable {
	c := Comparable{Operators: inCommon(a.operators, b.operators), Kernels: inCommon(a.kernels, b.kernels), Differs: []string{}}
	alike := c.lookAlike(a, b)
	c.ByPlace = c.Kernels < 0.5 && min(len(a.kernels), len(b.kernels)) > 0
	var sum float64
	var say []string
	add := func(what string, share float64, x, y int) {
		switch {
		case max(x, y) == 0:
			return
		case min(x, y) == 0:
			say = append(say, "one of them has no "+what+"s at all")
		default:
			say = append(say, tables.WholePercent(int64(1000*share), 1000)+" of the "+tables.Grouped(int64(x))+" and "+tables.Grouped(int64(y))+" names of "+what+"s are in common")
		}
		sum += share
	}
	add("operator", c.Operators, len(a.operators), len(b.operators))
	if len(say) == 0 || !a.compiled && !b.compiled {
		add("kernel", c.Kernels, len(a.kernels), len(b.kernels))
	}
	if c.Score = alike; len(say) > 0 {
		c.Score *= sum / float64(len(say))
	}
	if c.Same = c.Score >= sameWork || len(say) == 0; !c.Same {
		c.Why, c.Differs = strings.Join(append(say, c.Differs...), ", "), []string{}
	}
	return c
}

// lookAlike compares what does not say by itself that the work is another: shapes, devices, and what was recorded. It is 1 where nothing differs.
func (c *Comparable) lookAlike(a, b *Done) float64 {
	both, same := 0, 0
	for name, x := range a.shapes {
		y := b.shapes[name]
		if y == nil {
			continue
		}
		both++
		for shape := range x {
			if y[shape] {
				same++
				break
			}
		}
	}
	c.Shapes = 1
	if both > 0 {
		c.Shapes = tables.ShareOf(int64(same), int64(both))
	}
	if c.Shapes < 0.5 {
		c.Differs = append(c.Differs, "only "+tables.WholeShare(c.Shapes)+" of the operators have shapes in common")
	}
	parts := c.Shapes
	switch unknown := slices.Contains(a.devices, unknownModel) || slices.Contains(b.devices, unknownModel); {
	case slices.Equal(a.devices, b.devices):
		parts++
	case min(len(a.devices), len(b.devices)) == 0, unknown && len(a.devices) == len(b.devices): // no kernels say it already, or nothing does
	case len(a.devices) != len(b.devices):
		c.Differs = append(c.Differs, "work on "+tables.Counted(len(a.devices), "device")+" before and on "+tables.Counted(len(b.devices), "device")+" after")
	default:
		c.Differs = append(c.Differs, "devices are "+strings.Join(slices.Compact(slices.Clone(a.devices)), ", ")+" before and "+strings.Join(slices.Compact(slices.Clone(b.devices)), ", ")+" after")
	}
	var once []string
	for i, what := range recordings {
		if a.recorded[i] != b.recorded[i] {
			once = append(once, what)
		}
	}
	parts += 1 - float64(len(once))/float64(len(recordings))
	if c.recording = len(once) > 0; c.recording {
		c.Differs = append(c.Differs, strings.Join(once, ", ")+" in one of them only: recording takes time too")
	}
	return 1 - lessAlike*(1-parts/3)
}

// inCommon is what part of the names of either are names of both.
func inCommon(a, b map[string]*calls) float64 {
	both := 0
	for name := range a {
		if b[name] != nil {
			both++
		}
	}
	return tables.ShareOf(int64(both), int64(len(a)+len(b)-both))
}

// Unlike says what is not alike in two traces that do the same work; "" where nothing is known.
func (d *Difference) Unlike() string { return unlike(d.Same) }

func unlike(c *Comparable) string {
	if c == nil {
		return ""
	}
	return after("not alike: ", strings.Join(c.Differs, "; "))
}

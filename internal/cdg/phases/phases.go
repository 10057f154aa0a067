// Package phases tells the training phase of every event of a trace: loading, forward, loss, backward, communication,
// update. An event's phase follows from its own name (rules.go), else from the nearest enclosing event that has a name
// rule, else from its thread, else from its place in the step. Symbols meet the expressions once, events only tables.
package phases

import (
	"math"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Phase is a training phase.
type Phase uint8

// The phases.
const (
	Other Phase = iota
	DataLoad
	Forward
	Loss
	Backward
	Communication
	Update
	NumPhases
)

var phaseNames = [NumPhases]string{"Other", "DataLoad", "Forward", "Loss", "Backward", "Communication", "Update"}

func (p Phase) String() string { return phaseNames[p] }

// phaser holds what the passes share.
type phaser struct {
	t     *trace.Trace
	d     *cdg.Layout
	rules ruleSet
	names [3][]rule // per kind bit and symbol: rule, or unknownRule when not asked yet
	phase []Phase   // per event
	by    []rule    // per event
	steps []stepBounds
	copy  []bool      // per activity: an op that copies to the device, or inside one
	inner []context   // per activity
	named []rule      // per activity: the rule of its name
	trait []trait     // per activity
	marks []cdg.ActID // activities with a trait that places others
}

// trait is what the passes ask of an activity. It is gathered once, since events lie far apart in memory.
type trait uint8

const (
	isMarker    trait = 1 << iota // annotation or frame
	isOp                          // op that works
	isCall                        // runtime or driver call
	isStep                        // ProfilerStep#N
	isBackward                    // op that runs a node of the autograd graph
	isForward                     // op that takes part in autograd, and runs no node
	isOptimizer                   // optimizer step
)

// unknownRule marks a symbol whose name was not looked at yet.
const unknownRule rule = 255

// Aten ops that end a loss written by hand.
var reductions = []string{"aten::mean", "aten::sum", "aten::div"}

// Find returns the phase of each event of a trace.
func Find(y *cdg.Layout) []Phase {
	phase, _ := find(y, ruleSet{})
	return phase
}

// find also returns the rule behind each phase. It takes the rules that are on.
func find(y *cdg.Layout, rules ruleSet) ([]Phase, []rule) {
	p := &phaser{t: y.Trace, d: y, rules: rules, phase: make([]Phase, len(y.Trace.Events)), by: make([]rule, len(y.Trace.Events)),
		inner: make([]context, len(y.Acts))}
	for i := range p.names {
		p.names[i] = make([]rule, len(p.t.Syms))
		for s := range p.names[i] {
			p.names[i][s] = unknownRule
		}
	}
	p.survey()
	p.steps = p.findSteps(y.Steps)
	p.copy = p.findCopies()
	for l := range p.d.Lanes {
		if !p.d.Lanes[l].Stream {
			p.thread(cdg.LaneID(l))
		}
	}
	p.externals()
	p.operations()
	return p.phase, p.by
}

// survey gathers rules of names and traits.
func (p *phaser) survey() {
	p.named, p.trait = make([]rule, len(p.d.Acts)), make([]trait, len(p.d.Acts))
	for l := range p.d.Lanes {
		lane := &p.d.Lanes[l]
		if lane.Stream {
			continue
		}
		for a := lane.First; a < lane.Limit; a++ {
			p.named[a], p.trait[a] = p.look(a, &p.t.Events[p.d.Acts[a].Event])
			if p.trait[a]&(isBackward|isForward|isOptimizer) != 0 {
				p.marks = append(p.marks, a)
			}
		}
	}
}

func (p *phaser) look(a cdg.ActID, e *trace.Event) (rule, trait) {
	bit := kindBit(e.Kind)
	if bit == 0 {
		return noRule, isCall
	}
	is := isOp
	if bit != onOp || p.d.Marker(a) { // the first schemas wrote annotations as ops
		is = isMarker
		bit = max(bit, onAnnotation)
	}
	cache := &p.names[bit>>1][e.Name]
	if *cache == unknownRule {
		*cache = p.rules.match(p.t.Str(e.Name), bit)
	}
	n := cache.nameRule()
	switch {
	case n != nil && n.row == 7 && is == isOp:
		is |= isBackward
	case is == isOp && e.Flags&(trace.HasSeq|trace.HasFwd) == trace.HasSeq:
		is |= isForward
	case n != nil && n.row == 5 && bit == onAnnotation && strings.HasPrefix(p.t.Str(e.Name), "Optimizer.step#"):
		is |= isOptimizer
	case bit == onAnnotation && strings.HasPrefix(p.t.Str(e.Name), trace.StepPrefix):
		is |= isStep
	}
	if is&isOp != 0 && e.Flags&trace.HasFwd != 0 && p.rules.on(byFwdThread) && (n == nil || n.row > 7) {
		return byFwdThread, is
	}
	return *cache, is
}

// context is what an event passes on to the events that it encloses.
type context struct {
	phase    Phase
	by       rule // NoRule: nothing around matched
	backward bool // inside a backward pass
}

// thread gives phases to the events of one thread. Parents come before what they enclose.
func (p *phaser) thread(l cdg.LaneID) {
	lane := &p.d.Lanes[l]
	base := p.threadContext(lane)
	for a := lane.First; a < lane.Limit; a++ {
		ctx := base
		if up := p.d.Parent[a]; up != cdg.NoAct {
			ctx = p.inner[up]
		}
		p.inner[a] = p.event(a, ctx)
	}
}

// event gives one event its phase, and returns the context of what it encloses.
func (p *phaser) event(a cdg.ActID, ctx context) context {
	act := &p.d.Acts[a]
	r := p.named[a]
	n := r.nameRule()
	if r == noRule || n != nil && yields(n, ctx) {
		return p.inherit(a, ctx)
	}
	phase := Backward
	if n != nil {
		phase = n.phase
	}
	if ctx.backward && (phase == Forward || phase == Loss || phase == DataLoad) && p.rules.on(byAutogradContext) {
		phase, r = Backward, byAutogradContext
	}
	p.phase[act.Event], p.by[act.Event] = phase, r
	return context{phase: phase, by: r, backward: ctx.backward || phase == Backward}
}

// yields reports whether an entry gives way to what is around the event.
func yields(n *nameRule, ctx context) bool {
	switch n.strength {
	case transparent:
		return true
	case helper:
		return ctx.by != noRule
	case generic:
		return ctx.by != noRule && (ctx.phase == DataLoad || ctx.phase == Loss || ctx.phase == Backward)
	case inBackward:
		return !ctx.backward
	}
	return false
}

// inherit gives the phase of what is around the event: the context, else (ops and calls) the place in the step.
// The context of what it encloses is unchanged: a place in the step is no match.
func (p *phaser) inherit(a cdg.ActID, ctx context) context {
	id := p.d.Acts[a].Event
	switch {
	case ctx.by >= firstNameRule, ctx.by == byFwdThread, ctx.by == byAutogradContext:
		if p.rules.on(byAncestor) {
			p.phase[id], p.by[id] = ctx.phase, byAncestor
		}
	case ctx.by != noRule:
		p.phase[id], p.by[id] = ctx.phase, ctx.by // the thread's
	case p.trait[a]&isMarker == 0:
		p.phase[id], p.by[id] = p.place(a)
	}
	return ctx
}

// threadContext is the thread rule: threads of the autograd engine, of data loading, of communication.
func (p *phaser) threadContext(lane *cdg.Lane) context {
	name := p.t.Tracks[lane.Track].Name
	switch {
	case p.rules.on(byAutogradThread) && (strings.Contains(name, "pt_autograd_") || p.runsBackwardOnly(lane)):
		return context{phase: Backward, by: byAutogradThread, backward: true}
	case p.rules.on(byLoaderThread) && (strings.Contains(name, "pt_data_") || p.pinsMemory(lane)):
		return context{phase: DataLoad, by: byLoaderThread}
	case p.rules.on(byCommThread) && (ofBackend(name) || p.pollsOnly(lane)):
		return context{phase: Communication, by: byCommThread}
	}
	return context{}
}

// ofBackend reports whether a thread of that name belongs to a back end of torch.distributed.
func ofBackend(thread string) bool {
	return slices.ContainsFunc(vendors.BackendThreads(), func(start string) bool { return strings.Contains(thread, start) })
}

// runsBackwardOnly tells the engine's thread from a main thread that runs backward itself (CPU tensors): nothing but
// nodes of the engine takes part in autograd at its top level, and it is not the one that steps.
func (p *phaser) runsBackwardOnly(lane *cdg.Lane) bool {
	found := false
	end := int64(math.MinInt64) // of the outermost backward op so far
	for a := lane.First; a < lane.Limit; a++ {
		switch is := p.trait[a]; {
		case is&isStep != 0:
			return false
		case is&(isBackward|isForward) == 0 || p.d.Acts[a].Start < end:
		case is&isBackward != 0:
			found, end = true, p.d.Acts[a].End
		default:
			return false
		}
	}
	return found
}

// pinsMemory finds the pin-memory thread of a DataLoader by its frames.
func (p *phaser) pinsMemory(lane *cdg.Lane) bool {
	for a := lane.First; a < lane.Limit; a++ {
		e := &p.t.Events[p.d.Acts[a].Event]
		if e.Kind == trace.Python && strings.Contains(p.t.Str(e.Name), "_pin_memory_loop") {
			return true
		}
		if e.Kind == trace.CPUOp && !strings.HasSuffix(p.t.Str(e.Name), "pin_memory") {
			return false
		}
	}
	return false
}

// pollsOnly finds a watchdog: a thread with nothing but event queries.
func (p *phaser) pollsOnly(lane *cdg.Lane) bool {
	var query trace.Sym // a name that was found to be a query
	for a := lane.First; a < lane.Limit; a++ {
		e := &p.t.Events[p.d.Acts[a].Event]
		if !e.Kind.Call() || e.Name != query && vendors.VerbOf(p.t.Str(e.Name)) != vendors.EventQuery {
			return false
		}
		query = e.Name
	}
	return lane.First < lane.Limit
}

// operations gives GPU operations the phase of their launch call.
func (p *phaser) operations() {
	comm := p.t.ByName(vendors.IsCollective)
	launchesGraph := p.t.ByName(func(name string) bool { return vendors.VerbOf(name) == vendors.GraphLaunch })
	for l := range p.d.Lanes {
		lane := &p.d.Lanes[l]
		if !lane.Stream {
			continue
		}
		for a := lane.First; a < lane.Limit; a++ {
			id := p.d.Acts[a].Event
			if call := p.t.Launch(id); call != trace.NoEvent {
				if p.rules.on(byLaunchCall) {
					p.phase[id], p.by[id] = p.phase[call], byLaunchCall
				}
				if launchesGraph(p.t.Events[call].Name) {
					p.marked(id)
				}
				continue
			}
			if comm(p.t.Events[id].Name) && p.rules.on(byCommKernel) {
				p.phase[id], p.by[id] = Communication, byCommKernel
			}
		}
	}
}

// marked gives an operation of a graph the phase of autograd that PyTorch's annotations of its node say: one graph may hold both passes.
func (p *phaser) marked(id trace.EventID) {
	for _, m := range p.t.GraphMarks(id) {
		switch m.Phase {
		case "forward":
			p.phase[id] = Forward
		case "backward":
			p.phase[id] = Backward
		}
	}
}

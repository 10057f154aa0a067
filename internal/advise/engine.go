package advise

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/par"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// overlap is the share of what a finding takes away from which on it is part of a larger one that takes it already.
const overlap = 0.6

// baseShare is the gain from which on a finding about the recording is the base of all others.
const baseShare = 0.1

// New looks for causes in the graph of a model. path is its exact critical path.
func New(m *whatif.Model, path *critpath.Path) *Advice {
	g, r := m.Graph(), newRun(m, path)
	e := &engine{run: r, a: &Advice{Window: r.window, Base: r.window, Rules: len(rules), Findings: []Finding{}, Below: []Below{}, Unknown: r.unknown()}}
	if r.window <= 0 || len(g.Acts) == 0 {
		e.a.Floor, e.a.Together = r.window, r.window
		return e.a
	}
	e.base = e.sitters()
	e.measurements()
	e.specific()
	e.general()
	e.notes()
	return e.a
}

// engine makes the list.
type engine struct {
	*run
	a    *Advice
	base []whatif.Change // what recording cost, taken out of everything below
	all  []whatif.Change // base, and all findings that are listed so far
	sofa int64           // the window with all of these
}

// replay is how long the window would have been.
func (e *engine) replay(changes ...[]whatif.Change) int64 {
	return e.m.Window(&whatif.Scenario{Changes: slices.Concat(changes...)})
}

// ask looks for the causes of a group. What cannot gain what it takes to be listed is counted as below it unasked.
func (e *engine) ask(group Group) []Finding {
	var out []Finding
	for _, rl := range rules {
		if rl.group != group {
			continue
		}
		f := e.result(rl)
		if f == nil {
			continue
		}
		if most := tables.ShareOf(f.change.atMost(), e.window); rl.kind != None && most < rl.least() {
			e.a.Below = append(e.a.Below, Below{rl.id, most})
			continue
		}
		if group != Specific {
			f.change.taken = nil // nobody asks what it takes from whom
		}
		out = append(out, e.finding(rl, f))
	}
	return out
}

func (rl *rule) least() float64 { return cmp.Or(rl.limit, minShare) }

// measurements finds what recording itself cost.
func (e *engine) measurements() {
	for _, f := range e.ask(Measurement) {
		f.Gain = e.window - e.replay(e.base, f.changes)
		f.Alone = f.Gain
		f.Share = signed(f.Gain, e.window)
		if f.Share < baseShare {
			e.a.Below = append(e.a.Below, Below{f.ID, f.Share})
			continue
		}
		e.base = append(e.base, f.changes...)
		e.a.Base, e.a.BaseBy = e.window-f.Gain, f.ID
		e.a.Findings = append(e.a.Findings, f)
	}
}

// specific finds single causes, replays each alone, and then all of them.
func (e *engine) specific() {
	list := e.ask(Specific)
	par.Each(len(list)+1, func(i int) {
		if i == len(list) {
			e.a.Floor = e.replay(e.base, e.noCPU())
			return
		}
		f := &list[i]
		f.Gain = e.a.Base - e.replay(e.base, f.changes)
		f.Alone, f.Share = f.Gain, signed(f.Gain, e.a.Base)
	})
	byGain2(list)
	e.all = e.base
	claimed := make(map[cdg.ActID]claim)
	for i := range list {
		f := &list[i]
		if f.Share < minShare {
			e.a.Below = append(e.a.Below, Below{f.ID, f.Share})
			continue
		}
		f.PartOf = e.partOf(f, claimed)
		f.taken = nil
		e.all = append(e.all[:len(e.all):len(e.all)], f.changes...)
		e.a.Findings = append(e.a.Findings, *f)
	}
	e.exclude()
	e.sofa = e.a.Base
	if len(e.all) > len(e.base) {
		e.sofa = e.replay(e.all)
	}
}

// claim is time of an activity that a finding takes away.
type claim struct {
	ns int64
	by string
}

// partOf tells the larger finding that takes most of what a finding takes; "" for none, and then it has taken it.
func (e *engine) partOf(f *Finding, claimed map[cdg.ActID]claim) string {
	mine := map[cdg.ActID]int64{}
	for _, change := range f.taken {
		for a, ns := range change {
			mine[a] = max(mine[a], ns)
		}
	}
	whole, shared, by := int64(0), int64(0), map[string]int64{}
	for a, ns := range mine {
		whole += ns
		if c, ok := claimed[a]; ok {
			shared += min(ns, c.ns)
			by[c.by] += min(ns, c.ns)
		}
	}
	if float64(shared) > overlap*float64(whole) {
		most := ""
		for id, ns := range by {
			if most == "" || ns > by[most] || ns == by[most] && id < most {
				most = id
			}
		}
		return most
	}
	for a, ns := range mine {
		if c, ok := claimed[a]; !ok || c.ns < ns {
			claimed[a] = claim{ns, f.ID}
		}
	}
	return ""
}

// general finds what remains by its nature: each gets what it adds to everything before it.
func (e *engine) general() {
	for _, f := range e.ask(General) {
		least := ruleOf(f.ID).least()
		f.Alone = e.a.Base - e.replay(e.base, f.changes)
		after := int64(0)
		if signed(f.Alone, e.a.Base) >= least {
			after = e.replay(e.all, f.changes)
			f.Gain = e.sofa - after
		}
		f.Share = signed(f.Gain, e.a.Base)
		if f.Share < least || f.ID == syncAll.id && 10*f.Alone < 13*e.largest("sync-") {
			e.a.Below = append(e.a.Below, Below{f.ID, f.Share})
			continue
		}
		e.all = append(e.all[:len(e.all):len(e.all)], f.changes...)
		e.sofa = after
		e.a.Findings = append(e.a.Findings, f)
	}
	e.a.Together = e.sofa
	e.before(hostBound.id, syncAll.id)
}

// largest is the largest gain of a finding whose id begins so.
func (e *engine) largest(prefix string) int64 {
	most := int64(0)
	for i := range e.a.Findings {
		if f := &e.a.Findings[i]; len(f.ID) >= len(prefix) && f.ID[:len(prefix)] == prefix {
			most = max(most, f.Gain)
		}
	}
	return most
}

// notes finds what is odd about the window or the recording.
func (e *engine) notes() { e.a.Findings = append(e.a.Findings, e.ask(Note)...) }

// sitters lets threads go that sit in one frame for more than half of the window and are nowhere on the critical path:
// they wait for something that is not recorded, such as a queue of log messages, and end with the window because
// recording does. Without them nothing is shorter, but what is made shorter is not held up by them.
func (e *engine) sitters() []whatif.Change {
	set := e.m.NewSet()
	n := 0
	for _, a := range e.named(frameKinds, func(string) bool { return true }) {
		if 2*e.own[a] > e.window && e.marks[a] == 0 {
			set.Add(a)
			n++
		}
	}
	change := []whatif.Change{{Verb: whatif.Scale, On: set, Num: 0, Den: 1}}
	if n == 0 || e.replay(change) != e.window {
		return nil
	}
	return change
}

// noCPU lets threads take no time of their own, and not wait either.
func (e *engine) noCPU() []whatif.Change {
	host := e.m.NewSet()
	for a := range e.g.Acts {
		if !e.g.Lanes[e.g.Acts[a].Lane].Stream {
			host.Add(cdg.ActID(a))
		}
	}
	calls := e.m.NewSet()
	for _, w := range e.waits {
		calls.Add(w.call)
	}
	return []whatif.Change{{Verb: whatif.Scale, On: host, Num: 0, Den: 1}, {Verb: whatif.NoWait, On: calls},
		{Verb: whatif.Delay, Num: 0, Den: 1, Kinds: []whatif.DelayClass{whatif.Untraced}}}
}

func ruleOf(id string) *rule {
	return rules[slices.IndexFunc(rules, func(rl *rule) bool { return rl.id == id })]
}

// finding puts together what a rule says in general and what it found.
func (e *engine) finding(rl *rule, f *found) Finding {
	out := Finding{ID: rl.id, Group: rl.group, class: rl.class, Title: cmp.Or(f.title, rl.title), Cause: rl.cause, Kind: cmp.Or(f.kind, rl.kind),
		Confidence: cmp.Or(f.level, rl.level), Why: cmp.Or(f.why, rl.why), Do: f.do, Saw: f.saw, Action: rl.action, Scenario: rl.scenario, Steps: f.change.steps(),
		Numbers: f.numbers, Verify: rl.verify, First: f.first, changes: f.change.changes, taken: f.change.taken}
	if len(f.action) > 0 {
		out.Action = f.action
	}
	if out.Do == "" {
		out.Do = out.Action[0]
	}
	if out.Numbers == nil {
		out.Numbers = []Number{}
	}
	e.show(&out, &f.events)
	return out
}

func byGain(list []*Finding) {
	slices.SortStableFunc(list, func(a, b *Finding) int { return cmp.Compare(b.Gain, a.Gain) })
}

func byGain2(list []Finding) {
	slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Compare(b.Gain, a.Gain) })
}

// signed is a share that may be below 0.
func signed(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// opposites are findings that are not listed beside others: the first goes when the second is there.
var opposites = [][2]string{}

// exclude takes out findings that contradict others.
func (e *engine) exclude() {
	for _, o := range opposites {
		if e.has(o[1]) {
			e.a.Findings = slices.DeleteFunc(e.a.Findings, func(f Finding) bool { return f.ID == o[0] })
		}
	}
}

func (e *engine) has(id string) bool {
	return slices.ContainsFunc(e.a.Findings, func(f Finding) bool { return f.ID == id })
}

// before says of a finding that another one comes first, if both are there.
func (e *engine) before(id, first string) {
	if !e.has(first) {
		return
	}
	for i := range e.a.Findings {
		if f := &e.a.Findings[i]; f.ID == id {
			f.First = first
		}
	}
}

// unknown lists what the trace does not tell, with what to record so that it does.
func (r *run) unknown() []Unknown {
	out := []Unknown{}
	lacks := func(lacks bool, what, record string) {
		if lacks {
			out = append(out, Unknown{what, record})
		}
	}
	lacks(!r.tr.Shapes, "FLOPs, bytes moved and the sizes of messages: shapes were not recorded", "profile(record_shapes=True)")
	lacks(len(r.names[trace.Python]) == 0, "lines of Python code, and what runs between operators: stacks were not recorded", "profile(with_stack=True), in a second, short run: stacks make each operator slower")
	lacks(len(r.ops) > 0 && !slices.Contains(r.tr.Syms, "cuda_sync"), "which stream a call waited for: it is inferred", "profile(experimental_config=torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True))")
	lacks(len(r.g.Steps) < 3, "what is warm-up and what is the steady state: there are fewer than three steps", "profile(schedule=torch.profiler.schedule(wait=1, warmup=2, active=3)) and prof.step()")
	lacks(len(r.names[trace.Kernel]) > 0 && len(r.tr.DeviceNames) == 0, "what the device could do at best: its name is not recorded", "a newer PyTorch, which writes deviceProperties")
	lacks(len(r.collectives()) > 0, "whether a collective waits for another rank or moves data: this is one rank", "profile all ranks, then overlay advise FOLDER")
	return out
}

// collectives counts kernels that communicate.

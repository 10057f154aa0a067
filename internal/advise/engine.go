package advise

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/par"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/verdict"
	"overlay/internal/whatif"
)

// overlap is the least share of its saved time that a finding has in common with a larger one to count as a part of the larger one.
const overlap = 0.6

// baseShare is the gain from which on a finding about the recording is the base of all others.
const baseShare = 0.1

// look tries all rules. What several of them ask for comes first, so that none waits for it, and then rules about all of the run,
// which take longer than those about a few names.
func (r *run) look() {
	shared := []func(){func() { r.products() }, func() { r.moved() }, func() { r.byCause() }, func() { r.collectives() }}
	par.UpTo(mostRules, len(shared)+len(rules), func(i int) {
		if i < len(shared) {
			shared[i]()
			return
		}
		r.result(rules[len(rules)-1-(i-len(shared))])
	})
}

// mostRules is how many rules look for causes side by side: each may need some bytes an activity.
const mostRules = 4

// Find looks for causes in a graph; path is its exact critical path. The model may still be in the making: it is asked for when the causes are
// known, and replays begin.
func Find(g *graph.Graph, path *critpath.Path, model func() *whatif.Model) *Advice {
	r := newRun(g, path)
	e := &engine{run: r, asked: map[Group]*answers{}, a: &Advice{Window: r.window + r.earlier, Base: r.window, recorded: r.window, Rules: len(rules), Without: []verdict.Without{}, NearTies: []NearTie{}, Findings: []Finding{}, Below: []Below{}, Unknown: unknown(r)}}
	if r.window <= 0 || len(g.Acts) == 0 {
		e.a.Floor, e.a.Together = r.window, r.window
		return e.a
	}
	r.look()
	for _, group := range []Group{Measurement, Specific, General, Note} {
		e.ask(group)
	}
	bounds := verdict.BoundsOf(g.Graph.Layout, path)
	e.a.FirstUse, e.a.Beside = firstUse(e.run), besideCollectives(e.run)
	e.a.Workers, e.a.workersUnseen = besideWorkers(e.run)
	unsteady := e.result(coldStart) != nil && !steady(e.run)
	e.forget()
	e.model = model()
	e.nearTies()
	e.measurements()
	if unsteady && e.a.BaseBy == coldStart.id && onlyFirstUse*e.a.Base < e.window {
		e.asked[Specific], e.asked[General] = &answers{}, &answers{}
	}
	e.unrecorded()
	e.specific()
	e.general()
	e.notes()
	e.without(bounds)
	return e.a
}

// nearTies tells where little decides which path is critical.
func (e *engine) nearTies() {
	for _, t := range e.model.Ties() {
		x := NearTie{From: t.From, To: t.To, Margin: t.Margin, Class: t.Class.String()}
		if t.Most != trace.NoEvent {
			x.Name = critpath.NormalName(e.tr.Name(t.Most))
		}
		e.a.NearTies = append(e.a.NearTies, x)
	}
}

// without replays the window without the class that holds most of the path and, where the next one holds more than that gains, without that.
func (e *engine) without(b *verdict.Bounds) {
	bound, known := int64(0), e.a.Replayed() // bound: what was gained
	for _, x := range b.Parts(known, 0) {
		if x.Blind || x.Class == critpath.ClassIdle || x.Class == critpath.NumClasses || e.a.Without != nil && known.Of(x.Class) >= 0 {
			continue
		}
		if len(e.a.Without) == 2 || len(e.a.Without) == 1 && x.NS <= bound {
			return
		}
		w := verdict.Without{Class: x.Class.String(), Window: e.a.Floor} // without the CPU nothing is left of what recording cost it
		if !x.Host {
			change := e.model.OfClass(x.Class)
			change.Num = 0
			r := e.model.Replay(&whatif.Scenario{Changes: slices.Concat(e.recorded, []whatif.Change{change})})
			class := r.Classes()
			w.Window, w.Idle = r.Window-e.earlier, critpath.BoundBy(&class) == critpath.ClassIdle
		}
		e.a.Without = append(e.a.Without, w)
		bound, known.Without = e.a.recorded-w.Window, e.a.Without
	}
}

// engine makes the list.
type engine struct {
	*run
	a     *Advice
	model *whatif.Model
	asked map[Group]*answers
	base  []whatif.Change // what is no gain, taken out of everything below
	all   []whatif.Change // base, and all findings that are listed so far

	recorded []whatif.Change // base, but for what recording cost
}

// replay is how long the window would have been, without work from before recording.
func (e *engine) replay(changes ...[]whatif.Change) int64 {
	return e.model.Window(&whatif.Scenario{Changes: slices.Concat(changes...)}) - e.earlier
}

// answers are what the rules of a group found.
type answers struct {
	findings []Finding
	below    []Below // what cannot gain what it takes to be listed
}

// listed is what was found in a group; what is below its limit without a replay is counted as such.
func (e *engine) listed(group Group) []Finding {
	e.a.Below = append(e.a.Below, e.asked[group].below...)
	return e.asked[group].findings
}

// ask looks for the causes of a group.
func (e *engine) ask(group Group) {
	out := &answers{}
	e.asked[group] = out
	for _, rl := range rules {
		if rl.group != group {
			continue
		}
		f := e.result(rl)
		if f == nil {
			continue
		}
		if most := tables.ShareOf(f.change.atMost(), e.window); rl.kind != None && most < rl.least() {
			out.below = append(out.below, Below{rl.id, cmp.Or(f.title, rl.title), most})
			continue
		}
		if group != Specific {
			f.change.taken = nil // nobody asks what it takes from whom
		}
		out.findings = append(out.findings, e.finding(rl, f))
	}
}

func (rl *rule) least() float64 { return cmp.Or(rl.limit, minShare) }

// measurements finds what recording itself cost.
func (e *engine) measurements() {
	for i, list := 0, e.listed(Measurement); i < len(list); i++ {
		f := &list[i]
		f.Gain = e.a.Base - e.replay(e.base, f.changes)
		f.Alone, f.Share = f.Gain, signed(f.Gain, e.window)
		if f.Share < ruleOf(f.ID).least() {
			e.below(f)
			continue
		}
		e.base = append(e.base, f.changes...)
		e.a.Base, e.a.BaseBy = e.a.Base-f.Gain, f.ID
		e.a.Findings = append(e.a.Findings, *f)
	}
}

// unrecorded lets gains be those of the run that nobody records: a CPU that the profiler holds up hides what a device would gain, and is no cause of
// its own. What bounds the window is told of the run as it was recorded.
func (e *engine) unrecorded() {
	e.recorded, e.a.recorded = e.base, e.a.Base
	notes := e.asked[Note].findings
	i := slices.IndexFunc(notes, func(f Finding) bool { return f.ID == profilerCost.id })
	if i < 0 {
		return
	}
	f := &notes[i]
	base := e.model.Prepared(slices.Concat(e.base, f.changes))
	cost := e.a.Base - e.replay(base)
	if float64(cost) < costWorth*float64(e.a.Base) { // where devices are the bound, recording costs the window little
		e.asked[Note].findings = slices.Delete(notes, i, i+1)
		return
	}
	f.Saw = "about " + tables.FormatShare(tables.ShareOf(cost, e.a.Base)) + " of the window: " + f.Saw
	e.base = base
	e.a.Base, e.a.BaseBy = e.a.Base-cost, cmp.Or(e.a.BaseBy, f.ID)
	f.Numbers[0].NS, f.Numbers[1].NS, f.changes = cost, e.a.Base, nil
}

// below notes a finding that is too small to be listed.
func (e *engine) below(f *Finding) {
	e.a.Below = append(e.a.Below, Below{f.ID, f.Title, f.Share})
}

// specific finds single causes, replays each alone, and then all of them.
func (e *engine) specific() {
	list, later := e.listed(Specific), e.asked[General].findings
	e.a.Floor = e.replay(e.base, e.noCPU())
	par.Each(len(later)+len(list), func(i int) {
		if i < len(later) { // what these add comes later
			if f := &later[i]; f.ID != hostBound.id || signed(e.a.Base-e.a.Floor, e.a.Base) >= hostBound.least() { // it takes no more than all time of the CPU
				f.Alone = e.a.Base - e.replay(e.base, f.changes)
			}
			return
		}
		f := &list[i-len(later)]
		f.Gain = e.a.Base - e.replay(e.base, f.changes)
		f.Alone, f.Share = f.Gain, signed(f.Gain, e.a.Base)
	})
	slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Compare(b.Gain, a.Gain) })
	e.all = e.base
	before := len(e.a.Findings)
	for i := range list {
		f := &list[i]
		if f.Share < minShare {
			e.below(f)
			continue
		}
		e.all = append(e.all[:len(e.all):len(e.all)], f.changes...)
		e.a.Findings = append(e.a.Findings, *f)
	}
	relate(e.a.Findings[before:])
}

// relate tells findings, of which the largest comes first, that are part of larger ones.
func relate(list []Finding) {
	var claimed []claim
	for i := range list {
		list[i].PartOf, claimed = partOf(list, i, claimed)
		list[i].taken = nil
	}
}

// claim is time of an activity that a finding takes away.
type claim struct {
	act cdg.ActID
	by  int32 // the finding: its place among those of its group
	ns  int64
}

// claims are what a finding takes, by activity: of each the most that a change takes.
func claims(f *Finding, by int32) []claim {
	n := 0
	for _, change := range f.taken {
		for range change {
			n++
		}
	}
	mine := make([]claim, 0, n)
	for _, change := range f.taken {
		for a, ns := range change {
			mine = append(mine, claim{a, by, ns})
		}
	}
	cdg.SortRuns(mine, func(x, y *claim) bool { return x.act < y.act })
	out := mine[:0]
	for _, c := range mine {
		if n := len(out); n > 0 && out[n-1].act == c.act {
			out[n-1].ns = max(out[n-1].ns, c.ns)
			continue
		}
		out = append(out, c)
	}
	return out
}

// partOf tells which larger finding takes most of what the i-th of a list takes; "" for none. Then it claims that itself.
func partOf(list []Finding, i int, claimed []claim) (larger string, all []claim) {
	mine := claims(&list[i], int32(i))
	if len(claimed) == 0 {
		return "", mine
	}
	whole, shared, by := int64(0), int64(0), map[string]int64{}
	all = make([]claim, 0, len(claimed)+len(mine))
	rest := claimed
	for _, c := range mine {
		for len(rest) > 0 && rest[0].act < c.act {
			all, rest = append(all, rest[0]), rest[1:]
		}
		whole += c.ns
		if len(rest) > 0 && rest[0].act == c.act {
			both := min(c.ns, rest[0].ns)
			shared += both
			by[list[rest[0].by].ID] += both
			if rest[0].ns >= c.ns {
				c = rest[0]
			}
			rest = rest[1:]
		}
		all = append(all, c)
	}
	if float64(shared) > overlap*float64(whole) {
		most := ""
		for id, ns := range by {
			if most == "" || ns > by[most] || ns == by[most] && id < most {
				most = id
			}
		}
		return most, claimed
	}
	return "", append(all, rest...)
}

// general finds what remains by its nature: each gets what it adds to everything before it.
func (e *engine) general() {
	e.a.Together = e.a.Base
	listed := slices.DeleteFunc(slices.Clone(e.a.Findings), func(f Finding) bool { return f.Group != Specific })
	switch len(listed) {
	case 0:
	case 1: // that was replayed
		e.a.Together -= listed[0].Gain
	default:
		e.a.Together = e.replay(e.all)
	}
	for _, f := range e.listed(General) {
		least, with := ruleOf(f.ID).least(), e.a.Together
		switch {
		case signed(f.Alone, e.a.Base) < least:
		case len(e.all) == len(e.base):
			with = e.a.Base - f.Alone
		default:
			with = e.replay(e.all, f.changes)
		}
		f.Gain = min(e.a.Together-with, f.Alone) // what others make possible is theirs
		if f.Share = signed(f.Gain, e.a.Base); f.Share < least {
			e.below(&f)
			continue
		}
		e.all, e.a.Together = slices.Concat(e.all, f.changes), with
		e.a.Findings = append(e.a.Findings, f)
	}
}

// notes finds what is odd about the window or the recording.
func (e *engine) notes() {
	before := len(e.a.Findings)
	e.a.Findings = append(e.a.Findings, e.listed(Note)...)
	slices.SortStableFunc(e.a.Findings[before:], func(x, y Finding) int { return cmp.Compare(y.longest(), x.longest()) })
}

// longest is the longest time among the numbers of a finding.
func (f *Finding) longest() (most int64) {
	for _, n := range f.Numbers {
		if n.Name != withoutRecording {
			most = max(most, n.NS)
		}
	}
	return most
}

// noCPU lets threads take no time of their own, and not wait either.
func (e *engine) noCPU() []whatif.Change {
	host := e.m.NewSet()
	for a := range e.firstOp {
		host.Add(a)
	}
	return []whatif.Change{{Verb: whatif.Scale, On: host, Num: 0, Den: 1}, {Verb: whatif.NoWait, On: e.waited},
		{Verb: whatif.Delay, Num: 0, Den: 1, Kinds: []whatif.DelayClass{whatif.Untraced}}}
}

func ruleOf(id string) *rule {
	return rules[slices.IndexFunc(rules, func(rl *rule) bool { return rl.id == id })]
}

// finding puts together what a rule says in general and what it found.
func (e *engine) finding(rl *rule, f *found) Finding {
	out := Finding{ID: rl.id, Group: rl.group, class: rl.class, Title: cmp.Or(f.title, rl.title), Cause: cmp.Or(f.cause, rl.cause), Kind: cmp.Or(f.kind, rl.kind),
		Confidence: cmp.Or(f.level, rl.level), Why: cmp.Or(f.why, rl.why), Do: f.do, Saw: f.saw, Action: rl.action, Scenario: rl.scenario,
		Numbers: f.numbers, Verify: rl.verify, changes: f.change.changes, taken: f.change.taken}
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

// byGain puts most gain first.
func byGain(list []*Finding) {
	slices.SortStableFunc(list, func(a, b *Finding) int { return cmp.Compare(b.Gain, a.Gain) })
}

// signed is a share that may be below 0.
func signed(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

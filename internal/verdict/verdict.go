// Package verdict says what bounds a window, in the words that text, page, JSON, picture and advice share. Times are int64 ns.
package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Bounds is what a verdict asks of a path and of its graph. It holds on to neither.
type Bounds struct {
	total  critpath.Totals
	exact  bool    // replays are of the exact method's path
	window int64   // ns
	unseen string  // the annotation around most of the host code that was not recorded
	alone  bool    // nothing but devices was recorded
	calls  int     // launch calls in a trace without any record of a device
	before int64   // ns at the start of the window in which a device still ran what was launched before recording began
	served bool    // the window has iterations of a server
	busy   float64 // share of the window in which a device works, of several the busiest; -1 without any
}

// Verdict is what bounds a window. Text, page, JSON, picture and advice say it in these words.
type Verdict struct {
	Class critpath.Class // with the most time on the path
	Words string
	// Without is the same without what recording itself cost, "" where that is little or not known.
	Without string
}

// Replayed is what looking for causes and replaying the run without them found out: nil where nobody did.
type Replayed struct {
	Base      int64 // the window that is replayed: without first use
	FirstUse  int64 // of the critical path, in what happens once in a run
	Beside    int64 // of it, waiting while collectives of the CPU run
	Recording int64 // what recording cost
	Without   []Without

	Workers, WorkersUnseen int64 // of it, waiting for workers of a data loader; in host code that was not recorded
}

// Without is the window without a class of time.
type Without struct {
	Class  string `json:"class" key:"yes"`
	Window int64  `json:"window_ns" unit:"ns" about:"of the run as it was recorded, if that class took no time at all"`
	Idle   bool   `json:"-"` // most of that window is waiting for work
}

// shownUnseen is how many letters of the name of an annotation a verdict has.
const shownUnseen = 40

// BoundsOf looks at a path.
func BoundsOf(y *cdg.Layout, p *critpath.Path) *Bounds {
	b := &Bounds{total: critpath.Breakdown(p), exact: p.Method == "exact", window: p.Window.End - p.Window.Start}
	b.alone = !slices.ContainsFunc(y.Lanes, func(l cdg.Lane) bool { return !l.Stream })
	if 10*b.total.Kind[critpath.HostUnrecorded] > b.window {
		sums := map[trace.Sym]int64{}
		for _, s := range p.Segments.All() {
			if s.Kind == critpath.HostUnrecorded && s.Event != trace.NoEvent {
				sums[y.Trace.Events[s.Event].Name] += s.End - s.Start
			}
		}
		most := int64(0)
		for name, ns := range sums {
			if s := strings.TrimSuffix(critpath.NormalName(y.Trace.Str(name)), "#*"); ns > most || ns == most && s < b.unseen {
				b.unseen, most = s, ns
			}
		}
		if r := []rune(b.unseen); 2*most < b.total.Kind[critpath.HostUnrecorded] {
			b.unseen = ""
		} else if len(r) > shownUnseen {
			b.unseen = string(r[:shownUnseen-1]) + "…"
		}
	}
	for _, s := range p.Segments.All() {
		if s.Kind != critpath.GPUUnrecorded || s.Event != trace.NoEvent {
			break
		}
		b.before += s.End - s.Start
	}
	b.served = slices.ContainsFunc(y.Steps, func(s cdg.Step) bool { return s.Of.Type != trace.NoIteration })
	spans := map[int64][]cdg.Span{}
	for l := range y.Lanes {
		lane := &y.Lanes[l]
		if !lane.Stream {
			continue
		}
		device := y.Trace.Procs[lane.Proc].Device
		spans[device] = slices.Grow(spans[device], int(lane.Limit-lane.First))
		for _, a := range y.Acts[lane.First:lane.Limit] {
			if s := (cdg.Span{Start: max(a.Start, p.Window.Start), End: min(a.End, p.Window.End)}); s.Start < s.End {
				spans[device] = append(spans[device], s)
			}
		}
	}
	for _, list := range spans {
		ns := int64(0)
		for _, s := range critpath.Joined(list) {
			ns += s.End - s.Start
		}
		b.busy = max(b.busy, tables.ShareOf(ns, b.window))
	}
	if len(spans) == 0 {
		b.busy, b.calls = -1, launchCalls(y.Trace)
	}
	return b
}

// launchCalls counts the calls of a trace that launch something; 0 where a device is recorded.
func launchCalls(tr *trace.Trace) (n int) {
	verbs := map[trace.Sym]vendors.Verb{}
	for i := range tr.Events {
		e := &tr.Events[i]
		switch {
		case e.Ph != 'X':
		case e.Kind.Device():
			return 0
		case e.Kind.Call():
			v, ok := verbs[e.Name]
			if !ok {
				v = vendors.VerbOf(tr.Str(e.Name))
				verbs[e.Name] = v
			}
			if v == vendors.KernelLaunch || v == vendors.GraphLaunch {
				n++
			}
		}
	}
	return n
}

// Busy is the share of the window in which a device works, of several the busiest, in words; "" without any.
func (b *Bounds) Busy() string {
	if b.busy < 0 {
		return ""
	}
	return "GPU busy " + tables.WholeShare(b.steady().busy)
}

// Lead is how much of the window, ns at its start, belongs to work from before recording and to no iteration of a server: 0 below a tenth of it, and
// without iterations.
func (b *Bounds) Lead() int64 {
	if b.served && b.exact && b.before < b.window && 10*b.before >= b.window {
		return b.before
	}
	return 0
}

// steady is the window without its lead.
func (b *Bounds) steady() *Bounds {
	lead := b.Lead()
	if lead == 0 {
		return b
	}
	own := *b
	own.window, own.before = b.window-lead, 0
	own.total.Class[critpath.ClassCompute] -= lead
	own.total.Kind[critpath.GPUUnrecorded] -= lead
	own.busy = min(b.busy*float64(b.window)/float64(own.window), 1)
	return &own
}

// LaunchCalls is how many calls launch work of a device of which nothing was recorded; 0 where a device was.
func (b *Bounds) LaunchCalls() int { return b.calls }

// Part is what holds time of the path, in words for people.
type Part struct {
	words string
	NS    int64
	Class critpath.Class // NumClasses of what no replay takes away by its class
	Host  bool           // an infinitely fast CPU would have none of it
	Blind bool           // it was not recorded, or happens once: it says nothing of how the program runs
}

// Parts divides the path by class, host code and work of devices that were not recorded apart, and first use, waits for collectives of the CPU and
// the cost of recording where the advice knows of them; most time first.
func (b *Bounds) Parts(a *Replayed, recording int64) []Part {
	class, kind := b.total.Class, b.total.Kind
	unseen, unrecorded := kind[critpath.HostUnrecorded]+class[critpath.ClassUntraced], kind[critpath.GPUUnrecorded]
	cpu := class[critpath.ClassCPU] - kind[critpath.HostUnrecorded]
	var once, beside, workers int64
	name := "host code that was not recorded"
	if b.unseen != "" && (a == nil || 2*a.WorkersUnseen < kind[critpath.HostUnrecorded]) {
		name += ", in " + b.unseen
	}
	if a != nil {
		inCPU, inUnseen := min(a.Workers-a.WorkersUnseen, cpu), min(a.WorkersUnseen, unseen)
		cpu, unseen, workers = cpu-inCPU, unseen-inUnseen, inCPU+inUnseen
		beside = min(a.Beside, unseen+cpu)
		cpu, unseen = cpu-max(0, beside-unseen), max(0, unseen-beside)
		once = min(a.FirstUse, cpu)
		cpu -= once
	}
	for _, part := range []*int64{&cpu, &unseen, &once} { // which of them recording held up is not known
		taken := min(recording, max(0, *part))
		*part, recording = *part-taken, recording-taken
	}
	waits := "waits that nothing recorded explains"
	if b.alone {
		waits = "what the device waited for, of which nothing was recorded"
	}
	list := []Part{{"CPU", cpu, critpath.ClassCPU, true, false}, {name, unseen, critpath.ClassUntraced, true, true}, {firstUse, once, critpath.ClassCPU, true, true},
		{"waiting for collectives", beside, critpath.NumClasses, false, false}, {"waiting for workers of the data loader", workers, critpath.NumClasses, false, false},
		{gpuBefore, b.before, critpath.ClassUnexplained, false, true},
		{gpuUnrecorded, unrecorded - b.before, critpath.ClassUnexplained, false, true},
		{waits, class[critpath.ClassUnexplained], critpath.ClassUnexplained, false, true}}
	class[critpath.ClassCompute] -= unrecorded
	for _, c := range []critpath.Class{critpath.ClassCompute, critpath.ClassComm, critpath.ClassCopy, critpath.ClassLaunch, critpath.ClassSync, critpath.ClassHandoff, critpath.ClassIdle} {
		list = append(list, Part{c.Words(), class[c], c, c == critpath.ClassLaunch || c == critpath.ClassSync || c == critpath.ClassHandoff, false})
	}
	list = slices.DeleteFunc(list, func(x Part) bool { return x.NS <= 0 })
	slices.SortStableFunc(list, func(x, y Part) int { return cmp.Compare(y.NS, x.NS) })
	return list
}

// What a verdict calls some parts.
const (
	firstUse      = "first use" // what happens once in a run
	gpuBefore     = "GPU work launched before recording began"
	gpuUnrecorded = "GPU work that was not recorded"
)

const (
	blindPart  = 0.1  // of the window, from which on what was not recorded or happens once is named in any case
	busyBeside = 0.15 // of the window, by which a device may be busy longer than it stands on the path without a word about it
	costly     = 0.05 // of the window, what recording has to cost for a verdict without it
)

// Verdict says what bounds the window. Where several parts hold about as much, or none holds half, all of them are named. a is nil where nobody
// looked for causes; then nothing was replayed, and what happens once counts as CPU.
func (b *Bounds) Verdict(a *Replayed) Verdict {
	own := b.steady()
	v := Verdict{Class: critpath.BoundBy(&own.total.Class)}
	if b.calls > 0 {
		v.Words = tables.Counted(b.calls, "launch call") + " and no record of what the GPU did: what bounds the run is not known"
		return v
	}
	if !b.exact {
		a = nil
	}
	v.Words = own.sentence(a, 0)
	if a != nil && float64(a.Recording) >= costly*float64(own.window) {
		if say := own.sentence(a, a.Recording); say != v.Words {
			v.Without = "recording costs about " + tables.WholePercent(a.Recording, own.window) + " of this; without it " + say
		}
	}
	if own != b {
		v.Words += ", in " + tables.Duration(own.window) + " of iterations; the other " + tables.Duration(b.before) + " of the window are " + gpuBefore
	}
	return v
}

func (b *Bounds) sentence(a *Replayed, recording int64) string {
	parts, whole := b.Parts(a, recording), max(b.window-recording, 1)
	if len(parts) == 0 {
		return "bound by CPU"
	}
	share := func(x *Part) string { return tables.WholePercent(x.NS, whole) }
	if a != nil { // the class without which the window is shortest comes first
		slices.SortStableFunc(parts[:min(2, len(parts))], func(x, y Part) int {
			wx, wy := a.Of(x.Class), a.Of(y.Class)
			if wx < 0 || wy < 0 {
				return 0
			}
			return cmp.Compare(wx, wy)
		})
	}
	first, most := &parts[0], max(parts[0].NS, parts[min(1, len(parts)-1)].NS)
	var named, blind []string
	for i := range parts {
		switch x := &parts[i]; {
		case x == first || 2*x.NS >= most && 20*x.NS >= whole && (2*most < whole || 3*x.NS >= 2*most):
			named = append(named, x.words+" ("+share(x)+")")
		case x.Blind && float64(x.NS) >= blindPart*float64(whole):
			blind = append(blind, share(x)+" is "+x.words)
		}
	}
	say := "bound by " + named[0]
	switch last := len(named) - 1; {
	case first.Class == critpath.ClassIdle || first.words == firstUse:
		say = "mostly " + firstUse + ", which happens once in a run (" + share(first) + ")"
		if first.Class == critpath.ClassIdle {
			say = "mostly waiting for work (" + share(first) + ")"
		}
		if then := slices.IndexFunc(parts[1:], func(x Part) bool { return !x.Blind && 50*x.NS >= whole }); then >= 0 {
			say += fmt.Sprintf(", then bound by %s (%s)", parts[then+1].words, share(&parts[then+1]))
		}
	case last > 0:
		say = "bound by " + strings.Join(named[:last], ", ") + " and " + named[last]
	case 3*first.NS >= 2*whole && len(blind) == 0:
		say = "bound by " + first.words
	}
	if len(blind) > 0 {
		say += "; " + strings.Join(blind, ", ")
	}
	device := int64(0)
	for i := range parts {
		if parts[i].device() {
			device += parts[i].NS
		}
	}
	if recording > 0 || first.words == firstUse {
		return say
	}
	for i := range parts[:min(2, len(parts))] {
		x := &parts[i]
		if i > 0 && !x.Host {
			break
		}
		if remain := b.remaining(a, x); remain >= 0 && 2*(b.window-remain) < x.NS && 2*remain > b.window && slices.Contains(named, x.words+" ("+share(x)+")") {
			say += "; without " + map[bool]string{true: "any time of the CPU", false: x.words}[x.Host] + " " + tables.WholePercent(remain, b.window) + " would remain"
			if a.idles(x.Class) {
				say += ", mostly waiting for work"
			}
			break
		}
	}
	if (b.exact || first.Host) && b.busy > tables.ShareOf(device, whole)+busyBeside { // other methods leave holes
		say += ", while the GPU is busy " + tables.WholeShare(b.busy) + " of the time"
	}
	return say
}

// device reports whether a device works in that part of the path.
func (x *Part) device() bool {
	switch x.Class {
	case critpath.ClassCompute, critpath.ClassComm, critpath.ClassCopy:
		return true
	}
	return x.words == gpuBefore || x.words == gpuUnrecorded
}

// remaining is how long the window would be without a part, ns; -1 where nothing was replayed. What recording cost, and first use, are time of the CPU too.
func (b *Bounds) remaining(a *Replayed, x *Part) int64 {
	without := a.Of(x.Class)
	switch {
	case without < 0:
		return -1
	case x.Host:
		return without + b.before
	}
	return b.window - (a.Base - without)
}

// Of is the window without a class, by a replay; -1 where it was not replayed.
func (a *Replayed) Of(c critpath.Class) int64 {
	if w := a.replay(c); w != nil {
		return w.Window
	}
	return -1
}

// idles reports whether the window without a class would mostly be waiting for work: a pool of threads gets its work when it did.
func (a *Replayed) idles(c critpath.Class) bool {
	w := a.replay(c)
	return w != nil && w.Idle
}

// replay is that without a class; nil where there was none.
func (a *Replayed) replay(c critpath.Class) *Without {
	if a != nil {
		for i := range a.Without {
			if a.Without[i].Class == c.String() {
				return &a.Without[i]
			}
		}
	}
	return nil
}

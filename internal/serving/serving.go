// Package serving says of the iterations of an inference server, by type, how long they take, what bounds them, and what replays with something
// changed would make of them.
package serving

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/roofline"
	"overlay/internal/stat"
	"overlay/internal/trace"
	"overlay/internal/vendors"
	"overlay/internal/whatif"
)

// Type is the iterations of one type that begin in the window. Times are ns; medians unless they say otherwise.
type Type struct {
	Type    string           `json:"type" key:"yes" about:"prefill, decode, mixed, verify, draft, image, idle, or iteration"`
	Count   int              `json:"count" unit:"count" about:"iterations"`
	Batch   *int64           `json:"batch" unit:"count" about:"requests of one: median; null where the names do not tell"`
	Tokens  *int64           `json:"tokens" unit:"count" about:"that one computes: median; null where the names do not tell"`
	Marker  int64            `json:"marker_ns" unit:"ns" about:"length of the annotation: median"`
	P99     int64            `json:"marker_p99_ns" unit:"ns" about:"length of the annotation: 99 of 100 are no longer"`
	Time    int64            `json:"time_ns" unit:"ns" about:"from the last operation of the iteration before to its own last: median"`
	Gap     int64            `json:"host_gap_ns" unit:"ns" about:"from the end of an annotation to the start of the next: median"`
	Busy    float64          `json:"gpu_busy_share" unit:"share" about:"of the time from their starts to the next ones, what operations cover"`
	PerS    *int64           `json:"tokens_per_s" unit:"count" about:"of prompts that they compute and of outputs, one a request that decodes, in a second of the time that they take; null where the names do not tell"`
	ByClass map[string]int64 `json:"by_class" table:"iteration_classes" entry:"class" unit:"ns" about:"the path from their starts to the next ones, a mean iteration"`
	Replays []Replayed       `json:"replays" table:"iteration_replays" about:"iterations of a run with something changed"`

	steps  []int
	steady []int // of them those that began in a window that knows of all work
	// earlier is the time of the only one in work from before recording, which is none of its own.
	earlier int64
}

// Replayed is what an iteration would take in a run with something changed.
type Replayed struct {
	Change string  `json:"change"`
	Time   int64   `json:"time_ns" unit:"ns" about:"of an iteration then: median"`
	Saved  int64   `json:"saved_ns" unit:"ns"`
	Share  float64 `json:"saved_share" unit:"share" about:"of its time"`
}

// Of sums up the iterations of a graph; lines are its steps with their path. Without iterations there is nothing. earlier is the time at the start of the
// window that belongs to work launched before recording. The first iteration includes this time: its annotation counts, its other figures
// only where no other iteration has its type, and then without this time.
func Of(g *graph.Graph, lines []critpath.StepLine, earlier int64) []Type {
	var out []Type
	at := map[trace.IterationType]int{}
	var classes [][critpath.NumClasses]int64
	first := -1
	cut := earlier > 0
	if len(lines) > 0 && lines[0].Step < 0 {
		earlier = max(earlier-(lines[0].End-lines[0].Start), 0)
	}
	for i := range lines {
		l := &lines[i]
		if l.Step < 0 || g.Steps[l.Step].Of.Type == trace.NoIteration || g.Steps[l.Step].Start < g.Window.Start {
			continue
		}
		kind := g.Steps[l.Step].Of.Type
		k, ok := at[kind]
		if !ok {
			k = len(out)
			at[kind] = k
			out, classes = append(out, Type{Type: kind.String(), Replays: []Replayed{}}), append(classes, [critpath.NumClasses]int64{})
		}
		x := &out[k]
		x.steps = append(x.steps, l.Step)
		if x.steady = append(x.steady, l.Step); cut && len(x.steady) == 2 && x.steady[0] == first {
			x.steady, x.earlier, classes[k] = x.steady[1:], 0, [critpath.NumClasses]int64{}
		}
		if first < 0 {
			first = l.Step
			x.earlier = min(earlier, l.Class[critpath.ClassCompute])
			classes[k][critpath.ClassCompute] -= x.earlier
		}
		for c, ns := range l.Class {
			classes[k][c] += ns
		}
	}
	if len(out) == 0 {
		return nil
	}
	times, busy := times(g, endsOf(g, nil)), busyIn(g)
	for k := range out {
		out[k].sum(g, times, busy)
		out[k].ByClass = map[string]int64{}
		for c, ns := range classes[k] {
			if ns > 0 {
				out[k].ByClass[critpath.Class(c).String()] = ns / int64(len(out[k].steady))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Type) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// sum fills in the numbers of a type.
func (t *Type) sum(g *graph.Graph, times, busy []int64) {
	var markers, gaps, own, batch, tokens []int64
	span, covered, gave, took := int64(0), int64(0), int64(0), int64(0)
	for _, i := range t.steps {
		markers = append(markers, g.Trace.Dur(&g.Trace.Events[g.Steps[i].Of.Event]))
	}
	for _, i := range t.steady {
		s := &g.Steps[i]
		e := &g.Trace.Events[s.Of.Event]
		ns := max(times[i]-t.earlier, 0)
		own, took = append(own, ns), took+ns
		if n := outputs(&s.Of); n < 0 {
			gave = -1
		} else if gave >= 0 {
			gave += n
		}
		if i+1 < len(g.Steps) {
			gaps = append(gaps, max(s.End-g.Trace.End(e), 0))
		}
		if s.Of.Batch >= 0 {
			batch = append(batch, s.Of.Batch)
		}
		if s.Of.Tokens >= 0 {
			tokens = append(tokens, s.Of.Tokens)
		}
		if i+1 < len(g.Steps) || len(t.steady) == 1 { // the last has no gap behind it
			span, covered = span+s.End-s.Start-t.earlier, covered+busy[i]
		}
	}
	t.Count, t.Marker, t.Time = len(t.steps), stat.Median(markers), stat.Median(own)
	slices.Sort(markers)
	t.P99 = markers[(99*len(markers)+99)/100-1]
	if len(gaps) > 0 {
		t.Gap = stat.Median(gaps)
	}
	if span > 0 {
		t.Busy = float64(covered) / float64(span)
	}
	told := func(list []int64) *int64 {
		if len(list) < len(t.steady) {
			return nil
		}
		n := stat.Median(list)
		return &n
	}
	if t.Batch, t.Tokens = told(batch), told(tokens); gave >= 0 && took > 0 {
		perS := int64(float64(gave) * 1e9 / float64(took))
		t.PerS = &perS
	}
}

// outputs is how many tokens of prompts an iteration computes and of outputs it gives: one a request, more where drafts are verified, of which
// nobody knows how many are taken. It is -1 where its name does not tell.
func outputs(it *trace.Iteration) (n int64) {
	switch it.Type {
	case trace.Prefill:
		return it.Prefill.Tokens
	case trace.Decode, trace.Verify:
		return it.Decode.Count
	case trace.Mixed:
		if it.Prefill.Tokens >= 0 && it.Decode.Count >= 0 {
			return it.Prefill.Tokens + it.Decode.Count
		}
	}
	return -1
}

// endsOf is when the last operation ends that a step launched, by step; 0 for none. moved gives the times of a replay, nil those of the
// recording.
func endsOf(g *graph.Graph, moved *whatif.Result) []int64 {
	ends := make([]int64, len(g.Steps))
	for op, call := range g.Trace.Launches() {
		at := g.Trace.Events[call].Start
		i, exact := slices.BinarySearchFunc(g.Steps, at, func(s cdg.Step, t int64) int { return cmp.Compare(s.Start, t) })
		if !exact {
			i--
		}
		a := g.ActOf[op]
		if i < 0 || at >= g.Steps[i].End || a == cdg.NoAct {
			continue
		}
		end := g.Acts[a].End
		if moved != nil {
			end = moved.End(a)
		}
		ends[i] = max(ends[i], end)
	}
	return ends
}

// times is how long steps take: from the end of the last operation of the one before to that of their own; where one of them launched nothing
// from start to start.
func times(g *graph.Graph, ends []int64) []int64 {
	out := make([]int64, len(g.Steps))
	for i := range out {
		from, to := g.Steps[i].Start, g.Steps[i].End
		switch {
		case ends[i] == 0:
		case i == 0:
			to = ends[i]
		case ends[i-1] > 0:
			from, to = ends[i-1], ends[i]
		}
		out[i] = max(to-from, 0)
	}
	return out
}

// busyIn is how much of each step operations cover.
func busyIn(g *graph.Graph) []int64 {
	var runs []cdg.Span
	for l := range g.Lanes {
		for a := g.Lanes[l].First; g.Lanes[l].Stream && a < g.Lanes[l].Limit; a++ {
			runs = append(runs, cdg.Span{Start: g.Acts[a].Start, End: g.Acts[a].End})
		}
	}
	slices.SortFunc(runs, func(a, b cdg.Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	out := make([]int64, len(g.Steps))
	step, until := 0, int64(-1<<63)
	for _, r := range runs {
		r.Start = max(r.Start, until)
		until = max(until, r.End)
		for step < len(out) && g.Steps[step].End <= r.Start {
			step++
		}
		for i := step; i < len(out) && g.Steps[i].Start < r.End; i++ {
			out[i] += max(min(r.End, g.Steps[i].End)-max(r.Start, g.Steps[i].Start), 0)
		}
	}
	return out
}

// Replay adds to each type what its iterations would take with an infinitely fast CPU, without waits of the host for the device, without operators
// and calls that launch one operation each, and, where the
// work of half of the kernels' time or more is known, with a memory of twice the bandwidth. m replays their graph, and may be a brief one.
func Replay(list []Type, m *whatif.Model) {
	if len(list) == 0 || m == nil {
		return
	}
	g := m.Graph()
	cpu := m.OfClass(critpath.ClassCPU)
	cpu.Num = 0
	waits := m.NewSet()
	for a := range g.Acts {
		e := &g.Trace.Events[g.Acts[a].Event]
		if e.Kind.Call() {
			if verb := vendors.VerbOf(g.Trace.Str(e.Name)); verb.Blocks() || verb == vendors.BlockingCopy {
				waits.Add(cdg.ActID(a))
			}
		}
	}
	eager := m.NewSet() // operators and calls that launch single operations
	for _, call := range g.Trace.Launches() {
		if vendors.VerbOf(g.Trace.Name(call)) == vendors.GraphLaunch {
			continue
		}
		for a := g.ActOf[call]; a != cdg.NoAct && !eager.Has(a); a = g.Parent[a] {
			if k := g.Trace.Events[g.Acts[a].Event].Kind; !k.Call() && (k != trace.CPUOp || g.Marker(a)) {
				break
			}
			eager.Add(a)
		}
	}
	memory, known, all := m.NewSet(), int64(0), int64(0)
	for _, row := range roofline.NewMeter(g).Rows() {
		for _, k := range row.Kernels {
			if known += g.Acts[k].End - g.Acts[k].Start; row.MemoryLimited() {
				memory.Add(k)
			}
		}
	}
	for a := range g.Acts {
		if g.Trace.Events[g.Acts[a].Event].Kind == trace.Kernel {
			all += g.Acts[a].End - g.Acts[a].Start
		}
	}
	base := times(g, endsOf(g, nil))
	for _, c := range []struct {
		name    string
		changes []whatif.Change
		any     bool
	}{
		{"CPU infinitely fast (its waits kept)", []whatif.Change{cpu, {Verb: whatif.Delay, Num: 0, Den: 1, Kinds: []whatif.DelayClass{whatif.Untraced}}}, true},
		{"no waits of the host for the device", []whatif.Change{{Verb: whatif.NoWait, On: waits}}, waits.Len() > 0},
		{"a graph for what is launched one by one", []whatif.Change{{Verb: whatif.Scale, On: eager, Num: 0, Den: 1}}, eager.Len() > 0},
		{"twice the memory bandwidth", []whatif.Change{{Verb: whatif.Scale, On: memory, Num: 1, Den: 2}}, memory.Len() > 0 && 2*known >= all},
	} {
		if !c.any {
			continue
		}
		then := times(g, endsOf(g, m.Replay(&whatif.Scenario{Name: c.name, Changes: c.changes})))
		for k := range list {
			x := &list[k]
			var before, after []int64
			for _, i := range x.steady {
				before, after = append(before, max(base[i]-x.earlier, 0)), append(after, max(then[i]-x.earlier, 0))
			}
			now := stat.Median(before)
			r := Replayed{Change: c.name, Time: stat.Median(after)}
			if r.Saved = now - r.Time; now > 0 {
				r.Share = float64(r.Saved) / float64(now)
			}
			x.Replays = append(x.Replays, r)
		}
	}
}

package cdg

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/par"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// FindWindow finds the analysed interval that the options ask for, without CarriedIn.
func FindWindow(tr *trace.Trace, o Options) (Window, error) {
	if o.Annotation == "" && o.Step == "" {
		if o.Instance != "" {
			return Window{}, fmt.Errorf("window: an instance needs an annotation")
		}
		if o.Recorded != nil {
			return o.Recorded.Window, nil
		}
		start, end := wholeExtent(tr)
		return Window{Start: start, End: end}, nil
	}
	name := o.Annotation
	match := func(s string) bool { return strings.Contains(s, o.Annotation) }
	if o.Step != "" {
		name = trace.StepPrefix + strings.TrimPrefix(o.Step, trace.StepPrefix)
		match = func(s string) bool { return s == name }
	}
	found := annotationEvents(tr, match)
	if len(found) == 0 && o.Step != "" {
		steps := FindSteps(tr)
		at, err := ChooseStep(steps, o.Step)
		if err != nil {
			return Window{}, fmt.Errorf("window: %w", err)
		}
		s := &steps[at]
		if !trace.IsStep(s.Name) { // what an iteration launched may outlast it
			return Window{Start: s.Start, End: max(s.End, lastEndOfLaunched(tr, s.Start, s.End)), Annotation: s.Name, Instance: "0", Body: s.End}, nil
		}
		name, found = s.Name, []trace.EventID{s.Event}
	}
	if len(found) == 0 {
		return Window{}, fmt.Errorf("window: no annotation %q in the trace%s", name, frequentAnnotations(tr))
	}
	first, last, err := parseInstance(o.Instance, len(found))
	if err != nil {
		return Window{}, fmt.Errorf("window: annotation %q: %w", name, err)
	}
	w := Window{Start: tr.Events[found[first]].Start, End: tr.End(&tr.Events[found[last]]), Annotation: name, Instance: o.Instance}
	if w.Instance == "" {
		w.Instance = "0"
	}
	w.Body = w.End
	w.End = max(w.End, lastEndOfLaunched(tr, w.Start, w.End))
	return w, nil
}

// parseInstance reads "", "N" or "A:B" against a number of instances.
func parseInstance(s string, n int) (first, last int, err error) {
	a, b, ranged := strings.Cut(s, ":")
	if s == "" {
		a = "0"
	}
	if !ranged {
		b = a
	}
	first, err1 := strconv.Atoi(a)
	last, err2 := strconv.Atoi(b)
	if err1 != nil || err2 != nil || first < 0 || last < first {
		return 0, 0, fmt.Errorf("instance %q is neither N nor A:B", s)
	}
	if last >= n {
		return 0, 0, fmt.Errorf("instance %q asked for, there are %d (0 to %d)", s, n, n-1)
	}
	return first, last, nil
}

// annotationEvents returns annotations and ops whose name, or the one that the program gave them, matches, by start time.
func annotationEvents(tr *trace.Trace, match func(string) bool) []trace.EventID {
	hit := matchSyms(tr, match)
	parts := make([][]trace.EventID, ranges(len(tr.Events), 0))
	par.EachRange(len(tr.Events), len(parts), func(part, from, to int) {
		for i := from; i < to; i++ {
			e := &tr.Events[i]
			if e.Ph == 'X' && (e.Kind == trace.Annotation || e.Kind == trace.CPUOp) && e.Flags&trace.ClampedTS == 0 &&
				(hit[e.Name] || e.Flags&trace.Composed != 0 && match(tr.WrittenName(trace.EventID(i)))) {
				parts[part] = append(parts[part], trace.EventID(i))
			}
		}
	})
	found := slices.Concat(parts...)
	slices.SortStableFunc(found, func(x, y trace.EventID) int {
		ex, ey := &tr.Events[x], &tr.Events[y]
		return cmp.Or(cmp.Compare(ex.Start, ey.Start), cmp.Compare(tr.Dur(ey), tr.Dur(ex)), strings.Compare(tr.Name(x), tr.Name(y)))
	})
	return found
}

// ErrNoSteps is what is said of a trace without steps.
var ErrNoSteps = errors.New("the trace has no steps, which the profiler names where prof.step() is called")

// lastEndOfLaunched returns the last end of operations whose launch started in [start, end]; start without any.
func lastEndOfLaunched(tr *trace.Trace, start, end int64) int64 {
	last := start
	for i := range tr.Events {
		e := &tr.Events[i]
		if !e.Kind.Device() || e.Ph != 'X' || tr.Launch(trace.EventID(i)) == trace.NoEvent {
			continue
		}
		if l := &tr.Events[tr.Launch(trace.EventID(i))]; l.Start >= start && l.Start <= end {
			last = max(last, tr.End(e))
		}
	}
	return last
}

// wholeExtent spans the operations and the activities of threads that launch GPU work, run autograd, or carry
// annotations or frames; of all threads when no thread does. What the profiler needs to start and to stop is left out at both ends, but for
// operations that run on while it stops.
func wholeExtent(tr *trace.Trace) (start, end int64) {
	node := matchSyms(tr, func(s string) bool { return strings.HasPrefix(s, "autograd::engine::evaluate_function") })
	edge := make([]vendors.Recording, len(tr.Syms))
	for i, s := range tr.Syms {
		edge[i] = vendors.RecordingOf(s)
	}
	parts := make([]extents, ranges(len(tr.Events), len(tr.Tracks)))
	par.EachRange(len(tr.Events), len(parts), func(part, from, to int) { parts[part] = extentsOf(tr, from, to, node, edge) })
	x := &parts[0]
	for i := range parts[1:] {
		x.join(&parts[1+i])
	}
	nothing := Span{math.MaxInt64, math.MinInt64}
	all := nothing
	none := !slices.Contains(x.counts, true)
	for t, s := range x.spans {
		if x.counts[t] || none {
			all.Start, all.End = min(all.Start, s.Start), max(all.End, s.End)
		}
	}
	if x.marks {
		all = extentSinceHost(tr, func(t trace.TrackID) bool { return x.counts[t] || none })
	}
	if all == nothing {
		return 0, 0
	}
	from, until := max(all.Start, x.recorded.Start), min(all.End, max(x.recorded.End, x.device))
	if from >= until {
		return all.Start, all.End
	}
	return from, until
}

// extents is what wholeExtent wants to know of some events.
type extents struct {
	spans    []Span // per track: from the first start to the last end
	counts   []bool // per track: it belongs to the whole
	marks    bool   // a device recorded what it waited for
	recorded Span   // from where the profiler had started to where it began to stop
	device   int64  // the last end of an operation
}

func extentsOf(tr *trace.Trace, from, to int, node []bool, edge []vendors.Recording) extents {
	x := extents{make([]Span, len(tr.Tracks)), make([]bool, len(tr.Tracks)), false, Span{math.MinInt64, math.MaxInt64}, math.MinInt64}
	for i := range x.spans {
		x.spans[i] = Span{math.MaxInt64, math.MinInt64}
	}
	for i := from; i < to; i++ {
		e := &tr.Events[i]
		x.marks = x.marks || e.Kind == trace.DeviceMark
		if !isAct(e) {
			continue
		}
		s := &x.spans[e.Track]
		s.Start, s.End = min(s.Start, e.Start), max(s.End, tr.End(e))
		switch {
		case e.Kind.Device():
			x.counts[e.Track] = true
			x.device = max(x.device, tr.End(e))
			if l := tr.Launch(trace.EventID(i)); l != trace.NoEvent && tr.Events[l].Track != trace.NoTrack {
				x.counts[tr.Events[l].Track] = true
			}
		case e.Kind == trace.Annotation, e.Kind == trace.Python, e.Kind == trace.CPUOp && node[e.Name]:
			x.counts[e.Track] = true
			switch edge[e.Name] {
			case vendors.Starts:
				x.recorded.Start = max(x.recorded.Start, tr.End(e))
			case vendors.Stops:
				x.recorded.End = min(x.recorded.End, e.Start)
			}
		}
	}
	return x
}

func (x *extents) join(y *extents) {
	for t := range x.spans {
		s := &x.spans[t]
		s.Start, s.End = min(s.Start, y.spans[t].Start), max(s.End, y.spans[t].End)
		x.counts[t] = x.counts[t] || y.counts[t]
	}
	x.marks = x.marks || y.marks
	x.recorded = Span{max(x.recorded.Start, y.recorded.Start), min(x.recorded.End, y.recorded.End)}
	x.device = max(x.device, y.device)
}

// extentSinceHost is the extent without what a device did before the host's record begins: one with a record of its
// own gives what was in it before recording began.
func extentSinceHost(tr *trace.Trace, counts func(trace.TrackID) bool) Span {
	host := int64(math.MaxInt64)
	for i := range tr.Events {
		if e := &tr.Events[i]; isAct(e) && e.Kind.Host() && counts(e.Track) {
			host = min(host, e.Start)
		}
	}
	all := Span{math.MaxInt64, math.MinInt64}
	for i := range tr.Events {
		e := &tr.Events[i]
		if !isAct(e) || !counts(e.Track) || host < math.MaxInt64 && e.Start < host && e.Kind.Device() && tr.Launch(trace.EventID(i)) == trace.NoEvent {
			continue
		}
		all.Start, all.End = min(all.Start, e.Start), max(all.End, tr.End(e))
	}
	return all
}

// frequentAnnotations lists the ten most frequent annotation names, for an error message.
func frequentAnnotations(tr *trace.Trace) string {
	count := make([]int, len(tr.Syms))
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Ph == 'X' && e.Kind == trace.Annotation {
			count[e.Name]++
		}
	}
	var names []trace.Sym
	for s, n := range count {
		if n > 0 {
			names = append(names, trace.Sym(s))
		}
	}
	if len(names) == 0 {
		return "; it has no annotations"
	}
	slices.SortFunc(names, func(x, y trace.Sym) int {
		return cmp.Or(cmp.Compare(count[y], count[x]), strings.Compare(tr.Str(x), tr.Str(y)))
	})
	var sb strings.Builder
	sb.WriteString("; the most frequent are")
	for i, s := range names[:min(10, len(names))] {
		if i > 0 {
			sb.WriteByte(',')
		}
		fmt.Fprintf(&sb, " %q (%d)", trace.Brief(tr.Str(s)), count[s])
	}
	return sb.String()
}

// FindSteps returns the steps of the trace, by start time: its ProfilerStep#N annotations, where there are none the iterations of the server.
// A step lasts to the start of the next; the last to its own end, of iterations to that of what it launched.
func FindSteps(tr *trace.Trace) []Step {
	var steps []Step
	add := func(s Step) {
		if n := len(steps); n > 0 {
			steps[n-1].End = s.Start
		}
		steps = append(steps, s)
	}
	for _, id := range annotationEvents(tr, trace.IsStep) {
		e := &tr.Events[id]
		if len(steps) > 0 && tr.Events[steps[0].Event].Track != e.Track {
			continue // steps of one thread only: a merged trace has one list per process
		}
		number, err := strconv.ParseInt(strings.TrimPrefix(tr.Name(id), trace.StepPrefix), 10, 32)
		if err != nil {
			number = -1
		}
		add(Step{Name: tr.Name(id), Event: id, Start: e.Start, End: tr.End(e), Number: number})
	}
	iterations := tr.Iterations()
	if len(steps) > 0 {
		giveTypes(tr, steps, iterations)
		return steps
	}
	for i, it := range iterations {
		number := it.Number
		if number < 0 {
			number = int64(i)
		}
		e := &tr.Events[it.Event]
		add(Step{Name: it.Type.String() + "#" + strconv.FormatInt(number, 10), Event: it.Event, Start: e.Start, End: tr.End(e), Number: number, Of: it})
	}
	if n := len(steps); n > 0 { // servers do not wait for the device before they mark the end
		last := &steps[n-1]
		last.End = max(last.End, lastEndOfLaunched(tr, last.Start, last.End))
	}
	return steps
}

// giveTypes says of steps what the only iteration is that begins in them.
func giveTypes(tr *trace.Trace, steps []Step, iterations []trace.Iteration) {
	i := 0
	for s := range steps {
		x, from := &steps[s], i
		for i < len(iterations) && tr.Events[iterations[i].Event].Start < x.End {
			i++
		}
		if i == from+1 && tr.Events[iterations[from].Event].Start >= x.Start {
			x.Of = iterations[from]
		}
	}
}

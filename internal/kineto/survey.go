package kineto

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Survey says what a trace holds and what is odd about it.
type Survey struct {
	Form       string         `json:"form"` // object or array
	Generation string         `json:"generation"`
	Hints      []string       `json:"hints"` // who wrote it, as far as it shows
	Rank       int64          `json:"rank"`  // -1 when not said
	Bytes      int64          `json:"bytes"` // decompressed
	Events     int            `json:"events"`
	ByPhase    map[string]int `json:"by_phase_letter"`
	ByCategory map[string]int `json:"by_category"`
	Threads    int            `json:"threads"`
	Streams    int            `json:"streams"`
	Devices    []Device       `json:"devices"`
	Start      int64          `json:"start_ns"` // of the complete events, clamped ones left out
	End        int64          `json:"end_ns"`
	Steps      int            `json:"steps"`
	Base       int64          `json:"base_ns"`
	Repairs    []trace.Repair `json:"repairs"`
	Oddities   []Oddity       `json:"oddities"`
}

// Device is a device that ran operations.
type Device struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Operations int    `json:"operations"`
}

// Oddity is something that the format allows and that costs the analysis or the viewer something.
type Oddity struct {
	What  string `json:"what"`
	Count int    `json:"count"`
	Means string `json:"means"` // what it costs, and what to do
}

// Inspect surveys a trace.
func Inspect(tr *trace.Trace) Survey {
	t := &draft{Trace: tr, Text: TextOf(tr)}
	s := Survey{Form: "object", Rank: t.Rank, Bytes: t.Length(), Events: len(t.Events), ByPhase: map[string]int{}, Base: t.Base,
		Repairs: t.Repairs, Start: 1<<63 - 1, End: -1 << 63}
	if t.ArrayForm {
		s.Form = "array"
	}
	ops := map[int64]int{}
	var byPh [256]int
	steps := map[trace.Sym]bool{}
	for i := range t.Events {
		e := &t.Events[i]
		byPh[e.Ph]++
		if e.Ph != 'X' {
			continue
		}
		if e.Flags&trace.ClampedTS == 0 {
			s.Start, s.End = min(s.Start, e.Start), max(s.End, t.End(e))
		}
		if e.Kind.Device() {
			ops[t.Procs[t.Tracks[e.Track].Proc].Device]++
		}
		if e.Kind.Host() && strings.HasPrefix(t.Syms[e.Name], trace.StepPrefix) {
			steps[e.Name] = true
		}
	}
	if s.Start > s.End {
		s.Start, s.End = 0, 0
	}
	if s.Steps = len(steps); s.Steps == 0 {
		s.Steps = len(tr.Iterations())
	}
	for ph, n := range byPh {
		if n > 0 {
			s.ByPhase[phaseName(byte(ph))] = n
		}
	}
	s.ByCategory = categories(tr)
	for i := range t.Tracks {
		switch t.Tracks[i].Class {
		case trace.HostThread:
			s.Threads++
		case trace.DeviceStream:
			s.Streams++
		}
	}
	for _, d := range slices.Sorted(maps.Keys(ops)) {
		s.Devices = append(s.Devices, Device{d, t.DeviceNames[d], ops[d]})
	}
	s.Generation, s.Hints = t.generation(s.ByCategory)
	if t.From > 0 {
		s.Form, s.Generation, s.Bytes = t.Form, "", t.From
	}
	s.Oddities = t.oddities(&s)
	return s
}

func phaseName(ph byte) string {
	if ph == 0 {
		return "(none)"
	}
	return string(rune(ph))
}

// Generation tells the era of the writer of a trace, and who else shows in it.
func Generation(tr *trace.Trace) (string, []string) {
	t := &draft{Trace: tr, Text: TextOf(tr)}
	if t.From > 0 {
		return t.Form, nil
	}
	return t.generation(categories(tr))
}

// categories counts events by category.
func categories(t *trace.Trace) map[string]int {
	byCat := make([]int, len(t.Syms))
	for i := range t.Events {
		byCat[t.Events[i].Cat]++
	}
	counts := map[string]int{}
	for c, n := range byCat {
		if n > 0 {
			counts[cmp.Or(t.Syms[c], "(none)")] = n
		}
	}
	return counts
}

// generation tells the era of the writer by what it wrote; no version is in the file.
func (t *draft) generation(byCategory map[string]int) (string, []string) {
	has := func(cat string) bool { return byCategory[cat] > 0 }
	hints := vendors.Seen(has, t.Syms)
	key := func(name string) bool {
		return slices.ContainsFunc(t.Fields, func(f Field) bool { return f.Key == name })
	}
	hint := func(ok bool, text string) {
		if ok {
			hints = append(hints, text)
		}
	}
	hint(has("python_function") || slices.ContainsFunc(t.Events, func(e trace.Event) bool { return e.Kind == trace.Python }), "Python stacks")
	hint(slices.Contains(t.Syms, "[memory]"), "memory events")
	hint(slices.ContainsFunc(t.Events, func(e trace.Event) bool {
		return e.Flags&trace.Composed != 0 && e.Kind.Device() || e.Flags&trace.Moved != 0 || e.Kind == trace.GraphNode
	}), "PyTorch's Cuspy backend")
	hint(len(t.GraphEdges) > 0, "recorded edges of CUDA graphs")
	hint(key("record_shapes"), "input shapes")
	hint(slices.ContainsFunc(t.Events, func(e trace.Event) bool { return e.Kind == trace.SyncRecord }), "synchronisation events")
	hint(has("critical_path") || has("critical_path_summary"), "a critical path drawn in by an earlier run")
	switch {
	case len(t.Events) == 0:
		return "empty", hints
	case t.HasBase:
		return "K5: ns relative to baseTimeNanoseconds (PyTorch 2.4 and later)", hints
	case t.fracs&fracThree != 0 && key("schemaVersion"):
		return "K4: ns since the epoch (nightlies of 2024)", hints
	case has("cpu_op") && has("gpu_user_annotation"):
		return "K3: whole µs, annotations on the GPU (PyTorch 2.2 and 2.3)", hints
	case has("cpu_op"):
		return "K2: whole µs (PyTorch 1.9 to 2.1)", hints
	case has("Operator") || has("Kernel") || has("Runtime"):
		return "K1: first categories (2020 and 2021)", hints
	case t.ArrayForm && (slices.Contains(t.Syms, vendors.OldFlow) || slices.Contains(t.Syms, `"`+vendors.OldHost+`"`)):
		return "K0: the autograd profiler before Kineto, and of builds without it", hints
	}
	if w := t.writer(); w != nil {
		return "not by Kineto: " + w.Writer, hints
	}
	return "not by Kineto: a Chrome trace of another tool", hints
}

// oddities lists what costs the analysis something.
func (t *draft) oddities(s *Survey) []Oddity {
	var out []Oddity
	add := func(n int, what, means string) {
		if n > 0 {
			out = append(out, Oddity{what, n, means})
		}
	}
	noLaunch, early := 0, 0
	launched := make([]bool, len(t.Events))
	for i := range t.Events {
		e := &t.Events[i]
		if !e.Kind.Device() || e.Ph != 'X' {
			continue
		}
		if l := t.Launch(trace.EventID(i)); l == trace.NoEvent {
			noLaunch++
		} else {
			launched[l] = true
			if e.Start < t.Events[l].Start {
				early++
			}
		}
	}
	noOp, begun := 0, 0
	launches := make([]bool, len(t.Syms))
	for i, name := range t.Syms {
		launches[i] = vendors.VerbOf(name) == vendors.KernelLaunch
	}
	for i := range t.Events {
		switch e := &t.Events[i]; {
		case e.Ph == 'B' && (e.Kind.Host() || e.Kind.Device()):
			begun++
		case e.Ph == 'X' && e.Kind.Call() && !launched[i] && launches[e.Name]:
			noOp++
		}
	}
	add(noLaunch, "operations without a recorded launch", "their start is explained by their stream alone; they lie at the edges of the capture, or their launch API was not traced")
	add(noOp, "kernel launches without a recorded kernel", "GPU work is missing: the capture ended before it ran, or the profiler's buffers were full (raise the CUPTI buffer limit)")
	add(begun, "slices written as a begin and an end", "they are drawn, and no part of the analysis: profilers write complete slices, with ph X and dur")
	add(early, "operations that start before their launch", "CPU and GPU clocks differ; such launches explain nothing")
	threads, streams := t.overlaps()
	add(threads, "slices that overlap without nesting on a thread", "viewers of JSON drop or bend them; the .pftrace gives them rows of their own")
	add(streams, "operations that overlap on one stream", "CUDA graphs and programmatic launch do that")
	pytorch := t.From == 0 && t.writer() == nil // else another profiler, with settings of its own
	if len(s.Devices) > 0 && !slices.ContainsFunc(vendors.Syncs(), func(cat string) bool { return s.ByCategory[cat] > 0 }) {
		means := "waits between streams are inferred from times"
		if pytorch && vendors.CanRecordWaits(t.Syms) {
			means += "; record them with experimental_config=torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)"
		}
		add(1, "no synchronisation events", means)
	}
	if len(s.Devices) > 0 && s.Steps == 0 {
		means := "give --annotation NAME --instance N to get one iteration that the program names"
		if pytorch {
			means = "call profiler.step() once an iteration, with a schedule, to get a line for each step"
		}
		add(1, "no steps", means)
	}
	return out
}

// overlaps counts slices that start inside another one of their row and end after it.
func (t *draft) overlaps() (threads, streams int) {
	type slice struct{ start, end int64 }
	rows := make([][]slice, len(t.Tracks))
	for i := range t.Events {
		if e := &t.Events[i]; e.Ph == 'X' && e.Track != trace.NoTrack && t.Dur(e) > 0 {
			if c := t.Tracks[e.Track].Class; c == trace.HostThread || c == trace.DeviceStream && e.Kind != trace.DeviceOther {
				rows[e.Track] = append(rows[e.Track], slice{e.Start, t.End(e)})
			}
		}
	}
	for k, row := range rows {
		slices.SortFunc(row, func(x, y slice) int {
			if x.start == y.start {
				return cmp.Compare(y.end, x.end)
			}
			return cmp.Compare(x.start, y.start)
		})
		var open []int64
		n := 0
		for _, x := range row {
			for len(open) > 0 && open[len(open)-1] <= x.start {
				open = open[:len(open)-1]
			}
			if len(open) > 0 && open[len(open)-1] < x.end {
				n++
				continue
			}
			open = append(open, x.end)
		}
		if t.Tracks[k].Class == trace.HostThread {
			threads += n
		} else {
			for i := 1; i < len(row); i++ { // of operations, nesting is overlap too
				if row[i].start < row[i-1].end {
					streams++
				}
			}
		}
	}
	return threads, streams
}

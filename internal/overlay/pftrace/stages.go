package pftrace

import (
	"cmp"
	"slices"
	"strconv"

	"overlay/internal/overlay"
	"overlay/internal/perfetto"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// What operations are, in the order of perfetto.Stages.Kinds.
const (
	stageKernel = iota
	stageMemcpy
	stageMemset
)

// maxStageName cuts names of kernels: the viewer's table shows some hundred characters.
const maxStageName = 4096

// stager makes stages of the operations that are drawn.
type stager struct {
	w    *writer
	out  *perfetto.Stages
	ids  map[trace.EventID]uint64 // event ids of stages
	from map[trace.EventID][]wait
	call trace.EventID // the last one that is known
}

// wait is an operation on another stream that had to be over before one on the path could start.
type wait struct {
	op       trace.EventID
	inferred bool
}

// addStages adds the operations of all streams as the viewer's tab for kernels wants them, and ties the rows of streams
// to their devices.
func (w *writer) addStages() {
	s := &stager{w: w, out: &perfetto.Stages{Kinds: []perfetto.StageKind{{Name: "Kernel", Compute: true}, {Name: "Memcpy"}, {Name: "Memset"}}}}
	s.out.Fill = s.fill
	s.call = trace.NoEvent
	for _, s.call = range w.tr.Launches() {
		break
	}
	contexts := map[trace.ProcID]int32{}
	digits := 1
	for t := range w.tr.Tracks {
		if k := &w.tr.Tracks[t]; w.rowOf[t] >= 0 && k.Class == trace.DeviceStream {
			digits = max(digits, len(strconv.FormatInt(max(k.Stream, 0), 10)))
		}
	}
	for t := range w.tr.Tracks {
		k := &w.tr.Tracks[t]
		if k.Class != trace.DeviceStream || w.rowOf[t] < 0 {
			continue
		}
		device := int32(max(w.tr.Procs[k.Proc].Device, 0))
		w.out.Tracks[w.procOf[k.Proc]].GPU = &perfetto.GPUTrack{ID: device, Stream: -1}
		queue, name := int32(len(s.out.Queues)), "stream ?"
		if k.Stream >= 0 { // rows are ordered as texts
			number := strconv.FormatInt(k.Stream, 10)
			name = "[" + "000000000000000000000"[:digits-len(number)] + number + "] stream " + number
			w.out.Tracks[w.rowOf[t]].GPU = &perfetto.GPUTrack{ID: device, Stream: k.Stream}
		}
		s.out.Queues = append(s.out.Queues, name)
		for _, it := range w.items[t] {
			e := &w.tr.Events[it.Ref]
			kind := int32(-1)
			switch e.Kind {
			case trace.Kernel:
				kind = stageKernel
			case trace.Memcpy:
				kind = stageMemcpy
			case trace.Memset:
				kind = stageMemset
			}
			if kind < 0 || it.Instant {
				continue
			}
			s.out.List = append(s.out.List, perfetto.Stage{Start: it.Start, Dur: it.Dur, GPU: device, Context: s.context(contexts, it.Ref), Queue: queue, Kind: kind,
				Stream: k.Stream, Ref: it.Ref})
		}
	}
	if len(s.out.List) == 0 {
		return
	}
	slices.SortFunc(s.out.List, func(a, b perfetto.Stage) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Ref, b.Ref))
	})
	s.ids = make(map[trace.EventID]uint64, len(s.out.List))
	for i := range s.out.List {
		s.ids[trace.EventID(s.out.List[i].Ref)] = uint64(i) + 1
	}
	s.findWaits()
	w.out.Stages = s.out
}

// context is the process that launched an operation. Where no call is known, it is the one of the operation before, or any
// that launched something.
func (s *stager) context(known map[trace.ProcID]int32, op int32) int32 {
	tr := s.w.tr
	call := tr.Launch(trace.EventID(op))
	if call == trace.NoEvent {
		call = s.call
	}
	if s.call = call; call == trace.NoEvent || tr.Events[call].Track < 0 {
		if len(s.out.Contexts) == 0 {
			s.out.Contexts = append(s.out.Contexts, perfetto.StageContext{PID: s.anyProcess()})
		}
		return 0
	}
	proc := tr.Tracks[tr.Events[call].Track].Proc
	i, ok := known[proc]
	if !ok {
		i = int32(len(s.out.Contexts))
		known[proc] = i
		pid := s.anyProcess()
		if row := s.w.procOf[proc]; row >= 0 {
			pid = s.w.out.Tracks[row].PID
		}
		s.out.Contexts = append(s.out.Contexts, perfetto.StageContext{PID: pid})
	}
	if c := &s.out.Contexts[i]; c.API == 0 {
		c.API = vendors.Interface(tr.Name(call))
	}
	return i
}

// anyProcess is the pid of the first process that is drawn. A context without one would belong to the idle process.
func (s *stager) anyProcess() int64 {
	for i := range s.w.out.Tracks {
		if t := &s.w.out.Tracks[i]; t.Kind == perfetto.Process {
			return t.PID
		}
	}
	return 1
}

// findWaits takes the arrows of the path from stream to stream: those of one stream follow from its order.
func (s *stager) findWaits() {
	s.from = map[trace.EventID][]wait{}
	for i := range s.w.drawing.Arrows {
		a := &s.w.drawing.Arrows[i]
		from, okFrom := s.ids[a.From]
		to, okTo := s.ids[a.To]
		if okFrom && okTo && from < to && a.FromEnd && !a.ToEnd && s.w.tr.Events[a.From].Track != s.w.tr.Events[a.To].Track {
			s.from[a.To] = append(s.from[a.To], wait{a.From, a.Inferred})
		}
	}
}

// fill describes a stage.
func (s *stager) fill(b *perfetto.StageBody, st *perfetto.Stage) {
	id := trace.EventID(st.Ref)
	name := s.w.tr.WrittenName(id)
	if len(name) > maxStageName {
		name = name[:maxStageName]
	}
	if st.Kind == stageKernel {
		b.Kernel(name)
		s.launch(b, id)
	} else {
		b.Name(name)
	}
	b.Int("device", int64(st.GPU))
	if st.Stream >= 0 {
		b.Int("stream", st.Stream)
	}
	if corr := s.w.tr.Corr(&s.w.tr.Events[id]); corr > 0 {
		b.Int("correlation", corr)
	}
	inferred := false
	for _, x := range s.from[id] {
		b.Wait(s.ids[x.op])
		inferred = inferred || x.inferred
	}
	if inferred {
		b.Int("wait_inferred", 1)
	}
	m, ok := s.w.drawing.Marks.Of(id)
	if !ok || !m.Critical() {
		return
	}
	b.Int(overlay.ArgCriticalNS, m.NS)
	b.Int(overlay.ArgID, int64(m.ID))
}

// launch says how a kernel was launched, as far as the profiler recorded it.
func (s *stager) launch(b *perfetto.StageBody, id trace.EventID) {
	var dims [2][3]uint32
	var has [2]bool
	at, n := -1, 0
	s.w.tr.Args(id, func(key string, v trace.Value) bool {
		switch {
		case at < 0 && v.Kind == trace.Array && (key == "grid" || key == "block"):
			at, n = 0, 0
			if key == "block" {
				at = 1
			}
			dims[at], has[at] = [3]uint32{1, 1, 1}, true
		case at >= 0 && v.Kind == trace.End:
			at = -1
		case at >= 0:
			if x, ok := v.AsInt(); ok && n < 3 && x >= 0 && x < 1<<32 {
				dims[at][n] = uint32(x)
			}
			n++
		case key == "registers per thread":
			number(b, "registers_per_thread", v)
		case key == "shared memory": // static and dynamic together
			number(b, "shared_mem_dynamic", v)
		case key == "est. achieved occupancy %":
			number(b, "est_occupancy_pct", v)
		}
		return true
	})
	if has[0] {
		b.Grid(dims[0])
	}
	if has[1] {
		b.Group(dims[1])
	}
}

func number(b *perfetto.StageBody, key string, v trace.Value) {
	if n, ok := v.AsInt(); ok {
		b.Int(key, n)
	}
}

// devices describes the devices from 0 on; nil where one is not known.
func devices(tr *trace.Trace) []perfetto.GPU {
	const most = 64
	var list []perfetto.GPU
	for i := range int64(len(tr.DeviceNames)) {
		name, ok := tr.DeviceNames[i]
		if !ok || i == most {
			return nil
		}
		g := perfetto.GPU{Name: name}
		g.Vendor, g.Model, g.Architecture = vendors.Model(name)
		list = append(list, g)
	}
	return list
}

package perfetto

import "overlay/internal/wire"

// ReadStage is an operation of a device, as gpu_event_parser.cc takes it.
type ReadStage struct {
	ID, TS, Dur int64
	GPU         int64
	Queue, Name string
	Kind        string
	Compute     bool
	PID         int64 // of its context
	Stream      int64 // the logical queue, -1 without
	Waits       []uint64
	Launch      map[string]int64 // the numbers of its launch; of the grid and the groups "grid x", …
}

// specs are the strings and contexts that stages of a sequence refer to.
type specs struct {
	names    map[uint64]string // stages and queues
	compute  map[uint64]bool
	contexts map[uint64]int64 // pid
	kernels  map[uint64]string
	keys     map[uint64]string
}

// internedSpec takes what stages refer to. The first meaning of a number stays, as with strings.
func (s *sequence) internedSpec(f *wire.Fields) {
	var id, number uint64
	var text string
	wire.Each(f.S, func(g *wire.Fields) {
		switch {
		case g.Num == 1:
			id = g.V
		case g.Num == 2 && (f.Num == 24 || f.Num == 1001), g.Num == 3 && f.Num == 1000:
			text = string(g.S)
		case g.Num == 2 && f.Num == 23, g.Num == 4 && f.Num == 24:
			number = g.V
		}
	})
	if s.specs == nil {
		s.specs = &specs{map[uint64]string{}, map[uint64]bool{}, map[uint64]int64{}, map[uint64]string{}, map[uint64]string{}}
	}
	put := func(m map[uint64]string) {
		if _, ok := m[id]; !ok {
			m[id] = text
		}
	}
	switch f.Num {
	case 23:
		s.specs.contexts[id] = int64(int32(number))
	case 24:
		put(s.specs.names)
		s.specs.compute[id] = number == 2
	case 1000:
		put(s.specs.kernels)
	case 1001:
		put(s.specs.keys)
	}
}

// stage takes a GpuRenderStageEvent. One whose queue was not sent is dropped without a word.
func (rd *reader) stage(p []byte, ts int64, s *sequence) {
	sp := s.specs
	if sp == nil {
		rd.problem("render_stage_without_queue")
		return
	}
	x := ReadStage{TS: ts, Dur: -1, Stream: -1, Launch: map[string]int64{}}
	var queue, kind, name, kernel, context uint64
	wire.Each(p, func(f *wire.Fields) {
		switch f.Num {
		case 1:
			x.ID = int64(f.V)
		case 2:
			x.Dur = int64(f.V)
		case 5:
			context = f.V
		case 11:
			x.GPU = int64(int32(f.V))
		case 13:
			queue = f.V
		case 14:
			kind = f.V
		case 18:
			x.Waits = append(x.Waits, f.V)
		case 19:
			kernel = f.V
		case 20:
			name = f.V
		case 21:
			x.launch(f.S, sp)
		case 22:
			x.Stream = int64(f.V)
		}
	})
	var ok bool
	if x.Queue, ok = sp.names[queue]; !ok {
		rd.problem("render_stage_without_queue")
		return
	}
	if x.Kind, ok = sp.names[kind]; !ok {
		rd.problem("render_stage_without_kind")
	}
	x.Compute, x.PID = sp.compute[kind], sp.contexts[context]
	switch {
	case name != 0:
		x.Name = s.strings[2][name]
	case kernel != 0:
		x.Name = sp.kernels[kernel]
	default:
		x.Name = x.Kind
	}
	rd.im.Stages = append(rd.im.Stages, x)
}

func (x *ReadStage) launch(p []byte, sp *specs) {
	wire.Each(p, func(f *wire.Fields) {
		switch f.Num {
		case 1, 2:
			wire.Each(f.S, func(g *wire.Fields) {
				if g.Num >= 1 && g.Num <= 3 {
					x.Launch[[...]string{"grid ", "group "}[f.Num-1]+"xyz"[g.Num-1:g.Num]] = int64(g.V)
				}
			})
		case 3:
			var key string
			var v int64
			wire.Each(f.S, func(g *wire.Fields) {
				switch g.Num {
				case 1:
					key = sp.keys[g.V]
				case 3:
					v = int64(g.V)
				}
			})
			x.Launch[key] = v
		}
	})
}

// gpus reads the names of the devices.
func (rd *reader) gpus(p []byte) {
	wire.Each(p, func(f *wire.Fields) {
		if f.Num != 1 {
			return
		}
		name := ""
		wire.Each(f.S, func(g *wire.Fields) {
			if g.Num == 1 {
				name = string(g.S)
			}
		})
		rd.im.GPUs = append(rd.im.GPUs, name)
	})
}

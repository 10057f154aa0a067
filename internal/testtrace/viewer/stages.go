package viewer

import "overlay/internal/wire"

// Stage is an operation of a device, as gpu_event_parser.cc takes it.
type Stage struct {
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

// specs are the strings, contexts and the clock that stages of a sequence refer to.
type specs struct {
	now      int64                        // of the clock of the sequence, which counts from packet to packet
	texts    map[uint32]map[uint64]string // by field: names, stages and queues, kernels, names of what is said of launches
	compute  map[uint64]bool
	contexts map[uint64]int64 // pid
}

// Stages reads the render stages of a trace that this program wrote, in the order of the file. Of several meanings of a number the first
// holds. A stage whose queue was not sent is left out.
func Stages(data []byte) (out []Stage) {
	sequences := map[uint64]*specs{}
	wire.Each(data, func(p *wire.Fields) {
		var ts, seq, flags uint64
		var interned, snapshot, stage []byte
		wire.Each(p.S, func(f *wire.Fields) {
			switch f.Num {
			case 6:
				snapshot = f.S
			case 8:
				ts = f.V
			case 10:
				seq = f.V
			case 12:
				interned = f.S
			case 13:
				flags = f.V
			case 53:
				stage = f.S
			}
		})
		s := sequences[seq]
		if s == nil || flags&1 != 0 {
			s = &specs{texts: map[uint32]map[uint64]string{2: {}, 24: {}, 1000: {}, 1001: {}}, compute: map[uint64]bool{}, contexts: map[uint64]int64{}}
			sequences[seq] = s
		}
		wire.Each(snapshot, func(f *wire.Fields) { // all clocks of it stand for one moment
			var id, at uint64
			wire.Each(f.S, func(g *wire.Fields) {
				switch g.Num {
				case 1:
					id = g.V
				case 2:
					at = g.V
				}
			})
			if id == 6 {
				s.now = int64(at)
			}
		})
		wire.Each(interned, s.intern)
		if stage != nil {
			s.now += int64(ts)
			if x := s.stage(stage); x.Queue != "" {
				out = append(out, x)
			}
		}
	})
	return out
}

func (s *specs) intern(f *wire.Fields) {
	var id, number uint64
	var text string
	wire.Each(f.S, func(g *wire.Fields) {
		switch {
		case g.Num == 1:
			id = g.V
		case g.Num == 2 && f.Num != 23 && f.Num != 1000, g.Num == 3 && f.Num == 1000:
			text = string(g.S)
		case g.Num == 2 && f.Num == 23, g.Num == 4 && f.Num == 24:
			number = g.V
		}
	})
	if f.Num == 23 {
		s.contexts[id] = int64(int32(number))
	}
	if of := s.texts[f.Num]; of != nil && of[id] == "" {
		of[id] = text
		if f.Num == 24 {
			s.compute[id] = number == 2
		}
	}
}

func (s *specs) stage(p []byte) Stage {
	x := Stage{TS: s.now, Dur: -1, Stream: -1, Launch: map[string]int64{}}
	wire.Each(p, func(f *wire.Fields) {
		switch f.Num {
		case 1:
			x.ID = int64(f.V)
		case 2:
			x.Dur = int64(f.V)
		case 5:
			x.PID = s.contexts[f.V]
		case 11:
			x.GPU = int64(int32(f.V))
		case 13:
			x.Queue = s.texts[24][f.V]
		case 14:
			x.Kind, x.Compute = s.texts[24][f.V], s.compute[f.V]
		case 18:
			x.Waits = append(x.Waits, f.V)
		case 19:
			x.Name = s.texts[1000][f.V]
		case 20:
			x.Name = s.texts[2][f.V]
		case 21:
			s.launch(f.S, x.Launch)
		case 22:
			x.Stream = int64(f.V)
		}
	})
	return x
}

func (s *specs) launch(p []byte, to map[string]int64) {
	wire.Each(p, func(f *wire.Fields) {
		var key string
		var v int64
		wire.Each(f.S, func(g *wire.Fields) {
			switch {
			case f.Num < 3 && g.Num >= 1 && g.Num <= 3:
				to[[...]string{"grid ", "group "}[f.Num-1]+"xyz"[g.Num-1:g.Num]] = int64(g.V)
			case f.Num == 3 && g.Num == 1:
				key = s.texts[1001][g.V]
			case f.Num == 3 && g.Num == 3:
				v = int64(g.V)
			}
		})
		if key != "" {
			to[key] = v
		}
	})
}

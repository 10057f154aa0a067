package frompftrace

import (
	"strconv"

	"overlay/internal/vendors"
	"overlay/internal/wire"
)

// Fields of GpuRenderStageEvent.
const (
	renderID       = 1
	renderDuration = 2
	renderExtra    = 6
	renderGPU      = 11
	renderQueue    = 13
	renderStage    = 14
	renderName     = 17
	renderKernel   = 19
	renderNameIID  = 20
	renderLaunch   = 21
)

// ownStages is the description of the stages that this program draws beside the slices of the same operations: the slices
// say more.
const ownStages = "drawn by overlay"

// renderStage notes a GpuRenderStageEvent: an operation of a device.
func (r *reader) renderStage(rec record, data []byte, at int64) {
	x := render{rec: int32(len(r.recs))}
	dur := uint64(0)
	copies := r.states[rec.state].copies
	f := wire.Over(data)
	for f.Next() {
		switch f.Num {
		case renderID:
			x.id = f.V
		case renderDuration:
			dur = f.V
		case renderStage:
			if copies[f.V] {
				return
			}
		case renderExtra:
			if name, value := extraData(f.S); string(name) == "correlation" {
				if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
					x.corr, x.hasCorr = n, true
				}
			}
		}
	}
	if f.Bad {
		r.mend(ReasonBroken, at)
		return
	}
	if len(r.recs) >= maxEvents {
		r.tooMany = true
		return
	}
	if dur > 1<<62 {
		r.mend(ReasonNegative, at)
		dur = 0
	}
	rec.kind, rec.closed, rec.end = kindRender, true, rec.ts+int64(dur)
	rec.track = int32(len(r.renders))
	r.recs = append(r.recs, rec)
	r.renders = append(r.renders, x)
}

// extraData is a name and a value of extra_data.
func extraData(data []byte) (name, value []byte) {
	f := wire.Over(data)
	for f.Next() {
		switch f.Num {
		case 1:
			name = f.S
		case 2:
			value = f.S
		}
	}
	return name, value
}

// stage is a render stage, read.
type stage struct {
	gpu, queue, stage  uint64
	nameIID, kernelIID uint64
	name               []byte
	launch             []byte
}

func readStage(data []byte) (s stage) {
	f := wire.Over(data)
	for f.Next() {
		switch f.Num {
		case renderGPU:
			s.gpu = f.V
		case renderQueue:
			s.queue = f.V
		case renderStage:
			s.stage = f.V
		case renderName:
			s.name = f.S
		case renderNameIID:
			s.nameIID = f.V
		case renderKernel:
			s.kernelIID = f.V
		case renderLaunch:
			s.launch = f.S
		}
	}
	return s
}

// category of the stage.
func (s *stage) category(st *state) string {
	if c, ok := st.stages[s.stage]; ok {
		return c
	}
	return stageCategory(nil, false)
}

// lane is the number of the row in which a render stage is drawn: that in the name of its queue ("[07] stream 7",
// "stream 7", "Channel #7"), else the number of the queue.
func (s *stage) lane(st *state) string {
	name := st.specs.get(s.queue).raw
	if len(name) > 2 && name[0] == '[' {
		for i := 1; i < len(name); i++ {
			if name[i] == ']' {
				if n, err := strconv.ParseInt(string(name[1:i]), 10, 64); err == nil {
					return strconv.FormatInt(n, 10)
				}
				break
			}
		}
	}
	if n, ok := numberAfter(name, "stream "); ok {
		return n
	}
	if n, ok := numberAfter(name, "Channel #"); ok {
		return n
	}
	return strconv.FormatInt(int64(s.queue), 10)
}

// renderEvent appends the text of a render stage.
func (w *writer) renderEvent(id int32, rec *record) {
	data := w.r.message(rec)
	st := w.r.states[rec.state]
	s := readStage(data)
	category := s.category(st)
	name := text{raw: s.name, plain: isPlain(s.name), known: s.name != nil}
	if !name.known && s.nameIID != 0 {
		name = st.names.get(s.nameIID)
	}
	if !name.known && s.kernelIID != 0 {
		name = st.kernels.get(s.kernelIID)
	}
	if !name.known {
		switch category {
		case "gpu_memcpy":
			name = newText([]byte("Memcpy"))
		case "gpu_memset":
			name = newText([]byte("Memset"))
		default:
			if name = st.specs.get(s.stage); !name.known {
				w.mend(ReasonUnknownName)
				name = unknownText
			}
		}
	}
	lane := s.lane(st)
	w.buf = append(w.buf, `{"ph":"X","cat":"`...)
	w.buf = append(w.buf, category...)
	w.buf = append(w.buf, `","name":`...)
	w.text(name)
	w.buf = append(w.buf, `,"pid":`...)
	w.buf = strconv.AppendInt(w.buf, int64(int32(s.gpu)), 10)
	w.buf = append(w.buf, `,"tid":`...)
	w.buf = append(w.buf, lane...)
	w.times(rec)
	w.stageArgs(id, st, data, &s, lane)
	w.buf = append(w.buf, '}')
	rec.is = vendors.KindOf(category)
}

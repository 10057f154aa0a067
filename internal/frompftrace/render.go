package frompftrace

import (
	"bytes"
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

// renderStage notes a GpuRenderStageEvent: an operation of a device.
func (r *reader) renderStage(rec record, data []byte, at int64) {
	s, whole := readStage(data)
	if r.states[rec.state].copies[s.stage] {
		return
	}
	if !whole {
		r.mend(ReasonBroken, at)
		return
	}
	if len(r.recs) >= maxEvents {
		r.tooMany = true
		return
	}
	if s.duration > 1<<62 {
		r.mend(ReasonNegative, at)
		s.duration = 0
	}
	rec.kind, rec.closed, rec.end = kindRender, true, rec.ts+int64(s.duration)
	rec.track = int32(len(r.renders))
	s.render.rec = int32(len(r.recs))
	r.recs = append(r.recs, rec)
	r.renders = append(r.renders, s.render)
}

// extraData is a name and a value of extra_data.
func extraData(data []byte) (name, value []byte) {
	for f := wire.Over(data); f.Next(); {
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
	render
	duration           uint64
	gpu, queue, stage  uint64
	nameIID, kernelIID uint64
	name               []byte
	launch             []byte
}

func readStage(data []byte) (s stage, whole bool) {
	whole = wire.Each(data, func(f *wire.Fields) {
		switch f.Num {
		case renderID:
			s.id = f.V
		case renderDuration:
			s.duration = f.V
		case renderExtra:
			if name, value := extraData(f.S); string(name) == "correlation" {
				if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
					s.corr, s.hasCorr = n, true
				}
			}
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
	})
	return s, whole
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
	if end := bytes.IndexByte(name, ']'); end > 0 && name[0] == '[' {
		if n, err := strconv.ParseInt(string(name[1:end]), 10, 64); err == nil {
			return strconv.FormatInt(n, 10)
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
	s, _ := readStage(data)
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

// stageArgs appends the args of a render stage, in Kineto's words. The row may be a lane that stands for several
// streams: then the stream is another argument, as in PyTorch's JSON.
func (w *writer) stageArgs(id int32, st *state, data []byte, s *stage, lane string) {
	w.args, w.seen, w.hasStream = 0, 0, false
	w.member(keyDevice)
	w.buf = strconv.AppendInt(w.buf, int64(int32(s.gpu)), 10)
	w.member(keyStream)
	w.buf = append(w.buf, lane...)
	for f := wire.Over(data); f.Next(); {
		if f.Num != renderExtra {
			continue
		}
		name, value := extraData(f.S)
		key := newText(name)
		switch string(name) {
		case "device id", "device", "stream":
			if string(value) == lane || string(name) != "stream" {
				continue // said already
			}
		case "stream id":
			if string(value) == lane {
				continue
			}
			key = keyOriginal
		case "context id":
			key = keyContext
		case "correlation":
			w.seen |= seenCorrelation
		}
		w.member(key)
		if isInteger(value) {
			w.buf = append(w.buf, value...)
		} else {
			w.buf = appendString(w.buf, value)
		}
	}
	if s.launch != nil {
		w.launchArgs(st, s.launch)
	}
	w.correlation(id)
	w.buf = append(w.buf, '}')
}

// launchArgs appends a ComputeKernelLaunch.
func (w *writer) launchArgs(st *state, data []byte) {
	for f := wire.Over(data); f.Next(); {
		switch f.Num {
		case 1:
			w.member(keyGrid)
			w.dimensions(f.S)
		case 2:
			w.member(keyBlock)
			w.dimensions(f.S)
		case 3:
			w.launchArg(st, f.S)
		}
	}
}

func (w *writer) dimensions(data []byte) {
	var d [3]uint64
	for f := wire.Over(data); f.Next(); {
		if f.Num >= 1 && f.Num <= 3 {
			d[f.Num-1] = f.V
		}
	}
	for i, v := range d {
		w.buf = append(w.buf, "[,,"[i])
		w.buf = strconv.AppendUint(w.buf, v, 10)
	}
	w.buf = append(w.buf, ']')
}

// launchArg appends an argument of a launch.
func (w *writer) launchArg(st *state, data []byte) {
	key, value := unknownText, uint64(0)
	for f := wire.Over(data); f.Next(); {
		switch f.Num {
		case 1:
			if t := st.kernelArgs.get(f.V); t.known {
				key = t
			} else {
				w.mend(ReasonUnknownName)
			}
		case 3, 4: // with and without a sign
			value = f.V
		}
	}
	if string(key.raw) == "registers_per_thread" {
		key = keyRegisters
	}
	w.member(key)
	w.buf = strconv.AppendInt(w.buf, int64(value), 10)
}

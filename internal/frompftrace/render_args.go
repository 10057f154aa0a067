package frompftrace

import (
	"strconv"

	"overlay/internal/wire"
)

// stageArgs appends the args of a render stage, in Kineto's words. The row may be a lane that stands for several
// streams: then the stream is another argument, as in PyTorch's JSON.
func (w *writer) stageArgs(id int32, st *state, data []byte, s *stage, lane string) {
	w.args, w.seen, w.hasStream = 0, 0, false
	w.member(keyDevice)
	w.buf = strconv.AppendInt(w.buf, int64(int32(s.gpu)), 10)
	w.member(keyStream)
	w.buf = append(w.buf, lane...)
	f := wire.Over(data)
	for f.Next() {
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
	f := wire.Over(data)
	for f.Next() {
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
	f := wire.Over(data)
	for f.Next() {
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
	f := wire.Over(data)
	for f.Next() {
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

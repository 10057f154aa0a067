package fromsqlite

import (
	"strconv"

	"overlay/internal/chrome"
	"overlay/internal/kineto"
)

// writer writes events as text, a part at a time.
type writer struct {
	to   kineto.Spool
	buf  []byte
	some bool // an event was written
	args int
	err  error
}

const partSize = 1 << 20

// head begins the text. base is the Unix time of time stamp 0, 0 when it is not known; rank that in the job, else -1.
func (w *writer) head(base, rank int64, devices []device) {
	w.buf = append(w.buf, `{"schemaVersion":1,"displayTimeUnit":"ns"`...)
	if base != 0 {
		w.buf = strconv.AppendInt(append(w.buf, `,"baseTimeNanoseconds":`...), base, 10)
	}
	if rank >= 0 {
		w.buf = append(strconv.AppendInt(append(w.buf, `,"distributedInfo":{"rank":`...), rank, 10), '}')
	}
	for i, d := range devices {
		if i == 0 {
			w.buf = append(w.buf, `,"deviceProperties":[`...)
		} else {
			w.buf = append(w.buf, ',')
		}
		w.buf = strconv.AppendInt(append(w.buf, `{"id":`...), d.id, 10)
		w.buf = append(chrome.AppendString(append(w.buf, `,"name":`...), d.name), '}')
		if i == len(devices)-1 {
			w.buf = append(w.buf, ']')
		}
	}
	w.buf = append(w.buf, `,"traceEvents":[`...)
}

// device is a GPU.
type device struct {
	id   int64
	name string
}

// slice begins a complete event; args may follow, then end.
func (w *writer) slice(category, name string, pid, tid, start, end int64) {
	w.begin("X", category, name, pid, tid)
	w.buf = chrome.AppendMicros(append(w.buf, `,"ts":`...), start)
	w.buf = chrome.AppendMicros(append(w.buf, `,"dur":`...), max(end-start, 0))
}

// instant begins an event without length.
func (w *writer) instant(category, name string, pid, tid, ts int64) {
	w.begin("i", category, name, pid, tid)
	w.buf = append(chrome.AppendMicros(append(w.buf, `,"ts":`...), ts), `,"s":"t"`...)
}

func (w *writer) begin(ph, category, name string, pid, tid int64) {
	if w.some {
		w.buf = append(w.buf, ',')
	}
	w.some, w.args = true, 0
	w.buf = append(append(append(w.buf, "\n{\"ph\":\""...), ph...), `","name":`...)
	w.buf = chrome.AppendString(w.buf, name)
	if category != "" {
		w.buf = chrome.AppendString(append(w.buf, `,"cat":`...), category)
	}
	w.buf = strconv.AppendInt(append(w.buf, `,"pid":`...), pid, 10)
	w.buf = strconv.AppendInt(append(w.buf, `,"tid":`...), tid, 10)
}

func (w *writer) key(key string) {
	if w.args == 0 {
		w.buf = append(w.buf, `,"args":{`...)
	} else {
		w.buf = append(w.buf, ',')
	}
	w.args++
	w.buf = append(chrome.AppendString(w.buf, key), ':')
}

func (w *writer) int(key string, v int64) {
	w.key(key)
	w.buf = strconv.AppendInt(w.buf, v, 10)
}

func (w *writer) str(key, v string) {
	w.key(key)
	w.buf = chrome.AppendString(w.buf, v)
}

// three appends an array of three numbers: a grid, a block.
func (w *writer) three(key string, x, y, z int64) {
	w.key(key)
	for i, v := range []int64{x, y, z} {
		w.buf = strconv.AppendInt(append(w.buf, "[,,"[i]), v, 10)
	}
	w.buf = append(w.buf, ']')
}

// end ends an event.
func (w *writer) end() {
	if w.args > 0 {
		w.buf = append(w.buf, '}')
	}
	w.buf = append(w.buf, '}')
	if len(w.buf) >= partSize {
		w.flush()
	}
}

func (w *writer) flush() {
	if w.err == nil {
		_, w.err = w.to.Write(w.buf)
	}
	w.buf = w.buf[:0]
}

// name names a process or a thread.
func (w *writer) name(what string, pid, tid int64, key, name string) {
	w.begin("M", "", what, pid, tid)
	w.str(key, name)
	w.end()
}

// close ends the text.
func (w *writer) close() error {
	w.buf = append(w.buf, "\n]}\n"...)
	w.flush()
	return w.err
}

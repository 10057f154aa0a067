package frompftrace

import (
	"runtime"
	"strconv"
	"strings"

	"overlay/internal/kineto"
	"overlay/internal/kinetotext"
	"overlay/internal/limits"
	"overlay/internal/par"
)

// batch is how many events a worker writes at a time, usualEvent about how many bytes most of them take at most.
const (
	batch      = 4096
	usualEvent = 400
)

// write writes the text, and returns for each event its place in the file.
func (r *reader) write(to *kineto.Sink) ([]int64, error) {
	rows, procs := r.makeRows()
	places := make([]int64, len(r.recs))
	for i := range places {
		places[i] = r.place(int32(i))
	}
	if _, err := to.Write(r.head(procs)); err != nil {
		return nil, err
	}
	workers := make([]*writer, min(4*runtime.GOMAXPROCS(0), (len(r.recs)+batch-1)/batch))
	for i := range workers {
		workers[i] = &writer{r: r, rows: rows, to: to, repairs: repairs{}, buf: make([]byte, 0, min(len(r.recs), batch)*usualEvent)}
	}
	for from := 0; from < len(r.recs); from += batch * len(workers) {
		n := min(len(workers), (len(r.recs)-from+batch-1)/batch)
		par.Each(n, func(i int) {
			w := workers[i]
			w.buf, w.reserved = w.buf[:0], 0
			first := from + i*batch
			for id := first; id < min(first+batch, len(r.recs)) && w.full == nil; id++ {
				w.record(int32(id))
				to.Allow(int64(r.recs[id].n) * limits.Records)
			}
		})
		for i := range n {
			if err := workers[i].full; err != nil {
				return nil, err
			}
			out := workers[i].buf
			if from == 0 && i == 0 {
				out = out[1:] // no comma before the first event
			}
			if _, err := to.Write(out); err != nil {
				return nil, err
			}
			r.take(workers[i])
		}
	}
	w := workers[0]
	w.buf = w.buf[:0]
	w.flowPhases()
	w.metadata(procs)
	w.buf = append(w.buf, "\n]"...)
	w.attributes()
	w.buf = append(w.buf, "}\n"...)
	_, err := to.Write(w.buf)
	return places, err
}

// take adds the repairs of a worker, in the order of the file.
func (r *reader) take(w *writer) {
	for reason, m := range w.repairs {
		for _, at := range m.First {
			r.mend(reason, at)
		}
		if more := m.Count - len(m.First); more > 0 {
			r.repairs.add(reason, m.First[0], more)
		}
	}
	clear(w.repairs)
}

// head is what stands before the events.
func (r *reader) head(procs []process) []byte {
	base := int64(0)
	if r.hasBase {
		base = r.unix
	}
	var devices []kinetotext.Device
	add := func(id int64, name string) {
		if name != "" {
			devices = append(devices, kinetotext.Device{ID: id, Name: name})
		}
	}
	for i, name := range r.gpus {
		add(int64(i), name)
	}
	for i := range procs {
		if procs[i].device >= 0 {
			add(procs[i].device, string(procs[i].model))
		}
	}
	return kinetotext.AppendHead(nil, base, r.rank(), devices)
}

// rank is the number of the process in its job, -1 for none, which this program notes in the name of the process.
func (r *reader) rank() int64 {
	for i := range r.tracks {
		t := &r.tracks[i]
		if !t.process || !strings.HasPrefix(string(t.description.raw), "pid=") {
			continue
		}
		if _, rest, ok := strings.Cut(string(t.name.raw), " (rank "); ok {
			if n, err := strconv.ParseInt(strings.TrimSuffix(rest, ")"), 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}

// metadata appends the names of processes and threads.
func (w *writer) metadata(procs []process) {
	for i := range procs {
		p := &procs[i]
		if len(p.name) > 0 {
			w.meta("process_name", `"pid":`+p.pid, "name", newText(p.name), p.added)
		}
		if p.label != "" {
			w.meta("process_labels", `"pid":`+p.pid, "labels", newText([]byte(p.label)), false)
		}
	}
	named := map[string]bool{}
	for i := range w.rows {
		x := &w.rows[i]
		if x.head != nil && len(x.name.raw) > 0 && !named[string(x.head)] {
			named[string(x.head)] = true
			w.meta("thread_name", string(x.head), "name", x.name, x.added)
		}
	}
}

func (w *writer) meta(what, row, key string, value text, added bool) {
	w.startEvent()
	w.buf = append(w.buf, `{"ph":"M","name":"`+what+`",`+row...)
	if added {
		w.buf = append(w.buf, `,"cat":"critical_path_summary"`...)
	}
	w.buf = append(w.buf, `,"args":{"`+key+`":`...)
	w.buf = appendText(w.buf, value)
	w.buf = append(w.buf, "}}"...)
}

// attributes appends the attributes of the trace.
func (w *writer) attributes() {
	if len(w.r.attrs) == 0 {
		return
	}
	w.buf = append(w.buf, `,"metadata":{`...)
	for i := range w.r.attrs {
		a := &w.r.attrs[i]
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = append(appendText(w.buf, a.key), ':')
		if a.isStr {
			w.buf = appendText(w.buf, a.str)
		} else {
			w.buf = strconv.AppendInt(w.buf, a.num, 10)
		}
	}
	w.buf = append(w.buf, '}')
}

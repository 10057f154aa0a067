package frompftrace

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/kineto"
	"overlay/internal/par"
	"overlay/internal/trace"
)

// Parse reads a trace from the bytes of a .pftrace file, decompressed. The text of the trace goes to a spool, and the
// trace keeps that; src is not needed afterwards. name is for messages.
func Parse(src []byte, name string, o kineto.Options, to kineto.Spool) (*trace.Trace, error) {
	r := newReader(src, name)
	r.maxExpand = cmp.Or(o.MaxExpand, 64<<30)
	if err := r.read(o.Cut); err != nil {
		return nil, err
	}
	size := int64(len(src))
	places, err := r.write(to)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	json, err := to.Bytes()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	repairs, truncated := r.sortedRepairs(), r.truncated
	r = nil // the text is all that is needed from here on
	tr, err := kineto.Parse(json, name, kineto.Options{From: size, Form: "Perfetto trace"})
	if err != nil {
		var e *kineto.SyntaxError
		if errors.As(err, &e) {
			e.Offset, e.Pointer = -1, ""
		}
		return nil, err
	}
	tr.Truncated = truncated
	for _, m := range tr.Repairs {
		for i, off := range m.First {
			m.First[i] = placeOf(kineto.TextOf(tr), places, off)
		}
		repairs = append(repairs, m)
	}
	slices.SortStableFunc(repairs, func(a, b trace.Repair) int { return strings.Compare(a.Reason, b.Reason) })
	tr.Repairs = repairs
	if o.Strict && len(repairs) > 0 {
		first := slices.MinFunc(repairs, func(a, b trace.Repair) int { return cmp.Compare(a.First[0], b.First[0]) })
		return nil, &kineto.SyntaxError{File: name, Offset: first.First[0], Compressed: -1, Want: "--strict: " + strings.ReplaceAll(first.Reason, "_", " ")}
	}
	return tr, nil
}

// UnjoinedText is what to say of a trace that is Unjoined.
const UnjoinedText = "a slim .pftrace lacks the numbers that join calls with kernels: give the trace that it was made from, or write the slim one as .json"

// Unjoined reports whether a trace is a slim .pftrace of this program. Those leave out what the profiler joins its records
// by, so nothing but their rows can be used.
func Unjoined(tr *trace.Trace) bool {
	if x := kineto.TextOf(tr); x == nil || x.From == 0 {
		return false
	}
	if slim, ok := tr.Attrs["overlay.slim"].AsInt(); !ok || slim != 1 {
		return false
	}
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Ph == 'X' && e.Flags&(trace.HasCorr|trace.HasExt|trace.HasSeq) != 0 {
			return false
		}
	}
	return true
}

// placeOf is where in the file an event stands that has a place in the text.
func placeOf(x *kineto.Text, places []int64, off int64) int64 {
	i, _ := slices.BinarySearchFunc(x.Spans, off+1, func(s kineto.Span, at int64) int { return cmp.Compare(s.Off, at) })
	if i--; i < 0 || i >= len(places) {
		return 0
	}
	return places[i]
}

// read goes through the packets.
func (r *reader) read(cut bool) error {
	fail := func(at int64, want string) error {
		return &kineto.SyntaxError{File: r.name, Offset: at, Compressed: -1, Want: want}
	}
	r.makeRoom()
	r.scan(0, 0, 0)
	if cut && !r.truncated {
		r.truncate(0, int64(len(r.src)))
	}
	switch {
	case r.tooLarge:
		return fail(0, fmt.Sprintf("the packets expand to more than %d bytes: raise --max-expand", r.maxExpand))
	case r.tooMany:
		return fail(0, fmt.Sprintf("more than %d events: split the trace", maxEvents))
	case len(r.recs) > 0:
	case r.truncated && len(r.ends) == 0:
		return fail(int64(len(r.src)), "the input ends before the first whole event")
	case r.repairs[ReasonBrokenTail] != nil && r.packets == 0:
		return fail(r.repairs[ReasonBrokenTail].First[0], "expected a packet: this is no Perfetto trace")
	default:
		return fail(-1, "this Perfetto trace holds no slices and no GPU render stages ("+r.contents()+"): give one that a profiler wrote")
	}
	if r.clocks.epoch != 0 {
		r.base, r.unix, r.hasBase = r.clocks.epoch, r.clocks.epoch, true
	} else if r.clocks.hasRealtime {
		r.unix, r.hasBase = r.clocks.realtime, true
	}
	r.pair()
	r.link()
	return nil
}

// packetNames are what other packets hold, for messages.
var packetNames = map[uint32]string{1: "ftrace", 2: "processes", 52: "GPU counters", 56: "a heap graph", 66: "stack samples", 37: "heap profiles", 9: "process statistics",
	54: "Android logs", 33: "the recording's settings", 35: "statistics", 7: "system statistics", 5: "Chrome events"}

// contents says in a few words what a trace without slices holds.
func (r *reader) contents() string {
	var found []string
	for _, num := range sortedKeys(r.skipped) {
		if name := packetNames[num]; name != "" {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return fmt.Sprintf("%d packets", r.packets)
	}
	return "it holds " + strings.Join(found, ", ")
}

func sortedKeys(m map[uint32]int) []uint32 {
	var keys []uint32
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// batch is how many events a worker writes at a time, usualEvent about how many bytes most of them take at most.
const (
	batch      = 4096
	usualEvent = 400
)

// write writes the text, and returns for each event its place in the file.
func (r *reader) write(to kineto.Spool) ([]int64, error) {
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
		workers[i] = &writer{r: r, rows: rows, buf: make([]byte, 0, min(len(r.recs), batch)*usualEvent)}
	}
	for from := 0; from < len(r.recs); from += batch * len(workers) {
		n := min(len(workers), (len(r.recs)-from+batch-1)/batch)
		par.Each(n, func(i int) {
			w := workers[i]
			w.buf = w.buf[:0]
			first := from + i*batch
			for id := first; id < min(first+batch, len(r.recs)); id++ {
				w.record(int32(id))
			}
		})
		for i := range n {
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
	w.graphEdges()
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
		for i := range m.Count {
			if i < len(m.First) {
				r.mend(reason, m.First[i])
			} else {
				r.mendMany(reason, m.First[0], m.Count-i)
				break
			}
		}
	}
	w.repairs = nil
}

// head is what stands before the events.
func (r *reader) head(procs []process) []byte {
	b := []byte(`{"schemaVersion":1,"displayTimeUnit":"ns"`)
	if r.hasBase && r.unix != 0 {
		b = strconv.AppendInt(append(b, `,"baseTimeNanoseconds":`...), r.unix, 10)
	}
	if rank, ok := r.rank(); ok {
		b = append(strconv.AppendInt(append(b, `,"distributedInfo":{"rank":`...), rank, 10), '}')
	}
	some := false
	device := func(id int64, name []byte) {
		if len(name) == 0 {
			return
		}
		if some {
			b = append(b, ',')
		} else {
			b = append(b, `,"deviceProperties":[`...)
		}
		some = true
		b = strconv.AppendInt(append(b, `{"id":`...), id, 10)
		b = append(appendString(append(b, `,"name":`...), name), '}')
	}
	for i, name := range r.gpus {
		device(int64(i), []byte(name))
	}
	for i := range procs {
		if procs[i].device >= 0 {
			device(procs[i].device, procs[i].model)
		}
	}
	if some {
		b = append(b, ']')
	}
	return append(b, `,"traceEvents":[`...)
}

// rank is the number of the process in its job, which this program notes in the name of the process.
func (r *reader) rank() (int64, bool) {
	for i := range r.tracks {
		t := &r.tracks[i]
		if !t.process || !strings.HasPrefix(string(t.description.raw), "pid=") {
			continue
		}
		if _, rest, ok := strings.Cut(string(t.name.raw), " (rank "); ok {
			if n, err := strconv.ParseInt(strings.TrimSuffix(rest, ")"), 10, 64); err == nil {
				return n, true
			}
		}
	}
	return 0, false
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

// Package chromejson writes a trace, and what is drawn on it, in Chrome's JSON: the bytes of the input, spliced.
package chromejson

import (
	"errors"
	"io"
	"slices"
	"strconv"

	"overlay/internal/chrome"
	"overlay/internal/kineto"
	"overlay/internal/overlay"
	"overlay/internal/trace"
)

// Stats is what became of a trace in Chrome's format.
type Stats struct {
	Events     int // of the input, copied
	MarksLost  int // events whose args are no object: nothing could be spliced in
	Renumbered int // events with a pid or tid that viewers fold onto another row
	Reencoded  int // events that were no valid JSON
	Slices     int // added
	Arrows     int // of the overlay
	StandIns   int // of these, with an end at the row of the path instead of their slice
	Unbindable int // arrows left out: no time stamp makes the viewer bind them to their slices
}

// ErrNoText says that there are no bytes to splice: the trace came from another format.
var ErrNoText = errors.New("the trace cannot be written as Chrome JSON: it was not read from JSON")

// Write writes a trace in Chrome's format: the bytes of the input, with what drawing draws spliced in; drawing is nil
// for a plain copy. The error is the writer's, or ErrNoText.
func Write(to io.Writer, tr *trace.Trace, drawing *overlay.Drawing) (Stats, error) {
	if kineto.TextOf(tr) == nil {
		return Stats{}, ErrNoText
	}
	w := &writer{tr: tr, text: kineto.TextOf(tr), drawing: drawing, first: -1, out: chrome.NewWriter(to)}
	doc := document(w.text)
	if drawing != nil {
		w.plan()
		doc = w.describe(doc)
	}
	w.out.Write(doc.Head)
	w.copyEvents()
	if drawing != nil {
		w.addRecords()
	}
	w.out.Write(w.listEnd())
	w.out.Write(doc.Tail)
	return w.stats, w.out.Err()
}

// writer is a trace on its way into Chrome's format.
type writer struct {
	tr      *trace.Trace
	text    *kineto.Text // of tr
	drawing *overlay.Drawing
	out     *chrome.Writer
	stats   Stats

	first  int                      // first event that is written, -1 for none
	rows   *chrome.Threads          // pids and tids of the input's events
	rowOf  []*chrome.Thread         // per trace.TrackID
	flows  []chrome.Flow            // both ends of each arrow, one after the other
	pid    int64                    // of the process "Critical path"
	names  []chrome.Meta            // of devices and of rows with new numbers
	lanes  []chromeLane             // added rows
	counts [eventCounts]atomicCount // by worker-shared counters
}

func (w *writer) kept(i int) bool {
	return w.drawing == nil || w.drawing.Keep == nil || w.drawing.Keep[i]
}

// plan decides everything that needs more than one event: numbers of rows, times of arrows, added rows.
func (w *writer) plan() {
	w.findRows()
	w.pid = w.rows.Free()
	w.rows.Assign()
	w.nameRows()
	w.layOut()
	w.bindArrows()
}

// chunkEvents is how many events are encoded at a time: a megabyte or so.
const chunkEvents = 4096

func (w *writer) copyEvents() {
	n := len(w.tr.Events)
	for i := 0; i < n && w.first < 0; i++ {
		if w.kept(i) {
			w.first = i
		}
	}
	if w.first < 0 {
		return
	}
	w.out.Chunks((n+chunkEvents-1)/chunkEvents, func(dst []byte, chunk int) []byte {
		enc := eventEncoder{writer: w}
		for i := chunk * chunkEvents; i < min(n, (chunk+1)*chunkEvents); i++ {
			if w.kept(i) {
				dst = enc.append(append(dst, w.gap(i)...), trace.EventID(i))
			}
		}
		enc.count()
		return dst
	})
	w.stats.Events = int(w.counts[countEvents].Load())
	w.stats.MarksLost = int(w.counts[countLost].Load())
	w.stats.Renumbered = int(w.counts[countRenumbered].Load())
	w.stats.Reencoded = int(w.counts[countReencoded].Load())
}

// gap is what stands before an event: the input's own comma and white space where they are one comma and white space.
func (w *writer) gap(i int) []byte {
	b := w.text.Src[w.text.ListOff+1 : w.text.EventsOff]
	if i > 0 {
		b = w.text.Gap(trace.EventID(i - 1))
	}
	k := chrome.SkipSpace(b, 0)
	comma := k < len(b) && b[k] == ','
	if comma {
		k = chrome.SkipSpace(b, k+1)
	}
	switch {
	case k == len(b) && comma == (i != w.first):
		return b
	case i == w.first:
		return []byte("\n")
	}
	return []byte(",\n")
}

// listEnd is the white space between the last event and the end of the list.
func (w *writer) listEnd() []byte {
	b := w.text.Src[min(w.text.EventsEnd, w.text.ListEnd):w.text.ListEnd]
	if n := len(w.text.Spans); n > 0 {
		b = append(slices.Clip(w.text.Gap(trace.EventID(n-1))), b...)
	}
	if w.drawing == nil && chrome.SkipSpace(b, 0) == len(b) {
		return b
	}
	return []byte("\n")
}

// eventEncoder copies events; each chunk has its own.
type eventEncoder struct {
	*writer
	members []byte
	text    []byte
	row     tokens
	n       [eventCounts]int
}

func (enc *eventEncoder) append(dst []byte, id trace.EventID) []byte {
	ev := &enc.tr.Events[id]
	raw, args := enc.writer.text.Append(enc.text[:0], id)
	enc.text = raw
	enc.n[countEvents]++
	if ev.Flags&trace.Dirty != 0 {
		raw = enc.writer.text.Clean(id, ev)
		args = argsOffset(raw)
		enc.n[countReencoded]++
	}
	if enc.drawing == nil || len(raw) == 0 || raw[0] != '{' {
		return append(dst, raw...)
	}
	e := chrome.Edit{Args: args}
	m, ok := enc.drawing.Marks.Of(id)
	if enc.members = enc.members[:0]; ok {
		enc.members = appendMark(enc.members, &m)
	}
	enc.drawing.Replayed(enc.tr, id, func(key, text string) {
		enc.members = append(append(comma(enc.members), '"'), key...)
		enc.members = chrome.AppendString(append(enc.members, '"', ':'), text)
	})
	if len(enc.members) > 0 {
		e.Members = enc.members
		if args == 0 { // also where they are no object
			e.Args = argsOffset(raw)
			args = e.Args
		}
		if args > 0 && raw[args] != '{' && string(raw[args:chrome.SkipValue(raw, args)]) != "null" {
			enc.n[countLost]++
		}
	}
	if enc.drawing.HasEarlierMarks && args > 0 && overlay.HasMarks(enc.tr, id) {
		e.Drop = func(key []byte) bool { return overlay.IsMark(string(key)) }
	}
	pid, tid := enc.row.of(enc.writer, id, raw)
	if row := enc.rows.Find(pid, tid); row != nil && row.Edit(&e, pid, tid) {
		enc.n[countRenumbered]++
	}
	if e.PID == nil && e.TID == nil && e.Members == nil && e.Drop == nil {
		return append(dst, raw...)
	}
	return chrome.AppendEvent(dst, raw, &e)
}

func (enc *eventEncoder) count() {
	for i := range enc.n {
		enc.counts[i].Add(int64(enc.n[i]))
	}
}

// appendMark appends a mark as members of args.
func appendMark(dst []byte, m *overlay.Mark) []byte {
	if m.Critical() {
		dst = append(dst, `"critical":1`...)
		if m.NS > 0 { // 0: an event of another tool's path without time of its own
			dst = append(dst, `,"critical_ns":`...)
			dst = strconv.AppendInt(dst, m.NS, 10)
		}
		dst = append(dst, `,"critical_id":`...)
		dst = strconv.AppendInt(dst, int64(m.ID), 10)
		if m.Next >= 0 {
			dst = append(dst, `,"critical_next":`...)
			dst = strconv.AppendInt(dst, int64(m.Next), 10)
		}
	}
	if m.TotalNS > 0 {
		dst = append(comma(dst), `"critical_total_ns":`...)
		dst = strconv.AppendInt(dst, m.TotalNS, 10)
	}
	if m.Node >= 0 {
		dst = append(comma(dst), `"cdg_node":`...)
		dst = strconv.AppendInt(dst, int64(m.Node), 10)
	}
	return dst
}

func comma(dst []byte) []byte {
	if len(dst) > 0 {
		return append(dst, ',')
	}
	return dst
}

// argsOffset finds args in the bytes of an event; 0 when there is none.
func argsOffset(raw []byte) int {
	for i := 1; ; {
		m, ok := chrome.NextMember(raw, i)
		if !ok {
			return 0
		}
		if string(m.Key) == "args" {
			return m.At
		}
		i = m.End
	}
}

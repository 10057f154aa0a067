package frompftrace

import (
	"math"
	"strconv"

	"overlay/internal/chrome"
	"overlay/internal/kineto"
	"overlay/internal/vendors"
	"overlay/internal/wire"
)

// writer writes events as text. Each worker has its own.
type writer struct {
	r    *reader
	rows []row
	buf  []byte

	args      int // members of the args of the event
	seen      seen
	hasStream bool
	known     knownValues

	to       *kineto.Sink
	reserved int   // bytes of buf that the sink knows of
	full     error // of the sink

	repairs repairs
	mended  int   // how often, in all
	at      int64 // of the event, for repairs
}

func (w *writer) mend(reason string) {
	w.mended++
	w.repairs.add(reason, w.at, 1)
}

// reserveFrom is how many bytes a worker may hold that the sink does not know of.
const reserveFrom = 1 << 20

// room reports whether n more bytes may be written: a few bytes of the input may refer to a long text again and again.
func (w *writer) room(n int) bool {
	if len(w.buf)+n-w.reserved > reserveFrom && w.full == nil {
		w.full = w.to.Reserve(int64(len(w.buf) + n - w.reserved))
		w.reserved = len(w.buf) + n
	}
	return w.full == nil
}

// text appends a string of the input as JSON.
func (w *writer) text(t text) {
	if w.room(len(t.raw)) {
		w.buf = appendText(w.buf, t)
	}
}

// row is the row of a TrackEvent.
func (w *writer) row(rec *record) *row { return &w.rows[w.r.tracks[rec.track].row] }

// startEvent separates events by a comma and a line end.
func (w *writer) startEvent() {
	w.buf = append(w.buf, ",\n"...)
}

// record appends the text of an event.
func (w *writer) record(id int32) {
	rec := &w.r.recs[id]
	w.at = w.r.place(id)
	w.startEvent()
	if rec.kind == kindRender {
		w.renderEvent(id, rec)
		return
	}
	w.trackEvent(id, rec)
}

// heading is what stands on a TrackEvent beside its arguments.
type heading struct {
	name     text
	category []byte // several are joined by commas
	joined   []byte // room for that
	args     int    // where the first annotation stands, if any
}

// heading reads name and category.
func (w *writer) heading(rec *record, data []byte, h *heading) {
	st := w.r.states[rec.state]
	h.name, h.category, h.joined = text{}, nil, h.joined[:0]
	add := func(c []byte) {
		if !w.room(len(h.joined) + len(c)) {
			return
		}
		if h.category == nil {
			h.category = c
			return
		}
		if len(h.joined) == 0 {
			h.joined = append(h.joined, h.category...)
		}
		h.joined = append(append(h.joined, ','), c...)
		h.category = h.joined
	}
	f := wire.Over(data)
	for {
		if at := f.I; f.Skip(tagAnnotation) && h.args == 0 {
			h.args = at
		}
		if !f.Next() {
			break
		}
		switch f.Num {
		case eventNameIID:
			if h.name = st.names.get(f.V); !h.name.known {
				w.mend(ReasonUnknownName)
				h.name = unknownText
			}
		case eventName:
			h.name = newText(f.S)
		case eventCategory:
			add(f.S)
		case eventCategoryIID:
			f.Repeated(false, func(v uint64) {
				if c := st.cats.get(v); c.known {
					add(c.raw)
				} else {
					w.mend(ReasonUnknownName)
				}
			})
		}
	}
}

func (w *writer) trackEvent(id int32, rec *record) {
	data := w.r.message(rec)
	x := w.row(rec)
	var h heading
	w.heading(rec, data, &h)
	ph := byte('X')
	switch {
	case rec.kind == eventInstant:
		ph = 'i'
	case rec.kind == eventCounter:
		ph = 'C'
		if !h.name.known {
			h.name = w.r.tracks[rec.track].name
		}
	case !rec.closed:
		ph = 'B'
	}
	if !h.name.known {
		h.name = text{plain: true}
	}
	w.buf = append(append(w.buf, `{"ph":"`...), ph)
	w.buf = append(w.buf, `","name":`...)
	w.text(h.name)
	if h.category != nil {
		w.buf = append(w.buf, `,"cat":`...)
		w.buf = appendString(w.buf, h.category)
	}
	w.buf = append(w.buf, ',')
	w.buf = append(w.buf, x.head...)
	w.times(rec)
	if ph == 'i' {
		w.buf = append(w.buf, `,"s":"t"`...)
	}
	w.args, w.seen, w.hasStream = 0, 0, false
	if ph == 'C' {
		w.counter(data)
	}
	w.annotations(rec, data[h.args:])
	if rec.extra >= 0 {
		e := &w.r.extras[rec.extra]
		end := record{state: e.state}
		w.annotations(&end, w.r.src[e.off:e.off+int64(e.n)])
	}
	w.rowArgs(x)
	w.correlation(id)
	if w.args > 0 {
		w.buf = append(w.buf, '}')
	}
	category := string(h.category)
	if h.category == nil && rec.kind != eventCounter || ph == 'C' && x.added {
		category = guessed(x, w.seen, h.name.raw, !w.r.hasCategories)
		if category != "" && (ph != 'i' || x.added) {
			w.buf = append(append(append(w.buf, `,"cat":"`...), category...), '"')
		}
	}
	w.buf = append(w.buf, '}')
	if len(w.r.flows) > 0 {
		rec.is = vendors.KindOf(category)
	}
}

// times appends ts and, for a slice that was closed, dur.
func (w *writer) times(rec *record) {
	w.buf = chrome.AppendMicros(append(w.buf, `,"ts":`...), rec.ts-w.r.base)
	if rec.closed && (rec.kind == eventBegin || rec.kind == kindRender) {
		dur := rec.end - rec.ts
		if dur < 0 {
			w.mend(ReasonNegative)
			dur = 0
		}
		w.buf = chrome.AppendMicros(append(w.buf, `,"dur":`...), dur)
	}
}

// annotations appends the arguments of a message.
func (w *writer) annotations(rec *record, data []byte) {
	st := w.r.states[rec.state]
	for f := wire.Over(data); f.Next(); {
		if f.Num == eventAnnotation && f.Typ == wire.Bytes {
			w.annotation(st, f.S)
		}
	}
}

// counter appends the value of a counter.
func (w *writer) counter(data []byte) {
	w.member(keyValue)
	at := len(w.buf)
	for f := wire.Over(data); f.Next(); {
		switch {
		case len(w.buf) > at:
		case f.Num == eventCounterInt:
			w.buf = strconv.AppendInt(w.buf, int64(f.V), 10)
		case f.Num == eventCounterFloat:
			w.buf = appendFloat(w.buf, math.Float64frombits(f.V))
		}
	}
	if len(w.buf) == at {
		w.buf = append(w.buf, '0')
	}
}

// rowArgs appends what the name of a row of rocprofv3 says and the event does not.
func (w *writer) rowArgs(x *row) {
	if x.device == "" {
		return
	}
	w.member(keyDevice)
	w.buf = append(w.buf, x.device...)
	if !w.hasStream {
		w.member(keyStream)
		w.buf = append(w.buf, x.stream...)
	}
}

// correlation appends the correlation that links an event, where it says none itself.
func (w *writer) correlation(id int32) {
	if w.seen&seenCorrelation != 0 || len(w.r.corrOf) == 0 {
		return
	}
	if c, ok := w.r.corrOf[id]; ok {
		w.member(keyCorrelation)
		w.buf = strconv.AppendInt(w.buf, c, 10)
	}
}

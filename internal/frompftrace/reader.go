package frompftrace

import (
	"slices"
	"strings"

	"overlay/internal/trace"
	"overlay/internal/wire"
)

// reader is a trace on its way from packets to text.
type reader struct {
	src  []byte
	name string

	recs     []record
	ends     []endMark
	extras   []body
	marks    []mark
	beginSeq []int32 // per BEGIN, in the order of marks: its sequence
	flows    []flowEnd
	launches []launch
	launched []uint64 // event ids of render stages
	renders  []render

	seqs   []sequence
	seqOf  map[uint64]int32
	states []*state

	tracks  []track
	trackOf map[uint64]int32

	clocks clocks

	attrs   []attr
	gpus    []string // names of devices by number
	skipped map[uint32]int

	hasCategories bool // some event has one

	packets   int
	truncated bool
	tooMany   bool
	repairs   repairs

	corrOf  map[int32]int64 // record -> the correlation that links it, where it has none of its own
	base    int64           // ns, taken off all times
	hasBase bool
	unix    int64 // Unix time of ts 0 of the text, when hasBase
}

// attr is an attribute of the trace.
type attr struct {
	key   text
	str   text
	num   int64
	isStr bool
}

// record is an event of the file: a BEGIN with its END, an instant, a value of a counter, or a render stage.
type record struct {
	ts, end int64 // ns of trace time; end of a slice that was closed
	off     int64 // of the message
	n       int32 // its length
	state   int32 // in reader.states
	track   int32 // in reader.tracks; of a render stage its index in reader.renders
	extra   int32 // in reader.extras: what the END says, -1 without
	kind    uint8 // eventBegin, …, kindRender
	closed  bool
	is      trace.Kind // once it is written, in traces with flows: what it is to the analysis
}

// endMark is an END.
type endMark struct {
	ts    int64
	track int32
	seq   int32
	extra int32
}

// body is a message.
type body struct {
	off   int64
	n     int32
	state int32
}

// flowEnd is a flow at an event.
type flowEnd struct {
	id  uint64
	rec int32
	end bool // it ends here
}

// launch is an event that says which render stages it launched: from to to in reader.launched.
type launch struct {
	rec      int32
	from, to int32
}

// render is a render stage as far as others refer to it.
type render struct {
	rec     int32
	id      uint64
	corr    int64
	hasCorr bool
}

// mark is a BEGIN (its record, not negative) or an END (^ its index in reader.ends), in file order.
type mark int32

func newReader(src []byte, name string) *reader {
	return &reader{
		src: src, name: name,
		seqOf: map[uint64]int32{}, trackOf: map[uint64]int32{},
		clocks: clocks{offset: map[uint64]int64{}}, skipped: map[uint32]int{}, repairs: repairs{}, corrOf: map[int32]int64{},
	}
}

// keptPerRepair is how many positions are kept of each reason.
const keptPerRepair = 5

// repairs counts what was mended, by reason.
type repairs map[string]*trace.Repair

func (l repairs) add(reason string, at int64, n int) {
	m := l[reason]
	if m == nil {
		m = &trace.Repair{Reason: reason}
		l[reason] = m
	}
	m.Count += n
	if len(m.First) < keptPerRepair {
		m.First = append(m.First, at)
	}
}

// mend counts a repair at a place of the file.
func (r *reader) mend(reason string, at int64) { r.repairs.add(reason, at, 1) }

// count is how often something was mended.
func (r *reader) count(reason string) int {
	if m := r.repairs[reason]; m != nil {
		return m.Count
	}
	return 0
}

// sortedRepairs are the repairs by reason.
func (r *reader) sortedRepairs() []trace.Repair {
	var list []trace.Repair
	for _, m := range r.repairs {
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b trace.Repair) int { return strings.Compare(a.Reason, b.Reason) })
	return list
}

// place is where a record stands in the file, for messages.
func (r *reader) place(rec int32) int64 { return r.recs[rec].off }

// message is the bytes of an event.
func (r *reader) message(rec *record) []byte { return r.src[rec.off : rec.off+int64(rec.n)] }

// attributes takes the TraceAttributes.
func (r *reader) attributes(data []byte, at int64) {
	f := wire.Over(data)
	for f.Next() {
		if f.Num != 1 {
			continue
		}
		var a attr
		for e := wire.Over(f.S); e.Next(); {
			switch e.Num {
			case 1:
				a.key = newText(e.S)
			case 2:
				a.num = int64(e.V)
			case 3:
				a.str, a.isStr = newText(e.S), true
			}
		}
		r.attrs = append(r.attrs, a)
	}
	if f.Bad {
		r.mend(ReasonBroken, at)
	}
}

// attr is a number among the attributes.
func (r *reader) attr(key string) (int64, bool) {
	for i := range r.attrs {
		if a := &r.attrs[i]; string(a.key.raw) == key && !a.isStr {
			return a.num, true
		}
	}
	return 0, false
}

// gpuInfo takes the names of the devices.
func (r *reader) gpuInfo(data []byte) {
	for f := wire.Over(data); f.Next(); {
		if f.Num != 1 {
			continue
		}
		name := ""
		for e := wire.Over(f.S); e.Next(); {
			if e.Num == 1 {
				name = string(e.S)
			}
		}
		r.gpus = append(r.gpus, name)
	}
}

// Package testtrace makes traces for tests: small ones by hand (Builder), and whole simulated training processes whose
// critical path is known (Program). It shares no code with the analysis that it tests.
package testtrace

import (
	"strings"

	"overlay/internal/trace"
)

// Builder collects the events of a trace in file order. Times are ns.
//
// Rows that threads and streams announce (thread_name and the like) are written after all other events, as Kineto
// does, so the position of an event is the number of events added before it.
type Builder struct {
	IntegerMicros bool   // ts and dur in whole µs, start and end cut separately (Kineto before 2024-03)
	ArrayForm     bool   // the top level is the event list
	OldNames      bool   // categories as in 2020: Operator, Runtime, Kernel, Memcpy, Memset
	BaseTime      int64  // baseTimeNanoseconds; 0 = no such key
	BaseAtTail    bool   // the key follows the events (Kineto before 2025-03)
	NoFlows       bool   // no ac2g flows between launches and operations
	Rank          int    // distributedInfo.rank; -1 = no such key
	World         int    // distributedInfo.world_size
	Device        string // name of the GPUs in deviceProperties; "" = an empty list
	Extra         string // further top-level text, such as `"trace_id": "x"`

	events []event
	args   []byte // JSON members of all events
	rows   []row
	procs  []proc
}

// Event is a handle of an added event.
type Event struct {
	b  *Builder
	id trace.EventID
}

// Thread is a CPU thread of a Builder, Stream a GPU stream.
type (
	Thread struct {
		b        *Builder
		PID, TID int64
	}
	Stream struct {
		b              *Builder
		Device, Number int64
	}
)

type event struct {
	ph         byte
	flags      uint8
	cat, name  string
	pid, tid   int64
	start, dur int64
	flow       int64
	argFrom    int32 // members of the event in Builder.args
	argTo      int32
	raw        string // the whole element, when it is no event of ours
}

// Flags of an event of the Builder.
const (
	hasFlow uint8 = 1 << iota
	bindEnd
)

type row struct {
	pid, tid int64
	name     string
	sort     int64
}

type proc struct {
	pid         int64
	name, label string
	sort        int64
}

// New returns an empty Builder that writes as PyTorch 2.4 and later do.
func New() *Builder { return &Builder{Rank: -1} }

// Thread announces a CPU thread. Without a name nothing is written about it.
func (b *Builder) Thread(pid, tid int64, name string) *Thread {
	if name != "" {
		b.addProc(proc{pid, "python", "CPU", pid})
		b.rows = append(b.rows, row{pid, tid, name, tid})
	}
	return &Thread{b, pid, tid}
}

// Stream announces a GPU stream.
func (b *Builder) Stream(device, number int64) *Stream {
	s := &Stream{b, device, number}
	b.addProc(proc{device, "python", "GPU " + itoa(device), 5_000_000 + device})
	for _, r := range b.rows {
		if r.pid == device && r.tid == number {
			return s
		}
	}
	b.rows = append(b.rows, row{device, number, "stream " + itoa(number) + " ", number})
	return s
}

func (b *Builder) addProc(p proc) {
	for _, q := range b.procs {
		if q.pid == p.pid && q.label == p.label {
			return
		}
	}
	b.procs = append(b.procs, p)
}

func (b *Builder) add(e event) *Event {
	e.argFrom = int32(len(b.args))
	e.argTo = e.argFrom
	b.events = append(b.events, e)
	return &Event{b, trace.EventID(len(b.events) - 1)}
}

// Len is the number of events added so far: the position of the next.
func (b *Builder) Len() int { return len(b.events) }

// ID is the position of the event in traceEvents.
func (e *Event) ID() trace.EventID { return e.id }

// Arg adds a member to args of the event that was added last: an int, int64, string, bool or Raw value.
func (e *Event) Arg(key string, value any) *Event {
	if int(e.id) != len(e.b.events)-1 {
		panic("testtrace: internal error: args belong to the event added last")
	}
	ev := &e.b.events[e.id]
	if ev.argTo > ev.argFrom {
		e.b.args = append(e.b.args, ',', ' ')
	}
	e.b.args = appendString(e.b.args, key)
	e.b.args = append(e.b.args, ':', ' ')
	e.b.args = appendValue(e.b.args, value)
	ev.argTo = int32(len(e.b.args))
	return e
}

// Raw is JSON text used as it stands.
type Raw string

func (t *Thread) slice(cat, name string, start, dur int64) *Event {
	return t.b.add(event{ph: 'X', cat: cat, name: name, pid: t.PID, tid: t.TID, start: start, dur: dur})
}

// Op adds a cpu_op.
func (t *Thread) Op(name string, start, dur int64) *Event {
	return t.slice("cpu_op", name, start, dur)
}

// Annotation adds a user_annotation.
func (t *Thread) Annotation(name string, start, dur int64) *Event {
	return t.slice("user_annotation", name, start, dur)
}

// Frame adds a python_function.
func (t *Thread) Frame(name string, start, dur int64) *Event {
	return t.slice("python_function", name, start, dur)
}

// Launch adds a runtime or driver call that starts GPU work; with NoFlows unset it also adds the start of its ac2g
// flow, as the next event.
func (t *Thread) Launch(name string, start, dur int64, corr int64) *Event {
	e := t.Call(name, start, dur, corr)
	if !t.b.NoFlows {
		t.b.add(event{ph: 's', cat: "ac2g", name: "ac2g", pid: t.PID, tid: t.TID, start: start, flow: corr, flags: hasFlow})
	}
	return e
}

// Call adds a runtime or driver call: synchronisation, event record and wait, allocation.
func (t *Thread) Call(name string, start, dur int64, corr int64) *Event {
	cat := "cuda_runtime"
	if strings.HasPrefix(name, "cu") && !strings.HasPrefix(name, "cuda") {
		cat = "cuda_driver"
	}
	return t.slice(cat, name, start, dur).Arg("correlation", corr)
}

// Instant adds an instant of the thread.
func (t *Thread) Instant(name string, at int64) *Event {
	return t.b.add(event{ph: 'i', cat: "cpu_instant_event", name: name, pid: t.PID, tid: t.TID, start: at})
}

func (s *Stream) op(cat, name string, start, dur, corr int64) *Event {
	e := s.b.add(event{ph: 'X', cat: cat, name: name, pid: s.Device, tid: s.Number, start: start, dur: dur}).
		Arg("device", s.Device).Arg("context", 1).Arg("stream", s.Number)
	if corr >= 0 {
		e.Arg("correlation", corr)
		if !s.b.NoFlows {
			s.b.add(event{ph: 'f', cat: "ac2g", name: "ac2g", pid: s.Device, tid: s.Number, start: start, flow: corr, flags: hasFlow | bindEnd})
		}
	}
	return e
}

// Kernel adds a kernel; corr < 0 leaves the correlation out.
func (s *Stream) Kernel(name string, start, dur, corr int64) *Event {
	return s.op("kernel", name, start, dur, corr)
}

// The directions of copies, as CUPTI writes them.
const (
	HtoDPageable = "Memcpy HtoD (Pageable -> Device)"
	HtoDPinned   = "Memcpy HtoD (Pinned -> Device)"
	DtoHPageable = "Memcpy DtoH (Device -> Pageable)"
	DtoHPinned   = "Memcpy DtoH (Device -> Pinned)"
	DtoD         = "Memcpy DtoD (Device -> Device)"
)

// Memcpy adds a copy.
func (s *Stream) Memcpy(name string, start, dur, corr int64) *Event {
	return s.op("gpu_memcpy", name, start, dur, corr)
}

// Memset adds a memset.
func (s *Stream) Memset(start, dur, corr int64) *Event {
	return s.op("gpu_memset", "Memset (Device)", start, dur, corr)
}

// GPUAnnotation adds the shadow of an annotation on the stream.
func (s *Stream) GPUAnnotation(name string, start, dur int64) *Event {
	return s.b.add(event{ph: 'X', cat: "gpu_user_annotation", name: name, pid: s.Device, tid: s.Number, start: start, dur: dur})
}

// The kinds of cuda_sync records.
const (
	ContextSync     = "Context Sync"
	StreamSync      = "Stream Sync"
	EventSync       = "Event Sync"
	StreamWaitEvent = "Stream Wait Event"
)

// SyncRecord adds a cuda_sync record of the call with this correlation. Event Sync and Stream Wait Event name the
// record call that they wait for and its stream; pass -1 for both otherwise.
func (s *Stream) SyncRecord(kind string, start, dur, corr int64, waitOn, recordCorr int64) *Event {
	e := s.b.add(event{ph: 'X', cat: "cuda_sync", name: kind, pid: s.Device, tid: s.Number, start: start, dur: dur}).
		Arg("cuda_sync_kind", kind).Arg("stream", s.Number).Arg("correlation", corr).Arg("device", s.Device).Arg("context", 1)
	if kind == EventSync || kind == StreamWaitEvent {
		e.Arg("wait_on_stream", waitOn).Arg("wait_on_cuda_event_record_corr_id", recordCorr).Arg("wait_on_cuda_event_id", 1)
	}
	return e
}

// Flow adds an arrow as two events: from the slice on t that starts at from to the one on u that starts at to.
func (b *Builder) Flow(cat, name string, id int64, t *Thread, from int64, u *Thread, to int64) {
	b.add(event{ph: 's', cat: cat, name: name, pid: t.PID, tid: t.TID, start: from, flow: id, flags: hasFlow})
	b.add(event{ph: 'f', cat: cat, name: name, pid: u.PID, tid: u.TID, start: to, flow: id, flags: hasFlow | bindEnd})
}

// Counter adds a counter value of a process.
func (b *Builder) Counter(pid int64, name string, at int64, key string, value int64) *Event {
	return b.add(event{ph: 'C', name: name, pid: pid, start: at}).Arg(key, value)
}

// Meta adds an M event, such as thread_name, at this place of the list.
func (b *Builder) Meta(name string, pid, tid int64, key string, value any) *Event {
	return b.add(event{ph: 'M', name: name, pid: pid, tid: tid}).Arg(key, value)
}

// Element adds an element of the list as it stands: broken ones, or of other tools.
func (b *Builder) Element(text string) *Event { return b.add(event{raw: text}) }

// Slice adds a complete event of any category.
func (b *Builder) Slice(cat, name string, pid, tid, start, dur int64) *Event {
	return b.add(event{ph: 'X', cat: cat, name: name, pid: pid, tid: tid, start: start, dur: dur})
}

// Parse reads the trace with the reader of the project.
func (b *Builder) Parse(t T) *trace.Trace {
	t.Helper()
	return Parse(t, b.JSON())
}

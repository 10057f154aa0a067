package testtrace

import (
	"cmp"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"overlay/internal/trace"
)

// PftraceOptions say how a trace is written in Perfetto's format.
type PftraceOptions struct {
	Layout  PftraceLayout
	NoNames bool // PyTorch: copies and memsets have no name of their own, as its exporter has it
	Packed  bool // repeated numbers stand in one field
	Late    bool // descriptors of rows come after the events
}

// PftraceLayout is the program that a file is made to look like. The field numbers are those of protos/perfetto/trace,
// the layouts those of each program's source.
type PftraceLayout uint8

// The layouts.
const (
	// PyTorch: torch/csrc/profiler/cupti/monitor_pftrace.cpp. One sequence; group by group all BEGINs, then all ENDs; names
	// and categories by number, arguments by name; operations of devices as render stages.
	PyTorch PftraceLayout = iota
	// PyTorchFirst: its first version. No categories; operations of devices are slices on rows "stream N" of "GPU D".
	PyTorchFirst
	// Rocprof: generatePerfetto.cpp of rocprofiler-sdk. BEGIN and END side by side, threads and streams told by the names of
	// their rows.
	Rocprof
	// Live: Perfetto's SDK while a program runs. A sequence a thread, clocks that count up, everything by number, BEGINs
	// and ENDs as they happen.
	Live
)

// Pftrace writes a trace in Perfetto's format as another program would have written it. What that program does not
// write is left out: flows and instants of PyTorch, everything but calls, operations and markers of rocprofv3.
func Pftrace(tr *trace.Trace, o PftraceOptions) []byte {
	w := &pfWriter{tr: tr, o: o, base: 1_700_000_000_000_000_000, threads: map[string]uint64{}, procs: map[string]uint64{}}
	switch o.Layout {
	case PyTorch, PyTorchFirst:
		w.pytorch()
	case Rocprof:
		w.rocprof()
	case Live:
		w.live()
	}
	var out []byte
	if !o.Late {
		out = append(out, w.rows...)
	}
	out = append(out, w.out...)
	if o.Late {
		out = append(out, w.rows...)
	}
	return out
}

type pfWriter struct {
	tr   *trace.Trace
	o    PftraceOptions
	base int64

	out, rows []byte // packets; descriptors
	threads   map[string]uint64
	procs     map[string]uint64
	uuid      uint64
}

// pb is a message that is being written.
type pb []byte

func (m pb) num(field protowire.Number, v uint64) pb {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
}

func (m pb) fixed(field protowire.Number, v uint64) pb {
	return protowire.AppendFixed64(protowire.AppendTag(m, field, protowire.Fixed64Type), v)
}

func (m pb) msg(field protowire.Number, v []byte) pb {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
}

func (m pb) str(field protowire.Number, v string) pb { return m.msg(field, []byte(v)) }

// nums writes a repeated number.
func (m pb) nums(field protowire.Number, list []uint64, packed bool) pb {
	if packed && len(list) > 0 {
		var body []byte
		for _, v := range list {
			body = protowire.AppendVarint(body, v)
		}
		return m.msg(field, body)
	}
	for _, v := range list {
		m = m.num(field, v)
	}
	return m
}

func (w *pfWriter) packet(p pb) { w.out = pb(w.out).msg(1, p) }

func (w *pfWriter) newUUID() uint64 {
	w.uuid++
	return w.uuid
}

// process is the uuid of a process with a descriptor.
func (w *pfWriter) process(key string, pid int64, name string) uint64 {
	id, ok := w.procs[key]
	if !ok {
		id = w.newUUID()
		w.procs[key] = id
		d := pb(nil).num(1, id).msg(3, pb(nil).num(1, uint64(uint32(pid)&0x7fffffff)).str(6, name))
		w.rows = pb(w.rows).msg(1, pb(nil).msg(60, d))
	}
	return id
}

// thread is the uuid of a thread with a descriptor, below its process.
func (w *pfWriter) thread(key string, proc uint64, pid, tid int64, name string) uint64 {
	id, ok := w.threads[key]
	if !ok {
		id = w.newUUID()
		w.threads[key] = id
		d := pb(nil).num(1, id).num(5, proc).msg(4, pb(nil).num(1, uint64(uint32(pid)&0x7fffffff)).num(2, uint64(uint32(tid)&0x7fffffff)).str(5, name))
		w.rows = pb(w.rows).msg(1, pb(nil).msg(60, d))
	}
	return id
}

// number of a pid or tid; one for those that are texts.
func (w *pfWriter) number(k trace.Token) int64 {
	if k.IsNum {
		return k.Num
	}
	return int64(900_000 + k.Raw)
}

// hostRow is the row of a thread of the trace.
func (w *pfWriter) hostRow(id trace.TrackID) uint64 {
	t := &w.tr.Tracks[id]
	p := &w.tr.Procs[t.Proc]
	pid, tid := w.number(p.PID), w.number(t.TID)
	proc := w.process("host"+strconv.FormatInt(pid, 10), pid, cmp.Or(p.Name, "python"))
	return w.thread("host"+strconv.FormatInt(pid, 10)+"/"+strconv.FormatInt(tid, 10), proc, pid, tid, cmp.Or(t.Name, "thread "+strconv.FormatInt(tid, 10)))
}

// deviceRow is a stream of a device as a thread: PyTorch has its records of synchronisation there.
func (w *pfWriter) deviceRow(id trace.TrackID) uint64 {
	t := &w.tr.Tracks[id]
	device, stream := w.device(t), w.number(t.TID)
	if t.Stream >= 0 {
		stream = t.Stream
	}
	d, s := strconv.FormatInt(device, 10), strconv.FormatInt(stream, 10)
	proc := w.process("gpu"+d, device, "GPU "+d)
	return w.thread("gpu"+d+"/"+s, proc, device, stream, "stream "+s)
}

func (w *pfWriter) device(t *trace.Track) int64 {
	if d := w.tr.Procs[t.Proc].Device; d >= 0 {
		return d
	}
	return w.number(w.tr.Procs[t.Proc].PID)
}

// annotation is a DebugAnnotation; key writes its name.
func annotation(key func(pb) pb, v any) pb {
	m := key(nil)
	switch v := v.(type) {
	case int64:
		return m.num(4, uint64(v))
	case uint64:
		return m.num(3, v)
	case float64:
		return m.fixed(5, floatBits(v))
	case bool:
		return m.num(2, protowire.EncodeBool(v))
	case string:
		return m.str(6, v)
	case []member:
		for _, x := range v {
			m = m.msg(11, annotation(func(m pb) pb { return m.str(10, x.key) }, x.value))
		}
	case []any:
		for _, x := range v {
			m = m.msg(12, annotation(func(m pb) pb { return m }, x))
		}
	}
	return m
}

// member is an argument: int64, uint64, float64, bool, string, []member or []any.
type member struct {
	key   string
	value any
}

// arguments are the args of an event.
func (w *pfWriter) arguments(id trace.EventID) []member {
	type open struct {
		key     string
		array   bool
		members []member
		list    []any
	}
	stack := []open{{}}
	add := func(key string, v any) {
		top := &stack[len(stack)-1]
		if top.array {
			top.list = append(top.list, v)
		} else {
			top.members = append(top.members, member{key, v})
		}
	}
	w.tr.Args(id, func(key string, v trace.Value) bool {
		switch v.Kind {
		case trace.Object, trace.Array:
			stack = append(stack, open{key: key, array: v.Kind == trace.Array})
		case trace.End:
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			switch {
			case top.array && len(top.list) == 0:
				add(top.key, "[]")
			case top.array:
				add(top.key, top.list)
			case len(top.members) == 0:
				add(top.key, "{}")
			default:
				add(top.key, top.members)
			}
		case trace.Int:
			add(key, v.Int64())
		case trace.Uint:
			add(key, v.Bits)
		case trace.Float:
			add(key, v.Float64())
		case trace.Bool:
			add(key, v.Bits != 0)
		case trace.Null:
			add(key, "null")
		default:
			add(key, v.Text)
		}
		return true
	})
	return stack[0].members
}

// argument finds one by its key.
func argument(list []member, key string) (any, bool) {
	i := slices.IndexFunc(list, func(m member) bool { return m.key == key })
	if i < 0 {
		return nil, false
	}
	return list[i].value, true
}

// Package fromrocprof reads what `rocprofv3 --output-format json` writes.
//
// Parse turns the records into the text of a Kineto trace, which package kineto reads. Records name what they are by numbers:
// of a kind and an operation in lists of strings, of a kernel in a list of symbols, of a device in a list of agents.
//
// # Sources
//
// generateJSON.cpp and serialization/save.hpp of rocprofiler-sdk, 0.4 to 1.1, and a recording of a PyTorch program on MI350X.
package fromrocprof

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"overlay/internal/kineto"
	"overlay/internal/kinetotext"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// top is the only key of the document. Its list holds a process each.
const top = "rocprofiler-sdk-tool"

// Is tells such a document by its first bytes.
func Is(src []byte) bool {
	s, ok := bytes.CutPrefix(bytes.TrimLeft(src[:min(len(src), 64)], " \t\r\n"), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimLeft(s, " \t\r\n"), []byte(`"`+top+`"`))
}

// Parse reads a trace from the bytes of a document. The text of the trace goes to a spool, and the trace keeps that; src
// is not needed afterwards. name is for messages.
func Parse(src []byte, name string, o kineto.Options, to *kineto.Sink) (*trace.Trace, error) {
	fail := func(at int, want string) error {
		return &kineto.SyntaxError{File: name, Offset: int64(at), Compressed: -1, Want: want}
	}
	begin := bytes.IndexByte(src, '{')
	document := kineto.Members(src[max(begin, 0):])
	var tools [][]byte
	for document.Next() {
		if string(document.Key) == top {
			kineto.Elements(document.Value, func(tool []byte) { tools = append(tools, tool) })
		}
	}
	if at, broken := document.Broken(); broken {
		return nil, fail(begin+at, "expected a whole JSON value: rocprofv3 writes the file when the program ends, so it is cut; record it again")
	}
	several := &kineto.Several{File: name}
	var only *reader
	for _, tool := range tools {
		r := &reader{w: kinetotext.NewWriter(to)}
		if r.learn(tool); r.records() > 0 {
			only = r
			several.Parts = append(several.Parts, kineto.Part{Name: fmt.Sprintf("process %d", r.pid), PID: fmt.Sprint(r.pid), Write: func(to *kineto.Sink) (kineto.Options, error) {
				r.w = kinetotext.NewWriter(to)
				r.write()
				return kineto.Options{From: int64(len(src)), Form: vendors.RocprofJSON}, r.w.Close()
			}})
		}
	}
	switch len(several.Parts) {
	case 0:
		return nil, fail(begin, "this file of rocprofv3 holds no kernels, copies, calls or ranges: record with --sys-trace")
	case 1:
		only.write()
		return only.w.Parse(name, vendors.RocprofJSON, int64(len(src)), o)
	}
	return nil, several
}

// reader is a process on its way to text.
type reader struct {
	w       *kinetotext.Writer
	pid     int64
	names   []names          // by kind
	kernels map[int64]string // by kernel id
	agents  map[int64]agent  // by handle
	marks   map[int64]string // texts of ranges, by correlation
	above   map[int64]int64  // correlation of a call of HSA -> of the call of HIP that it is the inside of
	devices []kinetotext.Device
	lists   []list
	program string
}

// list is records of one kind.
type list struct {
	name    string
	records []byte
}

// names are what the operations of a kind of records are called.
type names struct{ operations []string }

type agent struct {
	gpu    bool
	number int64 // among the GPUs
}

// take reads members of an object, each into what stands for it: a number, a text, or what a function makes of it.
func take(object []byte, members map[string]any) {
	for m := kineto.Members(object); m.Next(); {
		switch to := members[string(m.Key)].(type) {
		case *int64:
			*to = kineto.Int(m.Value)
		case *string:
			*to = kineto.Unquoted(m.Value)
		case func([]byte):
			to(m.Value)
		}
	}
}

// each is what take makes of a list.
func each(element func(raw []byte)) func(list []byte) {
	return func(list []byte) { kineto.Elements(list, element) }
}

// learn reads a process but for its records.
func (r *reader) learn(tool []byte) {
	r.kernels, r.agents, r.marks, r.above = map[int64]string{}, map[int64]agent{}, map[int64]string{}, map[int64]int64{}
	take(tool, map[string]any{
		"metadata": func(raw []byte) {
			take(raw, map[string]any{"pid": &r.pid, "command": each(func(word []byte) { r.program = cmp.Or(r.program, kineto.Unquoted(word)) })})
		},
		"agents": func(raw []byte) { r.devices = r.readAgents(raw) },
		"strings": func(raw []byte) {
			take(raw, map[string]any{"buffer_records": each(r.readNames), "marker_api": each(r.readMark)})
		},
		"kernel_symbols": each(r.readKernel),
		"buffer_records": func(raw []byte) {
			for m := kineto.Members(raw); m.Next(); {
				r.lists = append(r.lists, list{string(m.Key), m.Value})
			}
		},
	})
}

// records is how many lists hold some.
func (r *reader) records() (n int) {
	for _, l := range r.lists {
		if len(l.records) > 2 { // not []
			n++
		}
	}
	return n
}

// write writes a process.
func (r *reader) write() {
	r.w.Head(0, -1, r.devices)
	r.findAbove()
	for _, l := range r.lists {
		write := r.call
		switch l.name {
		case "kernel_dispatch":
			write = r.kernel
		case "memory_copy":
			write = r.copy
		case "marker_api":
			write = r.mark
		}
		kineto.Elements(l.records, func(raw []byte) {
			r.w.Took(len(raw))
			x := record{stream: -1}
			x.read(raw)
			write(l.name, &x)
		})
	}
	if r.program != "" {
		r.w.Name("process_name", r.pid, r.pid, "name", r.program[strings.LastIndexByte(r.program, '/')+1:])
	}
}

func (r *reader) readAgents(list []byte) (devices []kinetotext.Device) {
	kineto.Elements(list, func(raw []byte) {
		var id, typ, number int64 = 0, 0, -1
		var product, name string
		take(raw, map[string]any{"id": func(v []byte) { id = handle(v) }, "type": &typ, "logical_node_type_id": &number, "product_name": &product, "name": &name})
		const gpu = 2 // ROCPROFILER_AGENT_TYPE_GPU
		if typ != gpu {
			r.agents[id] = agent{}
			return
		}
		if number < 0 {
			number = int64(len(devices))
		}
		r.agents[id] = agent{true, number}
		devices = append(devices, kinetotext.Device{ID: number, Name: cmp.Or(product, name)})
	})
	return devices
}

func (r *reader) readNames(raw []byte) {
	var n names
	take(raw, map[string]any{"operations": each(func(op []byte) { n.operations = append(n.operations, kineto.Unquoted(op)) })})
	r.names = append(r.names, n)
}

func (r *reader) readMark(raw []byte) {
	var key int64
	var text string
	take(raw, map[string]any{"key": &key, "value": &text})
	r.marks[key] = text
}

func (r *reader) readKernel(raw []byte) {
	var id int64
	var formatted, mangled string
	take(raw, map[string]any{"kernel_id": &id, "formatted_kernel_name": &formatted, "kernel_name": &mangled})
	r.kernels[id] = cmp.Or(formatted, strings.TrimSuffix(mangled, ".kd"))
}

// record is a call, a range or an operation; each has some of this.
type record struct {
	kind, operation, thread, correlation int64
	start, end                           int64 // ns, of a clock that counts from the start of the machine
	agent, from, to                      int64
	queue, stream                        int64 // stream -1: the version does not say
	kernel, bytes                        int64
	block, grid                          [3]int64 // grid in threads
}

func (x *record) read(raw []byte) {
	for m := kineto.Members(raw); m.Next(); {
		v := m.Value
		switch string(m.Key) {
		case "kind":
			x.kind = kineto.Int(v)
		case "operation":
			x.operation = kineto.Int(v)
		case "thread_id":
			x.thread = kineto.Int(v)
		case "start_timestamp":
			x.start = kineto.Int(v)
		case "end_timestamp":
			x.end = kineto.Int(v)
		case "correlation_id", "dispatch_info":
			x.read(v)
		case "internal":
			x.correlation = kineto.Int(v)
		case "agent_id":
			x.agent = handle(v)
		case "src_agent_id":
			x.from = handle(v)
		case "dst_agent_id":
			x.to = handle(v)
		case "queue_id":
			x.queue = handle(v)
		case "stream_id":
			x.stream = handle(v)
		case "kernel_id":
			x.kernel = kineto.Int(v)
		case "bytes":
			x.bytes = kineto.Int(v)
		case "workgroup_size":
			x.block = three(v)
		case "grid_size":
			x.grid = three(v)
		}
	}
}

// handle is the number in {"handle": 7}.
func handle(raw []byte) (n int64) {
	for m := kineto.Members(raw); m.Next(); {
		if string(m.Key) == "handle" {
			n = kineto.Int(m.Value)
		}
	}
	return n
}

// three are the numbers in {"x": 1, "y": 2, "z": 3}.
func three(raw []byte) (n [3]int64) {
	for m := kineto.Members(raw); m.Next(); {
		if len(m.Key) == 1 && 'x' <= m.Key[0] && m.Key[0] <= 'z' {
			n[m.Key[0]-'x'] = kineto.Int(m.Value)
		}
	}
	return n
}

// name is what an operation is called, "" where no list says it.
func (r *reader) name(x *record) string {
	if x.kind < 0 || x.kind >= int64(len(r.names)) || x.operation < 0 || x.operation >= int64(len(r.names[x.kind].operations)) {
		return ""
	}
	return r.names[x.kind].operations[x.operation]
}

// findAbove finds the calls of HIP around calls of HSA. A copy carries the correlation of the innermost call, and calls of
// HSA are no launches.
func (r *reader) findAbove() {
	threads := map[int64][]record{}
	var inside []record
	for _, l := range r.lists {
		if l.name != "hip_api" && l.name != "hsa_api" {
			continue
		}
		kineto.Elements(l.records, func(raw []byte) {
			var x record
			if x.read(raw); l.name == "hip_api" {
				threads[x.thread] = append(threads[x.thread], x)
			} else {
				inside = append(inside, x)
			}
		})
	}
	if len(inside) == 0 {
		return
	}
	for _, calls := range threads {
		slices.SortStableFunc(calls, func(a, b record) int { return cmp.Compare(a.start, b.start) })
	}
	for _, x := range inside {
		calls := threads[x.thread]
		n, _ := slices.BinarySearchFunc(calls, x.start+1, func(c record, at int64) int { return cmp.Compare(c.start, at) })
		if n > 0 && calls[n-1].end >= x.end {
			r.above[x.correlation] = calls[n-1].correlation
		}
	}
}

// call writes a call on its thread. The category is the name of the list: hip_api, hsa_api, rccl_api, memory_allocation, ….
func (r *reader) call(list string, x *record) {
	r.w.Slice(list, cmp.Or(r.name(x), list), r.pid, x.thread, x.start, x.end)
	r.w.Int("correlation", x.correlation)
	r.w.End()
}

// mark writes a range that the program pushed, or a mark. Ranges of the whole process do not nest: they are only drawn.
func (r *reader) mark(_ string, x *record) {
	call := r.name(x)
	text := cmp.Or(r.marks[x.correlation], call, "marker_api")
	switch {
	case strings.HasPrefix(call, "roctxMark"):
		r.w.Instant("roctx", text, r.pid, x.thread, x.start)
	case strings.Contains(call, "Process"), strings.Contains(call, "RangeStart"):
		r.w.Slice("roctx", text, r.pid, x.thread, x.start, x.end)
	default:
		r.w.Range("marker_api", text, r.pid, x.thread, x.start, x.end)
	}
	r.w.End()
}

// kernel writes a dispatch on its stream, or on its queue where the version knows no streams.
func (r *reader) kernel(list string, x *record) {
	r.operation(list, cmp.Or(r.kernels[x.kernel], "kernel"), r.agents[x.agent].number, x)
	for i := range x.grid {
		if x.block[i] > 0 {
			x.grid[i] = (x.grid[i] + x.block[i] - 1) / x.block[i]
		}
	}
	r.w.Three("grid", x.grid[0], x.grid[1], x.grid[2])
	r.w.Three("block", x.block[0], x.block[1], x.block[2])
	r.w.Int("queue", x.queue)
	r.w.End()
}

// copy writes a copy on the stream of its GPU; a copy between two GPUs stands on the stream of the destination.
func (r *reader) copy(list string, x *record) {
	from, to := r.agents[x.from], r.agents[x.to]
	at := to
	if !to.gpu {
		at = from
	}
	r.operation(list, cmp.Or(r.name(x), list), at.number, x)
	r.w.Int("bytes", x.bytes)
	r.w.Str("src", side(from))
	r.w.Str("dst", side(to))
	r.w.End()
}

func side(a agent) string {
	if a.gpu {
		return "GPU"
	}
	return "CPU"
}

// operation begins an operation of a stream.
func (r *reader) operation(category, name string, device int64, x *record) {
	stream := x.stream
	if stream < 0 {
		stream = x.queue
	}
	r.w.Slice(category, name, device, stream, x.start, x.end)
	r.w.Int("device", device)
	r.w.Int("stream", stream)
	correlation := x.correlation
	if c, ok := r.above[correlation]; ok {
		correlation = c
	}
	r.w.Int("correlation", correlation)
}

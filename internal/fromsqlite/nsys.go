package fromsqlite

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"overlay/internal/kineto"
	"overlay/internal/kinetotext"
	"overlay/internal/vendors"
)

// pidOf and tidOf take apart a serialised id of Nsight Systems: of its 64 bits the low 24 are the thread and the next 24
// the process.
func pidOf(global int64) int64 { return global >> 24 & 0xffffff }
func tidOf(global int64) int64 { return global & 0xffffff }

// nsys reads a report of Nsight Systems.
func (r *reader) nsys() error {
	r.names = map[int64]string{}
	err := r.rows("StringIds", []string{"id", "value"}, func(s *sqlite3.Stmt) { r.names[s.ColumnInt64(0)] = s.ColumnText(1) })
	if err != nil {
		return err
	}
	if err := r.processes(); err != nil {
		return err
	}
	base, start := int64(0), int64(0)
	r.rows("TARGET_INFO_SESSION_START_TIME", []string{"utcEpochNs"}, func(s *sqlite3.Stmt) { base = s.ColumnInt64(0) })
	r.rows("ANALYSIS_DETAILS", []string{"startTime"}, func(s *sqlite3.Stmt) { start = s.ColumnInt64(0) })
	if start < base {
		base -= start // times count from when the machine started, as the start of the recording does
	}
	var devices []kinetotext.Device
	r.rows("TARGET_INFO_GPU", []string{"id", "name"}, func(s *sqlite3.Stmt) {
		devices = append(devices, kinetotext.Device{ID: s.ColumnInt64(0), Name: s.ColumnText(1)})
	})
	r.w.Head(base, -1, devices)
	for _, step := range []func() error{r.nvtx, r.calls, r.noteExchanges, r.kernels, r.copies, r.sets, r.graphs, r.syncs, r.osCalls, r.threadNames} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// processes finds those that launched work: each is a trace of its own, since correlations are counted in each. Other
// processes belong to the one with the next lower number: they started later.
func (r *reader) processes() error {
	if r.of != nil {
		return nil
	}
	devices := map[int64]map[int64]bool{} // by process
	for _, table := range []string{"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"} {
		if !r.has(table, "globalPid", "deviceId") {
			continue
		}
		err := r.each("SELECT DISTINCT globalPid, deviceId FROM "+table, func(s *sqlite3.Stmt) {
			pid := pidOf(s.ColumnInt64(0))
			if devices[pid] == nil {
				devices[pid] = map[int64]bool{}
			}
			devices[pid][s.ColumnInt64(1)] = true
		})
		if err != nil {
			return err
		}
	}
	if len(devices) < 2 {
		return nil
	}
	working := slices.Sorted(maps.Keys(devices))
	with := make([][]int64, len(working))
	for i, pid := range working {
		with[i] = []int64{pid}
	}
	all := map[int64]bool{}
	for _, table := range []string{"NVTX_EVENTS", "OSRT_API", "CUPTI_ACTIVITY_KIND_RUNTIME"} {
		if r.has(table, "globalTid") {
			if err := r.each("SELECT DISTINCT globalTid >> 24 & 0xffffff FROM "+table, func(s *sqlite3.Stmt) { all[s.ColumnInt64(0)] = true }); err != nil {
				return err
			}
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(all)) {
		if i, ok := slices.BinarySearch(working, pid); !ok {
			with[max(i-1, 0)] = append(with[max(i-1, 0)], pid)
		}
	}
	own := map[int64]int64{} // the GPU of a process that has one for itself -> that process
	for _, pid := range working {
		for device := range devices[pid] {
			if _, shared := own[device]; len(devices[pid]) == 1 && !shared {
				own[device] = pid
			}
		}
	}
	e := &kineto.Several{File: r.name}
	for i, pid := range working {
		name := "process " + strconv.FormatInt(pid, 10)
		for device := range devices[pid] {
			if len(own) == len(working) {
				name = "gpu" + strconv.FormatInt(device, 10)
			}
		}
		e.Parts = append(e.Parts, kineto.Part{Name: name, PID: strconv.FormatInt(pid, 10), Write: func(to *kineto.Sink) (kineto.Options, error) {
			w, form, err := convert(r.src, r.name, to, with[i])
			if err == nil {
				err = w.Close()
			}
			return kineto.Options{From: int64(len(r.src)), Form: form}, err
		}})
	}
	return e
}

// Types of NVTX events.
const (
	nvtxMark     = 34
	nvtxPushPop  = 59
	nvtxStartEnd = 60
)

// nvtx reads what the program marked. Ranges that were pushed nest on their thread. Those that were started and ended by
// themselves do not: they are kept under a category that no analysis takes for work of the thread.
func (r *reader) nvtx() error {
	return r.rows("NVTX_EVENTS", []string{"start", "end", "eventType", "text", "textId", "globalTid", "domainId"}, func(s *sqlite3.Stmt) {
		name := s.ColumnText(3)
		if name == "" {
			name = r.names[s.ColumnInt64(4)]
		}
		pid, tid := pidOf(s.ColumnInt64(5)), tidOf(s.ColumnInt64(5))
		start, end := s.ColumnInt64(0), s.ColumnInt64(1)
		open := s.ColumnType(1) == sqlite3.NULL
		switch typ := s.ColumnInt64(2); {
		case typ == nvtxMark:
			r.w.Instant("nvtx", name, pid, tid, start)
		case typ == nvtxPushPop && !open:
			r.w.Range("user_annotation", name, pid, tid, start, end)
		case typ == nvtxStartEnd && !open:
			r.w.Slice("nvtx", name, pid, tid, start, end)
		default:
			return // domains, names, ranges that never ended
		}
		r.w.End()
	})
}

// calls reads calls of runtime and driver, which are in one table.
func (r *reader) calls() error {
	category := map[int64]string{}
	return r.rows("CUPTI_ACTIVITY_KIND_RUNTIME", []string{"start", "end", "globalTid", "correlationId", "nameId"}, func(s *sqlite3.Stmt) {
		id := s.ColumnInt64(4)
		name := withoutVersion(r.names[id])
		c, ok := category[id]
		if !ok {
			c = vendors.CallCategory(name)
			category[id] = c
		}
		global := s.ColumnInt64(2)
		r.w.Slice(c, name, pidOf(global), tidOf(global), s.ColumnInt64(0), s.ColumnInt64(1))
		r.w.Int("correlation", s.ColumnInt64(3))
		r.w.End()
	})
}

// withoutVersion cuts off the version of a call: cudaLaunchKernel_v7000.
func withoutVersion(name string) string {
	if i := strings.LastIndex(name, "_v"); i > 0 && len(name)-i > 4 && strings.Trim(name[i+2:], "0123456789") == "" {
		return name[:i]
	}
	return name
}

// operation begins an operation of a stream.
func (r *reader) operation(category, name string, start, end, dev, stream, correlation, context int64) {
	r.w.Slice(category, name, dev, stream, start, end)
	r.w.Int("device", dev)
	r.w.Int("stream", stream)
	r.w.Int("correlation", correlation)
	r.w.Int("context", context)
}

func (r *reader) kernels() error {
	columns := []string{"start", "end", "deviceId", "streamId", "correlationId", "contextId", "demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
		"registersPerThread", "graphNodeId"}
	return r.rows("CUPTI_ACTIVITY_KIND_KERNEL", columns, func(s *sqlite3.Stmt) {
		name := r.names[s.ColumnInt64(6)]
		if name == "" {
			name = r.names[s.ColumnInt64(7)]
		}
		r.operation("kernel", name, s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnInt64(3), s.ColumnInt64(4), s.ColumnInt64(5))
		if s.ColumnType(8) != sqlite3.NULL {
			r.w.Three("grid", s.ColumnInt64(8), s.ColumnInt64(9), s.ColumnInt64(10))
			r.w.Three("block", s.ColumnInt64(11), s.ColumnInt64(12), s.ColumnInt64(13))
		}
		if s.ColumnType(14) != sqlite3.NULL {
			r.w.Int("registers per thread", s.ColumnInt64(14))
		}
		if ranks := r.exchanges[s.ColumnInt64(4)]; ranks > 0 && strings.HasPrefix(name, "nccl") {
			r.w.Str("Collective name", "all_to_all")
			r.w.Int("Group size", ranks)
		}
		r.graphNode(s, 15)
		r.w.End()
	})
}

// graphNode adds the node of a CUDA graph that an operation is.
func (r *reader) graphNode(s *sqlite3.Stmt, column int) {
	if n := s.ColumnInt64(column); n != 0 {
		r.w.Int("graph node id", n&0xffffffff)
		r.w.Int("graph id", n>>32)
	}
}

// Names of copies and kinds of memory where the database has no table of them (ENUM_CUDA_MEMCPY_OPER, ENUM_CUDA_MEM_KIND).
var (
	copyDirections = []string{"", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"}
	memoryKinds    = []string{"Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"}
)

// memoryKind is a kind of memory in Kineto's words.
func (r *reader) memoryKind(labels map[int64]string, kind int64) string {
	label := strings.ToLower(labels[kind])
	for _, k := range slices.Backward(memoryKinds) { // "Device Static" before "Device"
		if label != "" && strings.Contains(strings.ReplaceAll(label, "-", " "), strings.ToLower(k)) {
			return k
		}
	}
	if label == "" && kind >= 0 && kind < int64(len(memoryKinds)) {
		return memoryKinds[kind]
	}
	return "Unknown"
}

// labels reads a table of names.
func (r *reader) labels(table string) map[int64]string {
	m := map[int64]string{}
	r.rows(table, []string{"id", "label"}, func(s *sqlite3.Stmt) { m[s.ColumnInt64(0)] = s.ColumnText(1) })
	return m
}

func (r *reader) copies() error {
	labels := r.labels("ENUM_CUDA_MEM_KIND")
	columns := []string{"start", "end", "deviceId", "streamId", "correlationId", "contextId", "copyKind", "srcKind", "dstKind", "bytes", "graphNodeId"}
	return r.rows("CUPTI_ACTIVITY_KIND_MEMCPY", columns, func(s *sqlite3.Stmt) {
		direction := "<unknown>"
		if k := s.ColumnInt64(6); k > 0 && k < int64(len(copyDirections)) {
			direction = copyDirections[k]
		}
		name := "Memcpy " + direction + " (" + r.memoryKind(labels, s.ColumnInt64(7)) + " -> " + r.memoryKind(labels, s.ColumnInt64(8)) + ")"
		r.operation("gpu_memcpy", name, s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnInt64(3), s.ColumnInt64(4), s.ColumnInt64(5))
		r.w.Int("bytes", s.ColumnInt64(9))
		r.graphNode(s, 10)
		r.w.End()
	})
}

func (r *reader) sets() error {
	labels := r.labels("ENUM_CUDA_MEM_KIND")
	columns := []string{"start", "end", "deviceId", "streamId", "correlationId", "contextId", "memKind", "bytes", "graphNodeId"}
	return r.rows("CUPTI_ACTIVITY_KIND_MEMSET", columns, func(s *sqlite3.Stmt) {
		name := "Memset (" + r.memoryKind(labels, s.ColumnInt64(6)) + ")"
		r.operation("gpu_memset", name, s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnInt64(3), s.ColumnInt64(4), s.ColumnInt64(5))
		r.w.Int("bytes", s.ColumnInt64(7))
		r.graphNode(s, 8)
		r.w.End()
	})
}

// graphs reads launches of CUDA graphs that were recorded as a whole: then none of their operations is.
func (r *reader) graphs() error {
	columns := []string{"start", "end", "deviceId", "streamId", "correlationId", "contextId", "graphId"}
	return r.rows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", columns, func(s *sqlite3.Stmt) {
		name := "CUDA graph " + strconv.FormatInt(s.ColumnInt64(6), 10)
		r.operation("kernel", name, s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnInt64(3), s.ColumnInt64(4), s.ColumnInt64(5))
		r.w.End()
	})
}

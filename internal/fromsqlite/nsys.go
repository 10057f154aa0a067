package fromsqlite

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"

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
	if err := r.oneProcess(); err != nil {
		return err
	}
	base := int64(0)
	r.rows("TARGET_INFO_SESSION_START_TIME", []string{"utcEpochNs"}, func(s *sqlite3.Stmt) { base = s.ColumnInt64(0) })
	var devices []device
	r.rows("TARGET_INFO_GPU", []string{"id", "name"}, func(s *sqlite3.Stmt) { devices = append(devices, device{s.ColumnInt64(0), s.ColumnText(1)}) })
	r.w.head(base, -1, devices)
	for _, step := range []func() error{r.nvtx, r.calls, r.kernels, r.copies, r.sets, r.graphs, r.syncs, r.osCalls, r.threadNames} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// oneProcess refuses reports of several processes that launched work: their correlations are counted apart.
func (r *reader) oneProcess() error {
	pids := map[int64]bool{}
	for _, table := range []string{"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY"} {
		if !r.has(table, "globalPid") {
			continue
		}
		err := r.each("SELECT DISTINCT globalPid FROM "+table, func(s *sqlite3.Stmt) { pids[pidOf(s.ColumnInt64(0))] = true })
		if err != nil {
			return err
		}
	}
	if len(pids) < 2 {
		return nil
	}
	var list []string
	for _, pid := range slices.Sorted(maps.Keys(pids)) {
		list = append(list, strconv.FormatInt(pid, 10))
	}
	return &wrong{fmt.Sprintf("%d processes launched GPU work in this report (%s): record each rank into a report of its own (nsys profile -o rank%%q{RANK} …)", len(list), strings.Join(list, ", "))}
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
			r.w.instant("nvtx", name, pid, tid, start)
		case typ == nvtxPushPop && !open:
			category, short := nvtxKind(name)
			r.w.slice(category, short, pid, tid, start, end)
			if short != name {
				r.w.str("range", name)
			}
		case typ == nvtxStartEnd && !open:
			r.w.slice("nvtx", name, pid, tid, start, end)
		default:
			return // domains, names, ranges that never ended
		}
		r.w.end()
	})
}

// nvtxKind tells operators of PyTorch (torch.autograd.profiler.emit_nvtx writes "aten::mm, op_id = 3") from ranges that
// the program names.
func nvtxKind(name string) (category, short string) {
	short, _, listed := strings.Cut(name, ", ")
	if space, _, ok := strings.Cut(short, "::"); ok && space != "" && !strings.ContainsAny(space, " (<") && (listed || !strings.Contains(name, " ")) {
		return "cpu_op", short
	}
	return "user_annotation", name
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
		r.w.slice(c, name, pidOf(global), tidOf(global), s.ColumnInt64(0), s.ColumnInt64(1))
		r.w.int("correlation", s.ColumnInt64(3))
		r.w.end()
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
	r.w.slice(category, name, dev, stream, start, end)
	r.w.int("device", dev)
	r.w.int("stream", stream)
	r.w.int("correlation", correlation)
	r.w.int("context", context)
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
			r.w.three("grid", s.ColumnInt64(8), s.ColumnInt64(9), s.ColumnInt64(10))
			r.w.three("block", s.ColumnInt64(11), s.ColumnInt64(12), s.ColumnInt64(13))
		}
		if s.ColumnType(14) != sqlite3.NULL {
			r.w.int("registers per thread", s.ColumnInt64(14))
		}
		r.graphNode(s, 15)
		r.w.end()
	})
}

// graphNode adds the node of a CUDA graph that an operation is.
func (r *reader) graphNode(s *sqlite3.Stmt, column int) {
	if n := s.ColumnInt64(column); n != 0 {
		r.w.int("graph node id", n&0xffffffff)
		r.w.int("graph id", n>>32)
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
		r.w.int("bytes", s.ColumnInt64(9))
		r.graphNode(s, 10)
		r.w.end()
	})
}

func (r *reader) sets() error {
	labels := r.labels("ENUM_CUDA_MEM_KIND")
	columns := []string{"start", "end", "deviceId", "streamId", "correlationId", "contextId", "memKind", "bytes", "graphNodeId"}
	return r.rows("CUPTI_ACTIVITY_KIND_MEMSET", columns, func(s *sqlite3.Stmt) {
		name := "Memset (" + r.memoryKind(labels, s.ColumnInt64(6)) + ")"
		r.operation("gpu_memset", name, s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnInt64(3), s.ColumnInt64(4), s.ColumnInt64(5))
		r.w.int("bytes", s.ColumnInt64(7))
		r.graphNode(s, 8)
		r.w.end()
	})
}

// graphs reads launches of CUDA graphs that were recorded as a whole: then none of their operations is.
func (r *reader) graphs() error {
	columns := []string{"start", "end", "deviceId", "streamId", "correlationId", "contextId", "graphId"}
	return r.rows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", columns, func(s *sqlite3.Stmt) {
		name := "CUDA graph " + strconv.FormatInt(s.ColumnInt64(6), 10)
		r.operation("kernel", name, s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnInt64(3), s.ColumnInt64(4), s.ColumnInt64(5))
		r.w.end()
	})
}

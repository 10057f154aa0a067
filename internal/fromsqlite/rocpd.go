package fromsqlite

import (
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// rocpd reads a database of rocprofv3 through its views: the tables behind them carry a number of the run in their
// names. Calls and operations are joined by the stack id, which is the profiler's own correlation.
func (r *reader) rocpd() error {
	var devices []device
	r.rows("rocpd_info_agent", []string{"absolute_index", "type", "product_name", "name"}, func(s *sqlite3.Stmt) {
		name := s.ColumnText(2)
		if name == "" {
			name = s.ColumnText(3)
		}
		if s.ColumnText(1) == "GPU" && name != "" {
			devices = append(devices, device{s.ColumnInt64(0), name})
		}
	})
	r.w.head(0, -1, devices)
	for _, step := range []func() error{r.rocpdRegions, r.rocpdKernels, r.rocpdCopies, r.rocpdThreads} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// rocpdCategory is the category for a domain of calls: HIP_RUNTIME_API_EXT, HSA_CORE_API, MARKER_CORE_RANGE_API.
func rocpdCategory(domain string) string {
	for start, category := range map[string]string{"HIP_": "hip_api", "MARKER_": "marker_api", "RCCL_": "rccl_api", "HSA_": "hsa_api"} {
		if strings.HasPrefix(domain, start) {
			return category
		}
	}
	return strings.ToLower(domain)
}

func (r *reader) rocpdRegions() error {
	message := "NULL"
	if r.has("regions", "extdata") {
		message = "CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.message') END"
	}
	id := "NULL"
	if r.has("regions", "stack_id") {
		id = "stack_id"
	}
	if !r.has("regions", "name", "category", "pid", "tid", "start", "end") {
		return nil
	}
	return r.each("SELECT category, name, pid, tid, start, \"end\", "+id+", "+message+" FROM regions", func(s *sqlite3.Stmt) {
		category, name := rocpdCategory(s.ColumnText(0)), s.ColumnText(1)
		text := s.ColumnText(7)
		if category == "marker_api" && text != "" {
			name = text // of the range that the program marked, not of the call
		}
		r.w.slice(category, name, s.ColumnInt64(2), s.ColumnInt64(3), s.ColumnInt64(4), s.ColumnInt64(5))
		if s.ColumnType(6) != sqlite3.NULL {
			r.w.int("correlation", s.ColumnInt64(6))
		}
		r.w.end()
	})
}

func (r *reader) rocpdKernels() error {
	columns := []string{"start", "end", "agent_absolute_index", "stream_id", "stack_id", "name", "grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z", "queue_id"}
	return r.rows("kernels", columns, func(s *sqlite3.Stmt) {
		r.rocpdOperation(s, "kernel_dispatch", s.ColumnText(5), s.ColumnInt64(2))
		r.w.three("grid", s.ColumnInt64(6), s.ColumnInt64(7), s.ColumnInt64(8))
		r.w.three("block", s.ColumnInt64(9), s.ColumnInt64(10), s.ColumnInt64(11))
		r.w.int("queue", s.ColumnInt64(12))
		r.w.end()
	})
}

// rocpdOperation begins an operation; the first columns are start, end, device, stream and stack id.
func (r *reader) rocpdOperation(s *sqlite3.Stmt, category, name string, dev int64) {
	stream := s.ColumnInt64(3)
	r.w.slice(category, name, dev, stream, s.ColumnInt64(0), s.ColumnInt64(1))
	r.w.int("device", dev)
	r.w.int("stream", stream)
	if s.ColumnType(4) != sqlite3.NULL {
		r.w.int("correlation", s.ColumnInt64(4))
	}
}

func (r *reader) rocpdCopies() error {
	columns := []string{"start", "end", "dst_agent_absolute_index", "stream_id", "stack_id", "name", "size", "src_agent_type", "dst_agent_type", "src_agent_absolute_index"}
	return r.rows("memory_copies", columns, func(s *sqlite3.Stmt) {
		dev := s.ColumnInt64(2)
		if s.ColumnText(8) == "CPU" && s.ColumnText(7) == "GPU" {
			dev = s.ColumnInt64(9) // the stream is one of the device, whichever way the copy goes
		}
		r.rocpdOperation(s, "memory_copy", s.ColumnText(5), dev)
		r.w.int("bytes", s.ColumnInt64(6))
		r.w.str("src", s.ColumnText(7))
		r.w.str("dst", s.ColumnText(8))
		r.w.end()
	})
}

func (r *reader) rocpdThreads() error {
	return r.rows("threads", []string{"pid", "tid", "name"}, func(s *sqlite3.Stmt) {
		if name := s.ColumnText(2); name != "" {
			r.w.name("thread_name", s.ColumnInt64(0), s.ColumnInt64(1), "name", name)
		}
	})
}

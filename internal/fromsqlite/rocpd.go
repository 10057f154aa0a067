package fromsqlite

import (
	"strings"

	"github.com/ncruces/go-sqlite3"

	"overlay/internal/kinetotext"
)

// rocpd reads a database of rocprofv3 through its views: the tables behind them carry a number of the run in their
// names. Calls and operations are joined by the stack id, which is the profiler's own correlation.
func (r *reader) rocpd() error {
	var devices []kinetotext.Device
	r.rows("rocpd_info_agent", []string{"absolute_index", "type", "product_name", "name"}, func(s *sqlite3.Stmt) {
		name := s.ColumnText(2)
		if name == "" {
			name = s.ColumnText(3)
		}
		if s.ColumnText(1) == "GPU" && name != "" {
			devices = append(devices, kinetotext.Device{ID: s.ColumnInt64(0), Name: name})
		}
	})
	r.w.Head(0, -1, devices)
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
		r.w.Slice(category, name, s.ColumnInt64(2), s.ColumnInt64(3), s.ColumnInt64(4), s.ColumnInt64(5))
		if s.ColumnType(6) != sqlite3.NULL {
			r.w.Int("correlation", s.ColumnInt64(6))
		}
		r.w.End()
	})
}

func (r *reader) rocpdKernels() error {
	columns := []string{"start", "end", "agent_absolute_index", "stream_id", "stack_id", "name", "grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z", "queue_id"}
	return r.rows("kernels", columns, func(s *sqlite3.Stmt) {
		r.rocpdOperation(s, "kernel_dispatch", s.ColumnText(5), s.ColumnInt64(2))
		r.w.Three("grid", s.ColumnInt64(6), s.ColumnInt64(7), s.ColumnInt64(8))
		r.w.Three("block", s.ColumnInt64(9), s.ColumnInt64(10), s.ColumnInt64(11))
		r.w.Int("queue", s.ColumnInt64(12))
		r.w.End()
	})
}

// rocpdOperation begins an operation; the first columns are start, end, device, stream and stack id.
func (r *reader) rocpdOperation(s *sqlite3.Stmt, category, name string, dev int64) {
	stream := s.ColumnInt64(3)
	r.w.Slice(category, name, dev, stream, s.ColumnInt64(0), s.ColumnInt64(1))
	r.w.Int("device", dev)
	r.w.Int("stream", stream)
	if s.ColumnType(4) != sqlite3.NULL {
		r.w.Int("correlation", s.ColumnInt64(4))
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
		r.w.Int("bytes", s.ColumnInt64(6))
		r.w.Str("src", s.ColumnText(7))
		r.w.Str("dst", s.ColumnText(8))
		r.w.End()
	})
}

func (r *reader) rocpdThreads() error {
	return r.rows("threads", []string{"pid", "tid", "name"}, func(s *sqlite3.Stmt) {
		if name := s.ColumnText(2); name != "" {
			r.w.Name("thread_name", s.ColumnInt64(0), s.ColumnInt64(1), "name", name)
		}
	})
}

package fromsqlite

import (
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"overlay/internal/kinetotext"
	"overlay/internal/trace"
)

// ascend reads a database of Ascend's profiler for PyTorch, or of msprof. Times are Unix times in ns. A call and the tasks
// that it launched have one connectionId.
func (r *reader) ascend() error {
	r.names = map[int64]string{}
	if err := r.rows("STRING_IDS", []string{"id", "value"}, func(s *sqlite3.Stmt) { r.names[s.ColumnInt64(0)] = s.ColumnText(1) }); err != nil {
		return err
	}
	if err := r.ascendStart(); err != nil {
		return err
	}
	var devices []kinetotext.Device
	r.rows("NPU_INFO", []string{"id", "name"}, func(s *sqlite3.Stmt) {
		if s.ColumnInt64(0) >= 0 {
			devices = append(devices, kinetotext.Device{ID: s.ColumnInt64(0), Name: s.ColumnText(1)})
		}
	})
	rank := int64(-1) // msprof writes that too where it knows none
	r.rows("RANK_DEVICE_MAP", []string{"rankId"}, func(s *sqlite3.Stmt) { rank = max(rank, s.ColumnInt64(0)) })
	r.w.Head(r.base, rank, devices)
	for _, step := range []func() error{r.ascendOps, r.ascendMarks, r.ascendCalls, r.ascendTasks, r.ascendSystem} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// ascendStart finds the earliest time, from which all others are told: time stamps of JSON are short then, and exact.
func (r *reader) ascendStart() error {
	for _, table := range []string{"PYTORCH_API", "CANN_API", "TASK", "COMMUNICATION_OP", "MSTX_EVENTS", "OSRT_API"} {
		if !r.has(table, "startNs") {
			continue
		}
		// Older versions write the times of operators as texts.
		err := r.each("SELECT min(CAST(startNs AS INTEGER)) FROM "+table, func(s *sqlite3.Stmt) {
			if t := s.ColumnInt64(0); t > 0 && (r.base == 0 || t < r.base) {
				r.base = t
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// since is a time stamp in the text.
func (r *reader) since(s *sqlite3.Stmt, column int) int64 { return s.ColumnInt64(column) - r.base }

// Types of PYTORCH_API (ENUM_API_TYPE).
const (
	ascendOp    = 50001
	ascendQueue = 50002 // of operators on their way to the thread that launches them: Enqueue@… and Dequeue@…
	ascendStack = 50003
	ascendMark  = 50004
)

// ascendOps reads what the framework recorded.
func (r *reader) ascendOps() error {
	columns := []string{"startNs", "endNs", "globalTid", "name", "type", "sequenceNumber", "fwdThreadId", "connectionId"}
	return r.rows("PYTORCH_API", columns, func(s *sqlite3.Stmt) {
		name := r.names[s.ColumnInt64(3)]
		category := "cpu_op"
		switch typ := s.ColumnInt64(4); {
		case typ == ascendStack:
			category = "python_function"
		case typ == ascendMark, strings.HasPrefix(name, trace.StepPrefix):
			category = "user_annotation"
		}
		r.ascendHost(s, category, name)
		if seq := s.ColumnInt64(5); s.ColumnType(5) != sqlite3.NULL && seq >= 0 {
			r.w.Int("Sequence number", seq)
			r.w.Int("Fwd thread id", s.ColumnInt64(6))
		}
		r.w.End()
	})
}

// ascendHost begins a slice of a thread; the first columns are start, end and the global thread id, of which the high 32
// bits are the process.
func (r *reader) ascendHost(s *sqlite3.Stmt, category, name string) {
	global := s.ColumnInt64(2)
	r.w.Slice(category, name, int64(uint64(global)>>32), global&0xffffffff, r.since(s, 0), r.since(s, 1))
}

// ascendMarks reads ranges that the program pushed by mstx (ENUM_MSTX_EVENT_TYPE); others do not nest, and are only drawn.
func (r *reader) ascendMarks() error {
	return r.rows("MSTX_EVENTS", []string{"startNs", "endNs", "globalTid", "message", "eventType"}, func(s *sqlite3.Stmt) {
		name, category := r.names[s.ColumnInt64(3)], "mstx"
		if s.ColumnInt64(4) == 1 {
			category = "user_annotation"
		}
		r.ascendHost(s, category, name)
		r.w.End()
	})
}

// ascendCalls reads calls of all levels, which nest on their thread: of the interface, of the node, of the runtime.
func (r *reader) ascendCalls() error {
	levels := map[int64]string{}
	r.rows("ENUM_API_TYPE", []string{"id", "name"}, func(s *sqlite3.Stmt) { levels[s.ColumnInt64(0)] = s.ColumnText(1) })
	return r.rows("CANN_API", []string{"startNs", "endNs", "globalTid", "name", "connectionId", "type"}, func(s *sqlite3.Stmt) {
		r.ascendHost(s, "cann_api", r.names[s.ColumnInt64(3)])
		if id, ok := connection(s, 4); ok {
			r.w.Int("correlation", id)
		}
		if level := levels[s.ColumnInt64(5)]; level != "" {
			r.w.Str("level", level)
		}
		r.w.End()
	})
}

// connection is the number that joins calls and tasks. -1 says that there is none; as 32 bits without a sign in some versions.
func connection(s *sqlite3.Stmt, column int) (int64, bool) {
	id := s.ColumnInt64(column)
	return id, s.ColumnType(column) != sqlite3.NULL && id >= 0 && id != 1<<32-1
}

// ascendSystem reads calls of the operating system: drawn, not analysed.
func (r *reader) ascendSystem() error {
	if !r.has("OSRT_API", "startNs") {
		return nil
	}
	return r.rows("OSRT_API", []string{"startNs", "endNs", "globalTid", "name"}, func(s *sqlite3.Stmt) {
		name := r.names[s.ColumnInt64(3)]
		if name == "" {
			name = "call " + strconv.FormatInt(s.ColumnInt64(3), 10)
		}
		r.ascendHost(s, "osrt", name)
		r.w.End()
	})
}

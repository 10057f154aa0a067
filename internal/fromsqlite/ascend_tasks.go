package fromsqlite

import (
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// ascendTask is what other tables say of a task.
type ascendTask struct {
	name, kind, shapes string // of a task that computes
	copies             string // which way, of a copy
	bytes              int64
	op                 int64 // of a part of a communication
	part, leads        bool  // it is one; it lies on the stream that leads
}

// ascendStream is a stream of a device, once one is known.
type ascendStream struct {
	device, stream int64
	known, leads   bool
}

// firstGroup is the number of the first row for communications of which no task tells the stream.
const firstGroup = 1 << 20

// ascendTasks reads what ran on streams. Each communication is one operation on its leading stream; the tasks that it is
// made of are drawn, and are no operations of their own.
func (r *reader) ascendTasks() error {
	known, err := r.ascendKnown()
	if err != nil {
		return err
	}
	streams := map[int64]ascendStream{} // by communication
	columns := []string{"startNs", "endNs", "deviceId", "streamId", "connectionId", "taskType", "globalTaskId"}
	err = r.rows("TASK", columns, func(s *sqlite3.Stmt) {
		t := known[s.ColumnInt64(6)]
		if t.part {
			if x := streams[t.op]; !x.known || t.leads && !x.leads {
				streams[t.op] = ascendStream{s.ColumnInt64(2), s.ColumnInt64(3), true, t.leads}
			}
		}
		r.ascendTask(s, &t)
	})
	if err != nil {
		return err
	}
	groups := map[int64]int64{}
	columns = []string{"startNs", "endNs", "deviceId", "connectionId", "opName", "opId", "groupName", "opType"}
	return r.rows("COMMUNICATION_OP", columns, func(s *sqlite3.Stmt) {
		x := streams[s.ColumnInt64(5)]
		if !x.known {
			group := s.ColumnInt64(6)
			if _, ok := groups[group]; !ok {
				groups[group] = firstGroup + int64(len(groups))
			}
			x = ascendStream{device: s.ColumnInt64(2), stream: groups[group]}
		}
		r.w.Slice("kernel", r.names[s.ColumnInt64(4)], x.device, x.stream, r.since(s, 0), r.since(s, 1))
		r.ascendPlace(s, x.device, x.stream, 3)
		r.ascendText("group", s.ColumnInt64(6))
		r.ascendText("op type", s.ColumnInt64(7))
		r.w.End()
	})
}

// ascendPlace says where an operation ran, and what launched it.
func (r *reader) ascendPlace(s *sqlite3.Stmt, device, stream int64, column int) {
	r.w.Int("device", device)
	r.w.Int("stream", stream)
	if id, ok := connection(s, column); ok {
		r.w.Int("correlation", id)
	}
}

func (r *reader) ascendText(key string, id int64) {
	if s := r.names[id]; s != "" {
		r.w.Str(key, s)
	}
}

// ascendTask writes a task. What no other table knows is an operation when a call launched it and its type says no wait and
// no signal: in short recordings nothing else is said of tasks that compute. The rest is drawn.
func (r *reader) ascendTask(s *sqlite3.Stmt, t *ascendTask) {
	kind := r.names[s.ColumnInt64(5)]
	_, launched := connection(s, 4)
	category, name := "ascend_task", kind
	switch {
	case t.part:
		name = t.name
	case t.copies != "":
		category, name = "gpu_memcpy", "Memcpy "+t.copies
	case t.name != "":
		category, name = "kernel", t.name
	case !launched || ascendSignals(kind):
	case strings.Contains(kind, "MEMCPY"):
		category, name = "gpu_memcpy", "Memcpy"
	default:
		category = "kernel"
	}
	device, stream := s.ColumnInt64(2), s.ColumnInt64(3)
	r.w.Slice(category, name, device, stream, r.since(s, 0), r.since(s, 1))
	r.ascendPlace(s, device, stream, 4)
	for _, x := range [][2]string{{"task type", kind}, {"op type", t.kind}, {"input shapes", t.shapes}} {
		if x[1] != "" {
			r.w.Str(x[0], x[1])
		}
	}
	if t.bytes > 0 {
		r.w.Int("bytes", t.bytes)
	}
	r.w.End()
}

// ascendSignals reports whether a type of tasks is one of those that wait, signal or mark.
func ascendSignals(kind string) bool {
	for _, part := range []string{"EVENT", "NOTIFY", "WAIT", "RECORD", "PROFIL", "LABEL", "FLIP", "PLACE_HOLDER", "STARS_COMMON", "MODEL_MAINTAINCE"} {
		if strings.Contains(strings.ToUpper(kind), part) {
			return true
		}
	}
	return false
}

// ascendKnown gathers by globalTaskId what other tables say of tasks.
func (r *reader) ascendKnown() (map[int64]ascendTask, error) {
	known := map[int64]ascendTask{}
	for _, table := range []string{"COMPUTE_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO"} {
		err := r.rows(table, []string{"globalTaskId", "name", "opType", "inputShapes"}, func(s *sqlite3.Stmt) {
			known[s.ColumnInt64(0)] = ascendTask{name: r.names[s.ColumnInt64(1)], kind: r.names[s.ColumnInt64(2)], shapes: r.names[s.ColumnInt64(3)]}
		})
		if err != nil {
			return nil, err
		}
	}
	directions := map[int64]string{}
	r.rows("ENUM_MEMCPY_OPERATION", []string{"id", "name"}, func(s *sqlite3.Stmt) { directions[s.ColumnInt64(0)] = s.ColumnText(1) })
	err := r.rows("MEMCPY_INFO", []string{"globalTaskId", "size", "memcpyOperation"}, func(s *sqlite3.Stmt) {
		direction := directions[s.ColumnInt64(2)]
		if len(directions) == 0 {
			direction = r.names[s.ColumnInt64(2)]
		}
		t := known[s.ColumnInt64(0)]
		t.copies, t.bytes = copyDirection(direction), s.ColumnInt64(1)
		known[s.ColumnInt64(0)] = t
	})
	if err != nil {
		return nil, err
	}
	err = r.rows("COMMUNICATION_TASK_INFO", []string{"globalTaskId", "name", "opId", "isMaster"}, func(s *sqlite3.Stmt) {
		known[s.ColumnInt64(0)] = ascendTask{name: r.names[s.ColumnInt64(1)], op: s.ColumnInt64(2), part: true, leads: s.ColumnInt64(3) == 1}
	})
	return known, err
}

// copyDirection is a direction in Kineto's words: "host to device ex" is HtoD.
func copyDirection(s string) string {
	from, to, ok := strings.Cut(s, " to ")
	if !ok || from == "" || to == "" {
		return "<unknown>"
	}
	side := func(s string) string {
		if strings.Contains(s, "host") {
			return "H"
		}
		return "D"
	}
	return side(from) + "to" + side(to)
}

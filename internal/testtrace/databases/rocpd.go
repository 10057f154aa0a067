package databases

import "overlay/internal/trace"

// The tables behind the views carry a number of the run in their names.
const rocpdTables = `
CREATE TABLE rocpd_region_1 (id INTEGER PRIMARY KEY, guid TEXT, category TEXT, name TEXT, pid INT, tid INT, "start" INT, "end" INT, stack_id INT, extdata TEXT);
CREATE TABLE rocpd_kernel_dispatch_1 (id INTEGER PRIMARY KEY, guid TEXT, pid INT, tid INT, category TEXT, region TEXT, name TEXT, agent_absolute_index INT, agent_type TEXT, queue_id INT, stream_id INT,
	"start" INT, "end" INT, grid_x INT, grid_y INT, grid_z INT, workgroup_x INT, workgroup_y INT, workgroup_z INT, stack_id INT);
CREATE TABLE rocpd_memory_copy_1 (id INTEGER PRIMARY KEY, guid TEXT, pid INT, tid INT, category TEXT, name TEXT, "start" INT, "end" INT, queue_id INT, stream_id INT, size INT,
	dst_agent_absolute_index INT, dst_agent_type TEXT, src_agent_absolute_index INT, src_agent_type TEXT, stack_id INT);
CREATE TABLE rocpd_info_agent_1 (id INTEGER PRIMARY KEY, guid TEXT, type TEXT, absolute_index INT, name TEXT, product_name TEXT);
INSERT INTO rocpd_info_agent_1 VALUES (1, 'x', 'CPU', 9, 'cpu', 'a CPU'), (2, 'x', 'GPU', 0, 'gfx942', 'AMD Instinct MI300X');
CREATE VIEW regions AS SELECT *, "end" - "start" AS duration FROM rocpd_region_1;
CREATE VIEW kernels AS SELECT *, "end" - "start" AS duration FROM rocpd_kernel_dispatch_1;
CREATE VIEW memory_copies AS SELECT *, "end" - "start" AS duration FROM rocpd_memory_copy_1;
CREATE VIEW rocpd_info_agent AS SELECT * FROM rocpd_info_agent_1;
CREATE VIEW broken AS SELECT * FROM a_table_that_is_not_there;
`

// Rocpd is the database that rocprofv3 would write if it had recorded the trace: HIP calls, markers, collectives, kernels
// and copies.
func Rocpd(tr *trace.Trace) ([]byte, error) {
	return fill(tr, rocpdTables, func(f *filler) error {
		n := int64(0)
		next := func() int64 { n++; return n }
		for _, k := range []struct {
			kind     trace.Kind
			category string
		}{{trace.Runtime, "HIP_RUNTIME_API_EXT"}, {trace.Annotation, "MARKER_CORE_RANGE_API"}, {trace.CPUOp, "RCCL_API"}} {
			err := f.each(func(id trace.EventID, e *trace.Event) error {
				name, extra := f.tr.Name(id), any(nil)
				if k.kind == trace.Annotation {
					name, extra = "roctxThreadRangeA", `{"message": `+quote(name)+`}`
				}
				return f.insert("rocpd_region_1", next(), "x", k.category, name, PID, tid(e), e.Start, f.tr.End(e), f.correlation(e), extra)
			}, k.kind)
			if err != nil {
				return err
			}
		}
		err := f.each(func(id trace.EventID, e *trace.Event) error {
			return f.insert("rocpd_kernel_dispatch_1", next(), "x", PID, 1, "KERNEL_DISPATCH", "", f.tr.Name(id), f.device(e), "GPU", 0, f.stream(e), e.Start, f.tr.End(e), 1, 1, 1, 64, 1, 1, f.correlation(e))
		}, trace.Kernel)
		if err != nil {
			return err
		}
		return f.each(func(id trace.EventID, e *trace.Event) error {
			// Copies to the host name the host as where they go.
			to, toType, from, fromType := any(f.device(e)), "GPU", any(9), "CPU"
			if direction, _, _ := copyOf(f.tr.Name(id)); direction == 2 {
				to, toType, from, fromType = from, fromType, to, toType
			}
			return f.insert("rocpd_memory_copy_1", next(), "x", PID, 1, "MEMORY_COPY", f.tr.Name(id), e.Start, f.tr.End(e), 0, f.stream(e), f.arg(id, "bytes"), to, toType, from, fromType, f.correlation(e))
		}, trace.Memcpy)
	})
}

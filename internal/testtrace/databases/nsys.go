package databases

import (
	"strings"

	"overlay/internal/trace"
)

const nsysTables = `
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT NOT NULL, "end" INT NOT NULL, eventClass INT, globalTid INT, correlationId INT, nameId INT NOT NULL, returnValue INT NOT NULL, callchainId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, "end" INT NOT NULL, deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT, globalPid INT,
	demangledName INT NOT NULL, shortName INT NOT NULL, registersPerThread INT, gridX INT NOT NULL, gridY INT NOT NULL, gridZ INT NOT NULL, blockX INT NOT NULL, blockY INT NOT NULL, blockZ INT NOT NULL, graphNodeId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT NOT NULL, "end" INT NOT NULL, deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT, globalPid INT,
	bytes INT NOT NULL, copyKind INT NOT NULL, srcKind INT, dstKind INT, graphNodeId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT NOT NULL, "end" INT NOT NULL, deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT, globalPid INT,
	value INT NOT NULL, bytes INT NOT NULL, graphNodeId INT, memKind INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT NOT NULL, "end" INT NOT NULL, deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT, globalPid INT,
	syncType INT NOT NULL, eventId INT NOT NULL, eventSyncId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT, globalPid INT, eventId INT NOT NULL, eventSyncId INT);
CREATE TABLE NVTX_EVENTS (start INT NOT NULL, "end" INT, eventType INT NOT NULL, rangeId INT, category INT, color INT, text TEXT, globalTid INT, endGlobalTid INT, textId INT, domainId INT);
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ThreadNames (nameId INT NOT NULL, priority INT, globalTid INT);
CREATE TABLE TARGET_INFO_GPU (vmId INT, id INT NOT NULL, name TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT, utcTime TEXT, localTime TEXT);
CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE', 'Pageable'), (1, 'CUDA_MEMOPR_MEMORY_KIND_PINNED', 'Pinned'), (2, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE', 'Device'),
	(3, 'CUDA_MEMOPR_MEMORY_KIND_ARRAY', 'Array'), (4, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED', 'Managed'), (5, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC', 'Device Static');
INSERT INTO TARGET_INFO_GPU VALUES (1, 0, 'NVIDIA H100');
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000, '', '');
`

// Options say what a database lacks.
type Options struct {
	NoSyncIDs bool // of events: an older version
}

// Nsys is the database that nsys would export if the trace were its report: ranges, calls, operations, synchronisations.
// Operators become ranges as emit_nvtx writes them.
func Nsys(tr *trace.Trace, o Options) ([]byte, error) {
	tables := nsysTables
	if o.NoSyncIDs {
		tables = strings.ReplaceAll(tables, ", eventSyncId INT)", ")")
	}
	return fill(tr, tables, func(f *filler) error { return f.nsys(o) })
}

// id is the number of a string.
func (f *filler) id(s string) (int64, error) {
	if id, ok := f.strings[s]; ok {
		return id, nil
	}
	id := int64(len(f.strings)) + 1
	f.strings[s] = id
	return id, f.insert("StringIds", id, s)
}

func global(tid int64) int64 { return 1<<56 | PID<<24 | tid }

func (f *filler) nsys(o Options) error {
	err := f.each(func(id trace.EventID, e *trace.Event) error {
		name := f.tr.Name(id)
		if e.Kind == trace.CPUOp {
			name += ", op_id = 1"
		}
		return f.insert("NVTX_EVENTS", e.Start, f.tr.End(e), 59, nil, nil, nil, name, global(tid(e)), nil, nil, 0)
	}, trace.CPUOp, trace.Annotation)
	if err != nil {
		return err
	}
	err = f.each(func(id trace.EventID, e *trace.Event) error {
		n, err := f.id(f.tr.Name(id) + "_v7000")
		if err != nil {
			return err
		}
		return f.insert("CUPTI_ACTIVITY_KIND_RUNTIME", e.Start, f.tr.End(e), 0, global(tid(e)), f.correlation(e), n, 0, nil)
	}, trace.Runtime)
	if err != nil {
		return err
	}
	err = f.each(f.nsysOperation, trace.Kernel, trace.Memcpy, trace.Memset)
	if err != nil {
		return err
	}
	return f.each(func(id trace.EventID, e *trace.Event) error { return f.nsysSync(id, e, o) }, trace.SyncRecord)
}

func (f *filler) nsysOperation(id trace.EventID, e *trace.Event) error {
	name := f.tr.Name(id)
	node := any(nil)
	if n, ok := f.tr.ArgInt(id, "graph node id"); ok {
		node = 1<<32 | n
	}
	context, pid := f.arg(id, "context"), int64(PID)<<24
	switch e.Kind {
	case trace.Memcpy:
		direction, from, to := copyOf(name)
		return f.insert("CUPTI_ACTIVITY_KIND_MEMCPY", e.Start, f.tr.End(e), f.device(e), context, f.stream(e), f.correlation(e), pid, f.arg(id, "bytes"), direction, from, to, node)
	case trace.Memset:
		return f.insert("CUPTI_ACTIVITY_KIND_MEMSET", e.Start, f.tr.End(e), f.device(e), context, f.stream(e), f.correlation(e), pid, 0, f.arg(id, "bytes"), node, 2)
	}
	n, err := f.id(name)
	if err != nil {
		return err
	}
	return f.insert("CUPTI_ACTIVITY_KIND_KERNEL", e.Start, f.tr.End(e), f.device(e), context, f.stream(e), f.correlation(e), pid, n, n, 32, 1, 1, 1, 128, 1, 1, node)
}

// copyOf takes apart Kineto's name of a copy: "Memcpy DtoH (Device -> Pageable)".
func copyOf(name string) (direction, from, to int64) {
	find := func(list []string, s string) int64 {
		for i, x := range list {
			if x == strings.TrimSpace(s) {
				return int64(i)
			}
		}
		return 7
	}
	rest, kinds, _ := strings.Cut(strings.TrimPrefix(name, "Memcpy "), "(")
	a, b, _ := strings.Cut(strings.TrimSuffix(kinds, ")"), "->")
	memory := []string{"Pageable", "Pinned", "Device", "Array", "Managed", "Device Static"}
	return find([]string{"", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"}, rest), find(memory, a), find(memory, b)
}

func (f *filler) nsysSync(id trace.EventID, e *trace.Event, o Options) error {
	typ := 3
	switch name := f.tr.Name(id); {
	case strings.HasPrefix(name, "Event"):
		typ = 1
	case strings.Contains(name, "Wait"):
		typ = 2
	case strings.HasPrefix(name, "Context"):
		typ = 4
	}
	stream, record := f.argOr(id, "stream", -1), f.argOr(id, "wait_on_cuda_event_record_corr_id", -1)
	row := []any{e.Start, f.tr.End(e), f.argOr(id, "device", 0), f.arg(id, "context"), stream, f.correlation(e), int64(PID) << 24, typ, f.argOr(id, "wait_on_cuda_event_id", 0)}
	if !o.NoSyncIDs {
		row = append(row, max(record, 0))
	}
	if err := f.insert("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", row...); err != nil || record < 0 {
		return err
	}
	row = []any{0, 1, f.argOr(id, "wait_on_stream", -1), record, int64(PID) << 24, f.argOr(id, "wait_on_cuda_event_id", 0)}
	if !o.NoSyncIDs {
		row = append(row, record)
	}
	return f.insert("CUPTI_ACTIVITY_KIND_CUDA_EVENT", row...)
}

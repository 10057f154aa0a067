package databases

import (
	"strings"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

const ascendTables = `
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_API_TYPE VALUES (20000, 'acl'), (10000, 'node'), (5000, 'runtime'), (50001, 'op'), (50002, 'queue'), (50003, 'trace'), (50004, 'mstx');
CREATE TABLE ENUM_MEMCPY_OPERATION (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_MEMCPY_OPERATION VALUES (0, 'host to host'), (1, 'host to device'), (2, 'device to host'), (3, 'device to device'), (65535, 'other');
CREATE TABLE NPU_INFO (id INTEGER, name TEXT);
INSERT INTO NPU_INFO VALUES (0, 'Ascend910B4');
CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER,
	callchainId INTEGER, type INTEGER);
CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER, name INTEGER);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER,
	taskId INTEGER, modelId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER, blockNum INTEGER, mixBlockNum INTEGER, taskType INTEGER, opType INTEGER, inputShapes INTEGER);
CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER, groupName INTEGER, notifyId INTEGER, size INTEGER, opId INTEGER, isMaster INTEGER);
CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, opId INTEGER, dataType INTEGER, count NUMERIC, opType INTEGER, deviceId INTEGER);
CREATE TABLE MEMCPY_INFO (globalTaskId NUMERIC, size NUMERIC, memcpyOperation NUMERIC);
CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER,
	connectionId INTEGER);
`

// Ascend is the database that Ascend's profiler would write of a rank, -1 without, if it had recorded the trace: operators
// and annotations of the framework, calls, tasks. A collective is one operation, of tasks on two streams that wait and copy;
// and each stream waits for itself in a task that no call launched, as streams do in real recordings.
func Ascend(tr *trace.Trace, rank int64) ([]byte, error) {
	return fill(tr, ascendTables, func(f *filler) error { return f.ascend(rank) })
}

func (f *filler) stringID(s string) (int64, error) {
	if id, ok := f.strings[s]; ok {
		return id, nil
	}
	id := int64(len(f.strings))
	f.strings[s] = id
	return id, f.insert("STRING_IDS", id, s)
}

func globalTID(e *trace.Event) int64 { return PID<<32 | tid(e) }

// epoch is the Unix time of the first time stamp.
const epoch = 1_700_000_000_000_000_000

func (f *filler) ascend(rank int64) error {
	if err := f.insert("RANK_DEVICE_MAP", rank, 0); err != nil {
		return err
	}
	err := f.each(func(id trace.EventID, e *trace.Event) error {
		n, err := f.stringID(f.tr.Name(id))
		if err != nil {
			return err
		}
		if e.Kind == trace.Annotation && !strings.HasPrefix(f.tr.Name(id), trace.StepPrefix) {
			return f.insert("MSTX_EVENTS", epoch+e.Start, epoch+f.tr.End(e), 1, 0, 0, n, globalTID(e), globalTID(e), 0, int64(1<<32-1))
		}
		seq, fwd := any(nil), any(nil)
		if n, ok := f.tr.Sequence(id); ok {
			thread, _ := f.tr.ArgInt(id, "Fwd thread id")
			seq, fwd = int64(n), thread
		}
		return f.insert("PYTORCH_API", epoch+e.Start, epoch+f.tr.End(e), globalTID(e), nil, n, seq, fwd, nil, nil, nil, 50001)
	}, trace.CPUOp, trace.Annotation)
	if err != nil {
		return err
	}
	err = f.each(func(id trace.EventID, e *trace.Event) error {
		n, err := f.stringID(f.tr.Name(id))
		if err != nil {
			return err
		}
		return f.insert("CANN_API", epoch+e.Start, epoch+f.tr.End(e), 5000, globalTID(e), f.connectionOf(e), n)
	}, trace.Runtime)
	if err != nil {
		return err
	}
	next := int64(0)
	return f.each(func(id trace.EventID, e *trace.Event) error { next += 10; return f.ascendOperation(next, id, e) }, trace.Kernel, trace.Memcpy)
}

// connectionOf is -1 where there is none.
func (f *filler) connectionOf(e *trace.Event) int64 {
	if e.Flags&trace.HasCorr == 0 {
		return -1
	}
	return f.tr.Corr(e)
}

// ascendOperation adds an operation and its tasks, which have numbers from task on.
func (f *filler) ascendOperation(task int64, id trace.EventID, e *trace.Event) error {
	add := func(n int64, kind string, stream, start, end, connection int64) error {
		k, err := f.stringID(kind)
		if err != nil {
			return err
		}
		return f.insert("TASK", epoch+start, epoch+end, f.device(e), connection, n, PID, k, 0, stream, n, int64(1<<32-1))
	}
	name := f.tr.Name(id)
	n, err := f.stringID(name)
	if err != nil {
		return err
	}
	if e.Kind == trace.Memcpy {
		direction, _, _ := copyOf(name)
		if err := add(task, "MEMCPY_ASYNC", f.stream(e), e.Start, f.tr.End(e), f.connectionOf(e)); err != nil {
			return err
		}
		return f.insert("MEMCPY_INFO", task, f.arg(id, "bytes"), map[int64]int64{1: 1, 2: 2, 8: 3}[direction])
	}
	if !vendors.IsCollective(name) {
		if err := add(task, "AI_CORE", f.stream(e), e.Start, f.tr.End(e), f.connectionOf(e)); err != nil {
			return err
		}
		return f.insert("COMPUTE_TASK_INFO", n, task, 20, 0, nil, n, nil)
	}
	if err := f.insert("COMMUNICATION_OP", n, epoch+e.Start, epoch+f.tr.End(e), f.connectionOf(e), n, task, 4, 1024, n, f.device(e)); err != nil {
		return err
	}
	part, err := f.stringID("Memcpy")
	if err != nil {
		return err
	}
	middle := e.Start + f.tr.Dur(e)/2
	for i, x := range []struct {
		stream, start, end, leads int64
		kind                      string
	}{{f.stream(e) + 1000, e.Start, middle, 0, "NOTIFY_WAIT_SQE"}, {f.stream(e), e.Start, middle, 1, "NOTIFY_WAIT_SQE"}, {f.stream(e), middle, f.tr.End(e), 1, "SDMA_SQE"}} {
		if err := add(task+int64(i), x.kind, x.stream, x.start, x.end, f.connectionOf(e)); err != nil {
			return err
		}
		if err := f.insert("COMMUNICATION_TASK_INFO", part, task+int64(i), nil, 0, n, 0, 512, task, x.leads); err != nil {
			return err
		}
	}
	return add(task+9, "EVENT_WAIT_SQE", f.stream(e), max(e.Start-100, 0), e.Start, -1)
}

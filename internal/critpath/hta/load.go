package hta

import (
	"math"
	"strings"

	"overlay/internal/trace"
)

// row is one surviving row of the peer's data frame.
type row struct {
	ev         trace.EventID
	name       trace.Sym
	cat        uint16
	gpuish     bool // stream and correlation, or an Event/Context Sync
	ts, dur    int64
	stream     int64
	corr       int64
	partner    int32 // index_correlation: event position of the partner, 0 unmatched, -1 without correlation
	pid, tid   int64
	waitStream int64 // wait_on_stream, -1
	waitRecord int64 // wait_on_cuda_event_record_corr_id, -1
}

func (r *row) end() int64 { return r.ts + r.dur }

// input is the peer's data frame of one rank after loading: rows in its order, and where each event is.
type input struct {
	tr    *trace.Trace
	rows  []row
	at    []int32 // per event: its row, -1
	minTS int64
	dup   bool       // the peer's merge duplicated rows
	clip  []int32    // rows of the window, by event position
	names []nameFlag // what the rules ask of a name, per symbol
}

type nameFlag uint16

const (
	isLock nameFlag = 1 << iota
	isBlocking
	isLaunch
	isRecord
	isWaitCall
	isEventSync
	isContextSync
	isStreamSync
	isStreamWait
	isStep
	isForward
	isAutograd
)

var nameTable = map[string]nameFlag{
	"cudaHostAlloc": isLock, "cudaLaunchKernel": isLock | isLaunch, "cudaMemcpyAsync": isLock | isBlocking | isLaunch,
	"cudaDeviceSynchronize": isBlocking, "cudaStreamSynchronize": isBlocking, "cudaEventQuery": isBlocking,
	"cudaEventSynchronize": isBlocking, "cudaMemcpy": isBlocking,
	"cudaLaunchKernelExC": isLaunch, "cuLaunchKernel": isLaunch, "cuLaunchKernelEx": isLaunch, "cudaMemsetAsync": isLaunch,
	"runFunction - job_prep_and_submit_for_execution": isLaunch, "hipLaunchKernel": isLaunch, "hipExtModuleLaunchKernel": isLaunch,
	"hipMemsetAsync": isLaunch, "hipMemcpyAsync": isLaunch, "hipMemcpyWithStream": isLaunch,
	"cudaEventRecord": isRecord, "cudaStreamWaitEvent": isWaitCall,
	"Event Sync": isEventSync, "Context Sync": isContextSync, "Stream Sync": isStreamSync, "Stream Wait Event": isStreamWait,
}

func classify(tr *trace.Trace) []nameFlag {
	flags := make([]nameFlag, len(tr.Syms))
	for i, name := range tr.Syms {
		f := nameTable[name]
		if rest, ok := strings.CutPrefix(name, trace.StepPrefix); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			f |= isStep
		}
		if strings.Contains(name, "autograd") {
			f |= isAutograd
		}
		if strings.Contains(name, "forward") {
			f |= isForward
		}
		flags[i] = f
	}
	return flags
}

func (in *input) is(r *row, f nameFlag) bool { return in.names[r.name]&f != 0 }

// load makes the rows: complete events with a category other than Trace (trace_parser.py, _compress_df).
func load(tr *trace.Trace, keepLast bool) input {
	in := input{tr: tr, names: classify(tr), minTS: math.MaxInt64}
	fractions := false
	n := 0
	for i := range tr.Events {
		e := &tr.Events[i]
		if e.Start%1000 != 0 && e.Ph != 0 {
			fractions = true
		}
		if e.Flags&trace.HasDur != 0 && e.Cat != 0 {
			n++
		}
	}
	in.rows = make([]row, 0, n)
	for i := range tr.Events {
		e := &tr.Events[i]
		if e.Flags&trace.HasDur == 0 || e.Cat == 0 || tr.Syms[e.Cat] == "Trace" {
			continue
		}
		r := row{ev: trace.EventID(i), name: e.Name, cat: e.Cat, ts: e.Start, dur: tr.Dur(e), stream: -1, corr: -1, waitStream: -1, waitRecord: -1}
		if fractions {
			r.ts, r.dur = roundMicros(e.Start, tr.Dur(e))
		}
		if e.Flags&trace.HasArgs != 0 {
			in.readArgs(&r)
		}
		if e.Flags&trace.HasCorr != 0 {
			r.corr = tr.Corr(e)
		}
		if e.Track != trace.NoTrack {
			t := &tr.Tracks[e.Track]
			r.tid, r.pid = tokenKey(t.TID), tokenKey(tr.Procs[t.Proc].PID)
		}
		in.rows = append(in.rows, r)
		in.minTS = min(in.minTS, r.ts)
	}
	in.link()
	in.trim(keepLast)
	in.at = none(len(tr.Events))
	for i := range in.rows {
		in.at[in.rows[i].ev] = int32(i)
	}
	return in
}

// tokenKey orders pids and tids as the peer's group keys: numbers by value, strings after them.
func tokenKey(t trace.Token) int64 {
	if t.IsNum {
		return t.Num
	}
	return math.MaxInt64 - int64(1<<32) + int64(t.Raw)
}

// roundMicros is the peer's round_down_time_stamps: start up and end down to whole µs. It works on floats as the
// peer does, since ts+dur in floats decides the last digit there.
func roundMicros(start, dur int64) (int64, int64) {
	ts := micros(start)
	end := math.Floor(ts + micros(dur))
	ts = math.Ceil(ts)
	return int64(ts) * 1000, int64(end-ts) * 1000
}

// micros is the float nearest to ns/1000, as a JSON parser reads the decimal text.
func micros(ns int64) float64 {
	if ns > -1<<53 && ns < 1<<53 {
		return float64(ns) / 1000
	}
	whole, frac := ns/1000, ns%1000
	return float64(whole) + float64(frac)/1000
}

// readArgs takes the columns that the peer loads. A stream that is no number counts as none (to_numeric, coerce).
func (in *input) readArgs(r *row) {
	if v, ok := in.tr.ArgInt(r.ev, "stream"); ok {
		r.stream = v
	}
	if in.tr.Events[r.ev].Kind == trace.SyncRecord {
		if v, ok := in.tr.ArgInt(r.ev, "wait_on_stream"); ok {
			r.waitStream = v
		}
		if v, ok := in.tr.ArgInt(r.ev, "wait_on_cuda_event_record_corr_id"); ok {
			r.waitRecord = v
		}
	}
}

// link sets index_correlation: the last partner in row order wins, category is not looked at (trace.py).
func (in *input) link() {
	lastCPU, lastGPU := map[int64]int32{}, map[int64]int32{}
	for i := range in.rows {
		r := &in.rows[i]
		r.gpuish = r.stream >= 0 && r.corr >= 0 || in.is(r, isEventSync|isContextSync)
		r.partner = int32(min(r.corr, 0))
		if r.corr == -1 {
			continue
		}
		if r.gpuish {
			lastGPU[r.corr] = int32(r.ev)
		} else {
			lastCPU[r.corr] = int32(r.ev)
		}
	}
	for i := range in.rows {
		r := &in.rows[i]
		if r.corr == -1 {
			continue
		}
		other := lastGPU
		if r.gpuish {
			other = lastCPU
		}
		if p, ok := other[r.corr]; ok {
			r.partner = p
		}
	}
}

// trim leaves out the last ProfilerStep when there are several names of steps, and reorders the rows: GPU rows
// first (trace_filter.py, trace.py: filter by iterations).
func (in *input) trim(keepLast bool) {
	names := map[trace.Sym]bool{}
	lastStart := int64(math.MinInt64)
	for i := range in.rows {
		r := &in.rows[i]
		if !in.is(r, isStep) {
			continue
		}
		names[r.name] = true
		if !r.gpuish {
			lastStart = max(lastStart, r.ts)
		}
	}
	if len(names) < 2 {
		return
	}
	kept := map[int64]int{} // correlations of kept CPU rows, with their number
	var cpu, gpu []row
	for i := range in.rows {
		r := &in.rows[i]
		if r.gpuish || !keepLast && r.ts >= lastStart {
			continue
		}
		cpu = append(cpu, *r)
		kept[r.corr]++
	}
	for i := range in.rows {
		if r := &in.rows[i]; r.gpuish && kept[r.corr] > 0 {
			gpu = append(gpu, *r)
			in.dup = in.dup || kept[r.corr] > 1
		}
	}
	in.rows = append(gpu, cpu...)
}

// Row is a row of the peer's data frame, for those who compare other analyses with the peer's. Times are ns, rounded
// as the peer rounds them.
type Row struct {
	Event    trace.EventID
	TS, Dur  int64
	Stream   int64         // -1 for a CPU row
	Corr     int64         // -1 without
	Partner  trace.EventID // index_correlation: the launch of an operation, the operation of a launch
	PID, TID int64
}

// Rows loads the data frame, in the peer's row order.
func Rows(tr *trace.Trace, keepLastStep bool) []Row {
	in := load(tr, keepLastStep)
	out := make([]Row, len(in.rows))
	for i := range in.rows {
		r := &in.rows[i]
		out[i] = Row{r.ev, r.ts, r.dur, r.stream, r.corr, trace.EventID(r.partner), r.pid, r.tid}
		if r.partner <= 0 {
			out[i].Partner = trace.NoEvent
		}
	}
	return out
}

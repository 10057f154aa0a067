package testtrace

import (
	"fmt"
	"strconv"
	"strings"

	"overlay/internal/trace"
)

// Lines makes a trace of lines "kind row name start dur [correlation]", times in µs.
// A ~ in a name is a blank. Kinds: op, note (user annotation), frame, call, kernel, copy, set, overhead of the profiler,
// other, an event of a device that is not analysed, and sync, a record of synchronisation, with the stream that the event was recorded on and the correlation of that call as two more fields.
// mtia is an event of such a device; a mark on its stream has, for the correlation, correlation:number of the event, and for
// a wait :stream waited for. The row of a device is its stream, or device:stream.
func Lines(t T, text string) *trace.Trace {
	t.Helper()
	category := map[string]string{"op": "cpu_op", "note": "user_annotation", "frame": "python_function", "call": "cuda_runtime",
		"kernel": "kernel", "copy": "gpu_memcpy", "set": "gpu_memset", "sync": "cuda_sync", "overhead": "overhead", "other": "hpu_op", "mtia": "mtia_ccp_events"}
	var events []string
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) < 5 {
			t.Fatalf("line %q", line)
		}
		pid, args := "100", ""
		c := category[f[0]]
		if c == "mtia_ccp_events" || c == "kernel" || strings.HasPrefix(c, "gpu_") || c == "cuda_sync" {
			pid = "0"
		}
		if device, stream, ok := strings.Cut(f[1], ":"); ok {
			pid, f[1] = device, stream
		}
		if mark := strings.Split(strings.Join(f[5:], ""), ":"); c == "mtia_ccp_events" && len(mark) > 1 {
			args = `, "args": {"stream": ` + f[1] + `, "seq_num": ` + mark[1]
			if len(mark) > 2 {
				args += `, "wait_on_stream": ` + mark[2]
			}
			args += "}"
		} else if len(f) > 5 {
			args = `, "args": {"correlation": ` + f[5] + `, "device": ` + pid + `, "stream": ` + f[1]
			if len(f) > 7 {
				args += `, "wait_on_stream": ` + f[6] + `, "wait_on_cuda_event_record_corr_id": ` + f[7]
			}
			args += "}"
		}
		name := strconv.Quote(strings.ReplaceAll(f[2], "~", " "))
		events = append(events, fmt.Sprintf(`{"ph": "X", "cat": %q, "name": %s, "pid": %s, "tid": %s, "ts": %s, "dur": %s%s}`,
			c, name, pid, f[1], f[3], f[4], args))
	}
	return Parse(t, []byte(`{"schemaVersion": 1, "traceEvents": [`+strings.Join(events, ",\n")+`]}`))
}

package testtrace

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// Lines makes a trace of lines "kind row name start dur [correlation]", times in µs.
// A ~ in a name is a blank. Kinds: op, note (user annotation), frame, call, kernel, copy, set.
func Lines(t testing.TB, text string) *trace.Trace {
	t.Helper()
	category := map[string]string{"op": "cpu_op", "note": "user_annotation", "frame": "python_function", "call": "cuda_runtime",
		"kernel": "kernel", "copy": "gpu_memcpy", "set": "gpu_memset"}
	var events []string
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) < 5 {
			t.Fatalf("line %q", line)
		}
		pid, args := 100, ""
		if len(f) > 5 {
			args = `, "args": {"correlation": ` + f[5] + `, "device": 0, "stream": ` + f[1] + `}`
		}
		if c := category[f[0]]; c == "kernel" || strings.HasPrefix(c, "gpu_") {
			pid = 0
		}
		name := strconv.Quote(strings.ReplaceAll(f[2], "~", " "))
		events = append(events, fmt.Sprintf(`{"ph": "X", "cat": %q, "name": %s, "pid": %d, "tid": %s, "ts": %s, "dur": %s%s}`,
			category[f[0]], name, pid, f[1], f[3], f[4], args))
	}
	tr, err := kineto.Parse([]byte(`{"schemaVersion": 1, "traceEvents": [`+strings.Join(events, ",\n")+`]}`), "test", kineto.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

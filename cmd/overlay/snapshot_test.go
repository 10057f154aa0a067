package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overlay/internal/testtrace/corpus"
)

// TestSnapshot: a report takes a memory snapshot of the same run, and refuses one of another.
func TestSnapshot(t *testing.T) {
	const snapshot = "../../internal/fromsnapshot/testdata/snapshot.pickle"
	name := filepath.Join(t.TempDir(), "trace.json")
	text := `{"baseTimeNanoseconds": 1700000000000000000, "traceEvents": [{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":20.0,"dur":80.0}]}`
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{name, "--snapshot", snapshot}, 0, "GPU 0: 5.5 kB after 20.0 µs; at most 20.97 MB reserved"},
		{[]string{name, "--snapshot", snapshot}, 0, "from train.py(9): step"},
		{[]string{corpus.Demo(t), "--snapshot", snapshot}, 1, "nothing of it lies in the window"},
		{[]string{name, "--snapshot", name}, 1, "trace.json: byte 0: the instruction 0x7b is none of a dump"},
	} {
		var out, errs bytes.Buffer
		if status := run(append([]string{"overlay", "report"}, c.args...), nil, &out, &errs); status != c.status || !strings.Contains(out.String()+errs.String(), c.want) {
			t.Errorf("%q: status %d, %s%s", c.args, status, out.String(), errs.String())
		}
	}
}

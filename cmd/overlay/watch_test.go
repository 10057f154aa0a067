//go:build !quick

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nightly is a trace of four steps of a length, of a night.
func nightly(night, step int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"schemaVersion":1,"baseTimeNanoseconds":%d,"traceEvents":[`, 1_795_000_000_000_000_000+int64(night)*86_400_000_000_000)
	for i := range 4 {
		at := 1000 + i*step
		fmt.Fprintf(&b, `{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":1,"tid":1,"ts":%d,"dur":%d},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":%d,"dur":30},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":10,"args":{"correlation":%d}},
{"ph":"X","cat":"kernel","name":"gemm","pid":10,"tid":7,"ts":%d,"dur":%d,"args":{"correlation":%d,"device":0,"stream":7}},
`, i, at, step-5, at+5, at+10, i+1, at+60, step-100, i+1)
	}
	fmt.Fprintf(&b, `{"ph":"X","cat":"cpu_op","name":"aten::end","pid":1,"tid":1,"ts":%d,"dur":5}]}`, 1000+4*step)
	return b.Bytes()
}

// watched runs the command until all that is there is analysed.
func watchedOnce(t *testing.T, dir string, more ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	args := append([]string{"overlay", "watch", filepath.Join(dir, "in"), "--history", filepath.Join(dir, "history"), "--every", "1ms", "--once"}, more...)
	if status := run(args, nil, &out, &errs); status != 0 {
		t.Fatalf("%q: status %d: %s", args, status, errs.String())
	}
	return out.String(), errs.String()
}

func write(t *testing.T, data []byte, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

func watchedList(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "history", watchedName))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestWatch: a run that is slower than those before it is told once, with what is asked for then; a restart reads nothing again.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	lengths := []int{1000, 1004, 998, 1002, 1001, 997, 1003, 1000}
	for night, step := range lengths {
		write(t, nightly(night, step), dir, "in", fmt.Sprintf("night-%02d.json", night))
	}
	if out, errs := watchedOnce(t, dir); out != "" || errs != "" {
		t.Fatalf("quiet nights: %q, %q", out, errs)
	}
	before := watchedList(t, dir)
	if n := strings.Count(before, "\n"); n != len(lengths) {
		t.Fatalf("%d files in the list:\n%s", n, before)
	}
	if out, errs := watchedOnce(t, dir); out != "" || errs != "" || watchedList(t, dir) != before {
		t.Fatalf("a restart read something again: %q, %q", out, errs)
	}
	write(t, nightly(len(lengths), 1200), dir, "in", "later", "night-08.json")
	write(t, nightly(len(lengths), 5000), dir, "in", "later", "night-08.detail.json") // was recorded in detail, and is not compared
	write(t, []byte("{}"), dir, "in", "later", "detail.request")                      // a sampler answers
	told := filepath.Join(dir, "told.json")
	out, errs := watchedOnce(t, dir, "--exec", "cat > "+told)
	if strings.Count(out, "\n") != 1 || !strings.Contains(out, "later-night-08: a step 1.20 ms, +19.9 % (") || errs != "" {
		t.Errorf("said %q, %q", out, errs)
	}
	if b, err := os.ReadFile(told); err != nil || !bytes.Contains(b, []byte(`"slower": true`)) {
		t.Errorf("the command got %q, %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "in", "later", "detail.request")); err != nil || !bytes.Contains(b, []byte(`{"run":"later-night-08","says":"2026-`)) || bytes.Contains(b, []byte("ranks")) {
		t.Errorf("the sampler is asked %q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "in", "detail.request")); err == nil {
		t.Error("a request where nobody answers")
	}
	if out, _ := watchedOnce(t, dir); out != "" {
		t.Errorf("told again: %q", out)
	}
	if out := overlayOutput(t, "gate", "--history", filepath.Join(dir, "history"), filepath.Join(dir, "history", "run=night-07")); !strings.Contains(out, "expected of 7 runs") {
		t.Errorf("the history holds %q", out)
	}
}

// TestWatchHalfWritten: a file that is still being written is no run, and is read when it is whole; what is no trace is told once.
func TestWatchHalfWritten(t *testing.T) {
	dir := t.TempDir()
	whole := nightly(0, 1000)
	write(t, whole[:len(whole)*2/3], dir, "in", "slow.json")
	write(t, gzipped(t, whole)[:200], dir, "in", "packed.json.gz")
	write(t, []byte("no trace"), dir, "in", "other.json")
	_, errs := watchedOnce(t, dir)
	if strings.Count(errs, "\n") != 3 || strings.Count(errs, "the trace ends early") != 2 {
		t.Errorf("said %q", errs)
	}
	if runs, _ := filepath.Glob(filepath.Join(dir, "history", "run=*")); len(runs) != 0 {
		t.Errorf("runs %v of files that are not whole", runs)
	}
	if _, errs := watchedOnce(t, dir); errs != "" {
		t.Errorf("said again: %q", errs)
	}
	write(t, whole, dir, "in", "slow.json")
	write(t, gzipped(t, whole), dir, "in", "packed.json.gz")
	if _, errs := watchedOnce(t, dir); errs != "" {
		t.Errorf("said %q", errs)
	}
	if runs, _ := filepath.Glob(filepath.Join(dir, "history", "run=*", "rank=0", "summary.parquet")); len(runs) != 2 {
		t.Errorf("runs %v", runs)
	}
	// A line of the list that was cut off costs its file a second look, and no more.
	list := watchedList(t, dir)
	write(t, []byte(list[:len(list)-20]), dir, "history", watchedName)
	if _, errs := watchedOnce(t, dir); errs != "" || strings.Count(watchedList(t, dir), "\n") != strings.Count(list, "\n")+1 {
		t.Errorf("said %q; the list is now\n%s", errs, watchedList(t, dir))
	}
}

// TestWatchMany: no file is read twice, however many there are.
func TestWatchMany(t *testing.T) {
	n := 100
	if testing.Short() {
		n = 10
	}
	dir := t.TempDir()
	for i := range n {
		write(t, nightly(i/4, 1000), dir, "in", fmt.Sprintf("run-%d", i/4), fmt.Sprintf("rank%d.json", i%4))
	}
	watchedOnce(t, dir)
	watchedOnce(t, dir)
	if got := strings.Count(watchedList(t, dir), `"file"`); got != n {
		t.Errorf("%d of %d files were read", got, n)
	}
	if sets, _ := filepath.Glob(filepath.Join(dir, "history", "run=*", "rank=*", "summary.parquet")); len(sets) != n {
		t.Errorf("%d summaries of %d files", len(sets), n)
	}
}

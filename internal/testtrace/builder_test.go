package testtrace

import (
	"encoding/json"
	"strings"
	"testing"

	"overlay/internal/trace"
)

func small() *Builder {
	b := New()
	b.Device, b.BaseTime, b.Rank, b.World = "NVIDIA H100", 1_700_000_000_000_000_000, 0, 2
	main := b.Thread(100, 100, "python")
	main.Annotation("ProfilerStep#1", 1_000, 90_000)
	main.Frame("train.py(3): step", 1_500, 80_000)
	main.Op(`aten::"add"`+"\n", 2_000, 20_000).Arg("External id", 7)
	main.Launch("cudaLaunchKernel", 3_000, 5_001, 11)
	main.Call("cudaDeviceSynchronize", 30_000, 10_000, 12)
	main.Instant("[memory]", 4_000).Arg("Bytes", -512)
	s := b.Stream(0, 7)
	s.Kernel("gemm", 9_999, 20_000, 11)
	s.Memcpy(DtoHPageable, 32_000, 1_000, -1)
	s.SyncRecord(ContextSync, 30_000, 10_000, 12, -1, -1)
	b.Counter(100, "memory", 5_000, "bytes", 512)
	return b
}

// The builder must write JSON that a foreign reader accepts, in every form.
func TestBuilderWritesJSON(t *testing.T) {
	for _, form := range []func(*Builder){
		func(*Builder) {},
		func(b *Builder) { b.IntegerMicros, b.OldNames = true, true },
		func(b *Builder) { b.ArrayForm = true },
		func(b *Builder) { b.BaseAtTail = true },
	} {
		b := small()
		b.Element("null")
		form(b)
		var got any
		if err := json.Unmarshal(b.JSON(), &got); err != nil {
			t.Fatalf("%v in\n%s", err, b.JSON())
		}
		list, ok := got.([]any)
		if !ok {
			list = got.(map[string]any)["traceEvents"].([]any)
		}
		if len(list) <= b.Len() {
			t.Errorf("%d elements in the list, %d events added and rows announced", len(list), b.Len())
		}
		first, second := b.JSON(), b.JSON()
		if string(first) != string(second) {
			t.Error("writing changes the builder")
		}
	}
	b := small()
	b.IntegerMicros, b.OldNames = true, true
	for _, want := range []string{
		`{"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 100, "ts": 3, "dur": 5, "args": {"correlation": 11}}`,
		`{"ph": "X", "cat": "Kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 9, "dur": 20, "args"`, // 9.999 to 29.999 µs
	} {
		if !strings.Contains(string(b.JSON()), want) {
			t.Errorf("no %s in\n%s", want, b.JSON())
		}
	}
}

// Positions, times and links must survive the project's reader.
func TestBuilderParses(t *testing.T) {
	b := small()
	tr := b.Parse(t)
	for i, want := range []struct {
		kind       trace.Kind
		start, dur int64
	}{0: {trace.Annotation, 1_000, 90_000}, 1: {trace.Python, 1_500, 80_000}, 2: {trace.CPUOp, 2_000, 20_000}, 3: {trace.Runtime, 3_000, 5_001}} {
		e := &tr.Events[i]
		if e.Kind != want.kind || e.Start != want.start || tr.Dur(e) != want.dur {
			t.Errorf("event %d: kind %d [%d, +%d], want %v", i, e.Kind, e.Start, tr.Dur(e), want)
		}
	}
	for i := range tr.Events {
		if tr.Name(trace.EventID(i)) == "gemm" && tr.Launch(trace.EventID(i)) != 3 {
			t.Errorf("launch of gemm is event %d, want 3", tr.Launch(trace.EventID(i)))
		}
	}
}

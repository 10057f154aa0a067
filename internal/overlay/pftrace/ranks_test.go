package pftrace_test

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"

	"overlay/internal/kineto"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/perfetto"
	"overlay/internal/testtrace/viewer"
)

// TestRanksStayTogether: the threads and the device of each rank stand together, and the profiler's own rows behind those of all ranks.
func TestRanksStayTogether(t *testing.T) {
	var buf bytes.Buffer
	out, err := pftrace.NewRanks(&buf, pftrace.Job{Unix: true})
	if err != nil {
		t.Fatal(err)
	}
	for rank := range 3 {
		tr, err := kineto.Parse([]byte(`{"traceEvents":[
{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":0,"dur":100},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":7,"ts":10,"dur":30},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":20,"dur":10,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":40,"dur":20,"args":{"correlation":1,"device":0,"stream":7}}]}`), "t", kineto.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := out.Rank(tr, nil, pftrace.Rank{Number: 2 - rank, Clock: func(t int64) int64 { return t }}); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	im, err := viewer.Parse(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var rows []viewer.ReadTrack
	for _, x := range im.Tracks {
		if x.Kind == perfetto.Process {
			rows = append(rows, x)
		}
	}
	slices.SortFunc(rows, func(a, b viewer.ReadTrack) int { return cmp.Compare(a.Order, b.Order) })
	var got []string
	for _, x := range rows {
		got = append(got, x.Name)
	}
	want := "rank 0 · process 7, rank 0 · GPU 0, rank 1 · process 7, rank 1 · GPU 0, rank 2 · process 7, rank 2 · GPU 0, rank 0 · Spans, rank 1 · Spans, rank 2 · Spans"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
}

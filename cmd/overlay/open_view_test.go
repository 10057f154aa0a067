package main

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"overlay/internal/kineto"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/perfetto"
)

// tinyTrace is a .pftrace with a hole of 10 ns in the path and a mark of 30 ns.
func tinyTrace(t *testing.T) []byte {
	t.Helper()
	tr := &perfetto.Trace{
		Attrs: []perfetto.Attr{{Key: "overlay.method", Str: "exact", IsStr: true}, {Key: windowStart, Int: 90}, {Key: windowEnd, Int: 210}},
		Tracks: []perfetto.Track{
			{Kind: perfetto.Row, Parent: -1, Name: "Critical path", Explicit: true},
			{Kind: perfetto.Row, Parent: 0, Name: "Path segments", Items: []perfetto.Item{{Start: 100, Dur: 30}, {Start: 140, Dur: 60, Ref: 1}},
				Fill: func() func(b *perfetto.Body, ref int32) {
					return func(b *perfetto.Body, ref int32) {
						b.Name([]string{"add", "mul"}[ref])
						b.Category("critical_path")
					}
				}},
			{Kind: perfetto.Process, Parent: -1, Name: "python (rank 0)", PID: 42},
			{Kind: perfetto.Thread, Parent: 2, Name: "main", PID: 42, TID: 43, Items: []perfetto.Item{{Start: 100, Dur: 30}},
				Fill: func() func(b *perfetto.Body, _ int32) {
					return func(b *perfetto.Body, _ int32) {
						b.Name("add")
						b.Color(pftrace.CriticalColor)
						b.Int("critical", 1)
						b.Int("critical_ns", 30)
					}
				}},
		},
	}
	var out bytes.Buffer
	if _, err := perfetto.Write(&out, tr); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestReadView: the window is that of the attributes, the rows are the processes with a red slice, also of a compressed
// trace, and what comes before a cut is used.
func TestReadView(t *testing.T) {
	b := tinyTrace(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(b)
	z.Close()
	for _, src := range [][]byte{b, packed.Bytes(), b[:len(b)-1]} {
		v := readView(bytes.NewReader(src), int64(len(src)))
		if v.start != 90 || v.end != 210 || len(v.rows) != 1 || v.rows[0] != "python (rank 0)" {
			t.Errorf("view %+v", v)
		}
	}
	for _, src := range []string{"", "\n", "{}", "\n\x04\xff\xff\xff\xff", "\x1f\x8b\x08", "\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		if v := readView(strings.NewReader(src), int64(len(src))); v.start != v.end || v.rows != nil {
			t.Errorf("%q gives %+v", src, v)
		}
	}
}

func TestIsPerfetto(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "\n": false, "\n\n\n": false, "{}": false, "\n{\"a\":1}": false, "\n [\n{": false, "\n{\n \"traceEvents\"": false,
		"hello": false, "\n\x04\x52\x02\x08\x01": true, "\n{\x52\x02": true,
	} {
		if got := kineto.IsPerfetto([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

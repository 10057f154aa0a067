package perfetto_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/perfetto"
	"overlay/internal/testtrace/viewer"
)

func TestWriteReadText(t *testing.T) {
	data, st := write(t, small())
	im, err := viewer.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	im.CheckArgs()
	var got strings.Builder
	viewer.Write(&got, im)
	want := `row "Critical path" order=0 explicit
  1000 +50 "tick" cpu_op
  counter "Queue length" order=0 unit=ops
    1000 3
    1010 2.5
    1020 0
process "python 42" pid=42 order=0 labels=CPU | pid=42
  thread "thread 43" pid=42 tid=43 order=0 | pid=42 tid=43
    1000 +200 "outer" cpu_op {n=-3 u=18446744073709551615 f=0.5 b=true s="é\"x" dims[0][0]=2 dims[0][1]=3 dims[1]="[]" dims[2].a_b="` + strings.Repeat("long ", 40) + `"}
      1100 +100 "inner" cpu_op color=critical#2796
        1100 instant "tick" cpu_op
    1200 +0 "" cpu_op
    lane "thread 43 overlap" order=1048576 key=overlap
      1150 +100 "over�lap" cpu_op
flow 7 "inner"@1100 -> "over�lap"@1150
attribute overlay.method = "exact"
attribute overlay.n = -5
uuid 0000000000000001ffffffffffffffff
realtime +1700000000000000000
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if st != (perfetto.Stats{Slices: 5, Instants: 1, Points: 3, Lanes: 1, Bytes: st.Bytes}) {
		t.Errorf("stats: %+v", st)
	}
}

// TestUnits writes times in ns, µs and units of neither, and reads them back.
func TestUnits(t *testing.T) {
	for _, unit := range []int64{1, 1000, 3000, 77} {
		tr := &perfetto.Trace{Tracks: []perfetto.Track{{Kind: perfetto.Row, Parent: -1, Name: "row", Fill: perfetto.Same(func(b *perfetto.Body, i int32) { b.Name("slice") })}}}
		want := ""
		for i := range int64(50) {
			it := perfetto.Item{Start: unit * (1_000_000 + 100*i), Dur: unit * i, Ref: int32(i)}
			tr.Tracks[0].Items = append(tr.Tracks[0].Items, it)
			want += fmt.Sprintf("  %d +%d \"slice\"\n", it.Start, it.Dur)
		}
		data, _ := write(t, tr)
		im, err := viewer.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		viewer.Write(&got, im)
		if !strings.Contains(got.String(), want) {
			t.Errorf("unit of %d ns: read %s", unit, got.String())
		}
	}
}

// TestBeside writes what stands beside the rows, operations of devices and samples of stacks, and reads it back as the viewer does.
func TestBeside(t *testing.T) {
	tr := &perfetto.Trace{
		GPUs:   []perfetto.GPU{{Name: "H100", Vendor: "NVIDIA"}},
		Tracks: []perfetto.Track{{Kind: perfetto.Process, Parent: -1, Name: "python 42", PID: 42, Fill: perfetto.Same(func(b *perfetto.Body, _ int32) { b.Name("x") }), Items: []perfetto.Item{{Start: 900, Dur: 5}}}},
		Stages: &perfetto.Stages{
			Contexts: []perfetto.StageContext{{PID: 42}, {PID: 43, API: 4}}, Queues: []string{"stream 7", "copies"},
			Kinds: []perfetto.StageKind{{Name: "kernel", Compute: true}, {Name: "memcpy"}},
			List:  []perfetto.Stage{{Start: 1000, Dur: 50, Stream: 7}, {Start: 1100, GPU: 1, Context: 1, Queue: 1, Kind: 1, Stream: -1, Ref: 1}, {Start: 1200, Dur: 9, Stream: 0}},
			Fill: func(b *perfetto.StageBody, s *perfetto.Stage) {
				if s.Ref == 1 {
					b.Name("DtoH")
					b.Wait(1)
					return
				}
				b.Kernel("gemm")
				b.Grid([3]uint32{2, 3, 4})
				b.Group([3]uint32{128, 1, 1})
				b.Int("registers", 96)
			},
		},
		Samples: &perfetto.Samples{Source: "overlay", Counter: "path", PID: 42, Frames: []string{"main", "forward", "aten::mm"}, List: []perfetto.Sample{{TS: 1000, Weight: 30}, {TS: 1030, Weight: 7, Stack: 2}},
			Stack: func(of int32, room []int32) []int32 { return append(room[:0], 0, 1, of)[:2+of/2] }},
	}
	data, st := write(t, tr)
	var got strings.Builder
	for _, s := range viewer.Stages(data) {
		fmt.Fprintln(&got, s)
	}
	for _, s := range viewer.Samples(data) {
		fmt.Fprintln(&got, s)
	}
	want := `{1 1000 50 0 stream 7 gemm kernel true 42 7 [] map[grid x:2 grid y:3 grid z:4 group x:128 group y:1 group z:1 registers:96]}
{2 1100 1 1 copies DtoH memcpy false 43 -1 [1] map[]}
{3 1200 9 0 stream 7 gemm kernel true 42 0 [] map[grid x:2 grid y:3 grid z:4 group x:128 group y:1 group z:1 registers:96]}
{1000 30 main;forward python 42 overlay: path in ns}
{1030 7 main;forward;aten::mm python 42 overlay: path in ns}
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("stages and samples (-want +got):\n%s", diff)
	}
	if st.Stages != 3 {
		t.Errorf("stats: %+v", st)
	}
	for _, field := range []string{"\xf2\x07", "\xaa\x01"} { // attributes, of which there are none, and what a launch is, of which copies say nothing
		if n := strings.Count(string(data), field); n != map[string]int{"\xaa\x01": 2}[field] {
			t.Errorf("field %x stands %d times", field, n)
		}
	}
}

// TestLarge writes more names than are remembered by their hash, arguments whose length takes one byte to three, and a counter of many chunks.
func TestLarge(t *testing.T) {
	tr := &perfetto.Trace{Tracks: []perfetto.Track{
		{Kind: perfetto.Row, Parent: -1, Name: "row", Fill: perfetto.Same(func(b *perfetto.Body, ref int32) {
			b.Name(fmt.Sprint("name ", ref))
			b.Dict("d")
			for i := range map[int32]int64{1: 20, 2: 21, 3: 22, 4: 4000}[ref] {
				b.Int("k", i%100)
			}
			b.End()
		})},
		{Kind: perfetto.Counter, Parent: -1, Name: "counter"},
	}}
	for i := range int64(3000) {
		tr.Tracks[0].Items = append(tr.Tracks[0].Items, perfetto.Item{Start: 10 * i, Dur: 5, Ref: int32(i)})
	}
	for i := range int64(30_000) {
		tr.Tracks[1].Points = append(tr.Tracks[1].Points, perfetto.Point{TS: i, Int: i % 1000, IsInt: true})
	}
	data, _ := write(t, tr)
	im, err := viewer.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	var read strings.Builder
	viewer.Write(&read, im)
	got, lines := read.String(), map[string]bool{}
	for line := range strings.SplitSeq(got, "\n") {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " {")
		lines[line] = true
	}
	for i := range 3000 {
		if want := fmt.Sprintf("%d +5 \"name %d\"", 10*i, i); !lines[want] {
			t.Fatalf("not there: %s", want)
		}
	}
	for i := range 30_000 {
		if want := fmt.Sprint(i, i%1000); !lines[want] {
			t.Fatalf("not there: %s", want)
		}
	}
	for ref, n := range map[int]int{1: 20, 2: 21, 3: 22, 4: 4000} {
		line, _, _ := strings.Cut(got[strings.Index(got, fmt.Sprintf("\"name %d\" {", ref)):], "\n")
		if k := strings.Count(line, "="); k != n || !strings.HasSuffix(line, fmt.Sprintf("=%d}", (n-1)%100)) {
			t.Errorf("%d of %d arguments: …%s", k, n, line[max(len(line)-40, 0):])
		}
	}
}

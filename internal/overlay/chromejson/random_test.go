package chromejson_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/kineto"
	"overlay/internal/overlay"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/testtrace/importer"
	"overlay/internal/trace"
)

// TestRandomImport draws random arrows and rows on random traces with odd pids, overlaps, instants and empty slices,
// at times near 0, near the limit of exact import and of today, and reads them as the viewer does.
func TestRandomImport(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom([]int64{0, 1 << 42 * 1000, 1_700_000_000_000_000_000}).Draw(t, "base")
		grain := rapid.SampledFrom([]int64{1, 1000}).Draw(t, "grain")
		if base > 1<<60 {
			grain = 1000 // fractions of today's µs do not survive the import: the input is bent before we see it
		}
		var list []string
		n := rapid.IntRange(1, 40).Draw(t, "events")
		for i := range n {
			pid := rapid.SampledFrom([]string{"1", "2", `"2"`, "0", `"Spans"`, "-1"}).Draw(t, "pid")
			tid := rapid.SampledFrom([]string{"0", "1", "-7", `"stream 7"`, `"x"`}).Draw(t, "tid")
			at := base + grain*rapid.Int64Range(0, 60).Draw(t, "ts")
			ts := fmt.Sprintf("%d.%03d", at/1000, at%1000)
			if rapid.IntRange(0, 5).Draw(t, "kind") == 0 {
				list = append(list, fmt.Sprintf(`{"ph":"i","name":"i%d","pid":%s,"tid":%s,"ts":%s,"s":"t"}`, i, pid, tid, ts))
				continue
			}
			d := grain * rapid.SampledFrom([]int64{0, 1, 2, 5, 20}).Draw(t, "dur")
			args := rapid.SampledFrom([]string{"", `,"args":{}`, `, "args": {"x": "}"}`, `,"args":{"critical":1,"y":[1]}`}).Draw(t, "args")
			list = append(list, fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":"n%d","pid":%s,"tid":%s,"ts":%s,"dur":%d.%03d%s}`, i, pid, tid, ts, d/1000, d%1000, args))
		}
		src := "[" + strings.Join(list, rapid.SampledFrom([]string{",", ",\n ", " ,"}).Draw(t, "sep")) + "]"
		if rapid.Bool().Draw(t, "object") {
			src = `{"schemaVersion": 1, "traceEvents": ` + src + `, "traceName": "x"}`
		}
		tr, err := kineto.Parse([]byte(src), "", kineto.Options{})
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		ov := &overlay.Drawing{Attrs: []overlay.Attr{{Key: "overlay.flows_drawn"}}}
		overlay.StripEarlier(tr, ov)
		var slices []trace.EventID
		var marks []overlay.Mark
		for i := range tr.Events {
			if tr.Events[i].Ph == 'X' {
				slices = append(slices, trace.EventID(i))
			}
			if rapid.Bool().Draw(t, "mark") {
				marks = append(marks, overlay.Mark{Event: trace.EventID(i), NS: 1, Next: -1, Node: -1})
			}
		}
		ov.Marks = overlay.MarksOf(len(tr.Events), marks)
		if len(slices) > 1 {
			for range rapid.IntRange(0, 20).Draw(t, "arrows") {
				a := overlay.Arrow{From: rapid.SampledFrom(slices).Draw(t, "from"), To: rapid.SampledFrom(slices).Draw(t, "to"),
					FromEnd: rapid.Bool().Draw(t, "fromEnd"), ToEnd: rapid.Bool().Draw(t, "toEnd"), Type: "critical_path_dependency"}
				if a.From != a.To {
					ov.Arrows = append(ov.Arrows, a)
				}
			}
		}
		root := overlay.Track{Name: "Critical path", Parent: -1, Category: "critical_path_summary"}
		var owners []trace.EventID
		segments := overlay.Track{Name: "Path segments", Category: "critical_path", EventOf: func(i int) trace.EventID { return owners[i] }}
		at, end := base+rapid.Int64Range(0, 999).Draw(t, "start"), int64(0)
		for range rapid.IntRange(1, 30).Draw(t, "segments") {
			d := rapid.Int64Range(1, 700).Draw(t, "d")
			segment := overlay.Slice{Start: at, Dur: d, Name: "s"}
			owner := trace.NoEvent
			if len(slices) > 0 && rapid.Bool().Draw(t, "owned") {
				owner = rapid.SampledFrom(slices).Draw(t, "owner")
				segment.Args = []overlay.Arg{{Key: overlay.ArgEvent, Int: int64(owner)}}
			}
			segments.Slices, owners = append(segments.Slices, segment), append(owners, owner)
			at += d
			end = at
		}
		first := segments.Slices[0].Start
		root.Slices = append([]overlay.Slice{{Start: first, Dur: end - first, Name: "verdict"}}, segments.Slices...)
		ov.Tracks = []overlay.Track{root, segments}

		var b bytes.Buffer
		st, err := chromejson.Write(&b, tr, ov)
		if err != nil {
			t.Fatalf("%v", err)
		}
		before, err := importer.Import([]byte(src))
		if err != nil {
			t.Fatalf("%v", err)
		}
		after, err := importer.Import(b.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", b.Bytes(), err)
		}
		position := outputPositions(tr, ov)
		compareSlices(t, before, after, position, ov)
		compareArrows(t, after, position, ov, st)
		if n := after.Stats["flow_no_enclosing_slice"] + after.Stats["flow_end_without_start"] + after.Stats["flow_duplicate_id"]; n > 0 {
			t.Fatalf("%v: %s", after.Stats, b.Bytes())
		}
	})
}

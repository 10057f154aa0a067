package pftrace

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"overlay/internal/analyses"
	"overlay/internal/overlay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/viewer"
	"overlay/internal/trace"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestPerfettoCases turns each "in" of testdata into the text of what the viewer would make of it.
func TestPerfettoCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := perfettoText(t, ar.Files[0].Data, nil)
			if *update {
				ar.Files = []txtar.File{ar.Files[0], {Name: "out", Data: []byte(got)}}
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(ar.Files[1].Data), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// perfettoText writes a trace and returns it as the reader's text, without its uuid, and the stats.
func perfettoText(t *testing.T, src []byte, draw func(*trace.Trace) *overlay.Drawing) string {
	t.Helper()
	tr := testtrace.Parse(t, src)
	var ov *overlay.Drawing
	if draw != nil {
		ov = draw(tr)
	}
	var buf, text bytes.Buffer
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	st, err := Write(&buf, tr, ov)
	if err != nil {
		t.Fatal(err)
	}
	for _, cpus := range []int{2, 5} {
		runtime.GOMAXPROCS(cpus)
		var again bytes.Buffer
		if _, err := Write(&again, tr, ov); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(buf.Bytes(), again.Bytes()) {
			t.Errorf("%d CPUs: other bytes", cpus)
		}
	}
	im, err := viewer.Parse(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	im.CheckArgs()
	if err := viewer.Write(&text, im); err != nil {
		t.Fatal(err)
	}
	lines := slices.DeleteFunc(strings.SplitAfter(text.String(), "\n"), func(l string) bool { return strings.HasPrefix(l, "uuid ") })
	stats := fmt.Sprintf("drawn %d unbound %d unclosed %d unopened %d negative %d", st.Events, st.Unbound, st.Unclosed, st.Unopened, st.Negative)
	var letters []byte
	for l := range st.NotDrawn {
		letters = append(letters, l)
	}
	slices.Sort(letters)
	for _, l := range letters {
		stats += fmt.Sprintf(" not-drawn-%c %d", l, st.NotDrawn[l])
	}
	return strings.Join(lines, "") + stats + "\n"
}

// TestPerfettoOverlay draws an overlay by hand: marks, red from a tenth of the duration on and pale below, arrows on both
// slices, rows with their order, an earlier mark replaced, an event left out.
func TestPerfettoOverlay(t *testing.T) {
	src := `[
{"ph":"X","cat":"cpu_op","pid":5,"tid":5,"ts":1,"dur":10,"name":"aten::add 12","args":{"dims":[1,[]],"x":1,"critical":7,"critical_id":[1,[]]}},
{"ph":"X","cat":"cpu_op","pid":5,"tid":5,"ts":2,"dur":2,"name":"aten::add 99"},
{"ph":"X","cat":"user_annotation","pid":5,"tid":5,"ts":0,"dur":40,"name":"ProfilerStep#4"},
{"ph":"X","cat":"kernel","pid":0,"tid":7,"ts":20,"dur":5,"name":"gemm","args":{"stream":7}},
{"ph":"X","cat":"kernel","pid":0,"tid":7,"ts":30,"dur":5,"name":"removed"},
{"ph":"i","cat":"cpu_instant_event","pid":5,"tid":5,"ts":50,"name":"[memory]"}]`
	draw := func(tr *trace.Trace) *overlay.Drawing {
		return &overlay.Drawing{
			Marks: overlay.MarksOf(len(tr.Events), []overlay.Mark{
				{Event: 0, NS: 999, ID: 0, Next: 2, TotalNS: 2000, Node: -1},
				{Event: 3, NS: 500, ID: 2, Next: -1, TotalNS: 500, Node: 4},
			}),
			Tracks: []overlay.Track{
				{Name: "Critical path", Parent: -1, Description: "why", Category: "critical_path_summary", Slices: []overlay.Slice{
					{Start: 1000, Dur: 24000, Name: "Bound by CPU", Color: "cpu#966", Args: []overlay.Arg{{Key: "class", Str: "cpu", IsStr: true}, {Key: "cpu_ns", Int: 9}}},
					{Start: 1000, Dur: 10000, Name: "CPU"}}},
				{Name: "Path segments", Parent: 0, Category: "critical_path", Slices: []overlay.Slice{{Start: 1000, Dur: 10000, Name: "aten::add 12"}}},
				{Name: "Queue length", Parent: 0},
				{Name: "stream 7", Parent: 2, Counter: true, Unit: "ops", Points: []analyses.Point{{TS: 1000, Value: 1}, {TS: 2000, Value: 0.5}}},
			},
			Arrows:          []overlay.Arrow{{From: 0, To: 3}, {From: 3, To: 4}, {From: 3, To: 5}},
			Attrs:           []overlay.Attr{{Key: "overlay.method", Str: "exact", IsStr: true}, {Key: "overlay.window_ns", Int: 24000}},
			Keep:            []bool{true, true, true, true, false, true},
			HasEarlierMarks: true,
		}
	}
	want := `row "Critical path" order=0 explicit | why
  1000 +24000 "Bound by CPU" critical_path_summary color=cpu#966 {class="cpu" cpu_ns=9}
    1000 +10000 "CPU" critical_path_summary
  row "Path segments" order=1 explicit
    1000 +10000 "aten::add 12" critical_path
  row "Queue length" order=2 explicit
    counter "stream 7" order=3 explicit unit=ops
      1000 1
      2000 0.5
process "process 5" pid=5 order=0 | pid=5
  thread "thread 5" pid=5 tid=5 order=0 | pid=5 tid=5
    0 +40000 "ProfilerStep#4" user_annotation
      1000 +10000 "aten::add 12" cpu_op color=PALE {critical=1 critical_ns=999 critical_id=0 critical_next=2 critical_total_ns=2000 dims[0]=1 dims[1]="[]" x=1}
        2000 +2000 "aten::add 99" cpu_op color=PALE
    50000 instant "[memory]" cpu_instant_event color=off#8603
process "GPU 0" pid=1000000 order=1 | pid=0
  thread "stream 7" pid=1000000 tid=7 order=0 | pid=0 tid=7
    20000 +5000 "gemm" kernel color=critical#2796 {critical=1 critical_ns=500 critical_id=2 critical_total_ns=500 cdg_node=4 stream=7}
flow 1 "aten::add 12"@1000 -> "gemm"@20000
attribute overlay.method = "exact"
attribute overlay.window_ns = 24000
drawn 5 unbound 0 unclosed 0 unopened 0 negative 0
`
	got := perfettoText(t, []byte(src), draw)
	// Both aten::add have one colour: it goes by the name without digits.
	pale := paleColors[paleIndex("aten::add ")]
	if diff := cmp.Diff(strings.ReplaceAll(want, "PALE", pale), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Iterations of a server have the colour of their type, whatever else their names say.
func TestColorsOfIterations(t *testing.T) {
	decode := paleIndex("step[DECODE bs=32]")
	for _, name := range []string{"step[DECODE bs=1]", "execute_context_0(0)_generation_4(4)", "decode[bs=8 tok=8]"} {
		if c := paleIndex(name); c != decode || c <= noPale {
			t.Errorf("%s has colour %d, not the %d of decode", name, c, decode)
		}
	}
	for _, name := range []string{"execute_context_1(9)_generation_0(0)", "execute_context_1(9)_generation_4(4)", "step[TARGET_VERIFY bs=4]", "draft step[DECODE bs=4]", "scheduler.run_batch"} {
		if c := paleIndex(name); c == decode {
			t.Errorf("%s has the colour of decode", name)
		}
	}
}

package chromejson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"overlay/internal/advise"
	"overlay/internal/critpath"
	"overlay/internal/kineto"
	"overlay/internal/overlay"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/importer"
	"overlay/internal/testtrace/textcheck"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// annotate analyses a trace; odd ones without anything to analyse are skipped.
func annotate(t *testing.T, tr *trace.Trace, o overlay.Options) (*critpath.Path, *overlay.Drawing) {
	t.Helper()
	p, ov := annotateAny(t, tr, o)
	if p == nil {
		t.Skip("nothing to analyse")
	}
	return p, ov
}

// annotateAny draws a made-up verdict, and gives no path, on traces that hold nothing to analyse: rows of theirs are copied
// and numbered all the same.
func annotateAny(t *testing.T, tr *trace.Trace, o overlay.Options) (*critpath.Path, *overlay.Drawing) {
	t.Helper()
	g, p, ok := testtrace.Analyse(t, tr)
	if !ok {
		return nil, &overlay.Drawing{Tracks: []overlay.Track{{Name: "Critical path", Parent: -1, Category: "critical_path_summary",
			Slices: []overlay.Slice{{Start: 1, Dur: 1000, Name: "nothing"}}}}}
	}
	o.Advice = advise.Find(g, p, func() *whatif.Model { return whatif.New(g) })
	return p, overlay.Annotate(g.Layout(), p, o)
}

func write(t *testing.T, tr *trace.Trace, ov *overlay.Drawing) ([]byte, chromejson.Stats) {
	t.Helper()
	var b bytes.Buffer
	st, err := chromejson.Write(&b, tr, ov)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), st
}

// elements are the events of a Chrome trace as written.
func elements(t *testing.T, src []byte) []json.RawMessage {
	t.Helper()
	var list []json.RawMessage
	if err := json.Unmarshal(src, &list); err == nil {
		return list
	}
	var doc struct{ TraceEvents []json.RawMessage }
	if err := json.Unmarshal(src, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.TraceEvents
}

// TestOutputs looks at what is written of each trace, which is read and analysed once: copied, drawn with other numbers of
// CPUs, drawn on top of what was drawn, and as Perfetto reads it.
func TestOutputs(t *testing.T) {
	testtrace.Subjects(t, func(t *testing.T, tr *trace.Trace) {
		copied(t, tr)
		p, ov := annotateAny(t, tr, overlay.Options{Version: "1"})
		out, st := write(t, tr, ov)
		sameOnCPUs(t, tr, ov, out)
		if p != nil {
			runOnRun(t, p, ov, out, st)
		}
		imported(t, tr, p, ov, out, st)
		if p == nil {
			t.Skip("nothing to analyse")
		}
	})
}

// copied compares every event of a plain copy with the input, byte for byte.
func copied(t *testing.T, tr *trace.Trace) {
	t.Helper()
	out, _ := write(t, tr, nil)
	got := elements(t, out)
	if len(got) != len(tr.Events) {
		t.Fatalf("%d events in, %d out", len(tr.Events), len(got))
	}
	for i, raw := range got {
		if tr.Events[i].Flags&trace.Dirty == 0 && !bytes.Equal(raw, kineto.TextOf(tr).Raw(trace.EventID(i))) {
			t.Fatalf("event %d: in %s, out %s", i, kineto.TextOf(tr).Raw(trace.EventID(i)), raw)
		}
	}
	if !tr.Truncated && len(tr.Repairs) == 0 && !bytes.Equal(out, textcheck.Bytes(tr)) {
		t.Errorf("an unbroken input is not copied byte for byte")
	}
}

// sameOnCPUs wants the same bytes on any number of CPUs.
func sameOnCPUs(t *testing.T, tr *trace.Trace, ov *overlay.Drawing, want []byte) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cpus := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(cpus)
		if got, _ := write(t, tr, ov); !bytes.Equal(got, want) {
			t.Errorf("%d CPUs: other bytes", cpus)
		}
	}
}

// imported reads the outputs of all methods as Perfetto does and compares with the input and with what was to be drawn. Of a
// large trace that of the exact method will do: the others differ in what is drawn, not in how it is written.
func imported(t *testing.T, tr *trace.Trace, p *critpath.Path, ov *overlay.Drawing, out []byte, st chromejson.Stats) {
	t.Helper()
	before := importInput(t, tr)
	after := compare(t, tr, before, ov, out, st)
	if p != nil && !strings.Contains(t.Name(), "/hostile_") { // those tie as many slices together as they can
		limit := 1000
		if strings.Contains(t.Name(), "trace_diff") {
			limit = 1250 // graphs of 501 operations: 1,003 arrows that no cut parts
		}
		edgesAreArrows(t, p, after, st, limit)
	}
	if len(tr.Events) < 10_000 || corpus.Long() && len(tr.Events) < 200_000 {
		for _, ov := range byMethods(t, tr) {
			out, st := write(t, tr, ov)
			compare(t, tr, before, ov, out, st)
		}
	}
}

// compare reads an output as Perfetto does, and wants the slices of the input and what was to be drawn.
func compare(t *testing.T, tr *trace.Trace, before *importer.Result, ov *overlay.Drawing, out []byte, st chromejson.Stats) *importer.Result {
	t.Helper()
	after, err := importer.Import(out)
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range after.Errors() {
		if n > before.Errors()[name] {
			t.Errorf("%s: %d, in the input %d", name, n, before.Errors()[name])
		}
	}
	position := outputPositions(tr, ov)
	compareSlices(t, before, after, position, ov)
	compareArrows(t, after, position, ov, st)
	t.Logf("%d slices, %d added, %d arrows of %d, %d unbindable, %d renumbered, %v", len(after.Slices), st.Slices, st.Arrows, len(ov.Arrows), st.Unbindable, st.Renumbered, after.Stats)
	return after
}

// importInput reads the input as Perfetto does. What the viewer does not read, or reads at other times than were meant,
// cannot be compared.
func importInput(t *testing.T, tr *trace.Trace) *importer.Result {
	t.Helper()
	before, err := importer.Import(textcheck.Bytes(tr))
	switch {
	case err != nil:
		t.Skip("the viewer refuses the input: ", err)
	case before.Errors()["json_tokenizer_failure"] > 0:
		t.Skip("the viewer leaves events of the input out")
	case slices.ContainsFunc(tr.Repairs, func(r trace.Repair) bool { return r.Reason == kineto.RepairUnpadded }):
		t.Skip("the viewer takes 12 µs and 5 ns for 12.5 µs")
	}
	return before
}

// outputPositions gives for each input event its position in the output, -1 for those left out.
func outputPositions(tr *trace.Trace, ov *overlay.Drawing) []int {
	at := make([]int, len(tr.Events))
	n := 0
	for i := range at {
		at[i] = -1
		if ov.Keep == nil || ov.Keep[i] {
			at[i] = n
			n++
		}
	}
	return at
}

// checker is a test, or a round of a property test.
type checker interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// compareSlices wants each slice of the input unchanged, and the added ones where they belong.
func compareSlices(t checker, before, after *importer.Result, position []int, ov *overlay.Drawing) {
	t.Helper()
	type key struct {
		event   int
		name    string
		ts, dur int64
	}
	want, n := map[key]int{}, 0
	for _, s := range before.Slices {
		if position[s.Event] >= 0 {
			want[key{position[s.Event], s.Name, s.TS, s.Dur}]++
			n++
		}
	}
	added := map[string]int{}
	critical := int64(-1)
	for pid, name := range after.Processes {
		if name == "Critical path" {
			critical = pid
		}
	}
	if critical < 0 || after.Order[critical] != -1000 {
		t.Error("no process Critical path, or not first")
	}
	for _, s := range after.Slices {
		if s.PID == critical {
			added[s.Category]++
			if s.Spilled {
				t.Errorf("added slice %s at %d overlaps another", s.Name, s.TS)
			}
			continue
		}
		want[key{s.Event, s.Name, s.TS, s.Dur}]--
		n--
	}
	if n != 0 {
		t.Errorf("%d slices lost or gained", n)
	}
	for k, n := range want {
		if n != 0 {
			t.Fatalf("slice %+v: %d times too few", k, n)
		}
	}
	total := 0
	for _, tk := range ov.Tracks {
		total += tk.Len()
	}
	if got := added["critical_path_summary"] + added["critical_path"] + added["cdg"] + added["critical_path_analysis"]; got != total {
		t.Errorf("%d added slices, wanted %d (%v)", got, total, added)
	}
}

// compareArrows wants each arrow of the overlay between its two slices, and no other of its category.
func compareArrows(t checker, after *importer.Result, position []int, ov *overlay.Drawing, st chromejson.Stats) {
	t.Helper()
	type pair struct{ a, b int }
	want := map[pair]int{}
	for _, a := range ov.Arrows {
		x, y := position[a.From], position[a.To]
		want[pair{min(x, y), max(x, y)}]++
	}
	got := 0
	for _, f := range after.Flows {
		if f.Category != "critical_path" {
			continue
		}
		got++
		x, y := boundTo(t, after, position, f.Out), boundTo(t, after, position, f.In)
		k := pair{min(x, y), max(x, y)}
		if want[k]--; want[k] < 0 {
			t.Fatalf("arrow between events %d and %d of the output: not wanted", x, y)
		}
	}
	if got != st.Arrows || st.StandIns > st.Arrows || st.Arrows+st.Unbindable != len(ov.Arrows) {
		t.Errorf("%d arrows found, %d written, %d unbindable, %d wanted", got, st.Arrows, st.Unbindable, len(ov.Arrows))
	}
}

// boundTo is the position in the output of the event whose slice is at an end of an arrow, or whose segment of the path is.
func boundTo(t checker, after *importer.Result, position []int, slice int) int {
	t.Helper()
	s := &after.Slices[slice]
	if s.Category != "critical_path" {
		return s.Event
	}
	var e struct {
		Name string
		Args struct{ Event *int }
	}
	if err := json.Unmarshal(after.Events[s.Event], &e); err != nil || e.Args.Event == nil {
		t.Fatalf("an arrow at a segment of no event: %s", after.Events[s.Event])
	}
	return position[*e.Args.Event]
}

// runOnRun wants the same path and marks from the output of a run as from its input.
func runOnRun(t *testing.T, p1 *critpath.Path, ov1 *overlay.Drawing, out1 []byte, st chromejson.Stats) {
	t.Helper()
	if st.Renumbered > 0 { // nodes that start together are numbered by their rows, so compare the next two outputs
		again := testtrace.Parse(t, out1)
		_, ov := annotate(t, again, overlay.Options{Version: "1"})
		out1, _ = write(t, again, ov)
	}
	tr2 := testtrace.Parse(t, out1)
	p2, ov2 := annotate(t, tr2, overlay.Options{Version: "1"})
	if a, b := fmt.Sprint(p1.Segments.List()[:min(p1.Segments.Len(), 5)], p1.Segments.Len()), fmt.Sprint(p2.Segments.List()[:min(p2.Segments.Len(), 5)], p2.Segments.Len()); a != b && ov1.EarlierRemoved == 0 {
		t.Errorf("path differs: %s, then %s", a, b)
	}
	if ov2.EarlierRemoved == 0 {
		t.Error("nothing of the first run was found")
	}
	out2, _ := write(t, tr2, ov2)
	if !bytes.Equal(out1, out2) {
		i := 0
		for i < min(len(out1), len(out2)) && out1[i] == out2[i] {
			i++
		}
		t.Errorf("the second output differs from byte %d on: %q, then %q", i, out1[max(0, i-80):min(len(out1), i+80)], out2[max(0, i-80):min(len(out2), i+80)])
	}
}

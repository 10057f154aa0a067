package perfetto_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"overlay/internal/perfetto"
	"overlay/internal/perfetto/pb"
	"overlay/internal/testtrace/viewer"
)

// small is a trace with something of everything.
func small() *perfetto.Trace {
	names := []string{"outer", "inner", "over\xfflap", "tick", ""}
	fill := func(b *perfetto.Body, ref int32) {
		b.Name(names[ref])
		b.Category("cpu_op")
		if ref == 1 {
			b.Color("critical#2796")
			b.Flow(7)
		}
		if ref == 2 {
			b.Flow(7)
		}
		if ref == 0 {
			b.Int("n", -3)
			b.Uint("u", math.MaxUint64)
			b.Float("f", 0.5)
			b.Bool("b", true)
			b.Str("s", "é\"x")
			b.Array("dims")
			b.Array("")
			b.Int("", 2)
			b.Int("", 3)
			b.End()
			b.Array("")
			b.End()
			b.Dict("")
			b.Str("a.b", strings.Repeat("long ", 40))
			b.End()
			b.End()
		}
	}
	return &perfetto.Trace{
		UUID: [2]uint64{1, math.MaxUint64}, HasRealtime: true, Realtime: 1_700_000_000_000_000_000,
		Attrs: []perfetto.Attr{{Key: "overlay.method", Str: "exact", IsStr: true}, {Key: "overlay.n", Int: -5}},
		Tracks: []perfetto.Track{
			{Kind: perfetto.Process, Parent: -1, Name: "python 42", PID: 42, Description: "pid=42", Labels: []string{"CPU"}},
			{Kind: perfetto.Thread, Parent: 0, Name: "thread 43", PID: 42, TID: 43, Description: "pid=42 tid=43", Fill: perfetto.Same(fill), Items: []perfetto.Item{
				{Start: 1150, Dur: 100, Ref: 2}, {Start: 1000, Dur: 200, Ref: 0}, {Start: 1100, Dur: 100, Ref: 1},
				{Start: 1100, Ref: 3, Instant: true}, {Start: 1200, Ref: 4},
			}},
			{Kind: perfetto.Row, Parent: -1, Name: "Critical path", Explicit: true, Fill: perfetto.Same(fill), Items: []perfetto.Item{{Start: 1000, Dur: 50, Ref: 3}}},
			{Kind: perfetto.Counter, Parent: 2, Name: "Queue length", Unit: "ops", ShareKey: "q",
				Points: []perfetto.Point{{TS: 1000, Int: 3, IsInt: true}, {TS: 1010, Float: 2.5}, {TS: 1020, IsInt: true}}},
		},
	}
}

func write(t testing.TB, tr *perfetto.Trace) ([]byte, perfetto.Stats) {
	t.Helper()
	var buf bytes.Buffer
	st, err := perfetto.Write(&buf, tr)
	if err != nil {
		t.Fatal(err)
	}
	if int64(buf.Len()) != st.Bytes {
		t.Fatalf("Stats.Bytes = %d, written %d", st.Bytes, buf.Len())
	}
	return buf.Bytes(), st
}

// TestReaderAgainstGenerated decodes a file with the generated messages and compares what they say with our reader.
func TestReaderAgainstGenerated(t *testing.T) {
	data, _ := write(t, small())
	compareWithGenerated(t, data)
}

func compareWithGenerated(t *testing.T, data []byte) {
	t.Helper()
	var msg pb.Trace
	if err := proto.Unmarshal(data, &msg); err != nil {
		t.Fatal(err)
	}
	im, err := viewer.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	type seq struct {
		last   int64
		unit   int64
		track  uint64
		names  map[uint64]string
		cats   map[uint64]string
		colors map[uint64]string
	}
	seqs := make(map[uint32]*seq)
	var want, got []string
	uuids := make(map[uint64]string)
	for _, p := range msg.Packet {
		if p.ProtoReflect().GetUnknown() != nil {
			t.Fatalf("packet with unknown fields: %v", p)
		}
		s := seqs[p.GetTrustedPacketSequenceId()]
		if p.GetSequenceFlags() == uint32(pb.TracePacket_SEQ_INCREMENTAL_STATE_CLEARED) {
			s = &seq{names: map[uint64]string{}, cats: map[uint64]string{}, colors: map[uint64]string{}}
			seqs[p.GetTrustedPacketSequenceId()] = s
			s.track = p.GetTracePacketDefaults().GetTrackEventDefaults().GetTrackUuid()
			own, trace := p.GetClockSnapshot().GetClocks()[0], p.GetClockSnapshot().GetClocks()[1]
			s.last, s.unit = int64(trace.GetTimestamp()), int64(own.GetUnitMultiplierNs())
		}
		if d := p.GetTrackDescriptor(); d != nil {
			uuids[d.GetUuid()] = d.GetName() + d.GetProcess().GetProcessName() + d.GetThread().GetThreadName()
		}
		for _, n := range p.GetInternedData().GetEventNames() {
			s.names[n.GetIid()] = n.GetName()
		}
		for _, n := range p.GetInternedData().GetEventCategories() {
			s.cats[n.GetIid()] = n.GetName()
		}
		for _, n := range p.GetInternedData().GetCorrelationIdStr() {
			s.colors[n.GetIid()] = string(n.GetStr())
		}
		ev := p.GetTrackEvent()
		if ev == nil {
			continue
		}
		s.last += int64(p.GetTimestamp()) * s.unit
		row := uuids[s.track]
		switch ev.GetType() {
		case pb.TrackEvent_TYPE_SLICE_BEGIN, pb.TrackEvent_TYPE_INSTANT:
			want = append(want, fmt.Sprintf("begin %d %s %s %s %s args %d", s.last, row, s.names[ev.GetNameIid()],
				s.cats[ev.GetCategoryIids()[0]], s.colors[ev.GetCorrelationIdStrIid()], len(ev.DebugAnnotations)))
			if ev.GetType() == pb.TrackEvent_TYPE_INSTANT {
				want = append(want, fmt.Sprintf("end %d %s", s.last, row))
			}
		case pb.TrackEvent_TYPE_SLICE_END:
			want = append(want, fmt.Sprintf("end %d %s", s.last, row))
		case pb.TrackEvent_TYPE_COUNTER:
			v := ev.GetDoubleCounterValue()
			if _, ok := ev.GetCounterValueField().(*pb.TrackEvent_CounterValue); ok {
				v = float64(ev.GetCounterValue())
			}
			want = append(want, fmt.Sprintf("point %d %s %g", s.last, row, v))
		}
	}
	for i := range im.Slices {
		s := &im.Slices[i]
		row := im.Tracks[s.Track].Name
		got = append(got,
			fmt.Sprintf("begin %d %s %s %s %s args %d", s.TS, row, s.Name, s.Category, s.Color, topArgs(im, int32(i))),
			fmt.Sprintf("end %d %s", s.TS+s.Dur, row))
	}
	for _, p := range im.Points {
		got = append(got, fmt.Sprintf("point %d %s %g", p.TS, im.Tracks[p.Track].Name, p.Value))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("generated messages against reader (-generated +reader):\n%s", diff)
	}
}

// topArgs counts the arguments of a slice, each with all that nests in it.
func topArgs(im *viewer.Imported, slice int32) int {
	keys := map[string]bool{}
	for _, a := range im.Args(slice) {
		key, _, _ := strings.Cut(a.Key, "[")
		keys[key] = true
	}
	return len(keys)
}

// failAt fails once n bytes are through.
type failAt struct{ n int }

var errDisk = errors.New("no space left")

func (f *failAt) Write(p []byte) (int, error) {
	if len(p) > f.n {
		n := f.n
		f.n = 0
		return n, errDisk
	}
	f.n -= len(p)
	return len(p), nil
}

func TestWriteErrorAtEveryByte(t *testing.T) {
	data, _ := write(t, small())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cpus := range []int{1, 3} {
		runtime.GOMAXPROCS(cpus)
		for n := range data {
			if _, err := perfetto.Write(&failAt{n}, small()); !errors.Is(err, errDisk) {
				t.Fatalf("%d CPUs, failure after %d of %d bytes: error %v", cpus, n, len(data), err)
			}
		}
		if _, err := perfetto.Write(&failAt{len(data)}, small()); err != nil {
			t.Fatalf("a disk with room for all: %v", err)
		}
	}
}

// TestLanes checks the writer against the model of the slice stack: whatever the slices, each must come back with its own
// time, length and name.
func TestLanes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		span := rapid.Int64Range(0, 30).Draw(t, "span")
		items := make([]perfetto.Item, n)
		want := make([]string, n)
		for i := range items {
			it := perfetto.Item{Start: rapid.Int64Range(0, span).Draw(t, "start"), Dur: rapid.Int64Range(0, span).Draw(t, "dur"), Ref: int32(i),
				Rank: rapid.Uint8Range(0, 2).Draw(t, "rank")}
			if rapid.IntRange(0, 5).Draw(t, "kind") == 0 {
				it.Instant, it.Dur = true, 0
			}
			items[i] = it
			want[i] = fmt.Sprint(it.Start, it.Dur, it.Ref, it.Instant)
		}
		fill := func(b *perfetto.Body, ref int32) { b.Name(fmt.Sprint(ref)) }
		tr := &perfetto.Trace{Tracks: []perfetto.Track{
			{Kind: perfetto.Process, Parent: -1, PID: 1, Name: "p"},
			{Kind: perfetto.Thread, Parent: 0, PID: 1, TID: 1, Name: "t", Items: items, Fill: perfetto.Same(fill)},
			{Kind: perfetto.Row, Parent: -1, Name: "r", Items: slices.Clone(items), Fill: perfetto.Same(fill)},
		}}
		var one bytes.Buffer
		size := rapid.IntRange(1, 50).Draw(t, "size of pieces")
		for _, cpus := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(cpus)
			var many bytes.Buffer
			if _, err := perfetto.WritePieces(&many, tr, size); err != nil {
				t.Fatal(err)
			}
			if cpus == 1 {
				one = many
			} else if !bytes.Equal(one.Bytes(), many.Bytes()) {
				t.Fatalf("%d CPUs: other bytes", cpus)
			}
		}
		im, err := viewer.Parse(one.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if len(im.Problems) > 0 {
			t.Fatalf("problems: %v", im.Problems)
		}
		got := map[string][]string{}
		for i := range im.Slices {
			s := &im.Slices[i]
			row := strings.TrimSuffix(im.Tracks[s.Track].Name, " overlap")
			got[row] = append(got[row], fmt.Sprint(s.TS, s.Dur, s.Name, s.Instant))
		}
		for i, it := range tr.Tracks[1].Items {
			want[i] = fmt.Sprint(it.Start, it.Dur, fmt.Sprint(it.Ref), it.Instant)
		}
		slices.Sort(want)
		for _, row := range []string{"t", "r"} {
			slices.Sort(got[row])
			if diff := cmp.Diff(want, append([]string{}, got[row]...)); diff != "" {
				t.Fatalf("row %s (-given +read):\n%s", row, diff)
			}
		}
	})
}

// TestDepth nests more slices, and stacks more instants, than the viewer keeps.
func TestDepth(t *testing.T) {
	var items []perfetto.Item
	for i := range 1200 {
		items = append(items, perfetto.Item{Start: int64(i), Dur: int64(3000 - 2*i), Ref: int32(i)})
	}
	for i := range 1000 {
		items = append(items, perfetto.Item{Start: 5000, Ref: int32(2000 + i), Instant: true})
	}
	tr := &perfetto.Trace{Tracks: []perfetto.Track{{Kind: perfetto.Row, Parent: -1, Name: "deep", Items: items, Fill: perfetto.Same(func(b *perfetto.Body, ref int32) { b.Name("s") })}}}
	data, st := write(t, tr)
	if want := 1200 - perfetto.MaxDepth + 1000 - perfetto.MaxDepth; st.Deep < want || st.Lanes != 2 {
		t.Errorf("Deep = %d, Lanes = %d; want at least %d and 2", st.Deep, st.Lanes, want)
	}
	im, err := viewer.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(im.Problems) > 0 || len(im.Slices) != len(items) {
		t.Errorf("%d slices of %d, problems %v", len(im.Slices), len(items), im.Problems)
	}
}

// TestOverlapLanesFollowTheirRow: the viewer shows the row of a thread as its name and number, and orders rows by name.
func TestOverlapLanesFollowTheirRow(t *testing.T) {
	tr := &perfetto.Trace{Tracks: []perfetto.Track{{Kind: perfetto.Process, Parent: -1, Name: "GPU 0", PID: 1}, {Kind: perfetto.Thread, Parent: 0, Name: "stream 7", PID: 1, TID: 7,
		Items: []perfetto.Item{{Start: 0, Dur: 10}, {Start: 5, Dur: 10, Ref: 1}}, Fill: perfetto.Same(func(b *perfetto.Body, _ int32) { b.Name("x") })}}}
	var buf bytes.Buffer
	if _, err := perfetto.Write(&buf, tr); err != nil {
		t.Fatal(err)
	}
	im, err := viewer.Parse(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	lanes := 0
	for _, x := range im.Tracks {
		if strings.HasSuffix(x.Name, "overlap") {
			lanes++
			if x.Name <= "stream 7 7" {
				t.Errorf("%q comes before its row", x.Name)
			}
		}
	}
	if lanes != 1 {
		t.Errorf("%d lanes", lanes)
	}
}

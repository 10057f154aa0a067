package frompftrace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"overlay/internal/frompftrace"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/textcheck"
	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
)

// pb is a message that a test writes by hand.
type pb []byte

func (m pb) num(field protowire.Number, v uint64) pb {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
}

func (m pb) msg(field protowire.Number, v []byte) pb {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
}

func (m pb) str(field protowire.Number, v string) pb { return m.msg(field, []byte(v)) }

// file is a file of packets.
func file(packets ...pb) []byte {
	var out pb
	for _, p := range packets {
		out = out.msg(1, p)
	}
	return out
}

// slice is a slice of sequence 1 on a row as two packets.
func slice(row, start, end uint64, name string) []pb {
	return []pb{
		pb(nil).num(8, start).num(10, 1).msg(11, pb(nil).num(9, 1).num(11, row).str(22, "cpu_op").str(23, name)),
		pb(nil).num(8, end).num(10, 1).msg(11, pb(nil).num(9, 2).num(11, row)),
	}
}

// read reads what a test made. The text is valid JSON, whatever the file holds.
func read(t testing.TB, src []byte, o kineto.Options) (*trace.Trace, error) {
	t.Helper()
	to := &spool{}
	tr, err := frompftrace.Parse(src, "t.pftrace", o, kineto.NewSink(to, o))
	if err != nil {
		var e *kineto.SyntaxError
		if !errors.As(err, &e) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("error %v", err)
		}
		return nil, err
	}
	if !json.Valid(to.b) {
		t.Fatalf("no JSON: %.2000s", to.b)
	}
	if err := tracecheck.Check(tr); err != nil {
		t.Fatal(err)
	}
	if err := textcheck.Check(tr); err != nil {
		t.Fatal(err)
	}
	return tr, nil
}

func count(tr *trace.Trace, reason string) int {
	for _, r := range tr.Repairs {
		if r.Reason == reason {
			return r.Count
		}
	}
	return 0
}

// TestDamage: each kind of damage is one error or one count, and leaves the rest alone.
func TestDamage(t *testing.T) {
	row := pb(nil).msg(60, pb(nil).num(1, 5).msg(4, pb(nil).num(1, 9).num(2, 10).str(5, "main")))
	ok := slice(5, 1000, 3000, "op")
	with := func(more ...pb) []byte { return file(append(append([]pb{row}, ok...), more...)...) }
	event := func(fields pb) pb { return pb(nil).num(8, 2000).num(10, 1).msg(11, fields) }
	huge := protowire.AppendVarint(protowire.AppendTag(with(), 1, protowire.BytesType), 1<<30)
	for _, c := range []struct {
		name   string
		src    []byte
		reason string // "" for none
		slices int
		err    string
	}{
		{"sound", with(), "", 1, ""},
		{"empty", nil, "", 0, "holds no slices"},
		{"no packet", []byte("\x0a\x03abc"), "", 0, "holds no slices"},
		{"no protobuf", []byte("\x0f\xff\xff\xff\xff"), "", 0, "expected a packet"},
		{"cut in a packet", append(with(), 0x0a, 9, 8, 1), "truncated", 1, ""},
		{"cut before the END", with()[:len(with())-3], "unclosed", 0, ""},
		{"cut before the first event", with()[:20], "", 0, "the input ends before the first whole event"},
		{"a packet of 1 GB", huge, "truncated", 1, ""},
		{"broken packet", with(pb(nil).num(8, 1).msg(11, pb{0xff})), "broken_packet", 1, ""},
		{"wrong wire types", with(pb(nil).str(8, "ts").str(10, "seq").num(11, 7)), "unknown_event_type", 1, ""},
		{"event of another wire type", with(event(pb(nil).str(9, "begin").str(11, "row"))), "unknown_event_type", 1, ""},
		{"no time", with(pb(nil).num(10, 1).msg(11, pb(nil).num(9, 1).num(11, 5))), "no_timestamp", 1, ""},
		{"state lost", with(pb(nil).num(8, 1).num(10, 77).num(13, 2).msg(11, pb(nil).num(9, 3).num(11, 5).num(10, 4))), "needs_incremental_state", 1, ""},
		{"unknown name", with(event(pb(nil).num(9, 3).num(11, 5).num(10, 999))), "unknown_name", 1, ""},
		{"unknown category", with(event(pb(nil).num(9, 3).num(11, 5).num(3, 999).str(23, "x"))), "unknown_name", 1, ""},
		{"unknown key", with(event(pb(nil).num(9, 3).num(11, 5).str(23, "x").msg(4, pb(nil).num(1, 7).num(4, 1)))), "unknown_name", 1, ""},
		{"annotation without a key", with(event(pb(nil).num(9, 3).num(11, 5).str(23, "x").msg(4, pb(nil).num(4, 1)))), "broken_argument", 1, ""},
		{"clock without any snapshot", with(pb(nil).num(8, 1).num(58, 3).num(10, 1).msg(11, pb(nil).num(9, 3).num(11, 5))), "", 1, ""},
		{"clock of a sequence without a snapshot", with(pb(nil).num(8, 1).num(58, 70).num(10, 1).msg(11, pb(nil).num(9, 3).num(11, 5))), "unknown_clock", 1, ""},
		{"clock that no snapshot has", with(pb(nil).num(10, 1).msg(6, pb(nil).msg(1, pb(nil).num(1, 6).num(2, 1))), pb(nil).num(8, 1).num(58, 200).num(10, 1).msg(11, pb(nil).num(9, 3).num(11, 5))), "unknown_clock", 1, ""},
		{"BEGIN without END", with(event(pb(nil).num(9, 1).num(11, 5).str(23, "open"))), "unclosed", 1, ""},
		{"END without BEGIN", with(event(pb(nil).num(9, 2).num(11, 6))), "unopened", 1, ""},
		{"compressed", file(pb(nil).msg(50, []byte("zzzz"))), "", 0, "traceconv decompress_packets"},
		{"row that nothing describes", with(slice(99, 7000, 8000, "lost")...), "unknown_track", 2, ""},
		{"render stage of 2^63 ns", with(pb(nil).num(8, 2000).num(10, 1).msg(53, pb(nil).num(1, 1).num(2, 1<<63).str(17, "k"))), "negative_duration", 2, ""},
		{"counters only", file(pb(nil).num(8, 1).num(10, 1).msg(52, nil)), "", 0, "it holds GPU counters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, err := read(t, c.src, kineto.Options{})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			slices := 0
			for i := range tr.Events {
				if tr.Events[i].Ph == 'X' {
					slices++
				}
			}
			if slices != c.slices {
				t.Errorf("%d slices, want %d", slices, c.slices)
			}
			if c.reason == "" && len(tr.Repairs) > 0 || c.reason != "" && count(tr, c.reason) != 1 {
				t.Errorf("repairs %+v, want %q", tr.Repairs, c.reason)
			}
			if c.reason != "" {
				if _, err := read(t, c.src, kineto.Options{Strict: true}); err == nil || !strings.Contains(err.Error(), "--strict") {
					t.Errorf("--strict: %v", err)
				}
			}
		})
	}
}

// TestDeepArguments: arguments that nest without end are cut off, not followed.
func TestDeepArguments(t *testing.T) {
	for _, field := range []protowire.Number{11, 12} {
		arg := pb(nil).str(10, "k").num(4, 1)
		for range 10_000 {
			arg = pb(nil).str(10, "k").msg(field, arg)
		}
		tr, err := read(t, file(append(slice(5, 1, 2, "op"), pb(nil).num(8, 1).num(10, 1).msg(11, pb(nil).num(9, 3).num(11, 5).msg(4, arg)))...), kineto.Options{})
		if err != nil || count(tr, "too_deep") != 1 {
			t.Errorf("%v %+v", err, tr)
		}
	}
}

// TestManyRows: a million rows, most without events, take no time.
func TestManyRows(t *testing.T) {
	var src pb
	for i := range uint64(corpus.Rounds(250_000, 1_000_000)) {
		src = src.msg(1, pb(nil).msg(60, pb(nil).num(1, i+100).num(5, i+99).str(2, "row")))
	}
	for i := range uint64(1000) {
		src = append(src, file(slice(i*1000+100, i, i+5, "op")...)...)
	}
	began := time.Now()
	tr, err := read(t, src, kineto.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
	if n := len(tr.Tracks); n != 1000 {
		t.Errorf("%d rows", n)
	}
}

// made are the bytes of a small trace in each layout.
func made(tb testing.TB) (list [][]byte) {
	b := testtrace.New()
	th := b.Thread(1, 1, "")
	b.Stream(0, 7)
	th.Launch("cudaLaunchKernel", 1_000, 3_000, 7)
	b.Slice("kernel", "k", 0, 7, 5_000, 30_000).Arg("device", 0).Arg("stream", 7).Arg("correlation", 7)
	b.Slice("cpu_op", "aten::mm", 1, 1, 500, 4_000).Arg("External id", 3)
	tr := b.Parse(tb)
	for l := testtrace.PyTorch; l <= testtrace.Live; l++ {
		list = append(list, testtrace.Pftrace(tr, testtrace.PftraceOptions{Layout: l}))
	}
	return append(list, testtrace.Pftrace(tr, testtrace.PftraceOptions{Packed: true, Late: true}))
}

// TestCutAnywhere: a file that ends anywhere is read as far as it goes, or said to be too short.
func TestCutAnywhere(t *testing.T) {
	for _, src := range made(t) {
		whole, err := read(t, src, kineto.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for n := range src {
			tr, err := read(t, src[:n], kineto.Options{})
			if err == nil && len(tr.Events) > len(whole.Events)+1 {
				t.Errorf("%d of %d bytes: %d events, whole %d", n, len(src), len(tr.Events), len(whole.Events))
			}
		}
	}
}

// TestFlippedBytes: damage anywhere gives an error of one line or valid text.
func TestFlippedBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for _, src := range made(t) {
		for range rounds {
			bad := bytes.Clone(src)
			for range 1 + rng.IntN(4) {
				bad[rng.IntN(len(bad))] = byte(rng.Uint32())
			}
			read(t, bad, kineto.Options{})
		}
	}
}

// FuzzParse wants of any bytes an error of one line, or valid text and the same again.
func FuzzParse(f *testing.F) {
	for _, src := range made(f) {
		f.Add(src)
	}
	long := file(pb(nil).num(10, 1).num(13, 1).msg(12, pb(nil).msg(2, pb(nil).num(1, 1).str(2, strings.Repeat("N", 10_000))))) // and used again and again
	for i := range uint64(200) {
		long = append(long, file(pb(nil).num(8, 1000+i).num(10, 1).num(13, 2).msg(11, pb(nil).num(9, 3).num(11, 7).num(10, 1)))...)
	}
	f.Add(long)
	f.Fuzz(func(t *testing.T, src []byte) {
		o := kineto.Options{MaxExpand: 1 << 20}
		tr, err := read(t, src, o)
		if err != nil {
			return
		}
		again, err := read(t, src, o)
		if err != nil || !bytes.Equal(kineto.TextOf(tr).Src, kineto.TextOf(again).Src) {
			t.Fatal("not the same again")
		}
	})
}

package chromejson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"overlay/internal/kineto"
	"overlay/internal/overlay"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

const small = `{
  "schemaVersion": 1,
  "distributedInfo": {"rank": 3},
  "displayTimeUnit": "ms",
  "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "a\"b", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2, "args": {"External id": 1}}
  , {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 2, "dur": 1.001, "args": {"stream": 7}},
  {"ph": "M", "name": "process_name", "pid": "Spans", "tid": 0, "args": {"name": "x"}}
  ],
  "traceName": "somewhere.json", "INFO": ["}", "]"]
}
`

// TestCutAnywhere cuts a trace at every byte. What can be read is copied, and the output is whole.
func TestCutAnywhere(t *testing.T) {
	read := 0
	for n := range len(small) + 1 {
		tr, err := kineto.Parse([]byte(small[:n]), "cut", kineto.Options{})
		if err != nil {
			continue
		}
		read++
		for _, ov := range []*overlay.Drawing{nil, {Attrs: []overlay.Attr{{Key: "overlay.method", Str: "exact", IsStr: true}}}} {
			out, st := write(t, tr, ov)
			if !json.Valid(out) {
				t.Fatalf("cut at %d, overlay %v: %s", n, ov != nil, out)
			}
			got := elements(t, out)
			if len(got) < len(tr.Events) || st.Events != len(tr.Events) {
				t.Fatalf("cut at %d: %d events of %d", n, len(got), len(tr.Events))
			}
			for i := range tr.Events {
				if ov == nil && tr.Events[i].Flags&trace.Dirty == 0 && !bytes.Equal(got[i], kineto.TextOf(tr).Raw(trace.EventID(i))) {
					t.Fatalf("cut at %d: event %d is %s", n, i, got[i])
				}
			}
		}
	}
	if read < 50 {
		t.Errorf("only %d of the cut traces were read", read)
	}
	tr := testtrace.Parse(t, []byte(small))
	if out, _ := write(t, tr, nil); string(out) != small {
		t.Errorf("a whole trace is not copied byte for byte: %s", out)
	}
}

// TestBrokenAround breaks what stands around the events, a byte at a time. The output is valid JSON in valid UTF-8,
// with the same events; what was broken is counted.
func TestBrokenAround(t *testing.T) {
	list := [2]int{strings.Index(small, "["), strings.Index(small, "  ],")}
	read := 0
	for i := range small {
		if i >= list[0] && i <= list[1]+2 {
			continue
		}
		for _, c := range []byte("\xff\x01\n\",]}") {
			src := []byte(small)
			src[i] = c
			tr, err := kineto.Parse(src, "broken", kineto.Options{})
			if err != nil || len(tr.Events) == 0 {
				continue // one of the keys before the list cannot be read, or the list was called by another name
			}
			read++
			for _, ov := range []*overlay.Drawing{nil, {Attrs: []overlay.Attr{{Key: "overlay.method", Str: "exact", IsStr: true}}}} {
				out, _ := write(t, tr, ov)
				if !json.Valid(out) || !utf8.Valid(out) {
					t.Fatalf("%q at %d, overlay %v: %q", c, i, ov != nil, out)
				}
				if got := elements(t, out); len(got) < len(tr.Events) {
					t.Fatalf("%q at %d: %d events of %d", c, i, len(got), len(tr.Events))
				}
				if ov == nil && !bytes.Equal(out, src) && len(tr.Repairs) == 0 {
					t.Fatalf("%q at %d: not copied as it is, and nothing is counted: %q", c, i, out)
				}
			}
		}
	}
	if read < 500 {
		t.Errorf("only %d of the broken traces were read", read)
	}
	// Each member is mended alone: the others keep their bytes, and lists stay lists.
	const event = `{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}`
	for _, c := range [][2]string{
		{"{\"host\": \"a\xffb\", \"n\": 1.50, \"traceEvents\": [%s]}", `{"host": "a\ufffdb", "n": 1.50, "traceEvents": [%s]}`},
		{"{\"ho\nst\": \"x\", \"list\": [1, [2, 3,], ], \"traceEvents\": [%s]}", `{"ho\nst": "x", "list": [1, [2, 3]], "traceEvents": [%s]}`},
		{`{"traceEvents": [%s], "o": {"a": N/A, "b": 1,}}`, `{"traceEvents": [%s], "o": {"a": "N/A", "b": 1}}`},
		{`{"traceEvents": [%s], "traceEvents": [1, 2], "n": 1}`, `{"traceEvents": [%s], "n": 1}`},
		{`{"traceEvents": [%s]} {"traceEvents": []}`, `{"traceEvents": [%s]}`},
	} {
		tr := testtrace.Parse(t, fmt.Appendf(nil, c[0], event))
		out, _ := write(t, tr, nil)
		var got, want any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(fmt.Appendf(nil, c[1], event), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) || len(tr.Repairs) == 0 {
			t.Errorf("%s became %s, repairs %v", c[0], out, tr.Repairs)
		}
	}
}

// TestBrokenEvents copies events that are no JSON in the form that the reader makes of them, marks included.
func TestBrokenEvents(t *testing.T) {
	const src = `{"traceEvents": [
{"ph": "X", "cat": "gpu_memcpy", "name": "m", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"bandwidth": N/A, "x": NaN, "critical": 1}},
{"ph": "X", "cat": "cpu_op", "name": "line
feed", "pid": 1, "tid": 1, "ts": 1, "dur": 1,},
{"ph": "X", "cat": "cpu_op", "name": "none", "pid": 1, "tid": 1, "ts": 3, "dur": 1, "args": null},
7, null,
],}`
	tr := testtrace.Parse(t, []byte(src))
	ov := &overlay.Drawing{}
	overlay.StripEarlier(tr, ov)
	var marks []overlay.Mark
	for i := range 3 {
		marks = append(marks, overlay.Mark{Event: trace.EventID(i), NS: 5, ID: int32(i), Next: -1, Node: 2})
	}
	ov.Marks = overlay.MarksOf(len(tr.Events), marks)
	out, st := write(t, tr, ov)
	if !json.Valid(out) || st.MarksLost != 0 || st.Reencoded < 2 {
		t.Fatalf("%+v: %s", st, out)
	}
	for i, raw := range elements(t, out)[:3] {
		var e struct{ Args map[string]any }
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		if e.Args["critical_ns"] != 5.0 || e.Args["critical_id"] != float64(i) || e.Args["cdg_node"] != 2.0 {
			t.Errorf("event %d: %s", i, raw)
		}
	}
	if bytes.Count(out, []byte(`"critical":`)) != 3 {
		t.Errorf("the earlier mark stays: %s", out)
	}
}

// limited takes n bytes, then fails.
type limited struct{ n, took int }

var errFull = errors.New("disk full")

func (l *limited) Write(b []byte) (int, error) {
	if len(b) > l.n {
		n := l.n
		l.took, l.n = l.took+n, math.MaxInt
		return n, errFull
	}
	l.took, l.n = l.took+len(b), l.n-len(b)
	return len(b), nil
}

// TestEveryWriteError lets writing fail at every byte, and wants to hear of it.
func TestEveryWriteError(t *testing.T) {
	tr := testtrace.Parse(t, []byte(small))
	_, ov := annotate(t, tr, overlay.Options{})
	whole, _ := write(t, tr, ov)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cpus := range []int{1, 4} {
		runtime.GOMAXPROCS(cpus)
		step := corpus.Rounds(5*cpus, 1)
		for n := 0; n < len(whole); n += step {
			disk := &limited{n: n}
			_, err := chromejson.Write(disk, tr, ov)
			if !errors.Is(err, errFull) || disk.took != n {
				t.Fatalf("after %d bytes, %d CPUs: %v, %d bytes", n, cpus, err, disk.took)
			}
		}
	}
}

// TestTooDeep: of a member that is too deep to be read nothing reaches the output that is no JSON, and the events do.
func TestTooDeep(t *testing.T) {
	text := strings.Replace(small, `{"rank": 3}`, `{"name": "NV\xb5", "deep": `+strings.Repeat("[", 2000)+strings.Repeat("]", 2000)+"}", 1)
	text = strings.Replace(text, `\xb5`, "\xb5", 1)
	tr := testtrace.Parse(t, []byte(text))
	out, st := write(t, tr, nil)
	if !json.Valid(out) || !utf8.Valid(out) || st.Events != 3 || len(elements(t, out)) != 3 {
		t.Errorf("%d events, %.300s", st.Events, out)
	}
}

// TestArrowWithoutRow: an arrow at an event that is on no row is left out and counted.
func TestArrowWithoutRow(t *testing.T) {
	text := strings.Replace(small, `{"ph": "M", "name": "process_name"`, `12345, {"ph": "M", "name": "process_name"`, 1)
	tr := testtrace.Parse(t, []byte(text))
	if tr.Events[2].Track >= 0 {
		t.Fatal("the event is on a row: the test shows nothing")
	}
	out, st := write(t, tr, &overlay.Drawing{Arrows: []overlay.Arrow{{From: 0, To: 2}, {From: 2, To: 1}}})
	if !json.Valid(out) || st.Arrows != 0 || st.Unbindable != 2 {
		t.Errorf("%d arrows, %d unbindable", st.Arrows, st.Unbindable)
	}
}

// TestArgsNoObject marks events whose args are no object: null becomes one, others stay as they are. No event has two args.
func TestArgsNoObject(t *testing.T) {
	tr := testtrace.Parse(t, []byte(`{"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": null},
{"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 3, "dur": 1, "args": "x"}
]}`))
	ov := &overlay.Drawing{Marks: overlay.MarksOf(2, []overlay.Mark{{Event: 0, NS: 5, ID: 0, Next: -1, Node: 2}, {Event: 1, NS: 5, ID: 1, Next: -1, Node: 2}})}
	out, st := write(t, tr, ov)
	list := elements(t, out)
	if st.MarksLost != 1 || bytes.Count(list[0], []byte(`"args"`)) != 1 || !bytes.Contains(list[0], []byte(`"critical":1`)) ||
		!bytes.HasSuffix(list[1], []byte(`"args": "x"}`)) {
		t.Errorf("%d marks lost: %s", st.MarksLost, out)
	}
}

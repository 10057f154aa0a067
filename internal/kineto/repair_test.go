package kineto

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
)

// wrap puts events into the object form.
func wrap(events ...string) []byte {
	return []byte(`{"schemaVersion": 1, "traceEvents": [` + strings.Join(events, ",\n") + `]}`)
}

const (
	goodOp   = `{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":10.5,"dur":3,"args":{"External id":7}}`
	nextOp   = `{"ph":"X","cat":"cpu_op","name":"z","pid":1,"tid":2,"ts":99,"dur":1}`
	goodText = `event 0 'X' cpu_op cat "cpu_op" name "a" track 0 ts 10500 dur 3000 ext 7`
)

// TestRepairs: each defect between two good events is mended, counted with its reason, and harms nothing around it; the
// cleaned bytes are valid JSON that reads the same again.
func TestRepairs(t *testing.T) {
	for _, c := range []struct {
		name, event, reason string
		want                string // part of the dump of the event; "" = not looked at
	}{
		{"ts as string", `{"ph":"X","name":"b","pid":1,"tid":2,"ts":"20.25","dur":"1"}`, RepairNumberString, "ts 20250 dur 1000"},
		{"ts with a tab", `{"ph":"X","name":"b","pid":1,"tid":2,"ts":"20.250\t","dur":1}`, RepairNumberString, ""},
		{"bare N/A", `{"ph":"X","name":"b","pid":1,"tid":2,"ts":20,"dur":1,"args":{"bw":N/A,"correlation":5}}`, RepairBareWord, "corr 5"},
		{"bare inf", `{"ph":"X","name":"b","pid":1,"tid":2,"ts":20,"dur":1,"args":{"w":inf,"n":-nan,"i":Infinity,"correlation":5}}`, RepairBareWord, "corr 5"},
		{"control character", "{\"ph\":\"X\",\"name\":\"b\x01\nc\",\"pid\":1,\"tid\":2,\"ts\":20,\"dur\":1}", RepairControl, `name "b\x01\nc"`},
		{"invalid UTF-8", "{\"ph\":\"X\",\"name\":\"b\xff\xfec\",\"pid\":1,\"tid\":2,\"ts\":20,\"dur\":1}", RepairUTF8, `name "b��c"`},
		{"unescaped quotes", `{"ph":"X","name":"<string>"x"(3): f","pid":1,"tid":2,"ts":20,"dur":1}`, RepairQuote, `name "<string>\"x\"(3): f"`},
		{"quote and comma", `{"ph":"X","name":"say "a", then b","pid":1,"tid":2,"ts":20,"dur":1}`, RepairQuote, `name "say \"a\", then b"`},
		{"bad escape", `{"ph":"X","name":"C:\py\x.py","pid":1,"tid":2,"ts":20,"dur":1}`, RepairEscape, `name "C:\\py\\x.py"`},
		{"bad unicode escape", `{"ph":"X","name":"C:\users","pid":1,"tid":2,"ts":20,"dur":1}`, RepairEscape, `name "C:\\users"`},
		{"comma before }", `{"ph":"X","name":"b","pid":1,"tid":2,"ts":20,"dur":1,"args":{"correlation":5,},}`, RepairComma, "corr 5"},
		{"comma before ]", `{"ph":"X","name":"b","pid":1,"tid":2,"ts":20,"dur":1,"args":{"grid":[1,2,],"correlation":5}}`, RepairComma, "corr 5"},
		{"no dur", `{"ph":"X","name":"b","pid":1,"tid":2,"ts":20}`, RepairNoDur, "dur 0"},
		{"negative dur", `{"ph":"X","name":"b","pid":1,"tid":2,"ts":20,"dur":-5}`, RepairNegativeDur, "dur 0"},
		{"no ts", `{"ph":"X","name":"b","pid":1,"tid":2,"dur":5}`, RepairNoTS, "ts 0"},
		{"absurd ts", `{"ph":"X","name":"b","pid":1,"tid":2,"ts":99999999999999999999999,"dur":5}`, RepairBigNumber, "ts 0"},
		{"not an object", `17`, RepairNoObject, ""},
		{"null", `null`, RepairNoObject, ""},
		{"broken event", `{"ph":"X","name":"b","pid":1 2 3,"ts":20}`, RepairBroken, ""},
		{"double comma", `{"ph":"X","name":"b","pid":1,"tid":2,"ts":20,"dur":1},`, RepairComma, "ts 20000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := wrap(goodOp, c.event, nextOp)
			tr, err := Parse(src, "x", Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := tracecheck.Check(tr); err != nil {
				t.Fatal(err)
			}
			dump := dumpOf(t, tr)
			if len(tr.Events) != 3 || !strings.Contains(dump, goodText) || !strings.Contains(dump, `name "z" track`) {
				t.Errorf("neighbours are harmed:\n%s", dump)
			}
			if !strings.Contains(dump, "repair "+c.reason+" ") {
				t.Errorf("no repair %s in\n%s", c.reason, dump)
			}
			if c.want != "" && !strings.Contains(dump, c.want) {
				t.Errorf("no %s in\n%s", c.want, dump)
			}
			checkClean(t, tr)
			if _, err := Parse(src, "x", Options{Strict: true}); err == nil {
				t.Error("--strict let it pass")
			}
		})
	}
}

func dumpOf(t testing.TB, tr *trace.Trace) string {
	t.Helper()
	var b bytes.Buffer
	if err := dump(&b, tr); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkClean: the cleaned bytes are valid JSON, and reading them gives the same event without a repair of the bytes.
func checkClean(t testing.TB, tr *trace.Trace) {
	t.Helper()
	for i := range tr.Events {
		e := &tr.Events[i]
		clean := TextOf(tr).Clean(trace.EventID(i), &tr.Events[i])
		if !json.Valid(clean) {
			t.Fatalf("event %d: cleaned bytes are not valid: %q of %q", i, clean, TextOf(tr).Raw(trace.EventID(i)))
		}
		if e.Ph == 0 {
			continue
		}
		again, err := Parse(wrap(string(clean)), "again", Options{})
		if err != nil {
			t.Fatal(err)
		}
		a := &again.Events[0]
		if a.Start != e.Start || again.Dur(a) != tr.Dur(e) || a.Ph != e.Ph || again.Syms[a.Name] != tr.Syms[e.Name] || a.Flags&trace.Dirty != 0 {
			t.Fatalf("event %d: %q reads as %+v, was %+v", i, clean, *a, *e)
		}
	}
}

func TestTopLevel(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"array", `[` + goodOp + `,` + nextOp + `]`, "form array"},
		{"array, first Kineto", `[` + goodOp + `,` + nextOp + `,`, "truncated true"},
		{"base before", `{"baseTimeNanoseconds": 1700000000000000000, "traceEvents":[` + goodOp + `]}`, "base 1700000000000000000/true"},
		{"base after", `{"traceEvents":[` + goodOp + `], "baseTimeNanoseconds": 1700000000000000000}`, "base 1700000000000000000/true"},
		{"rank", `{"distributedInfo":{"backend":"nccl","rank": 3},"traceEvents":[` + goodOp + `]}`, "rank 3"},
		{"byte order mark", "\xef\xbb\xbf" + `{"traceEvents":[` + goodOp + `]}`, goodText},
		{"broken value before", `{"note": "a" b", "traceEvents":[` + goodOp + `]}`, goodText},
		{"broken value after", `{"traceEvents":[` + goodOp + `], "note": {{{`, goodText},
		{"comma after the list", `{"traceEvents":[` + goodOp + `,]}`, "repair trailing_comma"},
		{"empty list", `{"traceEvents":[]}`, "form object"},
		{"zeros at the end", `{"traceEvents":[` + goodOp + "\x00\x00\x00", "truncated true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, err := Parse([]byte(c.src), "x", Options{})
			if err != nil {
				t.Fatal(err)
			}
			if dump := dumpOf(t, tr); !strings.Contains(dump, c.want) {
				t.Errorf("no %q in\n%s", c.want, dump)
			}
		})
	}
}

// TestTrailing: what stands behind the document is counted with its place and refused by --strict; padding is nothing.
func TestTrailing(t *testing.T) {
	object, array := `{"traceEvents":[`+goodOp+`]}`, `[`+goodOp+`]`
	for _, c := range []struct {
		doc, behind string
		reason      string
	}{
		{object, "", ""}, {object, "\n\r\t ", ""}, {object, "\n\x00\x00\x00", ""}, {array, " \x00\n", ""},
		{object, object, RepairTrailing}, {object, "\n\n" + object, RepairTrailing}, {object, "\x00" + array, RepairTrailing},
		{object, "}", RepairTrailing}, {object, ", 5", RepairTrailing}, {array, array, RepairTrailing}, {array, "\n]", RepairTrailing},
		{array, "\n" + object, RepairTrailing},
		{strings.TrimSuffix(object, "}"), `, "traceEvents": [1]}`, RepairSecondList},
	} {
		src := []byte(c.doc + c.behind)
		tr, err := Parse(src, "x", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(tr.Events) != 1 {
			t.Errorf("%q: %d events", src, len(tr.Events))
		}
		_, strict := Parse(src, "x", Options{Strict: true})
		if c.reason == "" {
			if len(tr.Repairs) > 0 || strict != nil {
				t.Errorf("%q: repairs %v, strict %v", src, tr.Repairs, strict)
			}
			continue
		}
		at := int64(len(c.doc) + len(c.behind) - len(strings.TrimLeft(c.behind, " \n\x00")))
		if c.reason == RepairSecondList {
			at = int64(strings.LastIndex(string(src), "[1]"))
		}
		if len(tr.Repairs) != 1 || tr.Repairs[0].Reason != c.reason || tr.Repairs[0].Count != 1 || tr.Repairs[0].First[0] != at {
			t.Errorf("%q: repairs %v, wanted %s at %d", src, tr.Repairs, c.reason, at)
		}
		if strict == nil || !strings.Contains(strict.Error(), fmt.Sprintf("byte %d: --strict: ", at)) {
			t.Errorf("%q: strict says %v", src, strict)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", "x: byte 0: the input is empty"},
		{"hello", "x: byte 0: expected '{' or '['"},
		{`{"a": 1}`, `no "traceEvents"`},
		{`{"traceEvents": 5}`, "x: byte 16: /traceEvents: expected '['"},
		{`{"traceEvents": [`, "before the first whole event"},
		{`{"traceEvents": [{"ph":"X","name":"a`, "before the first whole event"},
		{"PK\x03\x04aaaaaaaaaaaaaaaa", "zip archive"},
		{"\x0a{\x52\x01\x02\x03\x04aaaaaaaaaaaaa", "Perfetto trace"}, // a packet of 123 bytes
		{"\n{ \n", "expected a JSON object"},
		{"\x0a\x10\x01\x02\x03\x04aaaaaaaaaaaaa", "Perfetto trace"},
		{"\x1f\x8b\x08zzzzzzzzzzzzzzzzzzz", "broken"},
	} {
		_, err := Read(strings.NewReader(c.src), "x", Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.src, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than one line: %v", c.src, err)
		}
	}
}

func TestSeveralProcessesWithGPUs(t *testing.T) {
	pair := func(pid, corr int) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":%d,"tid":1,"ts":1,"dur":1,"args":{"correlation":%d}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":3,"dur":1,"args":{"correlation":%d,"stream":7,"device":0}}`, pid, corr, corr)
	}
	if _, err := Parse(wrap(pair(10, 1), pair(10, 2)), "x", Options{}); err != nil {
		t.Error(err)
	}
	_, err := Parse(wrap(pair(10, 1), pair(11, 2)), "x", Options{})
	if err == nil || !strings.Contains(err.Error(), "2 processes launched GPU work in this file (10, 11)") {
		t.Errorf("error %v", err)
	}
}

func TestMicros(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"12", 12000, true}, {"12.5", 12500, true}, {"12.345", 12345, true}, {"12.3454", 12345, true}, {"12.3455", 12346, true},
		{"-3.25", -3250, true}, {"1700000000000000.123", 1700000000000000123, true}, {"1.7e3", 1700000, true}, {"1.5E-2", 15, true}, {"12345e-3", 12345, true},
		{"1e15", 1000000000000000000, true}, {"0.001", 1, true}, {"", 0, false}, {"-", 0, false}, {"1.", 0, false}, {"abc", 0, false}, {"9999999999999999", 0, false}, {"1e30", 0, false},
	} {
		got, _, ok := parseMicros([]byte(c.in))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q is %d, %v; want %d, %v", c.in, got, ok, c.want, c.ok)
		}
	}
}

func TestUnpaddedFractions(t *testing.T) {
	ev := func(ts string) string {
		return `{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":` + ts + `,"dur":1.7}`
	}
	tr, err := Parse(wrap(ev("1711000000000000.123"), ev("1711000000000001.5"), ev("1711000000000002.45")), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Events[1].Start != 1711000000000001005 || tr.Events[2].Start != 1711000000000002045 || tr.Dur(&tr.Events[1]) != 1007 {
		t.Errorf("%d %d %d", tr.Events[1].Start, tr.Events[2].Start, tr.Dur(&tr.Events[1]))
	}
	// A fraction that starts with 0 was padded: short ones come from another tool and are decimal.
	tr, err = Parse(wrap(ev("1711000000000000.123"), ev("1711000000000001.5"), ev("1711000000000002.05")), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Events[1].Start != 1711000000000001500 {
		t.Errorf("%d", tr.Events[1].Start)
	}
}

func checkValid(t testing.TB, tr *trace.Trace, id trace.EventID) {
	t.Helper()
	if clean := TextOf(tr).Clean(id, &tr.Events[id]); !json.Valid(clean) {
		t.Fatalf("event %d: cleaned bytes are not valid: %q of %q", id, clean, TextOf(tr).Raw(id))
	}
}

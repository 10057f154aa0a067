package kineto_test

import (
	"fmt"
	"strings"
	"testing"

	"overlay/internal/kineto"
	"overlay/internal/testtrace/textcheck"
	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
)

// TestWideNumbers: long durations and large ids are read exactly, in one piece and in many, and so are args that stand
// far behind the start of their event.
func TestWideNumbers(t *testing.T) {
	const n = 300
	var b strings.Builder
	b.WriteString(`{"traceEvents":[`)
	dur := func(i int) int64 { return int64(i) * 40_000_001 } // µs: beyond 4.29 s from the second on
	id := func(i int) int64 { return int64(i-n/2) * 1_000_000_007 }
	long := strings.Repeat("x", 1<<24)
	for i := range n {
		name := "op"
		if i%100 == 50 {
			name = long
		}
		fmt.Fprintf(&b, `{"ph":"X","cat":"cpu_op","name":"%s","pid":1,"tid":1,"ts":%d.%03d,"dur":%d.%03d,"args":{"External id":%d,"correlation":%d,"n":%d}} ,`+"\n",
			name, i, i, dur(i), i, id(i), -id(i), i)
		fmt.Fprintf(&b, `{"ph":"s","cat":"ac2g","name":"ac2g","pid":1,"tid":1,"ts":%d,"id":%d},{"ph":"f","cat":"ac2g","name":"ac2g","pid":1,"tid":1,"ts":%d,"id":"x%d"},`, i, id(i), i, i)
	}
	src := []byte(strings.TrimSuffix(b.String(), ",") + "]}")
	chunks := []int{4096, 0, 1 << 20}
	if testing.Short() {
		chunks = chunks[:1] // the most pieces
	}
	for _, chunk := range chunks {
		tr, err := kineto.Parse(src, "wide", kineto.InChunks(chunk))
		if err != nil {
			t.Fatal(err)
		}
		if err := tracecheck.Check(tr); err != nil {
			t.Fatal(err)
		}
		if err := textcheck.Check(tr); err != nil {
			t.Fatal(err)
		}
		if len(tr.Events) != 3*n {
			t.Fatalf("%d events", len(tr.Events))
		}
		for i := range n {
			at := trace.EventID(3 * i)
			op, start, end := &tr.Events[at], &tr.Events[at+1], &tr.Events[at+2]
			if got, want := tr.Dur(op), dur(i)*1000+int64(i); got != want {
				t.Fatalf("chunk %d, event %d: dur %d, want %d", chunk, at, got, want)
			}
			if tr.ExternalID(at) != id(i) || tr.Corr(op) != -id(i) || tr.Corr(start) != id(i) {
				t.Fatalf("chunk %d, event %d: external id %d, correlation %d, flow %d, want %d", chunk, at, tr.ExternalID(at), tr.Corr(op), tr.Corr(start), id(i))
			}
			if got, want := tr.Str(trace.Sym(-1-tr.Corr(end))), fmt.Sprintf(`x%d`, i); got != want {
				t.Fatalf("chunk %d, event %d: flow %q, want %q", chunk, at+2, got, want)
			}
			if got, ok := tr.ArgInt(at, "n"); !ok || got != int64(i) {
				t.Fatalf("chunk %d, event %d: argument %d", chunk, at, got)
			}
			if raw := kineto.TextOf(tr).Raw(at); raw[0] != '{' || !strings.HasSuffix(string(raw[len(raw)-8:]), "}}") {
				t.Fatalf("chunk %d, event %d ends with %q", chunk, at, raw[len(raw)-8:])
			}
		}
	}
}

// TestManyCategories: categories beyond what events can hold are counted, in one piece and in many; all other events have theirs.
func TestManyCategories(t *testing.T) {
	const n, beyond = 1<<16 + 9, 10 // no category at all is one, too
	var b strings.Builder
	b.WriteString(`{"traceEvents":[`)
	for i := range n {
		fmt.Fprintf(&b, `{"ph":"X","cat":"c%d","name":"a","pid":1,"tid":1,"ts":%d,"dur":1},`, i, 2*i)
	}
	src := []byte(strings.TrimSuffix(b.String(), ",") + "]}")
	for _, chunk := range []int{0, 1 << 16} {
		tr, err := kineto.Parse(src, "many", kineto.InChunks(chunk))
		if err != nil {
			t.Fatal(err)
		}
		if len(tr.Repairs) != 1 || tr.Repairs[0].Reason != kineto.RepairCategories || tr.Repairs[0].Count != beyond {
			t.Errorf("repairs %+v", tr.Repairs)
		}
		for i := range tr.Events {
			want := fmt.Sprint("c", i)
			if i > n-beyond-1 {
				want = ""
			}
			if got := tr.Category(trace.EventID(i)); got != want {
				t.Fatalf("event %d has the category %q, not %q", i, got, want)
			}
		}
	}
}

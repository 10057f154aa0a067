package chrome_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/chrome"
	"overlay/internal/testtrace/importer"
)

// failAfter takes n bytes, then fails; all that is written after it failed counts as taken.
type failAfter struct {
	n    int
	err  error
	took int
}

func (f *failAfter) Write(b []byte) (int, error) {
	if len(b) > f.n {
		n := f.n
		f.took, f.n = f.took+n, math.MaxInt
		return n, f.err
	}
	f.took, f.n = f.took+len(b), f.n-len(b)
	return len(b), nil
}

func encodeChunk(dst []byte, i int) []byte { return fmt.Appendf(dst, "chunk %d\n", i) }

func TestChunksInOrder(t *testing.T) {
	var want bytes.Buffer
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	chrome.NewWriter(&want).Chunks(100, encodeChunk)
	for cpus := 2; cpus < 9; cpus++ {
		runtime.GOMAXPROCS(cpus)
		var got bytes.Buffer
		chrome.NewWriter(&got).Chunks(100, encodeChunk)
		if got.String() != want.String() {
			t.Fatalf("%d CPUs: other bytes", cpus)
		}
	}
}

// TestWriteErrors fails the underlying writer at every byte: the error is reported, and nothing hangs.
func TestWriteErrors(t *testing.T) {
	broken := errors.New("disk full")
	var whole bytes.Buffer
	chrome.NewWriter(&whole).Chunks(20, encodeChunk)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cpus := range []int{1, 3} {
		runtime.GOMAXPROCS(cpus)
		for n := range whole.Len() {
			disk := &failAfter{n: n, err: broken}
			w := chrome.NewWriter(disk)
			w.Chunks(20, encodeChunk)
			w.Write([]byte("tail"))
			if w.Err() != broken || disk.took != n {
				t.Fatalf("after %d bytes, %d CPUs: error %v, %d bytes written", n, cpus, w.Err(), disk.took)
			}
		}
	}
}

// TestImportedTime compares the prediction of what the viewer makes of a time with what the importer makes of it.
func TestImportedTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.OneOf(rapid.Int64Range(0, 1e6), rapid.SampledFrom([]int64{1<<52 + 1, 1<<52 + 3}), rapid.Int64Range(0, 1<<62), rapid.Int64Range(16e17, 18e17),
			rapid.Int64Range(chrome.ExactBelow-1e6, chrome.ExactBelow+1e6)).Draw(t, "ns")
		s := chrome.AppendSlice(nil, &chrome.Slice{Name: "x", PID: 1, TID: 1, Start: ns, Dur: 5})
		r, err := importer.Import([]byte(`{"traceEvents":[` + string(s) + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Slices[0].TS; got != chrome.Imported(ns) || ns < chrome.ExactBelow && got != ns {
			t.Fatalf("%d ns: imported as %d, predicted %d", ns, got, chrome.Imported(ns))
		}
	})
}

func TestRows(t *testing.T) {
	r := chrome.NewThreads()
	add := func(pid, tid string) {
		var td []byte
		if tid != "" {
			td = []byte(tid)
		}
		r.Add([]byte(pid), td)
	}
	for _, row := range [][2]string{{"1", "1"}, {`"1"`, `"1"`}, {"0", "0"}, {"0", "7"}, {"2", "0"}, {"1", "-5"}, {`"Spans"`, `"x"`}, {`"Spans"`, ""},
		{"4294967296", "3"}, {"3", `"stream 9"`}, {"3", `"stream 3"`}, {"3", "4.5"}, {"1000001", "1000002"}} {
		add(row[0], row[1])
	}
	r.Assign()
	var b strings.Builder
	seen := map[[2]int64]bool{}
	for _, w := range r.All() {
		fmt.Fprintf(&b, "%s/%s -> %d/%d %v %v\n", w.PIDText, w.TIDText, w.PID, w.TID, w.NewPID, w.NewTID)
		if k := [2]int64{w.PID, w.TID}; !w.Whole && seen[k] {
			t.Errorf("two rows are %v", k)
		} else {
			seen[k] = true
		}
	}
	want := `1/1 -> 1/1 false false
0/0 -> 0/0 false false
0/7 -> 0/7 false false
2/0 -> 2/1000003 false true
1/-5 -> 1/1000004 false true
Spans/x -> 1000005/1000006 true true
Spans/ -> 1000005/0 true false
4294967296/3 -> 1000007/3 true false
3/stream 9 -> 3/9 false true
3/stream 3 -> 3/1000008 false true
3/4.5 -> 3/1000009 false true
1000001/1000002 -> 1000001/1000002 false false
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
	var e chrome.Edit
	if w := r.Find([]byte(`"1"`), []byte("1")); w == nil || !w.Edit(&e, []byte(`"1"`), []byte("1")) || string(e.PID) != "1" || e.TID != nil {
		t.Errorf("a number written as a string stays one: %+v", e)
	}
}

func TestDocument(t *testing.T) {
	d := chrome.Document{Head: []byte(`{"a":1, "metadata":{"x":2}, "traceEvents":[`), Tail: []byte("], \"b\": \"]\"\n}\n")}
	if !d.Valid() || string(d.Get("metadata")) != `{"x":2}` || string(d.Get("b")) != `"]"` || d.Get("traceEvents") != nil || d.Get("c") != nil {
		t.Fatalf("%s%s", d.Head, d.Tail)
	}
	d.Set("metadata", []byte("{}"))
	d.Set("b", []byte("0"))
	d.Set("c", []byte(`"new"`))
	if got, want := string(d.Head)+string(d.Tail), "{\"a\":1, \"metadata\":{}, \"traceEvents\":[], \"b\": 0,\n\"c\": \"new\"\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	n := chrome.NewDocument([]chrome.Field{{Key: "a", Value: []byte("1")}}, []chrome.Field{{Key: "cut", Value: []byte(`{"x":`)}})
	if !n.Valid() || string(n.Get("cut")) != `"{\"x\":"` {
		t.Errorf("%s%s", n.Head, n.Tail)
	}
}

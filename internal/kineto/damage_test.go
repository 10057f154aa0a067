package kineto

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/processor"
	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
)

// TestAnyNumberOfWorkers: small pieces, so that borders fall everywhere, give what one worker gives.
func TestAnyNumberOfWorkers(t *testing.T) {
	sources := map[string][]byte{"generated": generated(400), "compact": bytes.ReplaceAll(bytes.ReplaceAll(generated(400), []byte("\n"), nil), []byte(": "), []byte(":"))}
	// Strings and nested objects that look like events at every border.
	trap := `{"ph":"X","cat":"cpu_op","name":"a }, {\"ph\": b","pid":1,"tid":2,"ts":10.5,"dur":3,"args":{"list":[{"ph":"X","name":"n"}, {"ph":"X","ts":3}],"x":"}, { "}}`
	var traps []string
	for range 60 {
		traps = append(traps, trap)
	}
	sources["traps"] = wrap(traps...)
	for _, path := range append(corpus.Find(t), corpus.Demo(t)) {
		if st, _ := os.Stat(path); st.Size() < 200<<10 {
			tr, err := readFile(t, path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			sources[filepath.Base(path)] = textOf(tr)
		}
	}
	numbers, sizes := []int{1, 5}, []int{200, 7919}
	if corpus.Long() {
		numbers, sizes = []int{1, 2, 5, 8}, []int{200, 1000, 7919, 100_000}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, src := range sources {
		runtime.GOMAXPROCS(1)
		want, err := Parse(src, "x", Options{chunk: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		for _, cpus := range numbers {
			runtime.GOMAXPROCS(cpus)
			for _, size := range sizes {
				got, err := Parse(src, "x", Options{chunk: size})
				if err != nil {
					t.Fatal(err)
				}
				if !same(got, want) {
					t.Fatalf("%s: %d CPUs, pieces of %d bytes give another trace", name, cpus, size)
				}
			}
		}
	}
}

// rounds says how much of the long tests runs: under the race detector, where each round costs ten, a quarter of the short form.
func rounds(short, long int) int {
	switch {
	case testing.Short():
		return short / 4
	case corpus.Long():
		return long
	}
	return short
}

// damaged holds what must be true of any input: no panic, no hang, and a trace that keeps its invariants or an error.
func damaged(t testing.TB, src []byte, what string) {
	start := processor.Time()
	tr, err := Parse(src, "x", Options{})
	if d := processor.Time() - start; d > slower*2*time.Second {
		t.Fatalf("%s: took %v of processor time for %d bytes", what, d, len(src))
	}
	if err != nil {
		return
	}
	if err := tracecheck.Check(tr); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// TestCutsAndFlips cuts and damages real traces.
func TestCutsAndFlips(t *testing.T) {
	files := append(corpus.Find(t), corpus.Demo(t))
	rnd := rand.New(rand.NewSource(1))
	cuts, flips := rounds(600, 5_000), rounds(1500, 50_000)
	sources := [][]byte{generated(400), generated(8)}
	for _, path := range files {
		tr, err := readFile(t, path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, textOf(tr))
	}
	pick := func() []byte { // big files less often
		for {
			s := sources[rnd.Intn(len(sources))]
			if len(s) < 1<<20 || rnd.Intn(len(s)>>19) == 0 && len(s) < 8<<20 {
				return s
			}
		}
	}
	for range cuts {
		s := pick()
		n := rnd.Intn(len(s))
		damaged(t, s[:n], "cut")
	}
	for range flips {
		s := pick()
		if len(s) > 256<<10 { // damage is local: a window will do, and copies cost
			at := rnd.Intn(len(s) - 128<<10)
			s = append(append([]byte(`{"traceEvents":[`), s[at:at+128<<10]...), "]}"...)
		} else {
			s = bytes.Clone(s)
		}
		for range 1 + rnd.Intn(3) {
			s[rnd.Intn(len(s))] = byte(rnd.Intn(256))
		}
		damaged(t, s, "flip")
	}
}

// mostRescans is how much more broken input may cost than a whole trace of its length. The budget for scanning again, and a
// byte of broken input that costs five times one of a whole trace, come to 5 * wasteFactor; scanning on from each broken
// event to the end comes to more than ten thousand.
const mostRescans = 16 * wasteFactor

// TestLinearTime: input made to be scanned again and again costs time in proportion to its length, and any number of
// workers still gives one trace.
func TestLinearTime(t *testing.T) {
	length := corpus.Rounds(60_000, 300_000)
	cost := func(src []byte) time.Duration {
		start := processor.Time()
		if _, err := Parse(src, "x", Options{chunk: 1 << 30}); err != nil {
			t.Fatal(err)
		}
		return max(processor.Time()-start, 100*time.Microsecond)
	}
	text := generated(length / 250)
	whole := min(cost(text), cost(text), cost(text)) // noise only adds
	inTime := func(name string, src []byte) {
		t.Helper()
		broken := cost(src)
		for try := 0; try < 2 && broken > mostRescans*whole; try++ {
			broken = min(broken, cost(src))
		}
		t.Logf("%-30.30s %6.1f times a whole trace", name, float64(broken)/float64(whole))
		if broken > mostRescans*whole {
			t.Errorf("%s: took %v of processor time, a whole trace of this length takes %v", name, broken, whole)
		}
	}
	for _, part := range []string{`{"ph"`, `{"ph":"`, `{"ph":[`, `{"ph":`, `{"ph":"\`, `{"ph":"a","b`, `{"ph":{"b`, `{"ph":"a"},{"ph":"b","c`, `{"ph":"\\"`, `{"ph":"a","b":[`} {
		src := []byte(`{"traceEvents":[` + goodOp + "," + strings.Repeat(part, length/len(part)))
		inTime(part, src)
		a, err := Parse(src, "x", Options{chunk: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Parse(src, "x", Options{chunk: 50_000})
		if err != nil || !same(a, b) {
			t.Errorf("%s: pieces give another trace, %v", part, err)
		}
	}
	src := []byte(`{"deviceProperties":[` + strings.Repeat(`{"id":0,"name":"a"},`, length/20) + `{"id":4,"name":"b"}],"traceEvents":[]}`)
	inTime("devices", src)
	if tr, err := Parse(src, "x", Options{}); err != nil || tr.DeviceNames[4] != "b" {
		t.Errorf("devices %v, %v", tr.DeviceNames, err)
	}
}

// TestCutAnywhere: a small trace cut at every byte keeps the whole events before the cut.
func TestCutAnywhere(t *testing.T) {
	src := generated(9)
	whole, err := Parse(src, "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	ends := make([]int64, len(whole.Events))
	for i := range ends {
		ends[i] = TextOf(whole).Offset(trace.EventID(i)) + int64(len(TextOf(whole).Raw(trace.EventID(i))))
	}
	for n := range src {
		tr, err := Parse(src[:n], "x", Options{})
		want := 0
		for i := range whole.Events {
			if ends[i] <= int64(n) {
				want++
			}
		}
		if want == 0 {
			if err == nil && len(tr.Events) > 0 {
				t.Fatalf("cut at %d: %d events", n, len(tr.Events))
			}
			continue
		}
		if err != nil || len(tr.Events) != want || tr.Truncated != (n < len(src)-1) { // only the last newline may go
			t.Fatalf("cut at %d of %d: %v, %d events of %d, truncated %v", n, len(src), err, len(tr.Events), want, tr.Truncated)
		}
	}
}

func FuzzParse(f *testing.F) {
	workers(f, 3)
	f.Add(generated(5))
	f.Add(wrap(goodOp, `{"ph":"X","name":"say "a", then b","ts":N/A,}`, nextOp))
	f.Add([]byte(`[{"ph":"B","name":"a","ts":1,"pid":"p","tid":-1},{"ph":"s","id":"0x12"},`))
	f.Add([]byte(`{"deviceProperties":[{"id":0,"name":"g"}],"traceEvents":[{"args":{"a":[[[{}]]]}}],"baseTimeNanoseconds":1e3}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		a, err := Parse(src, "x", Options{})
		if b, err2 := readBeside(t, bytes.NewReader(src), Options{chunk: 64}); Sniff(src[:min(len(src), 16)]) == Plain && (fmt.Sprint(err) != fmt.Sprint(err2) || !same(a, b)) {
			t.Fatalf("another trace when it is read while it comes, %v and %v", err, err2)
		}
		if err != nil {
			return
		}
		if err := tracecheck.Check(a); err != nil {
			t.Fatal(err)
		}
		for i := range a.Events {
			checkValid(t, a, trace.EventID(i))
		}
		compareWithOracle(t, a, src)
		if b, err := Parse(src, "x", Options{chunk: 64}); err != nil || !same(a, b) {
			t.Fatalf("small pieces give another trace, %v", err)
		}
	})
}

// compareWithOracle holds what Parse made of valid JSON against encoding/json: the number of elements, and of each
// object phase, category, name and plain times.
func compareWithOracle(t *testing.T, tr *trace.Trace, src []byte) {
	list, ok := oracleList(src)
	if !ok {
		return
	}
	if len(list) != len(tr.Events) {
		t.Fatalf("%d events, encoding/json has %d", len(tr.Events), len(list))
	}
	for i, raw := range list {
		var f map[string]json.RawMessage
		if json.Unmarshal(raw, &f) != nil {
			continue
		}
		e := &tr.Events[i]
		for key, got := range map[string]string{"name": tr.Syms[e.Name], "cat": tr.Syms[e.Cat]} {
			var want string
			if v, ok := f[key]; ok && v[0] == '"' && json.Unmarshal(v, &want) == nil && want != got {
				t.Fatalf("event %d: %s %q, encoding/json has %q", i, key, got, want)
			}
		}
		if ts := string(f["ts"]); plainNumber.MatchString(ts) && e.Start != oracleNS(ts) {
			t.Fatalf("event %d: ts %s is %d ns", i, ts, e.Start)
		}
	}
}

var plainNumber = regexp.MustCompile(`^[1-9][0-9]{0,13}(\.[0-9]{1,6})?$`)

// oracleList is the list of events of a valid trace that says everything once.
func oracleList(src []byte) (list []json.RawMessage, ok bool) {
	if !json.Valid(src) {
		return nil, false
	}
	if json.Unmarshal(src, &list) == nil {
		return list, true
	}
	if bytes.Count(src, []byte("traceEvents")) != 1 || bytes.Contains(src, []byte("\\")) {
		return nil, false // keys written twice, or with escapes
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(src, &top) != nil || json.Unmarshal(top["traceEvents"], &list) != nil {
		return nil, false
	}
	return list, true
}

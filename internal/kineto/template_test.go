package kineto

import (
	"bytes"
	"fmt"
	"math/rand"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// parseAnew reads every event member by member.
func parseAnew(src []byte) (*trace.Trace, error) {
	defer func(list []*trie) { tries.list = list }(tries.list)
	tries.list = nil
	for range 64 {
		tries.list = append(tries.list, &trie{nodes: make([]node, 1), learned: 1 << 40})
	}
	return Parse(src, "x", Options{})
}

var digitRuns = regexp.MustCompile(`[0-9]+`)

// otherDigits are what stands for digits where a template has a hole, and what looks like it.
var otherDigits = []string{"0", "1", "9", "00", "007", "12", "4294967296", "2147483648", "18446744073709551615", "123456789012345678901234567890", "-5", "1.5", "1e3", "", "x1", "0.0004",
	"99999999999999999", "4611000000000001", "1234567890123456789012345678901234567890123456789012345678901234567890"}

// TestTemplates: what is read by templates is what is read member by member, of real traces and of events that differ from one another in
// their digits, in odd ones, too.
func TestTemplates(t *testing.T) {
	sources := map[string][]byte{"generated": generated(4000)}
	for _, path := range append(corpus.Find(t), corpus.Demo(t)) {
		tr, err := readFile(t, path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		src := textOf(tr)
		if testing.Short() && len(src) > 20<<20 {
			continue
		}
		sources[filepath.Base(path)] = src
		rng := rand.New(rand.NewSource(1))
		var events []string
		for range 100 {
			raw := string(tr.Source.(*Text).Raw(trace.EventID(rng.Intn(len(tr.Events)))))
			events = append(events, raw)
			for range 3 {
				one := rng.Intn(1 + len(digitRuns.FindAllString(raw, -1)))
				events = append(events, digitRuns.ReplaceAllStringFunc(raw, func(s string) string {
					if one--; one == -1 {
						return otherDigits[rng.Intn(len(otherDigits))]
					}
					return s
				}))
			}
		}
		sources[filepath.Base(path)+" with other digits"] = wrap(events...)
	}
	var odd []string
	for i := range 200 {
		d := otherDigits[i%len(otherDigits)]
		for _, form := range []string{
			`{"ph":"X","cat":"kernel","name":"Memcpy","pid":0,"tid":7,"ts":%[2]d,"dur":3,"args":{"copy kind":%[1]s,"src kind":"%[1]s"}}`,
			`{"ph":"X","cat":"gpu_memcpy","name":"Memcpy","pid":0,"tid":7,"ts":%[2]d,"dur":3,"args":{"copy kind":1,"src kind":%[2]d,"dst kind":3}}`,
			`{"ph":"X","cat":"cpu_op","name":"n\u00%[1]s","pid":%[1]s,"tid":"%[1]s","ts":%[2]d,"dur":%[1]s,"args":{"s":"\u00%[1]sab"}}`,
			`{"ph":"b","cat":"%[1]s","name":"n %[1]s","pid":"p%[1]s","tid":%[2]d,"id":"0x%[1]s","ts":%[1]s,"args":{"correlation":"%[1]s","External id":%[1]s}}`,
			`{"ph":"s","cat":"ac2g","name":"ac2g","pid":1,"tid":2,"id":%[1]s,"ts":%[2]d.%[1]s,"bp":"e"}`,
			`{"ph":"X","ts":1,"ts":%[2]d,"dur":%[1]s,"dur":5,"pid":[%[1]s],"tid":{"a":%[1]s},"name":%[1]s,"args":[%[1]s],"args":{"correlation_id":"%[1]s","correlation":%[2]d}}`,
			`{"ph":"f","bp":"e","id":%[2]d,"pid":1,"tid":2,"ts":1e%[1]s,"args":{"Sequence number":%[1]s,"Fwd thread id":%[1]s},"args":{"critical":%[1]s}}`,
		} {
			odd = append(odd, fmt.Sprintf(form, d, i))
		}
	}
	sources["odd"] = wrap(odd...)
	for name, src := range sources {
		want, wantErr := parseAnew(src)
		for range 2 { // with templates of other pieces, and of this one
			got, err := Parse(src, "x", Options{chunk: 1 << 20})
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("%s: %v, by templates %v", name, wantErr, err)
			}
			if !same(got, want) {
				var a, b bytes.Buffer
				dump(&a, want)
				dump(&b, got)
				x, y := bytes.Split(a.Bytes(), []byte("\n")), bytes.Split(b.Bytes(), []byte("\n"))
				for i := range min(len(x), len(y)) {
					if !bytes.Equal(x[i], y[i]) {
						t.Fatalf("%s: %s, by templates %s", name, x[i], y[i])
					}
				}
				t.Fatalf("%s: templates make another trace of it", name)
			}
			x, y := TextOf(got), TextOf(want)
			for i := 0; i < len(got.Events); i += 1 + rand.Intn(1+len(got.Events)/10_000) {
				id := trace.EventID(i)
				say := told(y, id)
				if by, pattern := told(x, id), toldByPattern(x, id); by != say || pattern != say {
					t.Fatalf("%s: args of event %d: %s\nby its template %s\nby its pattern %s", name, i, say, by, pattern)
				}
				for _, key := range []string{"Input Dims", "correlation", "stream", "none", "copy kind"} {
					v, ok := x.Arg(id, key)
					if w, has := y.Arg(id, key); v != w || ok != has {
						t.Fatalf("%s: %q of event %d: %v %v, by its template %v %v", name, key, i, w, has, v, ok)
					}
				}
			}
		}
	}
}

// TestTemplatesAreFew: nearly all events fit a template, and templates are few.
func TestTemplatesAreFew(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer func(list []*trie) { tries.list = list }(tries.list)
	learned := &trie{nodes: make([]node, 1)}
	tries.list = []*trie{learned}
	tr, err := Parse(generated(40_000), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	fit := 0
	for i := range tr.Events {
		raw := TextOf(tr).Raw(trace.EventID(i))
		if tp, end := learned.match(raw, 0); tp != nil && end == len(raw) {
			fit++
		}
	}
	// 97 names of operators, 61 of kernels, a call and a flow
	if fit != len(tr.Events) || learned.learned != 97+61+2 {
		t.Errorf("%d of %d events fit one of %d templates", fit, len(tr.Events), learned.learned)
	}
}

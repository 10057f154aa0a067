package anonymize_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"overlay/internal/anonymize"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// FuzzAnonymize puts a word in the place of each @ of a trace. It is nowhere in the anonymous form, which is JSON with
// the same events at the same times.
func FuzzAnonymize(f *testing.F) {
	for _, seed := range []string{
		`{"@":"@","deviceProperties":[{"name":"GPU @","@":1}],"traceEvents":[{"ph":"M","name":"process_name","pid":1,"tid":"@","args":{"name":"@"}}],"distributedInfo":{"backend":"@"}}`,
		`{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::@","pid":1,"tid":1,"ts":1,"dur":5,"args":{"Input type":["@"],"@":{"@":["@"]}}}]}`,
		`{"traceEvents":[{"ph":"X","cat":"kernel","name":"_ZN4@3fooILi8EEEvT_","pid":0,"tid":7,"ts":1,"dur":5,"args":{"stream":7,"device":0}},{"ph":"X","cat":"kernel","name":"Cijk_@_MT8","ts":2}]}`,
		`[{"ph":"X","cat":"python_function","name":"a/@.py(1): @","pid":"@","tid":{"a":"@"},"ts":"1","dur":5},{"ph":"C","name":"@","args":{"@":1},"ts":3},"@"]`,
		`{"traceEvents":[{"ph":"X","cat":"user_annotation","name":"quo"te @ forward","pid":1,"tid":1,"ts":1,"dur":1e3},{"ph":"b","id":"@","scope":"@","cat":"@","ts":4}`,
		`{"traceEvents":[{"ph":"X","cat":"cuda_runtime","name":"cuda@Launch","pid":1,"tid":1,"ts":1,"args":{"correlation":5,"x":@}}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const word = "acmezq"
		if strings.Contains(strings.ToLower(text), word) {
			return
		}
		tr, err := kineto.Parse([]byte(strings.ReplaceAll(text, "@", word)), "f", kineto.Options{})
		if err != nil {
			return
		}
		anonymous := anonymize.TraceOf(tr)
		if bytes.Contains(bytes.ToLower(kineto.TextOf(anonymous).Src), []byte(word)) {
			t.Fatalf("%s", kineto.TextOf(anonymous).Src)
		}
		if !json.Valid(kineto.TextOf(anonymous).Src) {
			t.Fatalf("no JSON: %s", kineto.TextOf(anonymous).Src)
		}
		for _, s := range anonymous.Syms {
			if strings.Contains(strings.ToLower(s), word) {
				t.Fatalf("%q is left among the names", s)
			}
		}
		again := testtrace.Parse(t, kineto.TextOf(anonymous).Src)
		if len(again.Events) != len(tr.Events) {
			t.Fatalf("%d events became %d", len(tr.Events), len(again.Events))
		}
		for i := range tr.Events {
			if a, b := &tr.Events[i], &again.Events[i]; a.Ph != 0 && (a.Start != b.Start || tr.Dur(a) != again.Dur(b)) {
				t.Fatalf("event %d from %d for %d became from %d for %d\n%s\n%s", i, a.Start, tr.Dur(a), b.Start, again.Dur(b), kineto.TextOf(tr).Raw(trace.EventID(i)), kineto.TextOf(again).Raw(trace.EventID(i)))
			}
		}
	})
}

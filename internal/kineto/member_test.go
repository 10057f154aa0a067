package kineto

import (
	"testing"

	"overlay/internal/trace"
)

// TestMember compares the two readers of members: the page's program has one, all others the other.
func TestMember(t *testing.T) {
	const events = `{"traceEvents": [
{"ph": "b", "cat": "c", "name": "n", "pid": 1, "tid": 2, "ts": 3, "id": "0x1f", "scope": "s\u0041\"x"},
{"ph": "b", "cat": "c", "name": "n", "pid": 1, "tid": 2, "ts": 3, "id": 17, "id2": {"local": "0x2"} , "args": {"id": 1}},
{"ph": "e", "cat": "c", "name": "n", "pid": 1, "tid": 2, "ts": 3, "id": -1.50, "id2": {"global" : 12345678901234567890}},
{"ph": "e", "cat": "c", "name": "n", "pid": 1, "tid": 2, "ts": 3, "id": null, "id2": [1, {"local": 2}], "scope": true},
{"ph": "e", "cat": "c", "name": "n", "pid": 1, "tid": 2, "ts": 3, "id": "", "id2": {}, "scope": "ünï\n"}]}`
	tr, err := Parse([]byte(events), "t", Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := TextOf(tr)
	found := 0
	for id := range tr.Events {
		for _, path := range [][]string{{"id"}, {"scope"}, {"id2"}, {"id2", "local"}, {"id2", "global"}, {"id2", "missing"}, {"missing"}, {"id", "local"}} {
			a, okA := x.Member(trace.EventID(id), path...)
			b, okB := member(x.Raw(trace.EventID(id)), path)
			if a != b || okA != okB {
				t.Errorf("event %d, %q: %+v %v and %+v %v", id, path, a, okA, b, okB)
			}
			if okA {
				found++
			}
		}
	}
	if found != 14 {
		t.Errorf("%d values found", found)
	}
}

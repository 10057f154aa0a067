package chrome

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzDocument: a member that is set is there, everything else stays, and JSON stays JSON.
func FuzzDocument(f *testing.F) {
	f.Add([]byte("{\n\"a\": 1, \"traceEvents\": ["), []byte("],\n\"b\": {\"c\": []}\n}\n"), "metadata", []byte(`{"x":1}`))
	f.Add([]byte("{\"traceEvents\":["), []byte("]}"), "b", []byte(`"\u0000"`))
	f.Add([]byte("{\"\":["), []byte("]}"), " ", []byte("\"\xb0\"")) // JSON but for its bytes
	f.Add([]byte(" {\"b\":\"]\",\"traceEvents\": ["), []byte("], \"b\": 2 , \"q\\\"\": [[]] } "), "b", []byte("null"))
	f.Fuzz(func(t *testing.T, head, tail []byte, key string, value []byte) {
		d := Document{Head: head, Tail: tail}
		if len(head) == 0 || head[len(head)-1] != '[' || len(tail) == 0 || tail[0] != ']' || !d.Valid() || bytes.TrimLeft(head, " \t\r\n")[0] != '{' {
			// What is broken is made anew.
			d = NewDocument([]Field{{string(head), value}}, []Field{{key, tail}})
			if !d.Valid() {
				t.Fatalf("%s%s", d.Head, d.Tail)
			}
			return
		}
		var before map[string]json.RawMessage
		if json.Unmarshal(append(bytes.Clone(head), tail...), &before) != nil {
			return
		}
		quoted, _ := json.Marshal(key)
		if !valid(value) || string(quoted) != `"`+key+`"` || key == "traceEvents" || bytes.Contains(head, []byte(`\u`)) || bytes.Contains(tail, []byte(`\u`)) {
			return // the reader compares keys as they are written
		}
		value = bytes.TrimSpace(value)
		d.Set(key, value)
		if !d.Valid() {
			t.Fatalf("%s%s", d.Head, d.Tail)
		}
		if got := d.Get(key); !bytes.Equal(got, value) {
			t.Fatalf("%q became %q", value, got)
		}
		var after map[string]json.RawMessage
		if err := json.Unmarshal(append(bytes.Clone(d.Head), d.Tail...), &after); err != nil {
			t.Fatal(err)
		}
		for k := range before {
			if _, ok := after[k]; !ok {
				t.Fatalf("%q is gone: %s%s", k, d.Head, d.Tail)
			}
		}
	})
}

package chrome

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAppendEvent(t *testing.T) {
	drop := func(key []byte) bool { return string(key) == "critical" || string(key) == "cdg_node" }
	for _, c := range []struct {
		raw, members string
		drop         bool
		pid, tid     string
		want         string
	}{
		{raw: `{"ph":"X"}`, want: `{"ph":"X"}`},
		{raw: `{"ph":"X"}`, members: `"a":1`, want: `{"ph":"X", "args":{"a":1}}`},
		{raw: "{\n \"ph\": \"X\"\n}", members: `"a":1`, want: "{\n \"ph\": \"X\", \"args\":{\"a\":1}\n}"},
		{raw: `{}`, members: `"a":1`, want: `{"args":{"a":1}}`},
		{raw: `{"args":{},"ph":"X"}`, members: `"a":1`, want: `{"args":{"a":1},"ph":"X"}`},
		{raw: `{"args":{ },"ph":"X"}`, members: `"a":1`, want: `{"args":{"a":1 },"ph":"X"}`},
		{raw: "{\"args\": {\n  \"x\": 0\n }}", members: `"a":1`, want: "{\"args\": {\n  \"x\": 0, \"a\":1\n }}"},
		{raw: `{"args":{"s":"}\"{"},"z":[{}]}`, members: `"a":1`, want: `{"args":{"s":"}\"{", "a":1},"z":[{}]}`},
		{raw: `{"args":null}`, members: `"a":1`, want: `{"args":{"a":1}}`},
		{raw: `{"args":[1]}`, members: `"a":1`, want: `{"args":[1]}`},
		{raw: `{"args":{"critical":1}}`, drop: true, want: `{"args":{}}`},
		{raw: `{"args":{"critical":1, "b":2}}`, drop: true, want: `{"args":{ "b":2}}`},
		{raw: `{"args":{"b":2 , "critical":1 , "c":3}}`, drop: true, want: `{"args":{"b":2 , "c":3}}`},
		{raw: `{"args":{"b":2, "critical":1, "cdg_node":2}}`, drop: true, members: `"critical":7`, want: `{"args":{"b":2, "critical":7}}`},
		{raw: `{"args":{"b":{"critical":1}}}`, drop: true, want: `{"args":{"b":{"critical":1}}}`},
		{raw: `{"pid":"Spans","tid":-1,"ph":"X"}`, pid: "5", tid: "6", want: `{"pid":5,"tid":6,"ph":"X"}`},
		{raw: `{"ph":"X","args":{"pid":3},"tid": 0, "pid": 1}`, tid: "9", members: `"a":1`, want: `{"ph":"X","args":{"pid":3, "a":1},"tid": 9, "pid": 1}`},
		{raw: `{"pid": 1, "tid": "t"}`, tid: "9", members: `"a":1`, want: `{"pid": 1, "tid": 9, "args":{"a":1}}`},
	} {
		e := Edit{Members: []byte(c.members), Args: strings.Index(c.raw, `"args"`)}
		if e.Args < 0 {
			e.Args = 0
		} else {
			e.Args += len(`"args":`)
			e.Args = SkipSpace([]byte(c.raw), e.Args)
		}
		if c.drop {
			e.Drop = drop
		}
		if c.pid != "" {
			e.PID = []byte(c.pid)
		}
		if c.tid != "" {
			e.TID = []byte(c.tid)
		}
		got := string(AppendEvent([]byte("~"), []byte(c.raw), &e))
		if got != "~"+c.want {
			t.Errorf("%s\n got %s\nwant ~%s", c.raw, got, c.want)
		}
		if !json.Valid([]byte(got[1:])) {
			t.Errorf("%s: %s is no JSON", c.raw, got)
		}
	}
}

// TestEditedEventMeansTheSame edits random events and compares what they mean, by encoding/json.
func TestEditedEventMeansTheSame(t *testing.T) {
	text := rapid.SampledFrom([]string{`""`, `"a"`, `"\\"`, `"\""`, `"}"`, `"{,"`, `"pid"`, `"é"`})
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			switch k := rapid.IntRange(0, 5).Draw(t, "kind"); {
			case k == 0 || depth > 2:
				return text.Draw(t, "text")
			case k == 1:
				return rapid.SampledFrom([]string{"1", "-2.5", "null", "true", "1e9"}).Draw(t, "word")
			case k == 2:
				return "[" + strings.Join(rapid.SliceOfN(value(depth+1), 0, 3).Draw(t, "list"), " ,") + "]"
			}
			var b strings.Builder
			for i := range rapid.IntRange(0, 3).Draw(t, "members") {
				if i > 0 {
					b.WriteString(" , ")
				}
				key := rapid.SampledFrom([]string{`"critical"`, `"cdg_node"`, `"k"`}).Draw(t, "key")
				fmt.Fprintf(&b, "%s:%s", key, value(depth+1).Draw(t, "v"))
			}
			return "{" + b.String() + "}"
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		args := value(0).Draw(t, "args")
		raw := []byte(`{"pid": "x", "ph":"X" , "args": ` + args + rapid.SampledFrom([]string{"", " ", `, "tid" : 0`, ",\n\"z\":{\"args\":1}"}).Draw(t, "rest") + "}")
		if !json.Valid(raw) {
			t.Skip("no JSON")
		}
		e := Edit{Args: strings.Index(string(raw), `"args": `) + len(`"args": `), Members: []byte(`"added":1`), PID: []byte("4"), TID: []byte("5"),
			Drop: func(key []byte) bool { return string(key) == "critical" }}
		var before, after map[string]any
		if err := json.Unmarshal(raw, &before); err != nil {
			t.Fatal(err)
		}
		got := AppendEvent(nil, raw, &e)
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("%s became %s: %v", raw, got, err)
		}
		before["pid"] = 4.0
		if before["tid"] != nil {
			before["tid"] = 5.0
		}
		switch a := before["args"].(type) {
		case map[string]any:
			delete(a, "critical")
			a["added"] = 1.0
		case nil:
			before["args"] = map[string]any{"added": 1.0}
		}
		if want, have := fmt.Sprint(before), fmt.Sprint(after); want != have {
			t.Fatalf("%s became %s", raw, got)
		}
	})
}

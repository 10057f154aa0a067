package importer

import (
	"fmt"
	"strings"
	"testing"
)

// text prints what the viewer would show.
func text(t *testing.T, events string) string {
	t.Helper()
	r, err := Import([]byte(`{"traceEvents":[` + events + `]}`))
	if err != nil {
		return "refused: " + err.Error()
	}
	var b strings.Builder
	for _, s := range r.Slices {
		fmt.Fprintf(&b, "%d/%d %s %d+%d", s.PID, s.TID, s.Name, s.TS, s.Dur)
		if s.Depth > 0 {
			fmt.Fprintf(&b, " depth %d", s.Depth)
		}
		if s.Spilled {
			b.WriteString(" spilled")
		}
		b.WriteString("; ")
	}
	for _, f := range r.Flows {
		fmt.Fprintf(&b, "%s>%s; ", r.Slices[f.Out].Name, r.Slices[f.In].Name)
	}
	for _, k := range []string{"slice_negative_duration", "json_parser_failure", "json_tokenizer_failure", "flow_duplicate_id",
		"flow_end_without_start", "flow_no_enclosing_slice", "flow_invalid_id", "slice_spill_overlapping_complete_event"} {
		if n := r.Stats[k]; n > 0 {
			fmt.Fprintf(&b, "%s=%d; ", k, n)
		}
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// x is a complete event of pid and tid 1.
func x(name string, ts, dur any) string {
	return fmt.Sprintf(`{"ph":"X","name":"%s","pid":1,"tid":1,"ts":%v,"dur":%v}`, name, ts, dur)
}

func flow(ph string, id any, ts int, more string) string {
	return fmt.Sprintf(`{"ph":"%s","cat":"c","name":"n","id":%v,"pid":1,"tid":1,"ts":%d%s}`, ph, id, ts, more)
}

// TestRules has one case for each rule of the import.
func TestRules(t *testing.T) {
	bp := `,"bp":"e"`
	for _, c := range []struct{ rule, events, want string }{
		{"ids out of range become 0, tid 0 becomes the pid", `{"ph":"X","name":"a","pid":7,"tid":-3,"ts":1,"dur":1},{"ph":"X","name":"b","pid":-1,"tid":4,"ts":1,"dur":1}`, "7/7 a 1000+1000; 0/4 b 1000+1000"},
		{"one ns of a fraction is exact", x("a", "1.001", "0.002"), "1/1 a 1001+2"},
		{"today's fractions are rounded", x("a", "1700000000000000.3", 1), "1/1 a 1700000000000000256+1000"},
		{"nested", x("a", 0, 10) + "," + x("b", 2, 3), "1/1 a 0+10000; 1/1 b 2000+3000 depth 1"},
		{"the longest first", x("b", 0, 3) + "," + x("a", 0, 10), "1/1 a 0+10000; 1/1 b 0+3000 depth 1"},
		{"overlap moves", x("a", 0, 10) + "," + x("b", 5, 10), "1/1 a 0+10000; 1/1 b 5000+10000 spilled; slice_spill_overlapping_complete_event=1"},
		{"adjacent does not overlap", x("a", 0, 10) + "," + x("b", 10, 10), "1/1 a 0+10000; 1/1 b 10000+10000"},
		{"negative durations are dropped", x("a", 0, -1), "slice_negative_duration=1"},
		{"a missing duration drops the event", `{"ph":"X","name":"a","pid":1,"tid":1,"ts":0}`, "json_parser_failure=1"},
		{"a missing time drops the event", `{"ph":"X","name":"a","pid":1,"tid":1,"dur":0}`, "json_tokenizer_failure=1"},
		{"a duration that is null stops everything", x("a", 0, "null"), "refused: event 0: JSON trace file is incomplete: dur is null"},
		{"begin and end", `{"ph":"B","name":"a","pid":1,"tid":1,"ts":0},{"ph":"E","pid":1,"tid":1,"ts":4}`, "1/1 a 0+4000"},
		{"begin without end", `{"ph":"B","name":"a","pid":1,"tid":1,"ts":0}`, "1/1 a 0+-1"},
		{"no name", x("", 0, 1), "1/1 [No name] 0+1000"},
		{"a flow binds to the slice that began last", x("a", 0, 10) + "," + x("b", 2, 3) + "," + x("c", 20, 1) + "," + flow("s", 1, 7, "") + "," + flow("f", 1, 20, bp), "1/1 a 0+10000; 1/1 b 2000+3000 depth 1; 1/1 c 20000+1000; b>c"},
		{"an end without bp waits for the next slice", x("a", 0, 10) + "," + x("b", 12, 3) + "," + flow("s", 1, 0, "") + "," + flow("f", 1, 5, ""), "1/1 a 0+10000; 1/1 b 12000+3000; a>b"},
		{"an arrow goes from the slice that begins first", x("a", 0, 10) + "," + `{"ph":"X","name":"b","pid":1,"tid":2,"ts":2,"dur":3}` + `,{"ph":"s","cat":"c","name":"n","id":1,"pid":1,"tid":2,"ts":2}` + "," + flow("f", 1, 9, bp), "1/1 a 0+10000; 1/2 b 2000+3000; a>b"},
		{"strings are hexadecimal", x("a", 0, 1) + "," + x("b", 2, 1) + "," + flow("s", `"10"`, 0, "") + "," + flow("f", 16, 2, bp), "1/1 a 0+1000; 1/1 b 2000+1000; a>b"},
		{"a second start loses its flow", x("a", 0, 1) + "," + flow("s", 1, 0, "") + "," + flow("s", 1, 0, ""), "1/1 a 0+1000; flow_duplicate_id=1"},
		{"an end without start", x("a", 0, 1) + "," + flow("f", 1, 0, bp), "1/1 a 0+1000; flow_end_without_start=1"},
		{"no slice yet", flow("s", 1, 0, ""), "flow_no_enclosing_slice=1"},
		{"ids that are no integers", x("a", 0, 1) + "," + flow("s", 1.5, 0, ""), "1/1 a 0+1000; flow_invalid_id=1"},
		{"an empty slice comes with the rest, in file order", flow("s", 1, 0, "") + "," + x("a", 0, 0), "1/1 a 0+0; flow_no_enclosing_slice=1"},
	} {
		if got := text(t, c.events); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.rule, got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, src := range []string{`[]`, `  {"traceEvents":[]`, `[1]`, `{"traceEvents":7}`} {
		if _, err := Import([]byte(src)); err == nil {
			t.Errorf("%s is not refused", src)
		}
	}
	if r, err := Import([]byte(`[{"ph":"X","ts":1,"dur":1,"pid":1,"tid":1}`)); err != nil || len(r.Slices) != 1 {
		t.Errorf("a list needs no end: %v", err)
	}
}

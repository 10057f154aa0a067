package slim_test

import (
	"strings"
	"testing"

	"overlay/internal/slim"
	"overlay/internal/testtrace"
)

const goodRecord = `{"overlay.slim": 1, "overlay.method": "exact", "overlay.window_start_ns": 0, "overlay.window_end_ns": 1000,
"overlay.carried_in": 0, "overlay.launch_min_ns": 1, "overlay.launch_max_ns": 2, "overlay.kernel_min_ns": 1, "overlay.kernel_max_ns": 2,
"overlay.event_min_ns": 1, "overlay.event_max_ns": 2, "overlay.sync_min_ns": 1, "overlay.sync_max_ns": 2,
"overlay.launch_samples": 3, "overlay.kernel_samples": 3, "overlay.event_samples": 3, "overlay.sync_samples": 3,
"overlay.launch_spread_ns": "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "overlay.kernel_spread_ns": "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
"overlay.event_spread_ns": "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", "overlay.idle_ns": 4, "overlay.call_ns": 5000, "overlay.own_ns": 6}`

// TestBrokenRecord changes one value of a good record at a time into one that no run can have written.
func TestBrokenRecord(t *testing.T) {
	read := func(meta string) (*slim.Record, error) {
		tr := testtrace.Parse(t, []byte(`{"metadata": `+meta+`, "traceEvents": []}`))
		return slim.ReadRecord(tr)
	}
	rec, err := read(goodRecord)
	if err != nil || rec == nil || rec.Method != "exact" || rec.Window.End != 1000 || rec.Delays.Sync.Max != 2 || rec.Delays.Sync.Samples != 3 {
		t.Fatalf("good record: %+v, %v", rec, err)
	}
	for _, c := range [][3]string{
		{"overlay.window_start_ns", "0", "-9223372036854775808"},
		{"overlay.window_start_ns", "0", "1e300"},
		{"overlay.window_end_ns", "1000", "9223372036854775807"},
		{"overlay.window_end_ns", "1000", "0"},
		{"overlay.window_end_ns", "1000", "[1]"},
		{"overlay.carried_in", "0", "-1"},
		{"overlay.kernel_min_ns", "1", "-5"},
		{"overlay.sync_max_ns", "2", "N/A"},
		{"overlay.event_samples", "3", "null"},
		{"overlay.own_ns", "6", "-6"},
	} {
		meta := strings.Replace(goodRecord, `"`+c[0]+`": `+c[1], `"`+c[0]+`": `+c[2], 1)
		if meta == goodRecord {
			t.Fatalf("%s: nothing changed", c[0])
		}
		if rec, err := read(meta); err == nil || !strings.Contains(err.Error(), c[0]) {
			t.Errorf("%s %s: %+v, error %v", c[0], c[2], rec, err)
		}
	}
	if rec, err := read(strings.Replace(goodRecord, `"overlay.slim": 1`, `"overlay.slim": 0`, 1)); rec != nil || err != nil {
		t.Errorf("a trace that is not slim: %+v, %v", rec, err)
	}
}

// TestRecordedSpreads: as many times as a spread has, ascending.
func TestRecordedSpreads(t *testing.T) {
	read := func(spread string) (*slim.Record, error) {
		meta := strings.Replace(goodRecord, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", spread, 1)
		tr := testtrace.Parse(t, []byte(`{"metadata": `+meta+`, "traceEvents": []}`))
		return slim.ReadRecord(tr)
	}
	rec, err := read("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17")
	if err != nil || rec.Delays.Call != 5000 || rec.Delays.Launch.Spread[16] != 17 || rec.Delays.Kernel.Spread[16] != 0 {
		t.Errorf("%+v, %v", rec, err)
	}
	if rec, err := read("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 4611686018427387904"); err != nil || rec.Delays.Launch.Spread[16] != 1<<62 {
		t.Errorf("the longest time of a record: %+v, %v", rec, err)
	}
	for _, bad := range []string{"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 4611686018427387905", "", "1 2", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 17 16", "-1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", strings.Repeat("x ", 17)} {
		if _, err := read(bad); err == nil || !strings.Contains(err.Error(), "overlay.launch_spread_ns") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

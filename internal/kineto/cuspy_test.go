package kineto

import (
	"fmt"
	"testing"

	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
)

// TestComposedNames: the name that Kineto would have given, from args in words and in numbers; the written name stays.
func TestComposedNames(t *testing.T) {
	for _, c := range []struct{ cat, name, args, want string }{
		{"gpu_memcpy", "Memcpy", `"copy kind": "DtoH", "src kind": "device", "dst kind": "pageable"`, "Memcpy DtoH (Device -> Pageable)"},
		{"gpu_memcpy", "Memcpy", `"copy kind": "HtoD", "src kind": "pinned", "dst kind": "device_static"`, "Memcpy HtoD (Pinned -> Device Static)"},
		{"gpu_memcpy", "Memcpy", `"copy kind": 9, "src kind": 1, "dst kind": 2`, "Memcpy HtoH (Pageable -> Pinned)"},
		{"gpu_memcpy", "Memcpy", `"copy kind": 77, "src kind": 99, "dst kind": 0`, "Memcpy <unknown> (Unrecognized -> Unknown)"},
		{"gpu_memcpy", "Memcpy", `"copy kind": "s_1", "src kind": "s_2", "dst kind": "device"`, "Memcpy <unknown> (Unrecognized -> Device)"},
		{"gpu_memcpy", "Memcpy", `"copy kind": "PtoP"`, "Memcpy PtoP"},
		{"gpu_memcpy", "Memcpy", `"src kind": "device", "dst kind": "device"`, "Memcpy"},
		{"gpu_memcpy", "Memcpy", ``, "Memcpy"},
		{"gpu_memcpy", "Memcpy DtoD (Device -> Device)", `"copy kind": "DtoH", "src kind": "device", "dst kind": "pageable"`, "Memcpy DtoD (Device -> Device)"},
		{"gpu_memset", "Memset", `"memory kind": 3`, "Memset (Device)"},
		{"gpu_memset", "Memset", `"memory kind": "managed"`, "Memset (Managed)"},
		{"gpu_memset", "Memset", ``, "Memset"},
		{"cpu_op", "Memcpy", `"copy kind": "DtoH", "src kind": "device", "dst kind": "pageable"`, "Memcpy"},
	} {
		event := fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":0,"tid":7,"ts":1,"dur":1,"args":{%s}}`, c.cat, c.name, c.args)
		// Small pieces: the name is composed where the event is scanned, and numbered where the pieces meet.
		tr, err := Parse(wrap(goodOp, event, nextOp, event), "x", Options{chunk: 64})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []trace.EventID{1, 3} {
			if tr.Name(id) != c.want || tr.WrittenName(id) != c.name {
				t.Errorf("%s: %q, written %q; wanted %q", event, tr.Name(id), tr.WrittenName(id), c.want)
			}
		}
		if err := tracecheck.Check(tr); err != nil {
			t.Error(err)
		}
		checkClean(t, tr)
	}
}

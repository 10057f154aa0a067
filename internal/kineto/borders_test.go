package kineto

import (
	"math"
	"strings"
	"testing"

	"overlay/internal/trace"
)

// TestSniff: formats by their first bytes, of which each counts.
func TestSniff(t *testing.T) {
	for head, want := range map[string]Format{
		"\x1f\x8b": Gzip, "\x1f": Plain, "\x28\xb5\x2f\xfd": Zstd, "\x28\xb5\x2f": Plain, "PK\x03\x04": Zip, "PK\x03": Plain, "": Plain, "{}": Plain,
		"\x50\x2a\x4d\x18": Zstd, "\x5f\x2a\x4d\x18\x00": Zstd, "\x50\x2a\x4d": Plain, "\x60\x2a\x4d\x18": Plain, "\x50\x2b\x4d\x18": Plain, "\x50\x2a\x4e\x18": Plain, "\x50\x2a\x4d\x19": Plain,
	} {
		if got := Sniff([]byte(head)); got != want {
			t.Errorf("%q is %v, want %v", head, got, want)
		}
	}
}

// TestPart: a process of several is chosen by its number or its name.
func TestPart(t *testing.T) {
	several := &Several{File: "t.json", Parts: []Part{{Name: "gpu0", PID: "144"}, {Name: "gpu1", PID: "145"}}}
	for choice, want := range map[string]string{"144": "gpu0", "145": "gpu1", "gpu1": "gpu1", "gpu": "", "": "", "gpu1 (145)": ""} {
		p, err := several.Part(choice)
		if (err == nil) != (want != "") || err == nil && p.Name != want {
			t.Errorf("%q: %+v, %v", choice, p, err)
		}
		if err != nil && !strings.HasSuffix(err.Error(), "choose one of gpu0 (144), gpu1 (145)") {
			t.Error(err)
		}
	}
}

// TestWholeNumbers: numbers of arguments that are whole, however they are written.
func TestWholeNumbers(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "-7": -7, "999999999999999999": 999999999999999999, "9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64, "18446744073709551615": -1,
		"5.0": 5, "5e0": 5, "1.5e1": 15, "-2.000": -2} {
		if got, ok := parseInt([]byte(text)); !ok || got != want {
			t.Errorf("%s is %d, %v; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "-", "1.5", "x", "1x", "1e999", "0.001", "--1", "18446744073709551616999"} {
		if got, ok := parseInt([]byte(text)); ok {
			t.Errorf("%s is %d", text, got)
		}
	}
	for text, want := range map[string]int64{"12.5": 12005, "12.050": 12050, "-1.5": -1005, "-0.5": -5, "0.7": 7, "3": 3000} {
		if got, ok := unpaddedMicros([]byte(text)); !ok || got != want {
			t.Errorf("%s is %d ns, %v; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"x.5", "5.x", "5.", "x"} {
		if got, ok := unpaddedMicros([]byte(text)); ok {
			t.Errorf("%s is %d ns", text, got)
		}
	}
}

// TestComposed: the names of copies by the numbers and words of their arguments.
func TestComposed(t *testing.T) {
	for args, want := range map[string]string{
		`{"copy kind":1}`: "Memcpy HtoD", `{"copy kind":10}`: "Memcpy PtoP", `{"copy kind":0}`: "Memcpy <unknown>", `{"copy kind":11}`: "Memcpy <unknown>", `{"copy kind":-1}`: "Memcpy <unknown>",
		`{"copy kind":"DtoH"}`: "Memcpy DtoH", `{"copy kind":"x"}`: "Memcpy <unknown>", `{"copy kind":""}`: "Memcpy <unknown>", `{}`: "",
	} {
		if got := composed(trace.Memcpy, []byte(args)); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// TestStepsMissed: a survey says that steps are missing where a device was recorded and none is there, and not else.
func TestStepsMissed(t *testing.T) {
	const kernel, step = `{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":{"device":0,"stream":7}}`, `{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":9}`
	const op = `{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":9}`
	for events, want := range map[string]bool{kernel: true, kernel + "," + step: false, op: false} {
		tr, err := Parse([]byte(`{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"A100"}],"traceEvents":[`+events+`]}`), "t.json", Options{})
		if err != nil {
			t.Fatal(err)
		}
		missed := false
		for _, g := range Inspect(tr).Oddities {
			missed = missed || g.What == "no steps"
		}
		if missed != want {
			t.Errorf("%s: %v", events, missed)
		}
	}
}

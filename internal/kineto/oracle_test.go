package kineto

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
)

// oracle reads a trace the slow way, with encoding/json and maps, and shares no code with Parse.
type oracleEvent struct {
	Ph, Cat, Name string
	PID, TID      string
	TS, Dur       int64
	HasDur        bool
	Corr          int64
	HasCorr       bool
}

func oracle(t *testing.T, src []byte) []oracleEvent {
	t.Helper()
	var list []json.RawMessage
	var top struct{ TraceEvents []json.RawMessage }
	if bytes.HasPrefix(bytes.TrimSpace(src), []byte("[")) {
		if err := json.Unmarshal(src, &list); err != nil {
			t.Fatal(err)
		}
	} else if err := json.Unmarshal(src, &top); err != nil {
		t.Fatal(err)
	} else {
		list = top.TraceEvents
	}
	out := make([]oracleEvent, len(list))
	for i, raw := range list {
		var f map[string]json.RawMessage
		if json.Unmarshal(raw, &f) != nil {
			continue
		}
		text := func(k string) string { return strings.Trim(string(f[k]), `"`) }
		str := func(k string) string { var s string; json.Unmarshal(f[k], &s); return s }
		o := &out[i]
		o.Ph, o.Cat, o.Name, o.PID, o.TID = str("ph"), str("cat"), str("name"), text("pid"), text("tid")
		o.TS = oracleNS(text("ts"))
		if d, ok := f["dur"]; ok {
			o.HasDur, o.Dur = true, max(0, oracleNS(strings.Trim(string(d), `"`)))
		}
		var args map[string]json.RawMessage
		json.Unmarshal(f["args"], &args)
		if c, ok := args["correlation"]; ok && !strings.ContainsAny(o.Ph, "stf") {
			v, err := strconv.ParseInt(strings.Trim(string(c), `"`), 10, 64)
			o.Corr, o.HasCorr = v, err == nil
		}
	}
	return out
}

// oracleNS multiplies decimal text by 1000 by moving the point.
func oracleNS(s string) int64 {
	if s == "" {
		return 0
	}
	whole, frac, _ := strings.Cut(s, ".")
	n, _ := strconv.ParseInt(whole+(frac + "000")[:3], 10, 64)
	if len(frac) > 3 && frac[3] >= '5' { // half a ns and more
		n++
	}
	return n
}

func readFile(t testing.TB, path string, o Options) (*trace.Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return Read(f, filepath.Base(path), o)
}

// TestAgainstOracle: every event of the demo and of every real trace, field by field.
func TestAgainstOracle(t *testing.T) {
	for _, path := range append(corpus.Find(t), corpus.Demo(t)) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			tr, err := readFile(t, path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := tracecheck.Check(tr); err != nil {
				t.Fatal(err)
			}
			if testing.Short() && len(textOf(tr)) > 20<<20 {
				t.Skip("large")
			}
			if !json.Valid(textOf(tr)) {
				t.Skipf("no valid JSON: the oracle cannot read it; repairs %v", tr.Repairs)
			}
			want := oracle(t, textOf(tr))
			if len(want) != len(tr.Events) {
				t.Fatalf("%d events, the oracle has %d", len(tr.Events), len(want))
			}
			bad := 0
			for i := range want {
				if got := asOracle(tr, trace.EventID(i)); got != want[i] {
					if bad++; bad < 5 {
						t.Errorf("event %d: %+v, the oracle has %+v", i, got, want[i])
					}
				}
			}
		})
	}
}

func asOracle(tr *trace.Trace, id trace.EventID) oracleEvent {
	e := &tr.Events[id]
	o := oracleEvent{Cat: tr.Syms[e.Cat], Name: tr.Syms[e.Name], TS: e.Start, Dur: tr.Dur(e), HasDur: e.Flags&trace.HasDur != 0}
	if e.Ph != 0 {
		o.Ph = string(rune(e.Ph))
	}
	if !strings.ContainsAny(o.Ph, "stfbneSTpFNODvV") && e.Flags&trace.HasCorr != 0 {
		o.Corr, o.HasCorr = tr.Corr(e), true
	}
	if e.Track != trace.NoTrack {
		x := &tr.Tracks[e.Track]
		o.PID, o.TID = strings.Trim(tr.Syms[tr.Procs[x.Proc].PID.Raw], `"`), strings.Trim(tr.Syms[x.TID.Raw], `"`)
	} else {
		for m := Members(TextOf(tr).Raw(id)); m.Next(); {
			switch string(m.Key) {
			case "pid":
				o.PID = Unquoted(m.Value)
			case "tid":
				o.TID = Unquoted(m.Value)
			}
		}
	}
	return o
}

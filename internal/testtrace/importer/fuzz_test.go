package importer

import "testing"

// FuzzImport reads any bytes and looks whether what comes out can be.
func FuzzImport(f *testing.F) {
	for _, s := range []string{`[]`, `{"traceEvents":[]}`,
		`[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":5.5},{"ph":"X","name":"b","pid":1,"tid":1,"ts":3,"dur":5}]`,
		`{"traceEvents":[{"ph":"B","name":"a","pid":"p","tid":-1,"ts":"1"},{"ph":"E","pid":"p","tid":-1,"ts":1e300}],"x":[1]}`,
		`[{"ph":"s","id":"0x12","pid":1,"tid":1,"ts":1},{"ph":"f","bp":"e","id":18,"pid":1,"tid":1,"ts":2},{"ph":"C","name":"c","pid":1,"ts":1,"args":{"a":1,"b":"2"}}]`,
		`[{"ph":"b","cat":"c","id":1,"name":"a","ts":1,"pid":1},{"ph":"n","cat":"c","id":1,"ts":2},{"ph":"e","cat":"c","id":1,"ts":3},{"ph":"M","name":"process_name","pid":1,"args":{"name":"p"}},`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		r, err := Import(src)
		if err != nil {
			return
		}
		for i, s := range r.Slices {
			if s.Event < 0 || s.Event >= len(r.Events) || s.Depth < 0 {
				t.Fatalf("slice %d: %+v of %d events", i, s, len(r.Events))
			}
		}
		for i, fl := range r.Flows {
			if fl.Out < 0 || fl.Out >= len(r.Slices) || fl.In < 0 || fl.In >= len(r.Slices) {
				t.Fatalf("flow %d: %+v of %d slices", i, fl, len(r.Slices))
			}
			if r.Slices[fl.Out].TS > r.Slices[fl.In].TS {
				t.Fatalf("flow %d goes back", i)
			}
		}
	})
}

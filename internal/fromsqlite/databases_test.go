package fromsqlite_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/fromsqlite"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/databases"
	"overlay/internal/trace"
)

type spool struct{ b []byte }

func (s *spool) Write(p []byte) (int, error) { s.b = append(s.b, p...); return len(p), nil }
func (s *spool) Bytes() ([]byte, error)      { return s.b, nil }

// recorded is a trace with what such a database can hold of it. What has no :: in its name is no operator there.
func recorded(tr *trace.Trace, kinds ...trace.Kind) *trace.Trace {
	out := *tr
	out.Events, out.GraphEdges = nil, nil
	var of []trace.EventID
	for i := range tr.Events {
		e := tr.Events[i]
		if e.Ph != 'X' || e.Track == trace.NoTrack || e.Start < 0 || !slices.Contains(kinds, e.Kind) {
			continue
		}
		if e.Kind == trace.CPUOp && !strings.Contains(tr.Str(e.Name), "::") {
			e.Kind = trace.Annotation
		}
		of = append(of, trace.EventID(i))
		out.Events = append(out.Events, e)
	}
	out.Source = testtrace.Renumbered{Source: tr.Source, Of: of}
	out.LinkLaunches()
	return &out
}

func processes(tr *trace.Trace) int {
	procs := map[trace.ProcID]bool{}
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Kind.Host() {
			procs[tr.Tracks[e.Track].Proc] = true
		}
	}
	return len(procs)
}

func segments(t *testing.T, tr *trace.Trace) (lines []string, sums [critpath.NumClasses]int64) {
	t.Helper()
	_, p, ok := testtrace.Analyse(t, tr)
	if !ok {
		return nil, sums
	}
	for i := range p.Segments {
		s := &p.Segments[i]
		name := "-"
		if s.Event != trace.NoEvent {
			name = tr.Name(s.Event)
		}
		sums[s.Kind.Class()] += s.End - s.Start
		lines = append(lines, fmt.Sprintf("%d..%d %v %s", s.Start, s.End, s.Kind, name))
	}
	return lines, sums
}

// TestDatabases: a database filled from a trace gives the path of the same events in JSON.
func TestDatabases(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(tr *trace.Trace) ([]byte, error)
		form  string
		kinds []trace.Kind
	}{
		{"nsys", func(tr *trace.Trace) ([]byte, error) { return databases.Nsys(tr, databases.Options{}) }, "Nsight Systems database",
			[]trace.Kind{trace.Runtime, trace.Annotation, trace.CPUOp, trace.Kernel, trace.Memcpy, trace.Memset, trace.SyncRecord}},
		{"nsys of an older version", func(tr *trace.Trace) ([]byte, error) { return databases.Nsys(tr, databases.Options{NoSyncIDs: true}) }, "Nsight Systems database",
			[]trace.Kind{trace.Runtime, trace.Annotation, trace.CPUOp, trace.Kernel, trace.Memcpy, trace.Memset}},
		{"rocpd", databases.Rocpd, "rocpd database", []trace.Kind{trace.Runtime, trace.Annotation, trace.CPUOp, trace.Kernel, trace.Memcpy}},
	} {
		t.Run(c.name, func(t *testing.T) {
			compared := 0
			for _, m := range testtrace.Made(t) {
				tr := recorded(m.Trace, c.kinds...)
				if tr.LaunchByFlow || m.Name == "vendors" || strings.HasPrefix(m.Name, "cuspy") || processes(tr) != 1 {
					continue // what these show is not in such a database
				}
				if c.name == "rocpd" { // there all that is not marked is a call
					for i := range tr.Events {
						if m.Trace.Events[tr.Source.(testtrace.Renumbered).Of[i]].Kind == trace.CPUOp {
							tr.Events[i].Kind = trace.CPUOp
						}
					}
				}
				want, sums := segments(t, tr)
				if want == nil {
					continue
				}
				src, err := c.make(tr)
				if err != nil {
					t.Fatal(err)
				}
				got, err := fromsqlite.Parse(src, "t.sqlite", kineto.Options{}, &spool{})
				if err != nil {
					t.Fatal(err)
				}
				if form := kineto.Inspect(got).Form; form != c.form {
					t.Errorf("form %q", form)
				}
				lines, sums2 := segments(t, got)
				if sums != sums2 || !slices.Equal(want, lines) {
					t.Errorf("%s: ns by class %v, want %v", m.Name, sums2, sums)
					for i := range min(len(want), len(lines)) {
						if want[i] != lines[i] {
							t.Errorf("%s: segment %d: %s, want %s", m.Name, i, lines[i], want[i])
							break
						}
					}
				}
				compared++
			}
			if compared < 5 {
				t.Errorf("only %d traces compared", compared)
			}
		})
	}
}

// TestNoDatabase: what cannot be read is one line.
func TestNoDatabase(t *testing.T) {
	tr := testtrace.Made(t)[0].Trace
	sound, err := databases.Nsys(recorded(tr, trace.Runtime, trace.Kernel), databases.Options{})
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.ReplaceAll(sound, []byte("StringIds"), []byte("OtherIds_"))
	damaged := bytes.Clone(sound)
	for i := 4096; i < len(damaged); i += 97 {
		damaged[i] ^= 0x55
	}
	for _, c := range []struct {
		src  []byte
		want string
	}{
		{other, "of no profiler that is known"},
		{damaged, "the database cannot be"},
		{sound[:5000], "the database cannot be read"},
		{[]byte("SQLite format 3\x00"), "the database cannot be"},
	} {
		_, err := fromsqlite.Parse(c.src, "t.sqlite", kineto.Options{}, &spool{})
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "t.sqlite: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

package fromsqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/fromsqlite"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/databases"
	"overlay/internal/trace"
)

type spool struct{ b []byte }

func (s *spool) Write(p []byte) (int, error) { s.b = append(s.b, p...); return len(p), nil }
func (s *spool) Bytes() ([]byte, error)      { return s.b, nil }

// recorded is a trace with what such a database can hold of it.
func recorded(tr *trace.Trace, kinds ...trace.Kind) *trace.Trace {
	out := *tr
	out.Events, out.Wide, out.GraphEdges = nil, slices.Clip(tr.Wide), nil
	var of []trace.EventID
	for i := range tr.Events {
		e := out.Unlaunched(tr, trace.EventID(i))
		if e.Ph != 'X' || e.Track == trace.NoTrack || e.Start < 0 || !slices.Contains(kinds, e.Kind) {
			continue
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
	list := p.Segments.List()
	for _, s := range list {
		name := "-"
		if s.Event != trace.NoEvent {
			name = tr.Name(s.Event)
		}
		sums[s.Kind.Class()] += s.End - s.Start
		t0 := list[0].Start // databases of Ascend are told from their first event on
		lines = append(lines, fmt.Sprintf("%d..%d %v %s", s.Start-t0, s.End-t0, s.Kind, name))
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
		named bool // only what has :: in its name is an operator there
	}{
		{"nsys", func(tr *trace.Trace) ([]byte, error) { return databases.Nsys(tr, databases.Options{}) }, "Nsight Systems database",
			[]trace.Kind{trace.Runtime, trace.Annotation, trace.CPUOp, trace.Kernel, trace.Memcpy, trace.Memset, trace.SyncRecord}, true},
		{"nsys of an older version", func(tr *trace.Trace) ([]byte, error) { return databases.Nsys(tr, databases.Options{NoSyncIDs: true}) }, "Nsight Systems database",
			[]trace.Kind{trace.Runtime, trace.Annotation, trace.CPUOp, trace.Kernel, trace.Memcpy, trace.Memset}, true},
		{"rocpd", databases.Rocpd, "rocpd database", []trace.Kind{trace.Runtime, trace.Annotation, trace.CPUOp, trace.Kernel, trace.Memcpy}, false},
		{"ascend", func(tr *trace.Trace) ([]byte, error) { return databases.Ascend(tr, -1) }, "Ascend profiler database",
			[]trace.Kind{trace.Runtime, trace.Annotation, trace.CPUOp, trace.Kernel}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			compared := 0
			for _, m := range testtrace.Made(t) {
				tr := recorded(m.Trace, c.kinds...)
				if tr.LaunchByFlow || m.Name == "vendors" || strings.HasPrefix(m.Name, "cuspy") || processes(tr) != 1 {
					continue // what these show is not in such a database
				}
				for i := range tr.Events {
					if e := &tr.Events[i]; c.named && e.Kind == trace.CPUOp && !strings.Contains(tr.Str(e.Name), "::") {
						e.Kind = trace.Annotation
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
				got, err := fromsqlite.Parse(src, "t.sqlite", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
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
		_, err := fromsqlite.Parse(c.src, "t.sqlite", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "t.sqlite: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// ascendTrace is a small run in the words of Ascend: a copy, an operator whose kernel runs on stream 3, a collective.
func ascendTrace(t *testing.T) *trace.Trace {
	t.Helper()
	tr, err := kineto.Parse([]byte(`{"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#7","pid":1,"tid":1,"ts":0,"dur":300},
{"ph":"X","cat":"cpu_op","name":"aten::matmul","pid":1,"tid":1,"ts":10,"dur":30,"args":{"Sequence number":5,"Fwd thread id":0}},
{"ph":"X","cat":"runtime","name":"launch","pid":1,"tid":1,"ts":20,"dur":10,"args":{"correlation":7}},
{"ph":"X","cat":"runtime","name":"aclrtMemcpyAsync","pid":1,"tid":1,"ts":50,"dur":10,"args":{"correlation":8}},
{"ph":"X","cat":"runtime","name":"HcclAllreduce","pid":1,"tid":1,"ts":70,"dur":10,"args":{"correlation":9}},
{"ph":"X","cat":"runtime","name":"aclrtSynchronizeStream","pid":1,"tid":1,"ts":90,"dur":200,"args":{"correlation":10}},
{"ph":"X","cat":"kernel","name":"aclnnMatmul_MatMulV2","pid":0,"tid":3,"ts":40,"dur":60,"args":{"device":0,"stream":3,"correlation":7}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH (Device -> Pageable)","pid":0,"tid":3,"ts":110,"dur":20,"args":{"device":0,"stream":3,"correlation":8,"bytes":4096}},
{"ph":"X","cat":"kernel","name":"hcom_allReduce__428_0_1","pid":0,"tid":3,"ts":140,"dur":150,"args":{"device":0,"stream":3,"correlation":9}}
]}`), "t.json", kineto.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestAscend: what a database of Ascend says beside times and names.
func TestAscend(t *testing.T) {
	src, err := databases.Ascend(ascendTrace(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := fromsqlite.Parse(src, "ascend_pytorch_profiler_3.db", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if tr.Rank != 3 || tr.Base != 1_700_000_000_000_000_000 || tr.DeviceNames[0] != "Ascend910B4" {
		t.Errorf("rank %d, base %d, device %q", tr.Rank, tr.Base, tr.DeviceNames[0])
	}
	var got []string
	for i := range tr.Events {
		e := &tr.Events[i]
		launch := "-"
		if l := tr.Launch(trace.EventID(i)); l != trace.NoEvent {
			launch = tr.Name(l)
		}
		got = append(got, fmt.Sprintf("%v %s %d+%d on %s by %s", e.Kind, tr.Name(trace.EventID(i)), e.Start/1000, tr.Dur(e)/1000, tr.TokenText(tr.Tracks[e.Track].TID), launch))
	}
	want := []string{
		"annotation ProfilerStep#7 0+300 on 100 by -",
		"cpu_op aten::matmul 10+30 on 100 by -",
		"runtime launch 20+10 on 100 by -",
		"runtime aclrtMemcpyAsync 50+10 on 100 by -",
		"runtime HcclAllreduce 70+10 on 100 by -",
		"runtime aclrtSynchronizeStream 90+200 on 100 by -",
		"kernel aclnnMatmul_MatMulV2 40+60 on 3 by launch",
		"memcpy Memcpy DtoH 110+20 on 3 by aclrtMemcpyAsync",
		// The tasks of the collective, and what its stream waited for before, are no operations.
		"device_other Memcpy 140+75 on 1003 by -",
		"device_other Memcpy 140+75 on 3 by -",
		"device_other Memcpy 215+75 on 3 by -",
		"device_other EVENT_WAIT_SQE 139+0 on 3 by -",
		"kernel hcom_allReduce__428_0_1 140+150 on 3 by HcclAllreduce",
	}
	if !slices.Equal(got, want) {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n, ok := tr.ArgInt(7, "bytes"); !ok || n != 4096 {
		t.Errorf("bytes %d", n)
	}
	if hints := kineto.Inspect(tr).Hints; !slices.Contains(hints, "Ascend") {
		t.Errorf("hints %v", hints)
	}
	_, sums := segments(t, tr)
	if sums[critpath.ClassComm] != 150_000 {
		t.Errorf("ns by class %v", sums)
	}
}

// TestRealProcesses: a real report of two ranks is two traces. The numbers were read from the database by other means.
func TestRealProcesses(t *testing.T) {
	src, err := os.ReadFile(corpus.World(t, "nsys-ai__two_gpus_before.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = fromsqlite.Parse(src, "two.sqlite", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
	var several *kineto.Several
	if !errors.As(err, &several) || len(several.Parts) != 2 {
		t.Fatal(err)
	}
	for i, want := range []string{"gpu0 144: 1993 kernels of 270875926 ns, 3688 calls, 16 operations without launch, 32 exchanges", "gpu1 145: 2017 kernels of 264324724 ns, 3778 calls, 15 operations without launch, 32 exchanges"} {
		p, to := &several.Parts[i], &spool{}
		o, err := p.Write(kineto.NewSink(to, kineto.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		tr, err := kineto.Parse(to.b, "two.sqlite", o)
		if err != nil {
			t.Fatal(err)
		}
		kernels, sum, calls, alone, exchanges := 0, int64(0), 0, 0, 0
		for i := range tr.Events {
			e := &tr.Events[i]
			switch {
			case e.Kind == trace.Kernel:
				kernels++
				sum += tr.Dur(e)
			case e.Kind.Call():
				calls++
			}
			if n, ok := tr.ArgInt(trace.EventID(i), "Group size"); ok && n == 2 {
				exchanges++
			}
			if e.Kind.Device() && e.Ph == 'X' && tr.Launch(trace.EventID(i)) == trace.NoEvent {
				alone++
			}
		}
		if got := fmt.Sprintf("%s %s: %d kernels of %d ns, %d calls, %d operations without launch, %d exchanges", p.Name, p.PID, kernels, sum, calls, alone, exchanges); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

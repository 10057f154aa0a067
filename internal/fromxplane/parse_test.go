package fromxplane_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"overlay/internal/fromxplane"
	"overlay/internal/kineto"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
)

type spool struct{ b []byte }

func (s *spool) Write(p []byte) (int, error) { s.b = append(s.b, p...); return len(p), nil }
func (s *spool) Bytes() ([]byte, error)      { return s.b, nil }

// number and message are fields; a message of text is a string.
func number(num protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), uint64(v))
}

func message(num protowire.Number, parts ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), bytes.Join(parts, nil))
}

func text(num protowire.Number, s string) []byte { return message(num, []byte(s)) }

// maker builds a plane. Names get numbers as they are used.
type maker struct {
	name         string
	lines        [][]byte
	events, vals map[string]int64
}

func newPlane(name string) *maker {
	return &maker{name: name, events: map[string]int64{}, vals: map[string]int64{}}
}

func (m *maker) id(of map[string]int64, name string) int64 {
	if _, ok := of[name]; !ok {
		of[name] = int64(len(of) + 1)
	}
	return of[name]
}

// event is an event of some µs, from µs of its line on. A value is name=number or name:text.
func (m *maker) event(name string, start, dur int64, values ...string) []byte {
	parts := [][]byte{number(1, m.id(m.events, name)), number(2, start*1e6), number(3, dur*1e6)}
	for _, v := range values {
		if key, n, ok := strings.Cut(v, "="); ok {
			parts = append(parts, message(4, number(1, m.id(m.vals, key)), number(3, kineto.Int([]byte(n)))))
		} else {
			key, s, _ := strings.Cut(v, ":")
			parts = append(parts, message(4, number(1, m.id(m.vals, key)), number(7, m.id(m.vals, s))))
		}
	}
	return message(4, parts...)
}

func (m *maker) line(id, start int64, name string, events ...[]byte) {
	m.lines = append(m.lines, message(3, number(1, id), text(2, name), number(3, start), bytes.Join(events, nil)))
}

func (m *maker) plane() []byte {
	parts := [][]byte{number(1, 7), text(2, m.name), bytes.Join(m.lines, nil)}
	for num, names := range map[protowire.Number]map[string]int64{4: m.events, 5: m.vals} {
		for name, id := range names {
			parts = append(parts, message(num, number(1, id), message(2, number(1, id), text(2, name))))
		}
	}
	return message(1, parts...)
}

func made() []byte {
	cpu := newPlane("/host:CPU")
	cpu.line(500, 1000, "python", cpu.event("train", 0, 900, "step_num=3"), cpu.event("$a.py:7 step", 1, 800), cpu.event("fusion.1", 10, 9), cpu.event("fusion.2", 30, 9), cpu.event("BlockUntilReady", 50, 700))
	cpu.line(900, 1000, "worker", cpu.event("pool", 0, 60))
	cpu.line(77, 1000, "Host Threads/77", cpu.event("cuLaunchKernel", 11, 7, "correlation_id=4"), cpu.event("cuLaunchKernel", 31, 7, "correlation_id=5"))
	cpu.line(78, 1000, "Host Threads/78", cpu.event("MemcpyH2D", 12, 2, "correlation_id=6", "memcpy_details:size:64 async:1"))
	gpu := newPlane("/device:GPU:2")
	gpu.line(13, 2000, "Stream #13(Compute)", gpu.event("gemm", 40, 100, "correlation_id=4", "kernel_details:regs:38 grid:160,2,1 block:64,1,1"), gpu.event("gemm", 150, 100, "correlation_id=5"))
	gpu.line(14, 2000, "Stream #14(MemcpyH2D)", gpu.event("MemcpyH2D", 20, 10, "correlation_id=6", "memcpy_details:kind_src:pinned kind_dst:device size:64"))
	gpu.line(-5, 2000, "XLA Modules", gpu.event("jit_step", 40, 210))
	tpu := newPlane("/device:TPU:0")
	tpu.line(3, 2000, "XLA Ops", tpu.event("while.2", 300, 100), tpu.event("fusion.9", 310, 20))
	env := newPlane("Task Environment")
	space := bytes.Join([][]byte{cpu.plane(), gpu.plane(), tpu.plane()}, nil)
	start := message(6, number(1, 1), number(3, 1_700_000_000_000_000_000))
	return append(space, message(1, text(2, env.name), start, message(5, number(1, 1), message(2, text(2, "profile_start_time"))))...)
}

func parse(t *testing.T, src []byte) *trace.Trace {
	t.Helper()
	if !fromxplane.Is(src) || fromxplane.Is([]byte("\n\x10\n\x0e\x08\x01\x12\x0a")) {
		t.Fatal("not told by its first bytes")
	}
	tr, err := fromxplane.Parse(src, "t.xplane.pb", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := tracecheck.Check(tr); err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestParse(t *testing.T) {
	tr := parse(t, made())
	var got []string
	for i := range tr.Events {
		e, id := &tr.Events[i], trace.EventID(i)
		if e.Ph != 'X' {
			continue
		}
		x := &tr.Tracks[e.Track]
		line := fmt.Sprintf("%v %s %d..%d tid %d", e.Kind, tr.Name(id), e.Start/1000, tr.End(e)/1000, x.TID.Num)
		if e.Kind.Device() {
			line += fmt.Sprintf(" device %d", tr.Procs[x.Proc].Device)
			if l := tr.Launch(id); l != trace.NoEvent {
				line += " by " + tr.Name(l)
			}
		}
		got = append(got, line)
	}
	want := []string{
		"annotation ProfilerStep#3 1..901 tid 500",
		"python a.py(7): step 2..802 tid 500",
		"cpu_op fusion.1 11..20 tid 500",
		"cpu_op fusion.2 31..40 tid 500",
		"runtime BlockUntilReady 51..751 tid 500",
		"cpu_op pool 1..61 tid 900",
		"driver cuLaunchKernel 12..19 tid 500",
		"driver cuLaunchKernel 32..39 tid 500",
		"runtime MemcpyH2DAsync 13..15 tid 78",
		"kernel gemm 42..142 tid 13 device 2 by cuLaunchKernel",
		"kernel gemm 152..252 tid 13 device 2 by cuLaunchKernel",
		"memcpy Memcpy HtoD (Pinned -> Device) 22..32 tid 14 device 2 by MemcpyH2DAsync",
		"device_other jit_step 42..252 tid -5",
		"device_other while.2 302..402 tid 3",
		"kernel fusion.9 312..332 tid 3 device 0",
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	if tr.Base != 1_700_000_000_000_000_000 {
		t.Errorf("base %d", tr.Base)
	}
	if s := string(kineto.TextOf(tr).Src); !strings.Contains(s, `"grid":[160,2,1],"block":[64,1,1]`) || !strings.Contains(s, `"bytes":64`) {
		t.Error(s)
	}
}

func TestRefused(t *testing.T) {
	src := made()
	for name, c := range map[string]struct {
		src  []byte
		want string
	}{
		"cut":   {src[:len(src)-40], "it is cut"},
		"empty": {newPlane("/host:CPU").plane(), "none of the 1 planes"},
	} {
		_, err := fromxplane.Parse(c.src, "t.xplane.pb", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReal: numbers that were read from the files by other means.
// TestRecorded: five steps of training of six layers, recorded on an H100 with JAX 0.11 (testdata/h100).
func TestRecorded(t *testing.T) {
	packed, err := os.Open(filepath.Join(corpus.Root(t), "testdata", "h100", "jax.xplane.pb.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := zstd.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	src, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	tr := parse(t, src)
	steps, kernels, copies, launched, frames := 0, 0, 0, 0, 0
	rows := map[string]trace.TrackID{}
	for i := range tr.Events {
		e := &tr.Events[i]
		switch {
		case e.Kind == trace.Annotation && strings.HasPrefix(tr.Str(e.Name), trace.StepPrefix):
			steps++
		case e.Kind == trace.Kernel:
			kernels++
		case e.Kind == trace.Memcpy:
			copies++
		case e.Kind == trace.Python:
			frames++
		}
		if e.Kind.Device() && tr.Launch(trace.EventID(i)) != trace.NoEvent {
			launched++
		}
		if e.Ph == 'X' && e.Kind.Host() {
			thread := tr.TokenText(tr.Tracks[e.Track].TID)
			if row, known := rows[thread]; known && row != e.Track {
				t.Fatalf("thread %s is two rows, the second with %q", thread, tr.Name(trace.EventID(i)))
			}
			rows[thread] = e.Track
		}
	}
	// The JSON that JAX wrote of the same run has 175 operations on three streams, ten of them on two streams of copies.
	if got := [...]int{steps, kernels, copies, launched, frames}; got != [...]int{5, 160, 15, 175, 878} {
		t.Errorf("steps, kernels, copies, launched and frames are %d", got)
	}
}

func TestReal(t *testing.T) {
	for _, c := range []struct {
		name                      string
		kernels, copies, launched int
		sum                       int64 // ns of kernels
		events                    int
	}{
		{"TraceLens__jax_gemm_mi300.xplane.pb", 54, 0, 54, 3_475_484, 3782},
		{"xprof__gpu_multi_worker.xplane.pb", 1330, 226, 1556, 29_690_748, 23_128},
	} {
		src, err := os.ReadFile(corpus.World(t, c.name))
		if err != nil {
			t.Fatal(err)
		}
		tr := parse(t, src)
		kernels, copies, launched, sum, events := 0, 0, 0, int64(0), 0
		for i := range tr.Events {
			e := &tr.Events[i]
			if e.Ph == 'X' {
				events++
			}
			switch e.Kind {
			case trace.Kernel:
				kernels++
				sum += tr.Dur(e)
			case trace.Memcpy:
				copies++
			}
			if e.Kind.Device() && tr.Launch(trace.EventID(i)) != trace.NoEvent {
				launched++
			}
		}
		if kernels != c.kernels || copies != c.copies || launched != c.launched || sum != c.sum || events != c.events {
			t.Errorf("%s: %d kernels of %d ns, %d copies, %d launched, %d events", c.name, kernels, sum, copies, launched, events)
		}
	}
}

// FuzzParse wants of any bytes an error of one line, or a sound trace and the same again.
func FuzzParse(f *testing.F) {
	f.Add(made())
	f.Add([]byte("\n\x03\b\a\x12\x80\x00")) // an empty name whose length takes two bytes
	f.Fuzz(func(t *testing.T, src []byte) {
		if !fromxplane.Is(src) {
			return
		}
		tr, err := fromxplane.Parse(src, "t.pb", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "t.pb") {
				t.Fatalf("error %q", err)
			}
			return
		}
		if err := tracecheck.Check(tr); err != nil {
			t.Fatal(err)
		}
		again, err := fromxplane.Parse(src, "t.pb", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
		if err != nil || !bytes.Equal(kineto.TextOf(tr).Src, kineto.TextOf(again).Src) {
			t.Fatal("not the same again", err)
		}
	})
}

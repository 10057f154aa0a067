package flame_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"overlay/internal/flame"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// folded are the lines of a graph of a trace, and the length of its path.
func folded(t *testing.T, b *testtrace.Builder) (lines string, path int64) {
	t.Helper()
	g, p := testtrace.Exact(t, b.Parse(t))
	var out bytes.Buffer
	if err := flame.Of(g, p).WriteFolded(&out); err != nil {
		t.Fatal(err)
	}
	return out.String(), p.Duration
}

// TestStacks: an operation stands below what launched it, what waited beside what it waited for, and steps are one frame.
func TestStacks(t *testing.T) {
	const us = 1000
	b := testtrace.New()
	main, stream := b.Thread(1, 1, "main"), b.Stream(0, 7)
	for i := range int64(2) {
		at := i * 1000 * us
		main.Annotation(fmt.Sprint("ProfilerStep#", i), at, 900*us)
		main.Frame("model.py(3): forward", at+10*us, 600*us)
		main.Op("aten::a;b", at+20*us, 500*us)
		main.Launch("cudaLaunchKernel", at+30*us, 10*us, i+1)
		stream.Kernel("kernel", at+60*us, 400*us, i+1)
		main.Call("cudaDeviceSynchronize", at+50*us, 420*us, 10+i)
	}
	got, path := folded(t, b)
	const under = "ProfilerStep#*;model.py(3): forward;aten::a:b"
	sum := int64(0)
	for line := range strings.Lines(got) {
		ns, err := strconv.ParseInt(strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]), 10, 64)
		if err != nil || ns <= 0 {
			t.Errorf("%q: %v", line, err)
		}
		sum += ns
	}
	if sum != path {
		t.Errorf("stacks sum to %d ns of %d", sum, path)
	}
	for _, want := range []string{under + ";kernel 800000\n", under + ";[launch latency] ", under + ";cudaDeviceSynchronize 20000\n", "ProfilerStep#*;[not recorded] "} {
		if !strings.Contains("\n"+got, "\n"+want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// TestStackOfSteps: a step begins in a call of the profiler that returns long before it ends, as with_stack records it; what runs then stands
// below the step, and the step below the function that made the call.
func TestStackOfSteps(t *testing.T) {
	const us = 1000
	b := testtrace.New()
	main := b.Thread(1, 1, "main")
	main.Frame("train.py(1): main", 0, 3000*us)
	for i := range int64(2) {
		at := 10*us + i*1000*us
		main.Frame("profiler.py(2): step", at, 20*us)
		main.Frame("<built-in method enter>", at+5*us, 10*us)
		main.Annotation(fmt.Sprint("ProfilerStep#", i), at+10*us, 980*us)
		main.Op("aten::mm", at+50*us, 800*us)
	}
	got, _ := folded(t, b)
	if !strings.Contains("\n"+got, "\ntrain.py(1): main;ProfilerStep#*;aten::mm 1600000\n") {
		t.Error(got)
	}
}

// TestCompare: each side sums to its path, shared out among its steps to the ns; a frame whose line has moved is the same, and one that is
// gone or new stands beside it.
func TestCompare(t *testing.T) {
	made := func(line, steps, work int64, name string) flame.Side {
		b := testtrace.New()
		main := b.Thread(1, 1, "main")
		for i := range steps {
			main.Frame(fmt.Sprintf("model.py(%d): forward", line), i*1000, 700)
			main.Op(name, i*1000+10, work)
			main.Op("aten::same", i*1000+500, 100)
		}
		g, p := testtrace.Exact(t, b.Parse(t))
		return flame.Side{Graph: flame.Of(g, p), Of: steps}
	}
	before, after := made(3, 3, 100, "aten::old"), made(7, 7, 300, "aten::new")
	x := flame.Compare(before, after, func(name string) string { return strings.ReplaceAll(strings.ReplaceAll(name, "(3)", ""), "(7)", "") })
	var out bytes.Buffer
	if err := x.WriteFolded(&out); err != nil {
		t.Fatal(err)
	}
	const want = `model.py: forward 500 300
model.py: forward;aten::old 100 0
model.py: forward;aten::same 100 100
[not recorded] 200 257
model.py: forward;aten::new 0 300
`
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	boxes, total := x.Boxes(10)
	if b := boxes[0]; total != 257+500+100+100+300 || b.Name != "model.py: forward" || b.NS != 1000 || b.Sides != [2]int64{700, 700} {
		t.Errorf("%d ns, first %+v", total, b)
	}
	out.Reset()
	if err := x.WritePprof(&out); err != nil {
		t.Fatal(err)
	}
	if got := pprofSum(t, &out); got != 957-900 {
		t.Errorf("pprof has a difference of %d ns", got)
	}
}

// TestDeep: slices that are nested deeper than a stack may be keep their time.
func TestDeep(t *testing.T) {
	const depth = 2000
	b := testtrace.New()
	main := b.Thread(1, 1, "main")
	for i := range int64(depth) {
		name := fmt.Sprint("op", i)
		if i == 0 {
			name = ""
		}
		main.Op(name, i, 2*(depth-i))
	}
	got, path := folded(t, b)
	if !strings.HasPrefix(got, "[no name] ") {
		t.Errorf("a frame without a name begins %q", got[:min(len(got), 20)])
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	last := lines[len(lines)-1]
	if len(lines) != 256 || strings.Count(last, ";") != 255 || !strings.HasSuffix(last, fmt.Sprint(" ", path-255-255)) {
		t.Errorf("%d lines, the last has %d frames: %s", len(lines), strings.Count(last, ";")+1, last[strings.LastIndexByte(last, ' '):])
	}
}

// TestForms: each format has the whole path, of every real trace.
func TestForms(t *testing.T) {
	for _, name := range append(corpus.Find(t, "*.json.gz"), corpus.Demo(t)) {
		g, p := testtrace.Exact(t, testtrace.Read(t, name))
		x := flame.Of(g, p)
		var speedscope struct {
			Shared   struct{ Frames []struct{ Name string } }
			Profiles []struct {
				EndValue int64
				Samples  [][]int
				Weights  []int64
			}
		}
		var out bytes.Buffer
		if err := x.WriteSpeedscope(&out); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out.Bytes(), &speedscope); err != nil {
			t.Fatal(err)
		}
		if got := speedscope.Profiles[0].EndValue; got != p.Duration || len(speedscope.Shared.Frames) != len(x.Frames()) {
			t.Errorf("%s: speedscope has %d ns of %d", name, got, p.Duration)
		}
		out.Reset()
		if err := x.WritePprof(&out); err != nil {
			t.Fatal(err)
		}
		if got := pprofSum(t, &out); got != p.Duration {
			t.Errorf("%s: pprof has %d ns of %d", name, got, p.Duration)
		}
	}
}

// pprofSum adds up the values of the samples of a profile.
func pprofSum(t *testing.T, r io.Reader) (sum int64) {
	t.Helper()
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	each := func(b []byte, do func(num protowire.Number, v uint64, s []byte)) {
		for len(b) > 0 {
			num, typ, n := protowire.ConsumeTag(b)
			if n < 0 {
				t.Fatal(protowire.ParseError(n))
			}
			b = b[n:]
			if typ == protowire.BytesType {
				s, n := protowire.ConsumeBytes(b)
				do(num, 0, s)
				b = b[n:]
				continue
			}
			v, n := protowire.ConsumeVarint(b)
			do(num, v, nil)
			b = b[n:]
		}
	}
	each(b, func(num protowire.Number, _ uint64, sample []byte) {
		if num != 2 {
			return
		}
		each(sample, func(num protowire.Number, v uint64, _ []byte) {
			if num == 2 {
				sum += int64(v)
			}
		})
	})
	return sum
}

// TestPprof: the tool that comes with Go opens a profile, and its total is the path.
func TestPprof(t *testing.T) {
	corpus.Heavy(t)
	g, p := testtrace.Exact(t, testtrace.Read(t, corpus.Demo(t)))
	name := filepath.Join(t.TempDir(), "path.pb.gz")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := flame.Of(g, p).WritePprof(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "pprof", "-top", "-unit=ns", name).CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("of %dns total", p.Duration)) {
		t.Errorf("%v\n%s", err, out)
	}
}

package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overlay/internal/report"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/validation"
	"overlay/internal/trace"
)

// doing is a trace of operators and kernels of some names.
func doing(operators, kernels []string) *report.Done {
	tr := &trace.Trace{Syms: []string{""}, Tracks: make([]trace.Track, 1), Procs: make([]trace.Process, 1)}
	for k, names := range [][]string{operators, kernels} {
		for _, n := range names {
			tr.Syms = append(tr.Syms, n)
			tr.Events = append(tr.Events, trace.Event{Kind: []trace.Kind{trace.CPUOp, trace.Kernel}[k], Name: trace.Sym(len(tr.Syms) - 1)})
		}
	}
	return report.DoneIn(tr)
}

func numbered(prefix string, from, to int) (out []string) {
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprint(prefix, i))
	}
	return out
}

func TestCompareDone(t *testing.T) {
	ops, kernels := numbered("op", 0, 40), numbered("k", 0, 20)
	for _, c := range []struct {
		name string
		a, b *report.Done
		same bool
		why  string
	}{
		{"itself", doing(ops, kernels), doing(ops, kernels), true, ""},
		{"other kernels, as on a device of another maker", doing(ops, kernels), doing(ops, numbered("x", 0, 20)), true, ""},
		{"other operators, as when graphs are launched", doing(ops, kernels), doing(numbered("x", 0, 40), kernels), true, ""},
		{"other program", doing(ops, kernels), doing(append(numbered("x", 0, 30), ops[:10]...), numbered("x", 0, 20)), false,
			"14 % of the 40 and 40 names of operators are in common, 0 % of the 20 and 20 names of kernels are in common"},
		{"no device on one side, and other operators", doing(ops, kernels), doing(append(numbered("x", 0, 10), ops[:30]...), nil), false,
			"60 % of the 40 and 40 names of operators are in common, one of them has no kernels at all"},
		{"compiled", doing(ops, kernels), doing([]string{"Torch-Compiled Region: 0/0"}, numbered("triton_", 0, 20)), true, ""},
		{"too few names", doing(ops[:3], kernels[:3]), doing([]string{"x"}, []string{"y"}), true, ""},
		{"kernels alone", doing(nil, kernels), doing(nil, numbered("k", 10, 30)), false, "33 % of the 20 and 20 names of kernels are in common"},
		{"nothing", doing(nil, nil), doing(nil, nil), true, ""},
	} {
		for _, got := range []report.Comparable{report.CompareDone(c.a, c.b), report.CompareDone(c.b, c.a)} {
			if got.Same != c.same || len(got.Why) != len(c.why) {
				t.Errorf("%s: %+v, want %v because %q", c.name, got, c.same, c.why)
			}
		}
		if got := report.CompareDone(c.a, c.b); got.Why != c.why {
			t.Errorf("%s: because %q, want %q", c.name, got.Why, c.why)
		}
	}
}

// TestRecordedPairsAreComparable: what was recorded before and after a change does the same work, and two programs do not.
func TestRecordedPairsAreComparable(t *testing.T) {
	if testing.Short() {
		t.Skip("reads many traces")
	}
	done := map[string]*report.Done{}
	read := func(name string) *report.Done {
		if done[name] == nil {
			tr, err := validation.Load(filepath.Dir(name), filepath.Base(name))
			if err != nil {
				t.Fatal(err)
			}
			done[name] = report.DoneIn(tr)
		}
		return done[name]
	}
	same := func(a, b string, want bool) {
		if c := report.CompareDone(read(a), read(b)); c.Same != want {
			t.Errorf("%s and %s: %+v, want %v", a, b, c, want)
		}
	}
	real := filepath.Join(corpus.Root(t), "testdata", "real")
	before, err := filepath.Glob(filepath.Join(real, "*", "before*"))
	if err != nil || len(before) == 0 {
		t.Fatal("no pairs", err)
	}
	pairs := 0
	for _, a := range before {
		if b := filepath.Join(filepath.Dir(a), strings.Replace(filepath.Base(a), "before", "after", 1)); strings.HasSuffix(a, ".zst") {
			same(a, b, true)
			pairs++
		} else if list, _ := os.ReadDir(a); len(list) > 0 {
			same(filepath.Join(a, list[0].Name()), filepath.Join(b, list[0].Name()), true)
			pairs++
		}
	}
	if pairs < 10 {
		t.Errorf("%d pairs only", pairs)
	}
	same(filepath.Join(real, "item", "before.json.zst"), filepath.Join(real, "bf16", "before.json.zst"), false)

	find := func(pattern string) string {
		if m := corpus.Find(t, pattern); len(m) > 0 {
			return m[0]
		}
		t.Skipf("no real traces in %s: set OVERLAY_CORPUS to run this test", corpus.Dir(t))
		return ""
	}
	resnet, dlrm := find("kineto__tb_plugin__samples__resnet50*"), find("param__dlrm8__worker0*")
	same(dlrm, find("param__dlrm8__worker1*"), true)
	same(find("SAF*False*"), find("SAF*True*"), true)
	unlike := []string{resnet, dlrm, find("HTA__trace_diff*"), find("TraceLens__h100__Qwen*"), find("TraceLens__mi300__resnet*"), find("HTA__nccl_parser*"), find("SwitchTF*")}
	for i, a := range unlike {
		for _, b := range unlike[:i] {
			same(a, b, false)
		}
	}
	world := os.Getenv("OVERLAY_WORLD")
	if world == "" {
		world = filepath.Join(corpus.Root(t), "..", "shared", "world")
	}
	h100, mi300 := filepath.Join(world, "TraceLens__h100__bert-small.json.gz"), filepath.Join(world, "TraceLens__mi300__bert-small.json.gz")
	if _, err := os.Stat(h100); err == nil {
		same(h100, mi300, true)
		same(h100, resnet, false)
	}
}

package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"overlay/internal/inputs"
	"overlay/internal/kineto"
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
		{"compiled", doing(ops, kernels), doing(append([]string{"Torch-Compiled Region: 0/0"}, ops[:25]...), numbered("triton_", 0, 20)), true, ""},
		{"compiled again", doing([]string{"Torch-Compiled Region: 0/0", "CompiledFxGraph abc"}, numbered("triton_", 0, 9)), doing([]string{"Torch-Compiled Region: 1/0", "CompiledFxGraph def"}, numbered("triton_", 5, 30)), true, ""},
		{"few other names", doing(ops[:3], kernels[:3]), doing([]string{"x"}, []string{"y"}), false, "0 % of the 3 and 1 names of operators are in common, 0 % of the 3 and 1 names of kernels are in common"},
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

	world := os.Getenv("OVERLAY_WORLD")
	if world == "" {
		world = filepath.Join(corpus.Root(t), "..", "shared", "world")
	}
	files, _ := filepath.Glob(filepath.Join(world, "*.*"))
	files = slices.DeleteFunc(files, func(file string) bool { return !corpus.Small(file) })
	if files = append(files, corpus.Find(t, "*.json.gz")...); len(files) < 20 {
		t.Skipf("no real traces in %s and %s: set OVERLAY_CORPUS and OVERLAY_WORLD to run this test", corpus.Dir(t), world)
	}
	related := []string{"param__dlrm8__", "SAF__amg_example__", "bert-small", "HTA__critical_path__alexnet__ HTA__critical_path__end_to_end__", "vllm_prefilldecode"}
	families := func(name string) (in []int) {
		for i, family := range related {
			if slices.ContainsFunc(strings.Fields(family), func(part string) bool { return strings.Contains(name, part) }) {
				in = append(in, i)
			}
		}
		return in
	}
	var known []string
	for _, f := range files {
		if tr, err := inputs.NewReader(nil, 1, kineto.Options{}).LoadAny(f); err == nil {
			done[f], known = report.DoneIn(tr), append(known, f)
		}
	}
	for i, a := range known {
		for _, b := range known[:i] {
			in := families(a)
			same(a, b, len(in) > 0 && slices.Equal(in, families(b)))
		}
	}
}

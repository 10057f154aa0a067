package testtrace

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/pathcheck"
)

// The exact path must agree with the truth of random programs. The limits are those of the project's plan; what is
// below them for a reason that is known stands in known.
func TestExactAgreesWithSimulator(t *testing.T) {
	n := 400
	if corpus.Long() {
		n = 5000 // some 180 of each class: the limits are shares of them all; the judge goes over any number by hand
	}
	all := JudgeAll(n, 1, Classes)
	for i := range all {
		if v := &all[i]; v.Err != nil {
			t.Errorf("%s seed %d: %v", v.Program.Class, v.Seed, v.Err)
		}
	}
	var table strings.Builder
	WriteTable(&table, all, 10)
	t.Log("\n" + table.String())
	report := func(ok bool, name, what string, got, limit float64) {
		if !ok {
			t.Errorf("%s: %s is %.4f, limit %.4f", name, what, got, limit)
		}
	}
	var production []string // groups that only programs of production have
	for _, class := range Production {
		production = append(production, class, class+bare)
	}
	for i := range Worlds {
		production = append(production, Worlds[i].Name)
	}
	slices.Sort(production)
	for _, s := range Groups(all) {
		if _, later := slices.BinarySearch(production, s.Name); later {
			continue // TestProductionAgreesWithSimulator
		}
		if s.Programs < n/len(Classes)/2 {
			t.Errorf("%s: only %d programs", s.Name, s.Programs)
		}
		limit := 0.97
		if s.Name == "all" {
			limit = 0.99
			report(s.Counterfactual() >= 0.99, s.Name, "effect", s.Counterfactual(), 0.99)
			report(s.Precision() >= 0.98, s.Name, "precision", s.Precision(), 0.98)
			report(s.Recall() >= 0.95, s.Name, "recall", s.Recall(), 0.95)
		}
		report(s.Agreement >= limit, s.Name, "agreement", s.Agreement, limit)
	}
}

// Programs as they run in production must be right in recordings as they should be, with cuda_sync records and without.
func TestProductionAgreesWithSimulator(t *testing.T) {
	n := corpus.Rounds(55, 660)
	least := map[string]float64{"fsdp2": 0.97, "hostfn": 0.97, "serve": 0.97} // of classes that are not right yet
	for _, s := range Groups(JudgeAll(n, 9001, Production)) {
		if strings.HasPrefix(s.Name, "GPU ") && s.Agreement < 0.98 {
			t.Errorf("%s: agreement %.4f, limit 0.98", s.Name, s.Agreement)
		}
		limit, known := least[s.Name]
		if !known {
			limit = 0.98
		}
		if s.Programs > 0 && slices.Contains(Production, s.Name) && (s.Failed > 0 || s.Exact() < limit) {
			t.Errorf("%s: agreement %.4f in exact recordings, limit %.4f; %d failed", s.Name, s.Exact(), limit, s.Failed)
		}
	}
}

// Where records of operations are lost in the middle, the path still has to find its way in most of the time.
func TestDroppedRecords(t *testing.T) {
	for _, s := range Groups(JudgeAll(corpus.Rounds(100, 300), 5001, []string{Dropped})) {
		if s.Name == "all" && (s.Failed > 0 || s.Agreement < 0.93) {
			t.Errorf("agreement %.4f, %d failed", s.Agreement, s.Failed)
		}
	}
}

// The truth itself must stand the test of shortening: what is on the path, alone, makes the run shorter.
func TestTruthIsCritical(t *testing.T) {
	p := Random("streams", 3)
	var r, scratch Run
	r.Simulate(p)
	tried := 0
	for _, x := range r.Path() {
		if x.Owner < 0 || x.End-x.Start < 1000 || r.knob[x.to] < 0 {
			continue
		}
		tried++
		if got := r.Effect(&scratch, r.knob[x.to], 100); got != 100 {
			t.Errorf("%d on the path, 100 ns shorter: the run is %d shorter", x.Owner, got)
		}
	}
	if tried < 10 {
		t.Errorf("only %d pieces tried", tried)
	}
}

// span of a path by activity, to compare paths of one run that was written in different ways.
func pathText(t *testing.T, b *Builder, key []int32, shift int64) string {
	t.Helper()
	g, err := graph.Build(b.Parse(t), cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path, err := critpath.Exact(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := pathcheck.Check(path, g); err != nil {
		t.Error(err)
	}
	var text strings.Builder
	for _, s := range path.Segments.List() {
		owner := int32(-1)
		if s.Event >= 0 {
			owner = key[s.Event]
		}
		fmt.Fprintln(&text, s.Start-shift, s.End-shift, owner, s.Kind, s.Evidence)
	}
	return text.String()
}

// The path must not depend on the order of events in the file, on the origin of time, or on the number of cores.
func TestPathDependsOnTimesOnly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 120 {
		p := Random(Classes[i%len(Classes)], uint64(i))
		p.Explicit = false
		if p.IntegerMicros {
			continue // activities of no length are twins
		}
		var r Run
		r.Simulate(p)
		b, pos := r.Build()
		key := make([]int32, b.Len())
		for k := range key {
			key[k] = -1
		}
		for k, e := range pos {
			if e >= 0 {
				key[e] = int32(k)
			}
		}
		want := pathText(t, b, key, 0)
		old := runtime.GOMAXPROCS(1 + i%8)
		got := pathText(t, b, key, 0)
		runtime.GOMAXPROCS(old)
		if got != want {
			t.Errorf("%s seed %d: another path on %d cores", p.Class, i, 1+i%8)
		}
		const shift = 7_000_000_000_123
		for k := range b.events {
			b.events[k].start += shift
		}
		if got := pathText(t, b, key, shift); got != want {
			t.Errorf("%s seed %d: another path after shifting all times:\n%s", p.Class, i, cmp.Diff(want, got))
		}
		rng.Shuffle(len(key), func(x, y int) {
			b.events[x], b.events[y] = b.events[y], b.events[x]
			key[x], key[y] = key[y], key[x]
		})
		if got := pathText(t, b, key, shift); got != want {
			t.Errorf("%s seed %d: another path after shuffling the events:\n%s", p.Class, i, cmp.Diff(want, got))
		}
	}
}

// smallWrong is how many small programs have a wrong path; the aim is none.
const smallWrong = 4

// On programs of up to 12 activities every one of them is shortened: the path must hold those, and only those, that
// make the run shorter, but for near ties.
func TestBruteForceOnSmallPrograms(t *testing.T) {
	var j Judge
	programs, ties, wrong := 0, 0, 0
	for seed := range uint64(3000) {
		p := Tiny(seed)
		v := j.Check(p, seed)
		if v.Err != nil {
			t.Fatalf("seed %d: %v", seed, v.Err)
		}
		programs++
		switch {
		case v.Agreed < v.Window:
			if wrong++; wrong <= 5 {
				t.Logf("seed %d: %d of %d ns agree: %s", seed, v.Agreed, v.Window, v.Worst)
			}
		case v.Strict < v.Window:
			ties++
		case v.Hit != v.Tried && v.Ceiling == v.Ceiled:
			t.Errorf("seed %d: %d of %d counterfactuals came true", seed, v.Hit, v.Tried)
		}
	}
	t.Logf("%d programs, %d with near ties, %d wrong", programs, ties, wrong)
	if wrong > smallWrong {
		t.Errorf("%d paths of %d are wrong, at most %d were", wrong, programs, smallWrong)
	}
}

// The judge must see a wrong path, whatever the clock of the device shows: without hand-offs the walk cannot follow the backward thread.
func TestJudgeSeesWrongPaths(t *testing.T) {
	for _, gpu := range []int64{0, -3000, 8000} {
		var j Judge
		var right, wrong Sum
		for seed := range uint64(30) {
			p := Random("autograd", seed)
			p.World.GPU = gpu
			v := j.Check(p, seed)
			right.Add(&v)
			p.Explicit = true
			v = j.Check(p, seed)
			wrong.Add(&v)
		}
		if right.Agreement < 0.97 || wrong.Agreement > right.Agreement-0.02 || wrong.Recall() > 0.9 {
			t.Errorf("GPU late by %d: agreement %.3f with hand-offs, %.3f (recall %.3f) without", gpu, right.Agreement, wrong.Agreement, wrong.Recall())
		}
	}
}

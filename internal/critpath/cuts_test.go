package critpath_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// fataler is what tests and properties have in common.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// sameInAll fails the test unless two paths are the same, to the last count.
func sameInAll(t fataler, got, want *critpath.Path) {
	t.Helper()
	if a, b := got.Segments.List(), want.Segments.List(); !slices.Equal(a, b) {
		t.Fatalf("%d segments differ from %d", len(a), len(b))
	}
	if a, b := got.Edges.List(), want.Edges.List(); !slices.Equal(a, b) {
		t.Fatalf("%d edges differ from %d", len(a), len(b))
	}
	if a, b := got.Marks.List(), want.Marks.List(); !slices.Equal(a, b) {
		for i := range a {
			if i < len(b) && a[i] != b[i] {
				t.Fatalf("mark %+v, want %+v", a[i], b[i])
			}
		}
		t.Fatalf("%d marks, want %d", len(a), len(b))
	}
	if !slices.Equal(got.Kinds(), want.Kinds()) || got.Covered != want.Covered || got.Duration != want.Duration {
		t.Fatalf("kinds, or %d ns of %d covered, not %d of %d", got.Covered, got.Duration, want.Covered, want.Duration)
	}
	if a, b := critpath.Breakdown(got), critpath.Breakdown(want); !reflect.DeepEqual(a, b) {
		t.Fatalf("totals %+v, want %+v", a, b)
	}
	if !maps.Equal(got.Quality, want.Quality) {
		t.Fatalf("counts %v, want %v", got.Quality, want.Quality)
	}
}

// cutPaths compares paths of a trace whose walk is cut with the path without cuts: where walks meet, and at places where the path
// need not come through. It counts the cuts of both, and through how many of them it does.
func cutPaths(t fataler, tr *trace.Trace, rng *rand.Rand) (meet, met, cut, held int) {
	g, err := graph.Build(tr, cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := critpath.Exact(g)
	if err != nil {
		t.Fatal(err)
	}
	back := critpath.CutShort(1+len(g.Acts)/(2+rng.IntN(12)), []int{5, 50, 2000}[rng.IntN(3)])
	meet, met = critpath.Cuts(g)
	p, err := critpath.Exact(g)
	back()
	if err != nil {
		t.Fatal(err)
	}
	sameInAll(t, p, whole)
	var acts []cdg.ActID
	for a := range g.Acts {
		if g.Acts[a].End > g.Acts[a].Start && rng.IntN(1+len(g.Acts)/40) == 0 {
			acts = append(acts, cdg.ActID(a))
		}
	}
	p, cut, held = critpath.ExactCutAt(g, acts, []int{0, 0, 20}[rng.IntN(3)])
	sameInAll(t, p, whole)
	return meet, met, cut, held
}

// TestCuts: a walk that is cut into stretches finds the same path.
func TestCuts(t *testing.T) {
	list := stubTraces(t)
	for _, stacks := range []bool{false, true} {
		var text bytes.Buffer
		if err := testtrace.Large(&text, 2000, stacks); err != nil {
			t.Fatal(err)
		}
		tr, err := kineto.Parse(text.Bytes(), "large", kineto.Options{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, tr)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	var n [4]int
	for _, tr := range list {
		meet, met, cut, held := cutPaths(t, tr, rng)
		for i, k := range []int{meet, met, cut, held} {
			n[i] += k
		}
	}
	t.Logf("%d traces: walks met at %d places, the path comes through %d; of %d anywhere through %d", len(list), n[0], n[1], n[2], n[3])
	if n[0] < len(list) || n[1] < n[0]-n[0]/10 || n[3] < 20 || n[2]-n[3] < 20 {
		t.Error("too few for this test to mean much, or walks that meet miss the path")
	}
}

// TestCutsOfRealTraces does so for a recorded trace.
func TestCutsOfRealTraces(t *testing.T) {
	for i, file := range corpus.Files(t, "*asdf_True*.json.gz") {
		cutPaths(t, testtrace.Read(t, file), rand.New(rand.NewPCG(7, uint64(i))))
	}
}

// TestCutsOfPrograms does so for simulated programs.
func TestCutsOfPrograms(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		class, seed := rapid.SampledFrom(testtrace.Classes).Draw(rt, "class"), rapid.Uint64().Draw(rt, "seed")
		var r testtrace.Run
		r.Simulate(testtrace.Random(class, seed))
		b, _ := r.Build()
		tr, err := kineto.Parse(b.JSON(), class, kineto.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		cutPaths(rt, tr, rand.New(rand.NewPCG(seed, 1)))
	})
}

package advise

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/digest"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// TestSame holds advice to what it was: on the scenes of all rules and what looks like them, on planted causes, on made traces, and on recorded ones.
func TestSame(t *testing.T) {
	var lines []string
	add := func(name string, tr *trace.Trace) {
		g, p := testtrace.Exact(t, tr)
		a := Find(g, p, func() *whatif.Model { return whatif.New(g) })
		said := struct {
			*Advice
			Unseen, Recording int64
			Class             []string
			Places            [][]trace.EventID
			Top               []*Finding
		}{Advice: a, Unseen: a.workersUnseen, Recording: a.Replayed().Recording, Top: a.Top(3)}
		for i := range a.Findings {
			said.Class, said.Places = append(said.Class, a.Findings[i].Class().String()), append(said.Places, a.Findings[i].Places())
		}
		lines = append(lines, name+" "+digest.Of(said))
	}
	for _, id := range slices.Sorted(maps.Keys(cases)) {
		for i, plant := range slices.Concat(cases[id].planted, cases[id].alike) {
			s := newScene()
			plant(s)
			add(fmt.Sprint(id, "_", i), s.b.Parse(t))
		}
	}
	for _, cause := range append(testtrace.Causes, "") {
		for seed := range uint64(2) {
			b := testtrace.Simulated(testtrace.Plant(cause, seed).With)
			add(fmt.Sprint("planted_", cause, "_", seed), b.Parse(t))
		}
	}
	for _, m := range testtrace.Steady(t) {
		add(m.Name, m.Trace)
	}
	files, _ := filepath.Glob("../../testdata/real/*/*.json.zst")
	for _, file := range files {
		add(filepath.Base(filepath.Dir(file))+"_"+filepath.Base(file), testtrace.Read(t, file))
	}
	if len(lines) < 200 || len(files) < 8 {
		t.Errorf("%d traces, %d recorded ones", len(lines), len(files))
	}
	digest.Check(t, "advice", lines, *update)
}

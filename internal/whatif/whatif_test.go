package whatif_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/traceread"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// read reads a trace; nil for a file that is refused.
func read(t testing.TB, file string) *trace.Trace {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := traceread.Read(f, file, kineto.Options{})
	if err != nil {
		return nil
	}
	return tr
}

// simulated returns the graph of a simulated program.
func simulated(t *testing.T, class string, seed uint64) *graph.Graph {
	t.Helper()
	var r testtrace.Run
	p := testtrace.Random(class, seed)
	r.Simulate(p)
	b, _ := r.Build()
	tr := b.Parse(t)
	g := testtrace.Graph(t, tr)
	return g
}

// sameTimes returns an error for the first activity that a replay moves.
func sameTimes(r *whatif.Result, g *graph.Graph) error {
	if r.Saved() != 0 {
		return fmt.Errorf("the window lasts %d, recorded %d", r.Window, r.Recorded())
	}
	t := r.Times()
	for a := range g.Acts {
		act := &g.Acts[a]
		if act.Start > g.Window.End || act.End > g.Window.End || act.End < g.Window.Start {
			continue
		}
		if start, end := t.Act(cdg.ActID(a)); start != act.Start || end != act.End {
			return fmt.Errorf("event %d %q: replayed [%d, %d], recorded [%d, %d]", act.Event, g.Trace.Name(act.Event), start, end, act.Start, act.End)
		}
	}
	recorded, err := critpath.Exact(g)
	if err != nil {
		return err
	}
	_, p, err := r.Path()
	if err != nil {
		return err
	}
	if p.Segments.Len() != recorded.Segments.Len() {
		return fmt.Errorf("a path of %d segments, recorded %d", p.Segments.Len(), recorded.Segments.Len())
	}
	list := recorded.Segments.List()
	for i, s := range p.Segments.All() {
		if *s != list[i] {
			return fmt.Errorf("segment %d is %+v, recorded %+v", i, *s, list[i])
		}
	}
	return nil
}

// A replay of nothing gives every recorded time to the ns, on simulated programs of every class.
func TestIdentitySimulated(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 3
	}
	for _, class := range testtrace.Classes {
		for seed := range seeds {
			g := simulated(t, class, seed)
			if err := sameTimes(whatif.New(g).Replay(&whatif.Scenario{}), g); err != nil {
				t.Errorf("%s %d: %v", class, seed, err)
			}
		}
	}
}

// The same on the demo and on real traces, in windows of the whole and of steps.
func TestIdentityRecorded(t *testing.T) {
	checked := 0
	for _, file := range append(corpus.Find(t), corpus.Demo(t)) {
		tr := read(t, file)
		if tr == nil {
			continue
		}
		for _, o := range []cdg.Options{{}, {Threads: cdg.ThreadsExplicit}, {Step: "1"}, {Step: "2"}, {Step: "5"}} {
			if _, err := cdg.FindWindow(tr, o); err != nil {
				continue
			}
			g, err := graph.Build(tr, o)
			if err != nil || g.Window.End <= g.Window.Start {
				continue
			}
			checked++
			if err := sameTimes(whatif.New(g).Replay(&whatif.Scenario{}), g); err != nil {
				t.Errorf("%s, step %q: %v", filepath.Base(file), o.Step, err)
			}
		}
	}
	t.Logf("%d windows", checked)
}

// wellFormed returns an error if the graph or the path of a simulated run break what is promised of them.
func wellFormed(r *whatif.Result) error {
	g, p, err := r.Path()
	if err != nil {
		return err
	}
	for l := range g.Lanes {
		for i := g.PieceFirst[l] + 1; i < g.PieceFirst[l+1]; i++ {
			if g.Pieces[i].Start <= g.Pieces[i-1].Start {
				return fmt.Errorf("lane %d: piece at %d after %d", l, g.Pieces[i].Start, g.Pieces[i-1].Start)
			}
		}
	}
	t := g.Window.Start
	for i, s := range p.Segments.All() {
		if s.Start != t || s.End <= s.Start {
			return fmt.Errorf("segment %d: [%d, %d] after %d", i, s.Start, s.End, t)
		}
		t = s.End
	}
	if t != g.Window.Start+r.Window {
		return fmt.Errorf("the path ends at %d, the window at %d", t, g.Window.Start+r.Window)
	}
	sum := int64(0)
	for _, ns := range r.Classes() {
		sum += ns
	}
	if sum != r.Window {
		return fmt.Errorf("the classes sum to %d, the window is %d", sum, r.Window)
	}
	if low, high := r.Range(); low > r.Window || high < r.Window {
		return fmt.Errorf("a window of %d outside its range %d to %d", r.Window, low, high)
	}
	return nil
}

// questions are scenarios that can be asked of any trace; those that select nothing are left out.
func questions(t testing.TB, m *whatif.Model) []whatif.Scenario {
	t.Helper()
	find := whatif.NewSelector(m, nil)
	var list []whatif.Scenario
	for _, text := range []string{"class:cpu=0", "class:cpu=0.5", "class:cpu=2", "class:compute=0", "class:compute=0.3", "class:compute=3", "class:copy=0",
		"class:comm=0.5", "class:runtime=0; class:compute=0.1", "class:launch=0", "class:sync=0", "class:handoff=0", "class:untraced=0", "unlimited-queue",
		"class:cpu=0; class:compute=0; class:launch=0; class:untraced=0", "remove class:copy", "no-wait *Synchronize", "drop class:compute", "set class:compute=1us",
		"replace class:copy=5us", "shrink *DataLoader*=1us", "aten::*=0.1", "under:ProfilerStep*=0.5"} {
		if sc, err := find.Scenario(text); err == nil {
			list = append(list, sc)
		}
	}
	return list
}

// The simulated run is a graph like any other, and its path tiles its window.
func TestMovedGraph(t *testing.T) {
	seeds := uint64(10)
	if testing.Short() {
		seeds = 2
	}
	for _, class := range testtrace.Classes {
		for seed := range seeds {
			m := whatif.New(simulated(t, class, seed))
			for _, sc := range questions(t, m) {
				if err := wellFormed(m.Replay(&sc)); err != nil {
					t.Errorf("%s %d, %s: %v", class, seed, sc.Name, err)
				}
			}
		}
	}
}

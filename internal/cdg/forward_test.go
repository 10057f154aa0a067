package cdg_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/traceread"
	"overlay/internal/trace"
)

// forward computes all times of a graph from recorded durations and stored waits alone, in one pass in order of the
// recorded times: nothing that it computes is read from the recording but the order and what has no reason in it.
type forward struct {
	g     *cdg.Graph
	start []int64 // per activity: of operations
	begun []int64 // per piece
	done  []bool  // per piece
	open  []bool  // per piece: being computed, to see circles
}

// unknown is a time that was not computed yet.
const unknown = -1 << 62

func newForward(g *cdg.Graph) *forward {
	f := &forward{g: g, start: make([]int64, len(g.Acts)), begun: make([]int64, len(g.Pieces)), done: make([]bool, len(g.Pieces)), open: make([]bool, len(g.Pieces))}
	for i := range f.start {
		f.start[i] = unknown
	}
	return f
}

// point is the start of an operation or the border before a piece of a thread.
type point struct {
	at    int64
	piece int32 // -1 for operations
	act   cdg.ActID
	lane  cdg.LaneID
}

// run computes every point. At one instant threads come before streams: a launch call starts before its operation.
func (f *forward) run() error {
	g := f.g
	points := make([]point, 0, len(g.Pieces)+len(g.Acts))
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		for i := g.PieceFirst[l]; i < g.PieceFirst[l+1]; i++ {
			points = append(points, point{g.Pieces[i].Start, i, cdg.NoAct, cdg.LaneID(l)})
		}
		for a := lane.First; lane.Stream && a < lane.Limit; a++ {
			points = append(points, point{g.Acts[a].Start, -1, a, cdg.LaneID(l)})
		}
	}
	slices.SortStableFunc(points, func(x, y point) int { // threads are the first lanes
		if x.at < y.at {
			return -1
		}
		if x.at > y.at {
			return 1
		}
		return 0
	})
	for _, x := range points {
		if x.piece >= 0 {
			if err := f.border(x.lane, x.piece); err != nil {
				return err
			}
			continue
		}
		w := g.Release(x.act)
		t, err := f.source(w, x.lane, -1)
		if err != nil {
			return err
		}
		f.start[x.act] = t + w.Lag
	}
	return nil
}

// border computes when a piece of a thread began.
func (f *forward) border(lane cdg.LaneID, i int32) error {
	if f.done[i] {
		return nil
	}
	if f.open[i] {
		return fmt.Errorf("threads wait for each other at %d", f.g.Pieces[i].Start)
	}
	f.open[i] = true
	g := f.g
	var t int64
	if id := g.Pieces[i].Begun; id != cdg.NoWait {
		w := &g.Waits[id]
		at, err := f.source(w, lane, i)
		if err != nil {
			return err
		}
		t = at + w.Lag
	} else {
		t = f.begun[i-1] + g.Pieces[i].Start - g.Pieces[i-1].Start // the time of its own
	}
	f.begun[i], f.done[i] = t, true
	return nil
}

// source computes when the source of a wait was ready. The wait is of a border of a thread, or of an operation.
func (f *forward) source(w *cdg.Wait, lane cdg.LaneID, border int32) (int64, error) {
	g := f.g
	switch {
	case w.Rule == cdg.Untraced:
		return f.begun[border-1] + w.At - g.Pieces[border-1].Start, nil
	case w.From == cdg.NoAct:
		return w.At, nil // nothing is known: it happens when it happened
	}
	from := &g.Acts[w.From]
	if !g.Lanes[from.Lane].Stream {
		return f.thread(from.Lane, w.At)
	}
	if f.start[w.From] == unknown {
		return 0, fmt.Errorf("event %d comes too late for its wait at %d", from.Event, w.At+w.Lag)
	}
	return f.start[w.From] + w.At - from.Start, nil
}

// thread computes when a thread got to what it recorded at t.
func (f *forward) thread(lane cdg.LaneID, t int64) (int64, error) {
	g := f.g
	first, limit := g.PieceFirst[lane], g.PieceFirst[lane+1]
	n, _ := slices.BinarySearchFunc(g.Pieces[first:limit], t, func(p cdg.Piece, t int64) int {
		if p.Start <= t {
			return -1
		}
		return 1
	})
	if n == 0 {
		return t, nil // before its first slice
	}
	i := first + int32(n) - 1
	if !f.done[i] && g.Pieces[i].Start < t {
		return 0, fmt.Errorf("lane %d at %d was not computed in time", lane, t)
	}
	if err := f.border(lane, i); err != nil { // at the same instant
		return 0, err
	}
	return f.begun[i] + t - g.Pieces[i].Start, nil
}

// compare returns an error for the first start or end that was not recorded so.
func (f *forward) compare() error {
	g := f.g
	for a := range g.Acts {
		act := &g.Acts[a]
		start, end := f.start[a], f.start[a]+act.End-act.Start
		if !g.Lanes[act.Lane].Stream {
			var err1, err2 error
			start, err1 = f.thread(act.Lane, act.Start)
			end, err2 = f.thread(act.Lane, act.End)
			if err1 != nil || err2 != nil {
				return fmt.Errorf("event %d: %v, %v", act.Event, err1, err2)
			}
		}
		if start != act.Start || end != act.End {
			return fmt.Errorf("event %d %q: computed [%d, %d], recorded [%d, %d]", act.Event, g.Trace.Name(act.Event), start, end, act.Start, act.End)
		}
	}
	for i := range g.Inside {
		x := &g.Inside[i]
		if t, err := f.thread(x.Lane, x.At); err != nil || t != x.At {
			return fmt.Errorf("lane %d: computed %d for %d: %v", x.Lane, t, x.At, err)
		}
	}
	return nil
}

// replay computes all times of a graph and compares them with the recorded ones.
func replay(g *cdg.Graph) error {
	f := newForward(g)
	if err := f.run(); err != nil {
		return err
	}
	return f.compare()
}

// checkForward checks the stored waits of a trace, and that some of them, bent, are found out.
func checkForward(tr *trace.Trace, o cdg.Options) error {
	g, err := cdg.Build(tr, o)
	if err != nil {
		return err
	}
	if err := g.CheckWaits(); err != nil {
		return err
	}
	if err := replay(g); err != nil {
		return err
	}
	bound := make([]int, 0, len(g.Waits))
	inside := map[cdg.WaitID]bool{} // nothing is computed from these
	for _, x := range g.Inside {
		inside[x.Wait] = true
	}
	for i := range g.Waits {
		if g.Waits[i].Bound && !inside[cdg.WaitID(i)] {
			bound = append(bound, i)
		}
	}
	for k := range min(3, len(bound)) {
		w := &g.Waits[bound[(2*k+1)*len(bound)/6]]
		kept := *w
		for _, bent := range []cdg.Wait{{At: kept.At, Lag: kept.Lag + 1}, {At: kept.At - 1, Lag: kept.Lag}} {
			w.At, w.Lag = bent.At, bent.Lag
			if replay(g) == nil {
				return fmt.Errorf("the wait %+v, bent from %+v, changes nothing", *w, kept)
			}
		}
		*w = kept
	}
	return nil
}

// Every recorded time follows from durations and stored waits, on simulated programs of every class.
func TestForwardSimulated(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 3
	}
	for _, class := range testtrace.Classes {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds {
				var r testtrace.Run
				p := testtrace.Random(class, seed)
				r.Simulate(p)
				b, _ := r.Build()
				tr := b.Parse(t)
				for _, mode := range []cdg.ThreadMode{cdg.ThreadsAuto, cdg.ThreadsGIL, cdg.ThreadsExplicit} {
					if err := checkForward(tr, cdg.Options{Threads: mode}); err != nil {
						t.Errorf("seed %d, threads %s: %v", seed, mode, err)
					}
				}
			}
		})
	}
}

// The same on the demo and on real traces, where there are any.
func TestForwardRecorded(t *testing.T) {
	files := append(corpus.Find(t, "*.json.gz", "odd/*.json*"), corpus.Demo(t))
	checked := 0
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := traceread.Read(f, file, kineto.Options{})
		f.Close()
		if err != nil {
			continue // odd files may be refused
		}
		for _, o := range []cdg.Options{{}, {Threads: cdg.ThreadsExplicit}, {Step: "1"}} {
			if _, err := cdg.FindWindow(tr, o); err != nil {
				continue
			}
			checked++
			if err := checkForward(tr, o); err != nil {
				t.Errorf("%s: %v", filepath.Base(file), err)
			}
		}
	}
	t.Logf("%d windows of %d traces", checked, len(files))
	if checked < 2 {
		t.Error("nothing was checked")
	}
}

package whatif_test

import (
	"flag"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/digest"
	"overlay/internal/whatif"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestSame holds replays to what they gave, of whole traces and of a step: what is said of a replay, and of a model.
func TestSame(t *testing.T) {
	var lines []string
	for i, tr := range testtrace.Steady(t) {
		for _, o := range []cdg.Options{{}, {Step: "2"}} {
			if _, err := cdg.FindWindow(tr.Trace, o); err != nil {
				continue
			}
			g, err := graph.Build(tr.Trace, o)
			if err != nil {
				t.Fatal(err)
			}
			path := testtrace.Path(t, g)
			m := whatif.New(g)
			name := tr.Name + o.Step + "_"
			for k, sc := range questions(t, m) {
				if (i+k)%8 == 0 { // each question of some traces
					lines = append(lines, name+strings.ReplaceAll(sc.Name, " ", "_")+" "+digest.Of(saidOf(m.Replay(&sc), path)))
				}
			}
			lines = append(lines, name+"model "+digest.Of(saidOfModel(m, path)))
		}
	}
	if len(lines) < 200 {
		t.Errorf("%d replays only", len(lines))
	}
	digest.Check(t, "replays", lines, *update)
}

type said struct {
	Replay           *whatif.Result
	Touched          whatif.Touched
	Classes, ByPath  [critpath.NumClasses]int64
	Range            [2]int64
	Confidence       whatif.Confidence
	Limits           []whatif.Limit
	Lead             []whatif.Lead
	Start, End, Over []int64 // of each activity
}

func saidOf(r *whatif.Result, path *critpath.Path) *said {
	x := &said{Replay: r, Touched: r.Touched(path), Classes: r.Classes(), Confidence: r.Confidence()}
	x.Range[0], x.Range[1] = r.Range()
	_, p, err := r.Path()
	if err != nil { // nothing is left of the window
		x.Limits = []whatif.Limit{{Reason: err.Error()}}
		return x
	}
	totals := critpath.Breakdown(p)
	x.ByPath, x.Limits = totals.Class, r.Limits(&totals)
	times := r.Times()
	x.Lead = r.Ahead(times)
	g := r.Model().Graph()
	for a := range g.Acts {
		start, end := times.Act(cdg.ActID(a))
		x.Start, x.End = append(x.Start, start), append(x.End, end)
		if g.Lanes[g.Acts[a].Lane].Stream {
			x.Over = append(x.Over, r.End(cdg.ActID(a)))
		}
	}
	return x
}

type saidModel struct {
	Works    *whatif.Works
	Undone   []whatif.Explanation
	Ceilings []whatif.Ceiling
	Best     []whatif.Scenario
	Chains   []whatif.Chain
}

func saidOfModel(m *whatif.Model, path *critpath.Path) *saidModel {
	x := &saidModel{Works: m.Works()}
	for _, byPlace := range []bool{false, true} {
		other := m.Works()
		k := int64(0)
		for _, of := range []map[whatif.Work]whatif.Done{other.ByName, other.ByPlace} {
			for w, d := range of {
				k = int64(len(w.Name)) % 5
				of[w] = whatif.Done{NS: d.NS * (k + 1) / 3, Events: d.Events * int(k+2) / 4}
			}
		}
		x.Undone = append(x.Undone, m.Explain(other, m.Works(), byPlace))
	}
	var changes []whatif.Change
	for c := range int(critpath.NumClasses) {
		changes = append(changes, m.OfClass(critpath.Class(c)))
	}
	x.Ceilings = m.Ceilings(changes)
	x.Best = m.Best(path, 3, func(h *critpath.Hotspot) string { return h.Name })
	var ports []cdg.ActID
	kinds := make([]int8, len(m.Classes()))
	for a, c := range m.Classes() {
		kinds[a] = int8(c) - 1
		if c == whatif.CommClass || c == whatif.CopyClass {
			ports = append(ports, cdg.ActID(a))
		}
	}
	m.Chains(ports, []whatif.Anchor{{Device: 100, Thread: 100, Ports: 100}, {Device: 100, Thread: 0, Ports: 50}}, kinds, func(c whatif.Chain) {
		c.Work = append([]whatif.Weight(nil), c.Work...)
		x.Chains = append(x.Chains, c)
	})
	return x
}

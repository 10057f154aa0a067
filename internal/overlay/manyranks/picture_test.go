package manyranks_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"overlay/internal/overlay"
	"overlay/internal/overlay/manyranks"
	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobjudge"
)

func joined(t *testing.T, list []*ranks.Summary) (*ranks.Job, *ranks.Verdict) {
	t.Helper()
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	return j, replay.Judge(j, ranks.Expected{})
}

// strips are the rows below the group of strips.
func strips(p *manyranks.Picture) (list []*overlay.Track) {
	group := slices.IndexFunc(p.Tracks, func(t overlay.Track) bool { return t.Name == overlay.TrackRanks })
	for i := range p.Tracks {
		if p.Tracks[i].Parent == group {
			list = append(list, &p.Tracks[i])
		}
	}
	return list
}

// TestVerdict: the first row names the slow rank and its cause, and strips say for whom ranks wait.
func TestVerdict(t *testing.T) {
	sim := testtrace.NewJob(testtrace.JobOptions{Kind: "3d", Cause: "gpu", World: 16, PerHost: 4, Steps: 4, Seed: 3, Noise: 1})
	list, err := jobjudge.Summaries(sim)
	if err != nil {
		t.Fatal(err)
	}
	j, v := joined(t, list)
	p := manyranks.Draw(j, v, manyranks.Options{})
	slow := sim.Culprits.Ranks[0]
	if name := p.Tracks[0].Slices[0].Name; !strings.HasPrefix(name, fmt.Sprintf("Rank %d (node%d, GPU %d): GPU slow ×", slow, slow/4+1, slow%4)) || !strings.Contains(name, fmt.Sprintf("Bound by GPU compute of rank %d ", slow)) {
		t.Errorf("the first row says %q", name)
	}
	waits := map[string]int{}
	for _, s := range strips(p) {
		at := int64(0)
		for i := range s.Len() {
			start, dur := s.Span(i)
			if start < at || dur <= 0 {
				t.Fatalf("%s: a piece of %d at %d after %d", s.Name, dur, start, at)
			}
			at = start + dur
			if name, _ := s.Maker.Look(i); strings.HasPrefix(name, "wait for ") {
				waits[name]++
			}
		}
	}
	if waits[fmt.Sprintf("wait for rank %d", slow)] == 0 {
		t.Errorf("nobody waits for rank %d: %v", slow, waits)
	}
	layers := map[bool]int64{}
	for i := range p.Tracks[0].Slices {
		s := &p.Tracks[0].Slices[i]
		layers[strings.HasPrefix(s.Name, "Step ") || s.Name == "outside steps"] += s.Dur
	}
	if window := j.Window[1] - j.Window[0]; layers[true] != window || layers[false] != 2*window {
		t.Errorf("layers of %v in a window of %d", layers, window)
	}
}

// TestBlame: of the map of ranks and stages by steps those rows are the darkest that the others wait for.
func TestBlame(t *testing.T) {
	for _, c := range []struct{ kind, cause string }{{"3d", "gpu"}, {"pp_dp", "stage"}} {
		sim := testtrace.NewJob(testtrace.JobOptions{Kind: c.kind, Cause: c.cause, World: 32, PerHost: 8, Steps: 4, Seed: 5, Noise: 1})
		list, err := jobjudge.Summaries(sim)
		if err != nil {
			t.Fatal(err)
		}
		j, v := joined(t, list)
		p := manyranks.Draw(j, v, manyranks.Options{})
		group := slices.IndexFunc(p.Tracks, func(t overlay.Track) bool { return t.Name == overlay.TrackSteps })
		blame, stages := map[string]int64{}, 0
		for _, tr := range p.Tracks {
			if tr.Parent != group {
				continue
			}
			if strings.HasPrefix(tr.Name, "stage ") {
				stages++
			}
			for _, s := range tr.Slices {
				share, err := strconv.ParseFloat(strings.TrimSuffix(s.Name, " % waited for"), 64)
				if err != nil {
					t.Fatal(err)
				}
				blame[tr.Name] += int64(1000 * share)
			}
		}
		first, prefix := fmt.Sprintf("stage %d", sim.Ranks[sim.Culprits.Ranks[0]].Stage), "stage "
		if c.cause == "gpu" {
			first, prefix = fmt.Sprintf("rank %d ", sim.Culprits.Ranks[0]), "rank "
		}
		most := ""
		for name, n := range blame {
			if strings.HasPrefix(name, prefix) && (most == "" || n > blame[most]) {
				most = name
			}
		}
		if stages != len(j.Stages()) || !strings.HasPrefix(most+" ", first) {
			t.Errorf("%s: %d stages, most is waited for %q, not %q: %v", c.cause, stages, most, first, blame)
		}
	}
}

// TestChoose: of a job that is too large those ranks are drawn that tell most, the slow one first, within the limit.
func TestChoose(t *testing.T) {
	sim := testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Cause: "gpu", World: 16, PerHost: 4, Steps: 4, Seed: 3, Noise: 1})
	list, err := jobjudge.Summaries(sim)
	if err != nil {
		t.Fatal(err)
	}
	j, v := joined(t, list)
	if slices.Contains(manyranks.Choose(j, v, false), false) {
		t.Error("a small job is not drawn whole")
	}
	for m := range j.Members {
		j.Members[m].Events = manyranks.MostEvents / 4
	}
	drawn, n := manyranks.Choose(j, v, false), 0
	for _, d := range drawn {
		if d {
			n++
		}
	}
	if n == 0 || n > 4 || !drawn[sim.Culprits.Ranks[0]] {
		t.Errorf("%d drawn; the slow one: %v", n, drawn[sim.Culprits.Ranks[0]])
	}
}

// TestManyStrips: of more ranks than anybody looks at, some have no strip, and those that have are few enough to be shown.
func TestManyStrips(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short")
	}
	j, v := joined(t, jobjudge.Large(320, 1))
	p := manyranks.Draw(j, v, manyranks.Options{})
	list, pieces := strips(p), 0
	for _, s := range list {
		pieces += s.Len()
	}
	if len(list) < 128 || len(list) > 256 || pieces > 300_000 {
		t.Errorf("%d strips with %d pieces", len(list), pieces)
	}
}

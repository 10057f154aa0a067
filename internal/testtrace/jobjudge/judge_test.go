package jobjudge

import (
	"bytes"
	"strings"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// TestJudge: of jobs whose traces hold all that was done, everything that follows from times is found out as well as the
// times allow. The full table is printed by internal/testtrace/cmd/judge -jobs.
func TestJudge(t *testing.T) {
	var scores []*Score
	for i, kind := range testtrace.JobKinds {
		s := Judge(testtrace.NewJob(testtrace.JobOptions{Kind: kind, Seed: 40 + uint64(i), World: 8}))
		scores = append(scores, s)
		if s.Err != nil {
			t.Fatal(kind, s.Err)
		}
		if s.Clock > 5000 || share(s.Precision) != 1 || share(s.Recall) < 0.995 || share(s.Wait) > 0.05 || share(s.Near) < 0.98 || s.Found != Quiet {
			t.Errorf("%s: %v", kind, s.short())
		}
	}
	var out bytes.Buffer
	WriteTable(&out, scores, 5)
	for _, line := range []string{"wanted", "whole windows", "cause none"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no line %q in the table", line)
		}
	}
}

// TestScoreNotices: a score falls when the truth is another one.
func TestScoreNotices(t *testing.T) {
	o := testtrace.JobOptions{Kind: "dp", Seed: 3, World: 4, Cause: "gpu"}
	sim := testtrace.NewJob(o)
	if s := Judge(sim); s.Found != Named || s.Clock > 5000 {
		t.Fatalf("%v: %v", s.Found, s.short())
	}
	sim.Ranks[2].Clock.Base += 50_000 // after the traces were written
	sim.Culprits.Ranks = []int32{(sim.Culprits.Ranks[0] + 1) % 4}
	if s := Judge(sim); s.Found != Missed && s.Found != Small || s.Clock < 45_000 {
		t.Errorf("%v, clock %d", s.Found, s.Clock)
	}
}

// TestRandomJobs holds what is found out about random jobs to what is wanted of it, with room for the luck of a seed.
func TestRandomJobs(t *testing.T) {
	corpus.Heavy(t)
	var all, good [2]int // pairs
	var wait, near [2]int64
	named, missed := 0, 0
	for _, s := range JudgeAll(60, 20_000, "") {
		if s.Err != nil {
			t.Errorf("seed %d: %v", s.Options.Seed, s.Err)
			continue
		}
		if !whole(s) {
			continue
		}
		for i := range 2 {
			all[i] += s.Precision[i]
			good[i] += s.Recall[i]
			wait[i] += s.Wait[i]
			near[i] += s.Near[i]
		}
		if limit := int64(5000 * max(1, s.Options.Noise)); s.Clock > limit {
			t.Errorf("seed %d: a clock is off by %d ns", s.Options.Seed, s.Clock)
		}
		switch s.Found {
		case False:
			t.Errorf("seed %d: %v", s.Options.Seed, s.short())
		case Named:
			named++
		case Missed:
			missed++
		}
	}
	if share(all) < 0.9999 || share(good) < 0.995 || share(wait) > 0.05 || share(near) < 0.99 || named < 9*missed || named == 0 {
		t.Errorf("precision %.5f, recall %.5f, waits off by %.3f, near %.4f, %d named, %d missed", share(all), share(good), share(wait), share(near), named, missed)
	}
}

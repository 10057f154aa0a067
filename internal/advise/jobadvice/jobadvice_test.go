package jobadvice

import (
	"slices"
	"strings"
	"testing"

	"overlay/internal/advise"
	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/jobjudge"
)

// adviseOn is the advice on a simulated job.
func adviseOn(t *testing.T, o testtrace.JobOptions) (*Advice, *ranks.Verdict, *testtrace.Job, *ranks.Job) {
	t.Helper()
	sim := testtrace.NewJob(o)
	list, err := jobjudge.Summaries(sim)
	if err != nil {
		t.Fatal(err)
	}
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	v := replay.Judge(j, ranks.Expected{})
	return New(j, v, strings.Clone), v, sim, j
}

// TestPlanted: a rank that is slow is found under the id of its cause, as the rank to look into. What is promised is what the
// job gains when it is simulated without the cause, or a bit more. Only jobs that package ranks puts together, and in which it names somebody, are asked.
func TestPlanted(t *testing.T) {
	ruleOf := map[string]string{"gpu": "rank-gpu-slow", "cpu": "rank-cpu-slow", "data": "rank-data-late", "pauses": "rank-pauses", "host": "rank-gpu-slow",
		"input": "rank-inputs-uneven", "rows": "rank-more-data", "stage": "stage-more-work"}
	seeds := map[string]uint64{"dp": 2, "fsdp": 1, "tp_dp": 1, "pp_dp": 3}
	checked := map[string]int{}
	for cause, id := range ruleOf {
		for _, kind := range []string{"dp", "fsdp", "tp_dp", "pp_dp"} {
			if (cause == "stage") != (kind == "pp_dp") { // a slow rank of a pipeline makes a slow stage
				continue
			}
			for seed := range seeds[kind] {
				if cause == "input" { // of these jobs, whose steps have a largest batch of about one size
					seed += 430
				}
				a, v, sim, j := adviseOn(t, testtrace.JobOptions{Kind: kind, Cause: cause, Seed: 70 + seed, World: 8, PerHost: 2, Steps: 5})
				truth := int64(sim.Culprits.Gain * float64(sim.End-sim.Start))
				if sim.Culprits.Gain < 0.03 || len(v.Stragglers) == 0 || v.Stragglers[0].Kind == ranks.OneOff || 2*j.Matching.Complete < j.Matching.Instances { // whether it is found is what jobjudge asks
					continue
				}
				checked[cause]++
				at := slices.IndexFunc(a.Findings, func(f advise.Finding) bool { return f.ID == id })
				if at < 0 {
					t.Errorf("%s in %s, seed %d: not found among %v, below %v: %+v", cause, kind, seed, ids(a), a.Below, v.Stragglers)
					continue
				}
				f := &a.Findings[at]
				if w := j.Members[a.Worst().Member].Rank; cause != "input" && (!slices.Contains(f.Ranks, int(w)) || !slices.Contains(sim.Culprits.Ranks, int32(w))) {
					t.Errorf("%s in %s, seed %d: the rank to look into is %d, to blame are %v", cause, kind, seed, w, sim.Culprits.Ranks)
				}
				least, most := truth*95/100, truth*115/100
				if cause == "input" || cause == "rows" { // which run was in which step is not known to the last kernel
					least, most = truth*9/10, truth*5/4
				}
				if f.Gain < least || f.Gain > most {
					t.Errorf("%s in %s, seed %d: %d ns at most, and %d in truth: %v, %s", cause, kind, seed, f.Gain, truth, f.Numbers[:3], f.Saw)
				}
				if f.Confidence != advise.Medium && j.Matching.Complete == j.Matching.Instances {
					t.Errorf("%s in %s, seed %d: confidence %s where all is recorded", cause, kind, seed, f.Confidence)
				}
			}
		}
	}
	for cause := range ruleOf {
		if checked[cause] < 3 {
			t.Errorf("%s: only %d jobs in which the cause costs something", cause, checked[cause])
		}
	}
}

// TestAhead: where threads run ahead of the device, a slow rank is behind when recording begins, and what the device does belongs to earlier steps.
func TestAhead(t *testing.T) {
	for _, o := range []testtrace.JobOptions{{Kind: "tp_dp", Cause: "cpu", Seed: 505, World: 16, Steps: 5}, {Kind: "dp", Cause: "input", Seed: 507, World: 16, Steps: 5}} {
		a, _, sim, _ := adviseOn(t, o)
		at := slices.IndexFunc(a.Findings, func(f advise.Finding) bool { return f.ID == "rank-cpu-slow" || f.ID == "rank-inputs-uneven" })
		if truth := int64(sim.Culprits.Gain * float64(sim.End-sim.Start)); at < 0 || a.Findings[at].Gain < truth*95/100 || a.Findings[at].Gain > truth*5/4 {
			t.Errorf("%s in %s: %v, and %d ns in truth", o.Cause, o.Kind, a.Findings[:min(at+1, 1)], truth)
		}
	}
}

// TestUnsure: where records are missing, what the ranks wait for may be more than what is promised, and it says so.
func TestUnsure(t *testing.T) {
	a, _, _, _ := adviseOn(t, testtrace.JobOptions{Kind: "fsdp", Cause: "gpu", Seed: 71, World: 8, Steps: 5, Trouble: []string{"lost"}})
	at := slices.IndexFunc(a.Findings, func(f advise.Finding) bool { return f.ID == "rank-gpu-slow" })
	if at < 0 || a.Findings[at].Confidence != advise.Low || !strings.Contains(a.Findings[at].Why, "records are missing") {
		t.Errorf("found %v", a.Findings)
	}
}

func ids(a *Advice) (list []string) {
	for i := range a.Findings {
		list = append(list, a.Findings[i].ID)
	}
	return list
}

// TestBalanced: where no rank is slow none is blamed for work, and a profiler that starts late blames nobody.
func TestBalanced(t *testing.T) {
	for _, cause := range []string{"", "late"} {
		for _, kind := range []string{"dp", "fsdp", "3d"} {
			for seed := range uint64(corpus.Rounds(1, 3)) {
				a, _, _, _ := adviseOn(t, testtrace.JobOptions{Kind: kind, Cause: cause, Seed: 90 + seed, World: 8, Steps: 5})
				for i := range a.Findings {
					if f := &a.Findings[i]; slices.ContainsFunc(stragglerRules(), func(r rule) bool { return r.id == f.ID }) || f.ID == "slow-link" {
						t.Errorf("%q in %s, seed %d: %s of %v", cause, kind, seed, f.ID, f.Ranks)
					}
				}
			}
		}
	}
}

// TestSlowLink: transfers of one group that take longer than those of its sisters are found, and blame no rank.
func TestSlowLink(t *testing.T) {
	found := 0
	for seed := range uint64(corpus.Rounds(3, 6)) {
		a, _, sim, j := adviseOn(t, testtrace.JobOptions{Kind: "tp_dp", Cause: "link", Seed: 30 + seed, World: 16, Steps: 6})
		for i := range a.Findings {
			f := &a.Findings[i]
			if f.ID != "slow-link" {
				continue
			}
			found++
			if want := ints(sim.Culprits.Ranks); !slices.Equal(f.Ranks, want) {
				t.Errorf("seed %d: ranks %v, to blame are the links of %v", seed, f.Ranks, want)
			}
		}
		if a.Worst().Member < 0 || int(a.Worst().Member) >= len(j.Members) {
			t.Errorf("seed %d: no rank to look into", seed)
		}
	}
	if found == 0 {
		t.Error("no slow link is found")
	}
}

func ints(list []int32) (out []int) {
	for _, x := range list {
		out = append(out, int(x))
	}
	return out
}

// TestFewSteps: with one step nobody is called slow again and again: who comes last is found with low confidence, and the notes say
// what to record.
func TestFewSteps(t *testing.T) {
	sim := testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Cause: "gpu", Seed: 72, World: 8, Steps: 5})
	list, err := jobjudge.Summaries(sim)
	if err != nil {
		t.Fatal(err)
	}
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	a := New(j, &ranks.Verdict{Judged: 1}, strings.Clone)
	if got := ids(a); !slices.Contains(got, "rank-late") || !slices.Contains(got, "few-steps") {
		t.Fatalf("found %v", got)
	}
	for i := range a.Findings {
		if f := &a.Findings[i]; f.ID == "rank-late" && f.Confidence != advise.Low {
			t.Errorf("%s is %s", f.ID, f.Confidence)
		}
	}
	if w := a.Worst(); int32(j.Members[w.Member].Rank) != sim.Culprits.Ranks[0] {
		t.Errorf("the rank to look into is %d, to blame is %v", j.Members[w.Member].Rank, sim.Culprits.Ranks)
	}
}

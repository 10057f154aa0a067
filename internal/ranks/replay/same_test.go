package replay_test

import (
	"flag"
	"slices"
	"sync"
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/digest"
	"overlay/internal/testtrace/jobjudge"
)

var update = flag.Bool("update", false, "rewrite testdata")

// texts are questions that can be asked of most jobs.
var texts = []string{"class:compute=0.5", "class:cpu in rank:1=3", "transfer=2; class:cpu=0.5", "transfer in rank:0=0.1", "latency in group:DATA_PARALLEL_GROUP=0", "bytes in group:DATA_PARALLEL_GROUP=0.3", "host:node1=0.5",
	"class:compute in stage:1=0.5", "class:cpu in step:11=0", "class:runtime=0; transfer in step:10=2", "*gemm*=0.5", "transfer in group:DATA_PARALLEL_GROUP=0", "buckets transfer in group:DATA_PARALLEL_GROUP=16MB",
	"buckets transfer in group:DATA_PARALLEL_GROUP=1GB; class:compute=0.5; transfer=0.5"}

// said is what a model says of a job, and of its ranks alone.
type said struct {
	Crossed           int
	Recorded          int64
	Answers           []replay.Answer
	Refused, NoParts  []string
	Runs              []replay.Run
	Each, Left        [][]replay.Part
	Chains            []ranks.Chain
	Of                [][]ranks.PartOf
	Gains             []int64 // of stragglers: alone, of both, and what they spare
	Names, NoScenario []string
}

func saidOf(t *testing.T, list []*ranks.Summary, step int32) *said {
	t.Helper()
	x := &said{}
	for _, s := range list {
		x.Of, x.Names = append(x.Of, s.Chains.Of), append(x.Names, s.Names...)
		r := ranks.ChainReader{}
		for o := range int32(len(s.Stubs)) {
			for r.Read(s, o, 0); r.Next(); {
				c := r.Chain()
				c.Parts = slices.Clone(c.Parts)
				x.Chains = append(x.Chains, c)
			}
		}
	}
	j, err := ranks.Join(list, ranks.Options{Step: step})
	if err != nil {
		t.Fatal(err)
	}
	m, err := replay.New(j)
	if err != nil {
		x.NoScenario = append(x.NoScenario, err.Error())
		return x
	}
	x.Crossed, x.Recorded = m.Crossed, m.Recorded()
	scenarios := scenariosOf(m, &x.Refused)
	x.Answers = m.Answers(scenarios)
	if median, err := m.Median(); err == nil {
		x.Answers = append(x.Answers, m.Answers(median)...)
		scenarios = append(scenarios, median[len(median)-1])
	}
	for i := range scenarios {
		if i%5 == 0 || i == len(scenarios)-1 {
			x.Runs = append(x.Runs, m.Replayed(scenarios[i]), m.Replayed(scenarios[i], 1))
		}
	}
	for _, s := range replay.Judge(j, ranks.Expected{}).Stragglers {
		x.Gains = append(x.Gains, s.Gain, s.Both, s.Spared)
	}
	for _, what := range replay.Parts {
		each, left, err := m.Each(what)
		if err != nil {
			x.NoParts = append(x.NoParts, err.Error())
		}
		x.Each, x.Left = append(x.Each, each), append(x.Left, left)
	}
	return x
}

func scenariosOf(m *replay.Model, refused *[]string) (list []replay.Scenario) {
	parse := replay.Parser{Model: m}
	for _, text := range texts {
		if s, err := parse.Scenario(text); err == nil {
			list = append(list, s)
		} else {
			*refused = append(*refused, err.Error())
		}
	}
	return list
}

// TestSame holds what is said of jobs to what it was: of jobs of each kind with a cause, with trouble in their records, and of one step.
func TestSame(t *testing.T) {
	var lines []string
	for i, kind := range testtrace.JobKinds {
		for k, trouble := range []string{"", testtrace.JobTroubles[(2*i+1)%len(testtrace.JobTroubles)]} {
			o := testtrace.JobOptions{Kind: kind, Cause: testtrace.JobCauses[(i+4*k+1)%len(testtrace.JobCauses)], Seed: uint64(700 + i), World: 8, PerHost: 4, Steps: 3, Bucket: 2}
			if trouble != "" {
				o.Trouble = []string{trouble}
			}
			list, err := jobjudge.Summaries(testtrace.NewJob(o))
			if err != nil {
				t.Fatal(err)
			}
			step := int32(-1)
			if k == 1 && i%2 == 0 {
				step = 11
			}
			lines = append(lines, kind+"_"+o.Cause+"_"+trouble+" "+digest.Of(saidOf(t, list, step)))
		}
	}
	digest.Check(t, "replays", lines, *update)
}

// TestAnswers: what is asked side by side gets the answers that it gets alone, of the job as it was and of one with collectives put together.
func TestAnswers(t *testing.T) {
	_, m := made(t, testtrace.JobOptions{Kind: "dp", Cause: "gpu", Seed: 702, World: 4, PerHost: 2, Steps: 2, Bucket: 2})
	var refused []string
	list := scenariosOf(m, &refused)
	var want []replay.Answer
	joined := 0
	for i := range list {
		want = append(want, m.Answers(list[i : i+1])[0])
		if list[i].Of != nil {
			joined++
		}
	}
	if joined == 0 || len(list) < 8 {
		t.Fatalf("%d questions, %d of larger buckets; refused: %q", len(list), joined, refused)
	}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if got := m.Answers(list); !slices.Equal(got, want) {
				t.Errorf("%+v, alone %+v", got, want)
			}
		})
	}
	group.Wait()
}

package replay_test

import (
	"math"
	"strings"
	"testing"

	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// TestBuckets holds what is said of larger buckets against the same job made with them. Without noise both have the same work; threads that are ahead of the recording
// would have had the larger buckets before it, so jobs have none. What cannot be said is refused.
func TestBuckets(t *testing.T) {
	var all offs
	refused, saved := map[string]int{}, 0.0
	for _, kind := range []string{"dp", "tp_dp", "pp_dp", "3d"} {
		for seed := uint64(700); seed < 707; seed++ {
			if !corpus.Long() && seed > 702 {
				break
			}
			for bucket := 1; bucket <= 2; bucket++ {
				o := testtrace.JobOptions{Kind: kind, Seed: seed, World: 8, PerHost: 4, Steps: 4, Bucket: bucket, Noise: 1e-9}
				sim, m := made(t, o)
				if sim.Instances[0].Step < 0 {
					continue
				}
				for to, size := range map[int]string{2: "16MB", 4: "32MB", 100: "1GB"} {
					if to <= bucket {
						continue
					}
					parse := replay.Parser{Model: m}
					q, err := parse.Scenario("buckets transfer in group:DATA_PARALLEL_GROUP=" + size)
					if err != nil {
						refused[err.Error()[strings.Index(err.Error(), ": ")+1:]]++
						continue
					}
					o.Bucket = to
					truth := sim.End - testtrace.NewJob(o).End
					a := m.Answers([]replay.Scenario{q})[0]
					off := math.Abs(float64(a.Saved-truth)) / float64(m.Recorded())
					saved += math.Abs(float64(truth)) / float64(m.Recorded())
					if all.add(off); off > 0.002 {
						t.Errorf("%s %d, buckets of %d to %d layers: %d ns saved, truly %d, of %d", kind, seed, bucket, to, a.Saved, truth, m.Recorded())
					}
				}
			}
		}
	}
	t.Logf("%d questions, off by %.3f %% of the job in the mean, worst %.3f %%; the mean effect is %.2f %%; refused: %v", all.n, 100*all.mean, 100*all.worst, 100*saved/float64(all.n), refused)
	if all.n < 10 || all.mean > 0.0003 || len(refused) == 0 {
		t.Errorf("%+v, refused %v", all, refused)
	}
}

// TestNeeded: collectives of which one needs what the one before it brings are not put together, nor are those of one size only.
func TestNeeded(t *testing.T) {
	for group, o := range map[string]testtrace.JobOptions{
		"TENSOR_MODEL_PARALLEL_GROUP": {Kind: "tp_dp", Seed: 705, World: 8, PerHost: 4, Steps: 4},
		"DATA_PARALLEL_GROUP":         {Kind: "dp", Seed: 702, World: 8, PerHost: 4, Steps: 4, Bucket: 1},
	} {
		_, m := made(t, o)
		parse := replay.Parser{Model: m}
		if _, err := parse.Scenario("buckets transfer in group:" + group + "=1GB"); err == nil {
			t.Errorf("all-reduces of %s are put together", group)
		}
	}
}

// TestLatency holds predictions of another latency and another bandwidth against the same job run again; of jobs whose collectives have one size only both are refused. Of
// what was launched before the recording no question knows for what it would have waited, so jobs have none of it.
func TestLatency(t *testing.T) {
	var all offs
	effect, refused := 0.0, 0
	for seed := uint64(700); seed < 712; seed++ {
		for bucket := 1; bucket <= 3; bucket++ {
			if !corpus.Long() && (bucket > 1 && seed > 702 || seed > 706) {
				continue
			}
			sim, m := made(t, testtrace.JobOptions{Kind: "dp", Seed: seed, World: 8, PerHost: 4, Steps: 4, Bucket: bucket})
			if sim.Instances[0].Step < 0 {
				continue
			}
			parse := replay.Parser{Model: m}
			for text, f := range map[string][2]float64{"latency=0": {0, 1}, "latency=5": {5, 1}, "bytes=0.5": {1, 0.5}, "bytes=2": {1, 2}} {
				q, err := parse.Scenario(text)
				if err != nil {
					refused++
					continue
				}
				truth := sim.Again(func(_ int32, k testtrace.JobWorkKind) float64 {
					switch k {
					case testtrace.OfLatency:
						return f[0]
					case testtrace.OfTransfer:
						return f[1]
					}
					return 1
				})
				off := math.Abs(float64(m.Answers([]replay.Scenario{q})[0].Saved-truth)) / float64(m.Recorded())
				effect += math.Abs(float64(truth)) / float64(m.Recorded())
				if all.add(off); off > 0.005 {
					t.Errorf("%d, buckets of %d, %s: off by %.2f %% of the job", seed, bucket, text, 100*off)
				}
			}
		}
	}
	t.Logf("%d questions, off by %.3f %% of the job in the mean, worst %.3f %%; the mean effect is %.2f %%; refused: %d", all.n, 100*all.mean, 100*all.worst, 100*effect/float64(all.n), refused)
	if all.n < 10 || all.mean > 0.0005 || refused == 0 || effect < 0.02*float64(all.n) {
		t.Errorf("%+v, refused %d, mean effect %.3f", all, refused, effect/float64(all.n))
	}
}

// TestUnmatched: of a rank of which no collective is matched nothing is promised; of the others it is, of one that lacks some, and of the job as a
// whole even where nothing is matched.
func TestUnmatched(t *testing.T) {
	_, m := made(t, testtrace.JobOptions{Kind: "dp", Seed: 1, World: 8, Steps: 3})
	unmatch := func(member int) {
		for k := range m.Job.Members[member].In {
			m.Job.Members[member].In[k] = -1
		}
	}
	unmatch(6)
	m.Job.Members[5].In[0] = -1
	parse := replay.Parser{Model: m}
	if _, err := parse.Scenario("class:cpu in rank:6=2"); err == nil {
		t.Error("a promise of a rank without matched collectives")
	}
	for _, text := range []string{"class:cpu in rank:5-6=2", "class:cpu in rank:5=2", "class:cpu=2"} {
		if _, err := parse.Scenario(text); err != nil {
			t.Error(err)
		}
	}
	for i := range m.Job.Members {
		unmatch(i)
	}
	if _, err := parse.Scenario("class:cpu=2"); err != nil {
		t.Error(err)
	}
}

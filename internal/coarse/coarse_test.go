package coarse

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"overlay/internal/critpath"
)

// jobOf makes a job of rows.
func jobOf(rows ...row) *Job {
	j := &Job{}
	for _, r := range rows {
		k := slices.Index(j.Kinds, r.kind)
		if k < 0 {
			k = len(j.Kinds)
			j.Kinds = append(j.Kinds, r.kind)
		}
		j.Records = append(j.Records, Record{r.start, r.end - r.start, 1, r.rank, r.stage, -1, int32(k)})
	}
	return j
}

type row struct {
	rank, stage int32
	kind        string
	start, end  int64
}

// TestSlowRank: two ranks of which one works longer, by hand.
func TestSlowRank(t *testing.T) {
	const ms = 1_000_000
	s := jobOf(row{0, 0, "forward-compute", 0, 10 * ms}, row{0, 0, "grads-all-reduce", 10 * ms, 18 * ms},
		row{1, 0, "forward-compute", 0, 16 * ms}, row{1, 0, "grads-all-reduce", 16 * ms, 18 * ms}).Judge()
	if s.Recorded != 18*ms || s.Replayed != 18*ms || s.Even != 15*ms || s.Residual != 0 || s.Unmatched != 0 {
		t.Errorf("%+v", s)
	}
	if r := s.ByRank[0]; r.Rank != 1 || r.Replica != 1 || r.Slowdown != 18./15 || r.Work != 16*ms {
		t.Errorf("%+v", r)
	}
	if s.Without != 15*ms || s.MW != 1 || s.Balanced != 15*ms || s.WithoutKind != 15*ms {
		t.Error(s.Without, s.Balanced, s.WithoutKind)
	}
}

// TestPipeline: a stage that receives waits for the work of the one that sends, forward and backward, and a slow first stage delays the last one.
func TestPipeline(t *testing.T) {
	const ms = 1_000_000
	s := jobOf(
		row{0, 0, "forward-compute", 0, 30 * ms}, row{0, 0, "forward-send", 30 * ms, 31 * ms}, row{0, 0, "backward-recv", 31 * ms, 43 * ms}, row{0, 0, "backward-compute", 43 * ms, 53 * ms},
		row{1, 1, "forward-recv", 0, 31 * ms}, row{1, 1, "forward-compute", 31 * ms, 41 * ms}, row{1, 1, "backward-send", 42 * ms, 43 * ms}).Judge()
	if s.Residual != 0 || s.Unmatched != 0 || s.Recorded != 53*ms || s.Replayed != 52*ms { // 1 ms lies between records
		t.Errorf("%+v", s)
	}
	if want := (20 + 1 + 20 + 1 + 10) * int64(ms); s.Even != want {
		t.Errorf("even %d, not %d", s.Even, want)
	}
	if s.lastStage != 1 || s.Stages != 2 || s.Replicas != 1 {
		t.Errorf("%+v", s)
	}
}

// TestAnyRecords: of whatever records a replay gives the recorded times, and their order does not count.
func TestAnyRecords(t *testing.T) {
	kinds := []string{"forward-compute", "forward-send", "forward-recv", "backward-send", "backward-recv", "params-all-gather", "optimizer-clip-main-grad", "embedding-grads-all-reduce"}
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		j := &Job{Kinds: kinds}
		ranks, span := 1+rng.Int32N(5), int64(1)<<rng.IntN(30)
		for range 1 + rng.IntN(80) {
			rank := rng.Int32N(ranks)
			j.Records = append(j.Records, Record{rng.Int64N(span), rng.Int64N(span) * rng.Int64N(2), rng.Int64N(2), rank, rank % 2, -1, rng.Int32N(int32(len(kinds)))})
		}
		other := &Job{slices.Clone(j.Records), kinds}
		rng.Shuffle(len(other.Records), func(a, b int) { other.Records[a], other.Records[b] = other.Records[b], other.Records[a] })
		s, again := j.Judge(), other.Judge()
		if s.Residual != 0 {
			t.Fatalf("seed %d: a replay is off by %d", seed, s.Residual)
		}
		if !reflect.DeepEqual(s, again) {
			t.Fatalf("seed %d: the order of records counts:\n%+v\n%+v", seed, s, again)
		}
	}
}

// TestSeveral: one rank is slow in all steps and one from a step on; each is named with what it costs. Nobody is of an even job, whose clock begins anew in each step.
func TestSeveral(t *testing.T) {
	const ms = 1_000_000
	for _, slow := range []bool{true, false} {
		rng := rand.New(rand.NewPCG(7, 7))
		j := &Job{Kinds: []string{"forward-compute", "backward-compute", "grads-all-reduce"}}
		for step := range int64(8) {
			var ends, starts [6]int64
			last := int64(0)
			for r := range int32(6) {
				for k, base := range [2]int64{10 * ms, 20 * ms} {
					d := base + rng.Int64N(base/200)
					if slow && (r == 1 || r == 4 && step >= 4) {
						d += d / 5
					}
					j.Records = append(j.Records, Record{ends[r], d, 100 + 10*step, r, 0, -1, int32(k)})
					ends[r] += d
				}
				starts[r], last = ends[r], max(last, ends[r])
			}
			for r := range int32(6) {
				j.Records = append(j.Records, Record{starts[r], last + ms - starts[r], 100 + 10*step, r, 0, -1, 2})
			}
		}
		s := j.Judge()
		if !slow {
			if len(s.Slow) != 0 || s.Headline != "" {
				t.Errorf("%+v", s.Slow)
			}
			continue
		}
		if len(s.Slow) != 2 || s.Slow[0].Who != "rank 1" || s.Slow[0].When != "" || s.Slow[1].Who != "rank 4" || s.Slow[1].When != " from step 140 on" || s.Slow[0].Factor < 1.18 || s.Slow[0].Factor > 1.22 || s.Slow[1].Gain <= 0 {
			t.Errorf("%q %+v", s.Headline, s.Slow)
		}
	}
}

// TestFarApart: numbers of stages far apart, and as many steps as ranks of which each has a record in one alone, take no room.
func TestFarApart(t *testing.T) {
	const ms, n = 1_000_000, 20_000
	j := &Job{Kinds: []string{"forward-compute"}}
	for i := range int32(n) {
		j.Records = append(j.Records, Record{0, ms, int64(i), i, i, -1, 0})
	}
	if s := j.Judge(); len(s.Slow) != 0 {
		t.Errorf("%+v", s.Slow)
	}
	j = &Job{Kinds: []string{"forward-compute", "backward-compute"}}
	for step := range int64(4) {
		for rank, stage := range []int32{0, 0, 1 << 30, 1 << 30} {
			for k, d := range []int64{10 * ms, 20 * ms} {
				if stage > 0 {
					d *= 2
				}
				j.Records = append(j.Records, Record{int64(k) * 30 * ms, d, step, int32(rank), stage, -1, int32(k)})
			}
		}
	}
	if s := j.Judge(); len(s.Slow) != 1 || s.Slow[0].Who != "stage 1073741824" {
		t.Errorf("%+v", s.Slow)
	}
}

// TestSummaries: what each rank works in each step, by kind, is what the judge of jobs is told: no transfers, nothing that takes no time, several
// of one kind as one; steps stand one after another, though their clocks begin anew.
func TestSummaries(t *testing.T) {
	j := jobOf(row{3, 8, "forward-compute", 100, 110}, row{3, 8, "backward-compute", 110, 140}, row{3, 8, "forward-compute", 140, 145}, row{3, 8, "optimizer", 145, 145},
		row{3, 8, "grads-all-reduce", 145, 160}, row{1, 2, "forward-compute", 100, 150}, row{1, 2, "grads-all-reduce", 150, 160})
	for i := range len(j.Records) {
		r := j.Records[i]
		r.Step, r.Start, r.Duration = 2, r.Start-90, 2*r.Duration
		j.Records = append(j.Records, r)
	}
	x := &study{}
	for _, name := range j.Kinds {
		x.kinds = append(x.kinds, kindOf(name))
	}
	x.steps = j.steps(x.kinds)
	list, stages, ids := x.summaries(j, x.whole())
	got := fmt.Sprintln(stages, ids)
	for _, s := range list {
		got += fmt.Sprintln("rank", s.Rank)
		for _, step := range s.Steps {
			got += fmt.Sprintln(" step", step.Number, step.Start, step.End, step.BusyGPU, step.Path[critpath.ClassCompute])
		}
		for _, y := range s.Spent {
			got += fmt.Sprintln(" ", y.Step, j.Kinds[y.Name], y.Busy, y.Path, y.Calls, y.Most)
		}
	}
	const want = `[0 1] [2 8]
rank 1
 step 0 0 60 50 50
 step 1 60 160 100 100
  0 forward-compute 50 50 1 50
  1 forward-compute 100 100 1 100
rank 3
 step 0 0 60 45 45
 step 1 60 135 90 90
  0 forward-compute 15 15 2 10
  0 backward-compute 30 30 1 30
  1 forward-compute 30 30 2 20
  1 backward-compute 60 60 1 60
`
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestBorders: with three stages each send meets the receive of the next stage and not one of its own, forward and backward.
func TestBorders(t *testing.T) {
	var rows []row
	for stage := range int32(3) {
		at := int64(stage) * 100
		if stage > 0 {
			rows = append(rows, row{stage, stage, "forward-recv", at - 10, at})
		}
		rows = append(rows, row{stage, stage, "forward-compute", at, at + 90})
		if stage < 2 {
			rows = append(rows, row{stage, stage, "forward-send", at + 90, at + 100})
		}
		back := 300 + (2-int64(stage))*100
		if stage < 2 {
			rows = append(rows, row{stage, stage, "backward-recv", back - 10, back})
		}
		rows = append(rows, row{stage, stage, "backward-compute", back, back + 90})
		if stage > 0 {
			rows = append(rows, row{stage, stage, "backward-send", back + 90, back + 100})
		}
	}
	s := jobOf(rows...).Judge()
	if s.Residual != 0 || s.Unmatched != 0 || s.Recorded != 590 || s.Replayed != 580 || s.Even != 580 {
		t.Errorf("%+v", s)
	}
	rows[0].end, rows[1].start = 50, 50 // less work, and the send takes longer
	if s := jobOf(rows...).Judge(); s.Unmatched != 0 || s.Residual != 0 {
		t.Errorf("%+v", s)
	}
}

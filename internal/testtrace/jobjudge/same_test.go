package jobjudge

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobcheck"
)

// outcome is what a job says, without what each clock showed.
type outcome struct {
	Window    [2]int64
	Path      []ranks.Segment
	Jumps     []ranks.Jump
	Instances []ranks.Instance
	Of        []ranks.Ref
	Waits     ranks.Waits
	Verdict   *ranks.Verdict
}

func outcomeOf(t *testing.T, list []*ranks.Summary) outcome {
	t.Helper()
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := jobcheck.Check(j); err != nil {
		t.Error(err)
	}
	return outcome{j.Window, j.Path, j.Jumps, j.Instances, j.Of, j.Waits, replay.Judge(j, ranks.Expected{})}
}

// shifted is a summary by a clock that is set differently.
func shifted(s *ranks.Summary, by int64) *ranks.Summary {
	c := *s
	c.Window = [2]int64{s.Window[0] + by, s.Window[1] + by}
	c.Ops, c.Steps = append([]ranks.Op{}, s.Ops...), append([]ranks.Step{}, s.Steps...)
	for i := range c.Ops {
		c.Ops[i].Start += by
		c.Ops[i].End += by
		c.Ops[i].Launch += by
	}
	for i := range c.Steps {
		c.Steps[i].Start += by
		c.Steps[i].End += by
	}
	return &c
}

// TestSameJob: neither the order in which the ranks come nor what the clock of a rank shows changes anything.
func TestSameJob(t *testing.T) {
	for _, o := range []testtrace.JobOptions{
		{Kind: "tp_dp", Seed: 11, World: 8, Cause: "gpu"}, {Kind: "fsdp", Seed: 12, World: 8, Trouble: []string{"windows"}},
		{Kind: "3d", Seed: 13, World: 8, Trouble: []string{"lost"}}, {Kind: "dp", Seed: 14, World: 4, Trouble: []string{"old"}},
		{Kind: "pp_dp", Seed: 15, World: 8, Trouble: []string{"drift"}},
	} {
		list, err := Summaries(testtrace.NewJob(o))
		if err != nil {
			t.Fatal(err)
		}
		want := outcomeOf(t, list)
		same := func(what string, got outcome) {
			t.Helper()
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.AllowUnexported(ranks.JobStep{}, ranks.Load{}, ranks.Straggler{})); d != "" {
				t.Errorf("%s %v: %s changes the job: %.2000s", o.Kind, o.Trouble, what, d)
			}
		}
		rng := rand.New(rand.NewPCG(o.Seed, 1))
		mixed := append([]*ranks.Summary{}, list...)
		rng.Shuffle(len(mixed), func(a, b int) { mixed[a], mixed[b] = mixed[b], mixed[a] })
		same("another order of the ranks", outcomeOf(t, mixed))
		for _, by := range []int64{1, -977, 1_234_567, -2_500_000_001} {
			late := append([]*ranks.Summary{}, list...)
			r := 1 + rng.IntN(len(list)-1)
			late[r] = shifted(late[r], by)
			same("another setting of a clock", outcomeOf(t, late))
		}
	}
}

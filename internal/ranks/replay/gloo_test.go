package replay_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/klauspost/compress/zstd"

	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
)

// TestRecordedJobs holds what ranks gain to what was measured: jobs of four ranks of DDP over gloo on one H100, timed without a profiler with
// their causes, without all of them, and with one of two, where the other alone takes as long.
func TestRecordedJobs(t *testing.T) {
	for _, c := range []struct {
		job         string
		alone, both float64         // measured, ms a step: less with a rank mended, and with both
		worst       float64         // by which a gain may be off, as a share of the larger
		what        ranks.CauseKind // of the first
	}{
		{"job_gpu", 32.6, 0, 0.12, ranks.MoreWork},
		{"job_two_hosts", 0, 28.9, 0.05, ranks.MoreWork},
	} {
		var list []*ranks.Summary
		for rank := range 4 {
			packed, err := os.ReadFile(filepath.Join("../../../testdata/h100", c.job, "rank"+strconv.Itoa(rank)+".json.zst"))
			if err != nil {
				t.Fatal(err)
			}
			z, _ := zstd.NewReader(nil)
			text, err := z.DecodeAll(packed, nil)
			if err != nil {
				t.Fatal(err)
			}
			g, p := testtrace.Exact(t, testtrace.Parse(t, text))
			s := ranks.Summarize(g, p, ranks.Identity{Rank: ranks.Rank(rank), By: "name"})
			replay.AddChains(s, g, nil)
			list = append(list, s)
		}
		j, err := ranks.Join(list, ranks.Options{Step: -1})
		if err != nil {
			t.Fatal(err)
		}
		if j.Matching.Unmatched > 0 || j.Waits.Once > j.Waits.Time {
			t.Errorf("%s: %d not matched, %d of %d waited", c.job, j.Matching.Unmatched, j.Waits.Once, j.Waits.Time)
		}
		if v := ranks.Judge(j, ranks.Expected{}); len(v.Stragglers) == 0 || v.Stragglers[0].Cause.What != c.what {
			t.Errorf("%s: %+v", c.job, v.Stragglers)
		}
		m, err := replay.New(j)
		if err != nil {
			t.Fatal(err)
		}
		each, _, err := m.Each("rank")
		if err != nil {
			t.Fatal(err)
		}
		whole := max(c.alone, c.both)
		if got := float64(each[0].Saved) / 5e6; max(got-c.alone, c.alone-got) > c.worst*whole {
			t.Errorf("%s: %s alone gains %.2f ms a step, measured %.2f", c.job, each[0].Name, got, c.alone)
		}
		if v := replay.Judge(j, ranks.Expected{}); c.both > 0 {
			if got := float64(v.Stragglers[0].Both) / 5e6; max(got-c.both, c.both-got) > c.worst*whole {
				t.Errorf("%s: both gain %.2f ms a step, measured %.2f", c.job, got, c.both)
			}
		}
	}
}

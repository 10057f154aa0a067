package jobjudge

import (
	"testing"

	"overlay/internal/testtrace"
)

// TestCPU: collectives that threads do are matched, with and without records of their groups, and who comes late in them
// is named.
func TestCPU(t *testing.T) {
	for i, cause := range []string{"", "cpu", "data", "pauses"} {
		for _, trouble := range [][]string{nil, {"old"}} {
			o := testtrace.JobOptions{Kind: "dp", CPU: true, World: 8, PerHost: 2, Steps: 5, Noise: 1, Seed: 60 + uint64(i), Cause: cause, Trouble: trouble}
			s := Judge(testtrace.NewJob(o))
			if s.Err != nil {
				t.Fatal(o, s.Err)
			}
			want := Quiet
			if cause != "" {
				want = Named
			}
			if share(s.Precision) != 1 || share(s.Recall) < 0.995 || s.Last[1] == 0 || share(s.Last) < 0.95 || share(s.Wait) > 0.05 || !s.Promised || s.Found != want && s.Found != Small {
				t.Errorf("%+v: %v", o, s.short())
			}
		}
	}
}

package jobjudge

import (
	"testing"

	"overlay/internal/testtrace"
)

// TestSetClock: where the clock of a host is set while it records, the clocks of the others are right, most of what was found is so, and nobody is named who is not slow.
func TestSetClock(t *testing.T) {
	for i, kind := range []string{"dp", "tp_dp", "pp_dp", "3d", "moe"} {
		sim := testtrace.NewJob(testtrace.JobOptions{Kind: kind, Seed: 80 + uint64(i), World: 16, PerHost: 4, Steps: 6, Noise: 1, Trouble: []string{"clock_step"}})
		if s := Judge(sim); s.Err != nil || s.Clock > 8000 || share(s.Precision) < 0.95 || s.Found == False {
			t.Errorf("%s: %v %v", kind, s.Err, s.short())
		}
	}
}

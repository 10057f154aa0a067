package whatif_test

import (
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/whatif"
)

// TestMeantBesideRecords: where the profiler recorded that another stream was made to wait for a collective, the next kernel of the thread does not.
func TestMeantBesideRecords(t *testing.T) {
	m := whatif.New(testtrace.Graph(t, testtrace.Lines(t, `
call 1 cudaLaunchKernel 0 5 1
call 1 cudaLaunchKernel 6 5 2
call 1 cudaEventRecord 12 1 3
call 1 cudaStreamWaitEvent 14 1 4
sync 24 Stream~Wait~Event 14 1 4 40 3
call 1 cudaLaunchKernel 16 5 5
call 1 cudaLaunchKernel 22 5 6
kernel 7 before 8 392 1
kernel 40 ncclDevKernel_AllGather_RING_LL 12 188 2
kernel 7 after 401 300 5
kernel 24 out 202 10 6
`)))
	s, err := whatif.NewSelector(m, nil).Scenario("before=0")
	if err != nil {
		t.Fatal(err)
	}
	if r := m.Replay(&s); r.Window > 400_000 {
		t.Errorf("the window takes %d then, with the kernel behind the gather", r.Window)
	}
}

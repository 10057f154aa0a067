package advise

import "testing"

// TestCallsStopWaiting: what takes calls away that wait for the device takes their waits away, too: the thread goes on while the device
// works. The work of the CPU that comes after each call is then hidden, and that is the gain.
func TestCallsStopWaiting(t *testing.T) {
	const rounds = 40
	for rule, c := range map[string]struct {
		round func(s *scene)
		gain  int64 // of a round, ns
	}{
		"alloc": {func(s *scene) { // a free waits until the device is idle, and then 300 µs of operators follow
			s.work(4)
			s.sync("cudaFree")
			s.hostOps(30)
		}, 300_000},
		"launch-blocking": {func(s *scene) { // a launch returns when its kernel is over, and waits for the one before it
			s.kernel("aten::mm", "gemm", 40_000)
			s.corr++
			at, start := s.host, s.run(20_000)
			s.host = s.gpu + 5000
			s.main.Launch("runFunction", at, s.host-at, s.corr)
			s.stream.Kernel("relu", start, 20_000, s.corr)
			s.hostOps(3)
		}, 30_000},
	} {
		s := newScene()
		for range rounds {
			c.round(s)
		}
		a := adviseOn(t, s.b.Parse(t))
		f := a.find(rule)
		if f == nil {
			t.Errorf("%s is not found: %v below %v", rule, a.ids(), a.Below)
			continue
		}
		if least := rounds * c.gain * 8 / 10; f.Gain < least || f.Gain > a.Window {
			t.Errorf("%s gains %d, and at least %d where nothing waits", rule, f.Gain, least)
		}
	}
}

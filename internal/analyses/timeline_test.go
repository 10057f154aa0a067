package analyses

import (
	"testing"

	"pgregory.net/rapid"
)

// TestTimelineSumsUp: the slots tile the window; their parts sum to those of the whole device, and none is longer than
// its slot; the longest queue of all slots is that of the device.
func TestTimelineSumsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomSet(t)
		s.Start, s.End = 1<<40, 0
		for _, o := range s.Ops {
			s.Start, s.End = min(s.Start, o.Start, o.LaunchStart), max(s.End, o.End)
		}
		s.End++
		got, whole, over := timeline(s, Options{})[0], temporal(s, Options{})[0], overlap(s, Options{})[0]
		var sum Slot
		at, most := s.Start, int64(0)
		for _, p := range got.Slots {
			if p.Start != at || p.Computation < 0 || p.Communication < 0 || p.Copies < 0 || p.Computation+p.Communication+p.Copies > p.Duration || p.Hidden > p.Computation {
				t.Fatalf("slot %+v at %d", p, at)
			}
			at += p.Duration
			sum.Computation, sum.Communication, sum.Copies, sum.Hidden = sum.Computation+p.Computation, sum.Communication+p.Communication, sum.Copies+p.Copies, sum.Hidden+p.Hidden
			most = max(most, p.Outstanding)
		}
		if at != s.End {
			t.Fatalf("the slots end at %d, the window at %d", at, s.End)
		}
		if sum.Computation != whole.Computation || sum.Communication != whole.Communication || sum.Copies != whole.Copies || sum.Hidden != over.Hidden {
			t.Fatalf("slots sum to %+v, the device to %+v and %+v", sum, whole, over)
		}
		slow := int64(0) // by asking at every time at which a queue may have grown
		for _, at := range s.Ops {
			n := int64(0)
			for _, o := range s.Ops {
				if o.Launch >= 0 && o.LaunchStart <= at.LaunchStart && max(o.End, o.LaunchStart) >= at.LaunchStart {
					n++
				}
			}
			if at.Launch >= 0 {
				slow = max(slow, n)
			}
		}
		if most != slow {
			t.Fatalf("most outstanding %d, by counting %d", most, slow)
		}
	})
}

// TestTimelineInstant: an operation that is launched, runs and ends at the first ns of a slot was outstanding in it.
func TestTimelineInstant(t *testing.T) {
	s := handSet(op{start: 5, end: 5, launch: 5}, op{start: 20, end: 30, launch: 20})
	s.Start, s.End = 5, 31
	if got := timeline(s, Options{})[0].Slots; got[0].Outstanding != 1 || got[5].Outstanding != 0 || got[15].Outstanding != 1 {
		t.Errorf("outstanding %d, %d, %d, want 1, 0, 1", got[0].Outstanding, got[5].Outstanding, got[15].Outstanding)
	}
}

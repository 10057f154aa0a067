package whatif

import "overlay/internal/cdg"

// Critical is the operations of the recorded critical path that lie between two times.
func (m *Model) Critical(from, to int64) Set {
	r, on := m.Replay(&Scenario{}), m.NewSet()
	for at := r.last.point; at > 0; at = r.before(at) {
		if a := m.act[at]; a != cdg.NoAct && r.startOf(at) >= from && r.end[at] <= to {
			on.Add(a)
		}
	}
	return on
}

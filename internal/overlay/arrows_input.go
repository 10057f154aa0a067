package overlay

import "overlay/internal/kineto"

// inputArrows are the arrows that the input itself draws, as pairs of events. Launch flows are taken from the
// correlation, which is what they are made of; others join the slices that enclose their ends.
func inputArrows(tr *kineto.Trace, keep []bool) [][2]int32 {
	hasFlows := false
	for i := range tr.Events {
		if tr.Events[i].Ph == 's' && (keep == nil || keep[i]) {
			hasFlows = true
			break
		}
	}
	if !hasFlows {
		return nil
	}
	var out [][2]int32
	for i, l := range tr.Launch {
		if l != kineto.NoEvent {
			out = append(out, [2]int32{int32(l), int32(i)})
		}
	}
	return out
}

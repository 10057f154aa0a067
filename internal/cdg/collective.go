package cdg

import "overlay/internal/trace"

// Collective is the event whose arguments say what a communication kernel does, and what they say: the kernel, or the operator that
// launched it (record_param_comms), which says it where PyTorch is older than 2.3 or the device is not NVIDIA's. Without either it is
// the kernel, and the name of the collective is empty.
func (l *Layout) Collective(said *trace.Collectives, id trace.EventID) (trace.EventID, trace.Collective) {
	own, _ := said.Of(id)
	if own.Name != "" || l.Trace.Launch(id) == trace.NoEvent {
		return id, own
	}
	for a := l.ActOf[l.Trace.Launch(id)]; a != NoAct; a = l.Parent[a] {
		if e := l.Acts[a].Event; l.Trace.Events[e].Kind == trace.CPUOp {
			if op, _ := said.Of(e); op.Name != "" {
				return e, op
			}
		}
	}
	return id, own
}

package cdg

import "overlay/internal/trace"

const (
	slowCall  = 20 * us // shorter launch calls are never slow
	slowTimes = 5       // a slow launch call takes so many times what is usual
)

// launchedAt is when the latency of a launch begins: with its call. A call that was slow spent the time before it handed
// the operation over, as the first launch of a kernel does, which loads its code; the latency then begins one usual call
// before its end, or one latency before the operation where that comes first. That it was slow for its own sake is told by
// what came of it: its stream was idle when it returned, and the operation came neither with the end of the one before nor
// long before the return. A call that waited for room in a queue leaves a busy stream behind, and one that copies waits
// for the stream first and for its copy then.
func (b *facts) launchedAt(k, call ActID) int64 {
	d := b.d
	c, usual, start := &d.Acts[call], d.Delays.Call, d.Acts[k].Start
	if took := c.End - c.Start; usual == 0 || took < slowCall || took < slowTimes*usual || b.graph[k] || start < c.End-usual || b.event(k).Kind == trace.Memcpy {
		return c.Start
	}
	if p := b.pred[k]; p != NoAct && (d.Acts[p].End > c.End || start <= d.Acts[p].End+d.Delays.Kernel.Max) {
		return c.Start
	}
	return max(c.Start, min(c.End-usual, start-d.Delays.Launch.Min))
}
